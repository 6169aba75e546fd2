"""The list of files behind evidence: each lies in the bundle under its digest, or is stated as left out."""

import hashlib
import io
from collections.abc import Callable, Sequence

import pytest

from planner.verifier.verify import verify
from reviews.spreadsheet import csv_lines
from tests.verifier.making import FILES, KEY, Content, content, sound_story, written

RAW = b"rank,us\n0,12\n"
DIGEST = hashlib.sha256(RAW).hexdigest()
COLUMNS = ("sha256", "size_bytes", "name", "behind", "uploaded_sha256", "included")
Row = tuple[str, int, str, str, str, str]


def row(digest: str, included: str, name: str = "ranks.csv") -> Row:
    """Return a row of the list."""
    return (f"sha256:{digest}", len(RAW), name, "evidence sha256:00", f"sha256:{digest}", included)


def listing(*rows: Row, columns: Sequence[str] = COLUMNS) -> bytes:
    """Return the list as exports write it."""
    return b"".join(csv_lines(columns, rows))


LEFT_OUT, HERE = row("22" * 32, "no"), row(DIGEST, "yes")


def listed(made: Content, *rows: Row, raw: bytes | None = None) -> None:
    """Let a bundle list these files, and hold one."""
    made.files |= {"tables/files.csv": listing(*rows)} | ({f"files/{DIGEST}.bin": raw} if raw is not None else {})


FORGED: dict[str, tuple[Callable[[Content], object], int, str]] = {
    "a listed file that is not there": (lambda m: listed(m, HERE), 1, "tells of others"),
    "a file that no row lists": (lambda m: listed(m, LEFT_OUT, raw=RAW), 1, "tells of others"),
    "a file that is said to be left out": (lambda m: listed(m, row(DIGEST, "no"), raw=RAW), 1, "tells of others"),
    "a file that is neither there nor left out": (lambda m: listed(m, row(DIGEST, "later")), 1, "tells of others"),
    "a file of other bytes": (lambda m: listed(m, HERE, raw=b"rank,us\n0,11\n"), 1, "has another digest"),
    "a file without a list": (
        lambda m: m.files.update({f"files/{DIGEST}.bin": RAW, "tables/files.csv": None}),
        1,
        "tells",
    ),
    "a list without its columns": (
        lambda m: m.files.update({"tables/files.csv": listing(HERE, columns=COLUMNS[1:])}),
        2,
        "sha256' is missing or doubled",
    ),
    "a list that is no text": (lambda m: m.files.update({"tables/files.csv": b"\xff\xfe\n"}), 2, "cannot be read"),
    "a list without an end": (lambda m: m.files.update({"tables/files.csv": FILES[:-1]}), 2, "has no end"),
}


@pytest.mark.parametrize("name", FORGED)
def test_the_list_and_the_files_say_the_same(name: str) -> None:
    change, code, reason = FORGED[name]
    made = content(sound_story())
    change(made)
    found, headline, seq, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (found, seq, reason in headline) == (code, None, True), headline


def test_files_that_are_there_leave_nothing_unchecked() -> None:
    """The same file may stand behind two values, under any name."""
    made = content(sound_story())
    listed(made, HERE, row(DIGEST, "yes", name='a "name",\nof two lines'), raw=RAW)
    code, headline, _, unchecked = verify(io.BytesIO(written(made)), [KEY])
    assert (code, len(unchecked)) == (0, 2), headline


def test_files_that_were_left_out_are_counted_once_each() -> None:
    made = content(sound_story())
    listed(made, LEFT_OUT, LEFT_OUT, row("33" * 32, "no"))
    code, headline, _, unchecked = verify(io.BytesIO(written(made)), [KEY])
    assert (code, unchecked[-1]) == (0, "kept files that were left out: 2"), headline


def test_a_bundle_without_the_list_says_so() -> None:
    made = content(sound_story())
    made.files["tables/files.csv"] = None
    code, headline, _, unchecked = verify(io.BytesIO(written(made)), [KEY])
    assert (code, unchecked[-1]) == (0, "kept files that were left out: no list tells how many"), headline
