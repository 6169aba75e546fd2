"""The list of files: what evidence and diagnoses say they were read from, each in the bundle or stated as left out."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from planner.canonical import canonical_bytes, file_sha256
from planner.verifier.verify import verify
from reviews.spreadsheet import csv_lines
from tests.verifier.making import FILES, KEY, UNCHECKED, Content, content, sound_story, written
from tests.verifier.story import Story

RAW = b"rank,us\n0,12\n"
DIGEST = hashlib.sha256(RAW).hexdigest()
ABSENT = "22" * 32
COLUMNS = ("sha256", "size_bytes", "name", "behind", "uploaded_sha256", "included")
HERE, LEFT_OUT, LOG = range(3)
"""The rows of the list: a file that is in the bundle, one that is not, and one that a diagnosis was read from."""
NAMED = {
    "f1": {"name": 'a "name", of ranks.csv', "sha256": f"sha256:{DIGEST}", "bytes": len(RAW)},
    "f2": {"name": "=late.csv", "sha256": f"sha256:{ABSENT}", "bytes": 7},
}
Row = list[Any]


def telling() -> Story:
    """Return the story with evidence that names two files, and a diagnosis that was read from another one."""
    log = sound_story()
    created = log["created 2.1"].payload
    assert created is not None
    del log.documents[created["evidence_file_sha256"]]
    raw = canonical_bytes({"document": "evidence 2.1", "provenance": {"files": NAMED}})
    created["evidence_file_sha256"] = file_sha256(raw)
    log.documents[file_sha256(raw)] = raw
    of_rank = {"name": "engine.log", "kind": "log", "sha256": f"sha256:{'33' * 32}", "uploaded_sha256": "sha256:44"}
    log.add("slow", "diagnosis.made", {"number": 1, "files": [of_rank]}, decision=2, revision=1)
    return log


def rows(log: Story) -> list[Row]:
    """Return the list as it is right."""
    behind = f"evidence {(log['created 2.1'].payload or {})['evidence_file_sha256']}"
    first, second = NAMED.values()
    return [
        [first["sha256"], first["bytes"], first["name"], behind, "sha256:11", "yes"],
        [second["sha256"], second["bytes"], second["name"], behind, "", "no"],
        [f"sha256:{'33' * 32}", 40, "engine.log", "diagnosis 1 of D-0002", "sha256:44", "no"],
    ]


def listing(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> bytes:
    """Return the list as exports write it."""
    return b"".join(csv_lines(columns, rows))


def listed(raw: bytes | None = RAW, change: Callable[[list[Row]], object] = lambda rows: None) -> Content:
    """Return a bundle with the list, which may be changed, and with one of the files."""
    log = telling()
    made, found = content(log), rows(log)
    change(found)
    made.files |= {"tables/files.csv": listing(found)} | ({f"files/{DIGEST}.bin": raw} if raw is not None else {})
    return made


def cell(row: int, column: str, says: object) -> Callable[[list[Row]], object]:
    """Return what lets a cell say something else."""
    return lambda rows: rows[row].__setitem__(COLUMNS.index(column), says)


WRONG_ROWS: dict[str, tuple[Callable[[list[Row]], object], str]] = {
    "another digest": (cell(LEFT_OUT, "sha256", "sha256:00"), "line 3: sha256 is 'sha256:00', where evidence sha256:"),
    "another size": (cell(HERE, "size_bytes", 14), "line 2: size_bytes is '14', where evidence sha256:"),
    "another name": (cell(LEFT_OUT, "name", "=l\u0430te.csv"), 'line 3: name is "\'=l\\u0430te.csv", where evidence'),
    "behind other evidence": (cell(LEFT_OUT, "behind", "evidence sha256:00"), "line 3: behind is 'evidence sha256:00'"),
    "behind another diagnosis": (
        cell(LOG, "behind", "diagnosis 2 of D-0002"),
        "line 4: behind is 'diagnosis 2 of D-0002', where diagnosis 1 of D-0002 says 'diagnosis 1 of D-0002'",
    ),
    "another file as it was sent": (
        cell(LOG, "uploaded_sha256", "sha256:55"),
        "line 4: uploaded_sha256 is 'sha256:55', where diagnosis 1 of D-0002 says 'sha256:44'",
    ),
    "said to be here": (cell(LEFT_OUT, "included", "yes"), "line 3: included is 'yes', where evidence sha256:"),
    "said to be left out": (cell(HERE, "included", "no"), "line 2: included is 'no', where evidence sha256:"),
    "said to come later": (cell(LEFT_OUT, "included", "later"), "line 3: included is 'later', where evidence"),
    "a row that is missing": (lambda rows: rows.pop(LEFT_OUT), "line 3: sha256 is 'sha256:3333"),
    "the last row that is missing": (lambda rows: rows.pop(), "line 4: sha256 is None, where diagnosis 1 of D-0002"),
    "a row too many": (lambda rows: rows.append(rows[LOG]), "line 5: sha256 is 'sha256:3333"),
    "a row twice": (lambda rows: rows.insert(LOG, rows[LEFT_OUT]), "line 4: sha256 is 'sha256:2222"),
    "two rows in the other order": (lambda rows: rows.reverse(), "line 2: sha256 is 'sha256:3333"),
    "a cell too many": (lambda rows: rows[LOG].append("fine"), "line 4: None is 'fine'"),
    "a cell too few": (lambda rows: rows[LOG].pop(), "line 4: included is None"),
}


@pytest.mark.parametrize("name", WRONG_ROWS)
def test_a_row_that_evidence_does_not_say_is_named(name: str) -> None:
    change, reason = WRONG_ROWS[name]
    code, headline, seq, _ = verify(io.BytesIO(written(listed(change=change))), [KEY])
    assert (code, seq, f"tables/files.csv {reason}" in headline) == (1, None, True), headline


FORGED: dict[str, tuple[Callable[[Content], object], int, str]] = {
    "a listed file that is not there": (
        lambda m: m.files.update({f"files/{DIGEST}.bin": None}),
        1,
        "line 2: included is 'yes', where evidence sha256:",
    ),
    "a file that nothing names": (
        lambda m: m.files.update({f"files/{file_sha256(b'x')[7:]}.bin": b"x"}),
        1,
        "no evidence and no diagnosis names ['files/2d711642",
    ),
    "a file of other bytes": (
        lambda m: m.files.update({f"files/{DIGEST}.bin": b"rank,us\n0,11\n"}),
        1,
        "has another digest",
    ),
    "no row at all": (lambda m: m.files.update({"tables/files.csv": FILES}), 1, "line 2: sha256 is None"),
    "a list without its columns": (lambda m: m.files.update({"tables/files.csv": b"\n"}), 1, "line 2:  is None"),
    "a column too many": (
        lambda m: m.files.update(
            {"tables/files.csv": listing([[*row, "fit"] for row in rows(telling())], (*COLUMNS, "judged"))}
        ),
        1,
        "line 2: judged is 'fit', where evidence",
    ),
    "a list that is no text": (lambda m: m.files.update({"tables/files.csv": b"\xff\xfe\n"}), 2, "cannot be read"),
    "a list without an end": (lambda m: m.files.update({"tables/files.csv": FILES[:-1]}), 2, "has no end"),
    "a cell without an end": (lambda m: m.files.update({"tables/files.csv": FILES + b'"sha\n'}), 2, "cannot be read"),
}


@pytest.mark.parametrize("name", FORGED)
def test_the_list_and_the_files_say_the_same(name: str) -> None:
    change, code, reason = FORGED[name]
    made = listed()
    change(made)
    found, headline, seq, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (found, seq, reason in headline) == (code, None, True), headline


def test_the_evidence_of_two_decisions_cannot_be_exchanged() -> None:
    """The list tells each file behind the evidence that names it; the log names evidence by digest."""
    made = listed()
    created = [json.loads(raw) for raw in made.payloads if b'"evidence_file_sha256"' in raw]
    one, other = created[0]["evidence_file_sha256"], created[-1]["evidence_file_sha256"]
    made.documents[one], made.documents[other] = made.documents[other], made.documents[one]
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, f"{min(one, other)[7:]}.json has another digest" in headline) == (1, True), headline


def test_files_that_are_not_here_are_counted_once_each() -> None:
    code, headline, _, unchecked = verify(io.BytesIO(written(listed())), [KEY])
    assert (code, unchecked) == (0, [*UNCHECKED, "files that are not here: 2"]), headline


def test_a_bundle_of_an_earlier_version_has_no_list() -> None:
    made = listed()
    made.files["tables/files.csv"] = None
    code, headline, _, unchecked = verify(io.BytesIO(written(made)), [KEY])
    assert (code, unchecked[-1]) == (0, "files that are not here: 2"), headline


def test_the_list_is_read_by_every_reader_of_csv() -> None:
    found = list(csv.DictReader(io.StringIO((listed().files["tables/files.csv"] or b"").decode())))
    assert [row["name"] for row in found] == ['a "name", of ranks.csv', "'=late.csv", "engine.log"]
