"""The tables for people: whoever signs a bundle, a row that the log does not say is named, with the entry."""

import csv
import io
import random
import tracemalloc
from collections.abc import Callable

import pytest

from planner.canonical import file_sha256
from planner.verifier.verify import verify
from reviews.bundle.tables import ENTRY_COLUMNS, SIGNOFF_COLUMNS
from reviews.spreadsheet import csv_lines
from tests.verifier.making import KEY, SIGNER, STRANGE_KEY, STRANGER, Content, content, hash_line, sound_story, written
from tests.verifier.story import story, token

Row = list[str]
Change = Callable[[list[Row]], object]
ENTRIES, SIGNOFFS = "tables/entries.csv", "tables/signoffs.csv"
COLUMNS = {ENTRIES: list(ENTRY_COLUMNS), SIGNOFFS: list(SIGNOFF_COLUMNS)}
GIVEN = (14, 15, 23, 24)
"""The entries of the story that are sign-offs, in order of the rows."""
AT = f"log entry {GIVEN[0]} says "


def changed(name: str, change: Change, made: Content | None = None) -> Content:
    """Return a bundle in which the rows of a table are others, and everything is signed as always."""
    made = made or content(sound_story())
    rows = list(csv.reader(io.StringIO((made.files[name] or b"").decode())))
    change(rows)
    made.files[name] = b"".join(csv_lines(rows[0], rows[1:])) if rows else b""
    return made


def cell(name: str, row: int, column: str, says: str) -> Change:
    """Return what lets a cell say something else; rows are counted from 0, below the columns."""
    return lambda rows: rows[row + 1].__setitem__(COLUMNS[name].index(column), says)


def without_column(rows: list[Row]) -> None:
    """Say of no sign-off what it means."""
    at = COLUMNS[SIGNOFFS].index("meaning")
    for row in rows:
        row[at] = "meaning" if row is rows[0] else ""


def column_more(rows: list[Row]) -> None:
    for row in rows:
        row.append("verdict" if row is rows[0] else "approved by all")


def twice_the_column(rows: list[Row]) -> None:
    """Tell the meaning once more, before the one that is right."""
    for row in rows:
        row.insert(1, "meaning" if row is rows[0] else "object")


WRONG: dict[str, tuple[str, Change, str]] = {
    "another meaning": (
        SIGNOFFS,
        cell(SIGNOFFS, 0, "meaning", "object"),
        f"2: meaning is 'object', where {AT}'approve'",
    ),
    "another person": (
        SIGNOFFS,
        cell(SIGNOFFS, 0, "person", token("carol")),
        f"2: person is '{token('carol')[:59]}, where {AT}'{token('bob')[:59]}",
    ),
    "another team": (SIGNOFFS, cell(SIGNOFFS, 3, "team", "serving"), "5: team is 'serving', where log entry 24 says"),
    "a look-alike": (SIGNOFFS, cell(SIGNOFFS, 0, "team", "s\u0435rving"), f"2: team is 's\\u0435rving', where {AT}"),
    "another statement": (SIGNOFFS, cell(SIGNOFFS, 1, "statement", "No."), "3: statement is 'No.', where log entry 15"),
    "in nobody's place": (SIGNOFFS, cell(SIGNOFFS, 1, "in_place_of", ""), "3: in_place_of is '', where log entry 15"),
    "another time": (SIGNOFFS, cell(SIGNOFFS, 0, "at", "2026"), f"2: at is '2026', where {AT}"),
    "another decision": (SIGNOFFS, cell(SIGNOFFS, 0, "decision", "2"), f"2: decision is '2', where {AT}'1'"),
    "a huge number": (
        SIGNOFFS,
        cell(SIGNOFFS, 0, "revision", "9" * 5000),
        f"2: revision is '{'9' * 59}, where {AT}'1'",
    ),
    "the same number otherwise": (SIGNOFFS, cell(SIGNOFFS, 0, "revision", "01"), f"2: revision is '01', where {AT}"),
    "a proof of another kind": (SIGNOFFS, cell(SIGNOFFS, 0, "auth_method", "passkey"), "2: auth_method is 'passkey'"),
    "a row that is missing": (SIGNOFFS, lambda rows: rows.pop(2), "3: seq is '23', where log entry 15 says '15'"),
    "the last row that is missing": (SIGNOFFS, lambda rows: rows.pop(), "5: seq is None, where log entry 24 says '24'"),
    "no row at all": (SIGNOFFS, lambda rows: rows.__delitem__(slice(1, 9)), f"2: seq is None, where {AT}"),
    "nothing at all": (SIGNOFFS, lambda rows: rows.clear(), "2:  is None, where"),
    "a row too many": (SIGNOFFS, lambda rows: rows.append(["99", *rows[4][1:]]), "6: seq is '99', where the log's end"),
    "a row twice": (SIGNOFFS, lambda rows: rows.insert(1, rows[1]), "3: seq is '14', where log entry 15 says '15'"),
    "two rows in the other order": (SIGNOFFS, lambda rows: rows.insert(1, rows.pop(2)), f"2: seq is '15', where {AT}"),
    "an act that is no sign-off": (
        SIGNOFFS,
        lambda rows: rows.insert(1, ["13", *rows[1][1:]]),
        f"2: seq is '13', where {AT}'14'",
    ),
    "no meanings": (SIGNOFFS, without_column, f"2: meaning is '', where {AT}'approve'"),
    "a column more": (SIGNOFFS, column_more, f"2: verdict is 'approved by all', where {AT}''"),
    "a column twice": (SIGNOFFS, twice_the_column, f"2: meaning is 'object', where {AT}'approve'"),
    "a cell more": (SIGNOFFS, lambda rows: rows[1].append("x"), "2: None is 'x', where log entry 14 says ''"),
    "an entry with another action": (
        ENTRIES,
        cell(ENTRIES, 20, "action", "decision.rejected"),
        "22: action is 'decision.rejected', where log entry 20 says 'decision.activated'",
    ),
    "an entry with another digest": (ENTRIES, cell(ENTRIES, 3, "sha256", "sha256:0"), "5: sha256 is 'sha256:0', where"),
    "an entry with another reason": (
        ENTRIES,
        cell(ENTRIES, 20, "reason", "x"),
        "22: reason is 'x', where log entry 20",
    ),
    "an entry that is missing": (ENTRIES, lambda rows: rows.pop(5), "6: seq is '5', where log entry 4 says '4'"),
    "an entry too many": (ENTRIES, lambda rows: rows.append(rows[27]), "29: seq is '26', where the log's end says ''"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_row_that_the_log_does_not_say_is_named(name: str) -> None:
    table, change, reason = WRONG[name]
    code, headline, seq, _ = verify(io.BytesIO(written(changed(table, change))), [KEY])
    assert (code, seq, f"BROKEN: {table} line {reason}" in headline) == (1, None, True), headline


def test_who_signs_the_bundle_need_not_be_trusted() -> None:
    """The tables are refused whether the key is pinned or came with the bundle, of another one too."""
    change = cell(SIGNOFFS, 0, "meaning", "object")
    stranger = changed(SIGNOFFS, change, content(story(STRANGE_KEY), STRANGER))
    for made, keys in ((changed(SIGNOFFS, change), []), (stranger, []), (stranger, [STRANGE_KEY])):
        code, headline, *_ = verify(io.BytesIO(written(made)), keys)
        assert (code, f"{SIGNOFFS} line 2: meaning is 'object'" in headline) == (1, True), headline


@pytest.mark.parametrize("name", [ENTRIES, SIGNOFFS])
def test_a_bundle_has_its_tables(name: str) -> None:
    made = content(sound_story())
    made.files[name] = None
    assert verify(io.BytesIO(written(made)), [KEY])[:2] == (
        2,
        f"INCOMPLETE: {name} is missing. Not checked: the planner was not run; who is behind a token, whatever name "
        "stands there; report and records.",
    )


@pytest.mark.parametrize(("raw", "reason"), [(b'"a\n', "unexpected end of data"), (b"a,\xff\n", "can't decode byte")])
def test_a_table_that_cannot_be_read_is_incomplete(raw: bytes, reason: str) -> None:
    made = content(sound_story())
    made.files[SIGNOFFS] = raw
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, reason in headline) == (2, True), headline


def test_of_fifty_thousand_rows_too_many_the_first_is_named() -> None:
    made = content(sound_story())
    rows = (made.files[SIGNOFFS] or b"").splitlines(keepends=True)
    made.files[SIGNOFFS] = b"".join([*rows, *rows[-1:] * 50_000])
    made.files["report.html"] = bytes(range(256)) * 400  # is hardly packed, so that the ratio is allowed
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, f"{SIGNOFFS} line 6: seq is '24', where the log's end says ''" in headline) == (1, True), headline


def test_what_people_wrote_stands_there_on_one_line_and_disarmed() -> None:
    log = sound_story()
    for label, says in (("bob r1", "=1+1\r\nNot run."), ("erin r1", 'It says "so",\n\nand 2 × 2; \u200bé')):
        (log[label].payload or {})["statement"] = says
    made = content(log)
    lines = (made.files[SIGNOFFS] or b"").decode().splitlines()
    assert (len(lines), '"\'=1+1⏎Not run."' in lines[1]) == (5, True)
    assert verify(io.BytesIO(written(made)), [KEY])[0] == 0


def test_a_name_is_what_the_key_vouches_for_and_the_headline_says_so() -> None:
    code, headline, *_ = verify(io.BytesIO(written(changed(SIGNOFFS, cell(SIGNOFFS, 0, "who", "Zoe")))), [KEY])
    assert (code, "who is behind a token, whatever name stands there" in headline) == (0, True)


def test_a_sign_off_means_the_same_in_entry_and_payload() -> None:
    log = sound_story()
    log["bob d2"].fields["meaning"] = "object"
    made = content(log, with_statements=False)
    code, headline, seq, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, seq, "signs something else" in headline) == (1, GIVEN[2], True), headline


def test_entries_that_are_only_hashes_have_no_row() -> None:
    made = content(sound_story())
    made.lines[0] = hash_line(made.lines[0])
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, f"{ENTRIES} line 2: seq is '0', where log entry 1 says '1'" in headline) == (1, True), headline
    assert verify(io.BytesIO(written(changed(ENTRIES, lambda rows: rows.pop(1), made))), [KEY])[0] == 0


def test_tables_are_as_their_readers_know_them() -> None:
    made = content(sound_story())
    assert made.signer == SIGNER
    first = next(csv.DictReader(io.StringIO((made.files[ENTRIES] or b"").decode())))
    assert (first["seq"], first["who"], first["sha256"]) == ("0", "system", file_sha256(made.lines[0]))


def test_a_row_that_goes_on_for_ever_is_refused_within_little_memory() -> None:
    """A row is a line, so a quote that nothing closes does not swallow the rest of the table."""
    made = content(sound_story())
    head = (made.files[SIGNOFFS] or b"").splitlines(keepends=True)[0]
    made.files[SIGNOFFS] = head + b'"\n","' * 400_000 + b"\n"
    made.files["report.html"] = random.Random(1).randbytes(20_000)  # noqa: S311 - lets the rest be packed well
    raw = written(made)
    tracemalloc.start()
    code, headline, *_ = verify(io.BytesIO(raw), [KEY])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (code, "unexpected end of data" in headline, peak < 50 << 20) == (2, True, True), headline
