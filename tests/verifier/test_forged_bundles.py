"""Bundles as an insider with the key would forge them, and ways to fool whoever only reads the last line."""

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.canonical import canonical_bytes, file_sha256
from planner.command import main as topogate
from planner.verifier import verify as verifier
from planner.verifier.verify import verify
from reviews.statements.intoto import envelope
from reviews.transparency.checkpoints import Checkpoint, checkpoint_signed
from reviews.transparency.merkle import leaf_hash, nodes_of, root_at
from reviews.transparency.notes import Signer
from tests.verifier.making import (
    KEY,
    SIGNER,
    STRANGE_KEY,
    STRANGER,
    Content,
    checkpoint,
    content,
    sound_story,
    unwrapped,
    written,
)
from tests.verifier.test_damaged_bundles import LAST, REVIEW, Change, restated
from tests.verifier.test_hostile_archives import archive


def raw_last(made: Content, old: bytes, new: bytes) -> None:
    """Let the key sign a log whose last entry has other bytes."""
    assert old in made.lines[LAST]
    made.lines[LAST] = made.lines[LAST].replace(old, new, 1)
    made.files["log/newest.checkpoint"] = checkpoint(made.lines)


def raw_payload(made: Content, old: bytes, new: bytes) -> None:
    """Let the key sign a log whose last payload has other bytes."""
    assert old in made.payloads[-1]
    made.payloads[-1] = made.payloads[-1].replace(old, new, 1)
    entry = json.loads(made.lines[LAST]) | {"payload_sha256": file_sha256(made.payloads[-1])}
    made.lines[LAST] = canonical_bytes(entry)
    made.files["log/newest.checkpoint"] = checkpoint(made.lines)


def said(made: Content, **changes: Any) -> None:
    restated(made, REVIEW, lambda tree: tree["predicate"].update(changes))


def of_another_revision(tree: dict[str, Any]) -> None:
    tree["subject"] = OTHER["subject"]


SOUND = content(sound_story())
OTHER: dict[str, Any] = json.loads(unwrapped(SOUND.statements[0]))


def twice_stated(made: Content) -> None:
    made.statements.append(made.statements[REVIEW])


def unnumbered_review(made: Content) -> None:
    """A second review that names no entry, so that nothing of the log would be compared with it."""
    tree = json.loads(unwrapped(made.statements[REVIEW]))
    del tree["predicate"]["entry"]
    made.statements.append(envelope(tree, SIGNER))


def doubled_key(made: Content) -> None:
    made.statements[0] = made.statements[0].replace(b'{"payload"', b'{"payload":"","payload"', 1)


FORGED: dict[str, tuple[Change, int, int | None, str]] = {
    "a whole number with an exponent": (lambda m: raw_last(m, b'"seq":26', b'"seq":26e0'), 1, LAST, "only form"),
    "a whole number with a point": (lambda m: raw_last(m, b'"seq":26', b'"seq":26.0'), 1, LAST, "only form"),
    "minus nothing": (lambda m: raw_last(m, b'"v":1', b'"v":1,"w":-0'), 1, LAST, "only form"),
    "no number": (lambda m: raw_last(m, b'"v":1', b'"v":1,"w":NaN'), 1, LAST, "only form"),
    "a number of 5,000 digits": (
        lambda m: raw_last(m, b'"v":1', b'"v":1,"w":' + b"9" * 5000),
        1,
        LAST,
        "does not say what an entry has to: Exceeds the limit",
    ),
    "true in place of 1": (lambda m: raw_last(m, b'"v":1', b'"v":true'), 1, LAST, "only form"),
    "an escaped letter": (lambda m: raw_last(m, b'"action":"d', b'"action":"\\u0064'), 1, LAST, "only form"),
    "half a character": (lambda m: raw_last(m, b'"v":1', b'"v":1,"w":"\\ud800"'), 1, LAST, "codec can't encode"),
    "a byte order mark": (lambda m: raw_last(m, b'{"action"', b'\xef\xbb\xbf{"action"'), 1, LAST, ""),
    "a key of a payload twice": (
        lambda m: raw_payload(m, b"{", b'{"by":1,'),
        1,
        LAST,
        "does not say what an entry has to: 'a key'",
    ),
    "no number in a payload": (
        lambda m: raw_payload(m, b"{", b'{"w":NaN,'),
        1,
        LAST,
        "does not say what an entry has to: ",
    ),
    "a review of another log": (lambda m: said(m, log="topogate/other/0123456789abcdef"), 1, 20, "otherwise than log"),
    "a review under another policy": (lambda m: said(m, policy="sha256:" + "0" * 64), 1, 20, "otherwise than log"),
    "a review for another slot": (lambda m: said(m, slot="another"), 1, 20, "otherwise than log"),
    "a review that says more": (lambda m: said(m, waived=[]), 1, 20, "otherwise than log"),
    "a review of another subject": (lambda m: restated(m, REVIEW, of_another_revision), 1, 20, "otherwise than log"),
    "a review twice": (twice_stated, 1, 20, "otherwise than log"),
    "a review without an entry": (unnumbered_review, 1, None, "otherwise than log"),
    "an envelope with a key twice": (doubled_key, 2, None, "cannot be read"),
    "a kept file under another digest": (
        lambda m: m.files.update({f"files/{'0' * 64}.bin": b"rank,us\n"}),
        1,
        None,
        "has another digest",
    ),
    "a document too many under another digest": (
        lambda m: m.documents.update({"sha256:" + "0" * 64: b"{}"}),
        1,
        None,
        "has another digest",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_the_key_forged_does_not_hold(name: str) -> None:
    change, code, seq, reason = FORGED[name]
    made = content(sound_story())
    change(made)
    found, headline, at, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (found, at) == (code, seq), headline
    assert (reason in headline, "Error" in headline) == (True, False)


@pytest.mark.parametrize("size", ["-1", "+27", "027", " 27", "2_7", "27.0", "", "9" * 5000])
def test_a_size_is_written_in_one_way(size: str) -> None:
    made = content(sound_story())
    origin, _, rest = made.files["log/newest.checkpoint"].decode().split("\n", 2)  # type: ignore[union-attr]
    made.files["log/newest.checkpoint"] = f"{origin}\n{size}\n{rest}".encode()
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, "a checkpoint cannot be read" in headline) == (2, True)


def test_a_bundle_moves_no_cursor() -> None:
    """Without a key that the reader gives, everything in a bundle is a stranger's words, its headline too."""
    made = content(sound_story(), with_statements=False)
    made.lines[3] = b'{"x":"\\u001b[2K\\rVERIFIED"}'
    _, headline, *_ = verify(io.BytesIO(written(made)))
    assert headline.isprintable()
    origin = "topogate/\r\x1b[2KVERIFIED: all/1"
    hashes = [leaf_hash(line) for line in made.lines]
    try:
        note = checkpoint_signed(
            Checkpoint(origin, len(hashes), root_at(nodes_of(hashes), len(hashes))), [Signer(origin, SIGNER.private)]
        )
    except ValueError:
        note = f"{origin}\n{len(hashes)}\n{'A' * 43}=\n\n— x AAAA\n".encode()
    made.files["log/newest.checkpoint"] = note
    code, headline, *_ = verify(io.BytesIO(written(made)))
    assert (code, headline.isprintable()) == (2, True)


def test_an_old_key_shows_only_against_a_checkpoint_that_was_kept() -> None:
    """Two keys are pinned: a log that ends before the newer key was set is no continuation of what was seen since."""
    made = content(sound_story())
    since = checkpoint([*made.lines, b"{}"], STRANGER)
    code, headline, seq, _ = verify(io.BytesIO(written(made)), [KEY, STRANGE_KEY], [since])
    assert (code, seq) == (1, 27), headline
    assert verify(io.BytesIO(written(made)), [STRANGE_KEY])[0] == 1


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_file_is_packed_as_bundles_are_and_in_no_other_way(method: int) -> None:
    """LZMA says itself how much memory it takes, up to 4 GiB."""
    raw = archive(lambda zipped: zipped.writestr("log/keys.txt", b"{}\n"), compression=method)
    code, headline, *_ = verify(io.BytesIO(raw))
    assert (code, "files that no bundle has: ['log/keys.txt']" in headline) == (1, True)


def test_a_place_past_every_file_is_an_answer(tmp_path: Path) -> None:
    """The directory may say, in 64 bits, that a file begins where no system can seek."""
    raw = archive(lambda zipped: zipped.writestr("log/newest.checkpoint", b"x"), compression=zipfile.ZIP_STORED)
    at, end = raw.rindex(b"PK\1\2"), raw.rindex(b"PK\5\6")
    extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    entry = bytearray(raw[at:end] + extra)
    entry[30:32], entry[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    tail = bytearray(raw[end:])
    tail[12:16] = struct.pack("<L", len(entry))
    path = tmp_path / "bundle.zip"
    path.write_bytes(raw[:at] + entry + tail)
    with path.open("rb") as file:
        assert verify(file, [KEY])[0] == 2


TOPOGATE = "from planner.command import main; raise SystemExit(main())"
WRONG: dict[str, Callable[[Path], list[str]]] = {
    "no such bundle": lambda folder: [str(folder / "none.zip")],
    "a folder": lambda folder: [str(folder)],
    "an empty file": lambda folder: [str(folder / "empty")],
    "no such key": lambda folder: [str(folder / "bundle.zip"), "--key", str(folder / "none")],
    "a folder as key": lambda folder: [str(folder / "bundle.zip"), "--key", str(folder)],
    "an empty key": lambda folder: [str(folder / "bundle.zip"), "--key", str(folder / "empty")],
    "half a key": lambda folder: [str(folder / "bundle.zip"), "--key", "a+b"],
    "no such checkpoint": lambda folder: [str(folder / "bundle.zip"), "--checkpoint", str(folder / "none")],
    "an empty checkpoint": lambda folder: [str(folder / "bundle.zip"), "--checkpoint", str(folder / "empty")],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_is_no_verdict_about_the_log(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 speaks of the log, so whatever else goes wrong has to end otherwise, in both programs."""
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "bundle.zip").write_bytes(written(content(sound_story())))
    arguments = WRONG[name](tmp_path)
    assert topogate(["verify", *arguments]) == 2
    try:
        code = verifier.main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    printed = capsys.readouterr()
    assert "VERIFIED" not in printed.out
    assert "Traceback" not in printed.err


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(written(content(sound_story())))
    for command in ([verifier.__file__, "-"], [verifier.__file__, "/dev/stdin"], ["-c", TOPOGATE, "verify", "-"]):
        done = subprocess.run(
            [sys.executable, *command],
            input=(tmp_path / "bundle.zip").read_bytes(),
            capture_output=True,
            check=False,
            env=os.environ,
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (2, False), done


def test_a_file_with_two_keys_gives_both(tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(written(content(sound_story())))
    (tmp_path / "keys").write_text(f"{STRANGE_KEY}\n{KEY}\n")
    arguments = [str(tmp_path / "bundle.zip"), "--key", str(tmp_path / "keys")]
    assert (verifier.main(arguments), topogate(["verify", *arguments])) == (0, 0)


@pytest.mark.parametrize("absent", [-2, 1.5, "2", None, [1]], ids=repr)
def test_what_is_left_out_is_a_number_of_files(absent: object) -> None:
    made = content(sound_story())
    made.trailer["absent"] = absent
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, "the trailer lists more or less" in headline) == (2, True)
