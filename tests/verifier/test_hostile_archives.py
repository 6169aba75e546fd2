"""Archives made to hurt whoever opens them are refused, quickly and within little memory, whatever key is given."""

import io
import random
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest

from planner.verifier import verify as verifier
from planner.verifier.verify import Bundle, verify
from tests.verifier.making import KEY, content, sound_story, written

Archive = Callable[[zipfile.ZipFile], object]
MEBIBYTE = 1 << 20


def archive(fill: Archive, *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive that ends as a bundle does."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        fill(zipped)
        zipped.comment = b"\1" * 64
    return file.getvalue()


def bomb(zipped: zipfile.ZipFile) -> None:
    """100 MiB of nothing in 100 KiB."""
    with zipped.open("log/entries.jsonl", "w") as handle:
        for _ in range(100):
            handle.write(b"\0" * MEBIBYTE)


def lying_size(raw: bytes) -> bytes:
    """Let the directory tell of fewer bytes than there are."""
    at = raw.rindex(b"PK\1\2")
    return raw[: at + 24] + struct.pack("<L", 10) + raw[at + 28 :]


def quoted(raw: bytes) -> bytes:
    """Let many files of the directory share the same bytes (a quoted overlap)."""
    at, end = raw.rindex(b"PK\1\2"), raw.rindex(b"PK\5\6")
    entry, count = raw[at:end], 5_000
    names = (f"documents/{number:05d}.json".encode() for number in range(count))
    directory = b"".join(entry[:28] + struct.pack("<H", 20) + entry[30:46] + name for name in names)
    tail = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, count, count, len(directory), at, 64)
    return raw[:at] + directory + tail + b"\1" * 64


def zip64(raw: bytes) -> bytes:
    """Put the directory's place in a record of its own, past what the last one says."""
    at = raw.rindex(b"PK\5\6")
    return raw[:at] + b"PK\6\7" + b"\0" * 16 + raw[at:]


def told_in_64_bits(raw: bytes, **lies: int) -> bytes:
    """End an archive as zip64; ``lies`` are its count, length of directory and place of the record, where not so."""
    at = raw.rindex(b"PK\5\6")
    count, length, begin = struct.unpack("<HLL", raw[at + 10 : at + 20])
    count, length = lies.get("count", count), lies.get("length", length)
    record = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, begin)
    return raw[:at] + record + struct.pack("<4sLQL", b"PK\6\7", 0, lies.get("place", at), 1) + raw[at:]


def long_directory(raw: bytes) -> bytes:
    """Let the directory be as long as it can be told."""
    at = raw.rindex(b"PK\5\6")
    return raw[: at + 12] + struct.pack("<L", 0xFFFFFFFF) + raw[at + 16 :]


def end_in_the_signature(raw: bytes) -> bytes:
    """End where the signature is once more, with a directory that is all there is: many files."""
    at = raw.rindex(b"PK\1\2")
    directory = (raw[at : at + 28] + struct.pack("<H", 1) + raw[at + 30 : at + 46] + b"a") * 300_000
    sound = raw[raw.rindex(b"PK\5\6") : -64]
    again = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 0, 0, len(directory) + 64, 0, 0)
    return directory + sound + b"\1" * 42 + again


def names(*given: str) -> Archive:
    def fill(zipped: zipfile.ZipFile) -> None:
        for name in given:
            zipped.writestr(name, b"{}\n")

    return fill


def link(zipped: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("log/keys.txt")
    info.external_attr = 0o120777 << 16
    zipped.writestr(info, "/etc/passwd")


def one(name: str = "log/entries.jsonl", size: int = 1) -> bytes:
    return archive(lambda zipped: zipped.writestr(name, b"\0" * size), compression=zipfile.ZIP_DEFLATED)


def deep(zipped: zipfile.ZipFile) -> None:
    zipped.writestr("log/keys.txt", b"[" * 100_000 + b"\n")
    zipped.writestr("log/newest.checkpoint", b"[" * 100_000)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a bomb": (lambda: archive(bomb), "would unpack to too much"),
    "files that share their bytes": (lambda: quoted(one(size=MEBIBYTE)), "would unpack to too much"),
    "a size that is not so": (lambda: lying_size(archive(bomb)), ""),
    "a line without an end": (
        lambda: archive(lambda z: z.writestr("log/keys.txt", bytes(200_000)), compression=zipfile.ZIP_STORED),
        "",
    ),
    "a directory elsewhere": (lambda: zip64(one()), "too many files"),
    "a record of 64 bits elsewhere": (lambda: told_in_64_bits(one(), place=0), "too many files"),
    "more files than are allowed": (lambda: told_in_64_bits(one(), count=200_001), "too many files"),
    "more files than there are": (lambda: told_in_64_bits(one(), count=2), "no bundle has"),
    "files without end": (lambda: told_in_64_bits(one(), count=1 << 63), "too many files"),
    "an endless directory in 64 bits": (lambda: told_in_64_bits(one(), length=1 << 40), "too many files"),
    "an endless directory": (lambda: long_directory(one()), "too many files"),
    "another end in the signature": (lambda: end_in_the_signature(one()), "is no bundle"),
    "a path upwards": (lambda: archive(names("../verify.py")), "no bundle has: ['../verify.py']"),
    "a path upwards from within": (lambda: archive(names("log/../../verify.py")), "no bundle has"),
    "an absolute path": (lambda: archive(names("/etc/passwd.txt")), "no bundle has"),
    "a path of another system": (lambda: archive(names("C:\\verify.py")), "no bundle has"),
    "a hidden file": (lambda: archive(names("log/.profile")), "no bundle has"),
    "a folder": (lambda: archive(names("log/")), "no bundle has"),
    "a name that ends a line": (lambda: archive(names("log/keys.txt\n")), "no bundle has"),
    "a link": (lambda: archive(link), "no bundle has: ['log/keys.txt']"),
    "names that differ in case alone": (lambda: archive(names("TRAILER.json", "Trailer.json")), "no bundle has"),
    "a name that looks like another": (lambda: archive(names("log/kеys.txt")), "no bundle has"),  # a Cyrillic letter
    "a name twice": (lambda: archive(names("log/keys.txt", "log/keys.txt")), "no bundle has"),
    "deep nesting": (lambda: archive(deep, compression=zipfile.ZIP_STORED), "cannot be read"),
    "no archive": (lambda: b"\0" * 10_000, "is no bundle"),
    "nothing": (lambda: b"", "is no bundle"),
    "one byte": (lambda: b"P", "is no bundle"),
    "an empty archive": (lambda: archive(lambda zipped: None), "is no bundle"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("keys", [[KEY], []], ids=["a key is given", "no key is given"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_in_little_time_and_memory(name: str, keys: list[str]) -> None:
    make, reason = HOSTILE[name]
    raw = make()
    tracemalloc.start()
    began = time.process_time()
    code, headline, seq, _ = verify(io.BytesIO(raw), keys)
    took, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (code in (1, 2), seq) == (True, None), headline
    assert reason in headline
    assert took < 10
    assert peak < 150 * MEBIBYTE


def test_a_document_is_read_into_memory_up_to_a_bound_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive may unpack to 4 GiB, of which what is read at once is a small part: 16 blocks."""
    monkeypatch.setattr(verifier, "MAX_LINE", 1 << 16)

    def fill(zipped: zipfile.ZipFile) -> None:
        zipped.writestr("report.html", random.Random(1).randbytes(10_000))  # noqa: S311 - lets the rest be packed well
        zipped.writestr("documents/plan.json", b" " * MEBIBYTE + b"{}")
        zipped.writestr("documents/small.json", b" " * (MEBIBYTE - 2) + b"{}")

    bundle = Bundle(io.BytesIO(archive(fill)))
    assert bundle.tree("documents/small.json") == {}
    with pytest.raises(ValueError, match="Expecting value"):
        bundle.tree("documents/plan.json")


def test_compressed_content_within_the_bounds_is_read() -> None:
    made = content(sound_story())
    made.files["report.html"] = b"the same again " * 100_000
    raw = written(made)
    assert len(raw) < 30_000
    assert verify(io.BytesIO(raw), [KEY])[0] == 0
