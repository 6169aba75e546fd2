"""Conflicts of the evidence builder as rows: one by one, or those of one section together."""

from msgspec.structs import replace

from planner.builder.state import Candidate, Conflict, DraftState
from reviews.web.builder_conflict_rows import conflict_rows
from reviews.web.builder_texts import scope_text
from tests.planner.builder.kit import BECAUSE, bench, drafted, log, looked_at

SHORT = {"a.log": log(2, model="example/model-9b"), "b.json": bench()}
HARDWARE = "/identities/tp2/hardware"


def of_another_machine(*, settled: bool = False) -> DraftState:
    """A draft in which two files name eight devices differently."""
    state = looked_at(drafted(SHORT))
    one = state.conflicts[0].candidates[0]

    def said(file: str, value: str) -> Candidate:
        return replace(one, run=f"{file}.1", file=file, value=value)

    return replace(
        state,
        conflicts=tuple(
            Conflict(
                field=f"{HARDWARE}/devices/a{index}/type",
                unit="",
                candidates=(said("ours", "H200"), said("theirs", "B200")),
                settle_at=(f"{HARDWARE}/devices/a{index}/type", HARDWARE, "/identities/*/hardware"),
                settled=settled,
            )
            for index in range(10)
        ),
    )


def test_one_field_shows_what_every_file_says_and_where() -> None:
    (row,) = conflict_rows(looked_at(drafted(SHORT)), {}, {}).rows
    assert (row.title, row.takes_own, row.is_settled) == ("tp2: model name", True, False)
    assert [(one.file, one.value, one.where) for one in row.candidates] == [
        ("a.log", "example/model-9b", "line 1"),
        ("b.json", "example/model-8b", "line 1, /model_id"),
    ]
    assert [text for _, text in row.scopes] == ["here only", "every trial"]


def test_fields_of_one_section_between_the_same_files_are_settled_at_once() -> None:
    page = conflict_rows(of_another_machine(), {}, {})
    (row,) = page.rows
    assert (page.together, row.field, row.title, row.takes_own) == (True, HARDWARE, "tp2: hardware, 10 fields", False)
    assert row.scopes == ((HARDWARE, "here only"), ("/identities/*/hardware", "every trial"))
    theirs = row.candidates[1]
    assert (theirs.file, theirs.fields[0], theirs.more) == ("theirs", ("devices a0 type", "B200"), "and 2 more fields")


def test_every_field_can_be_shown_by_itself() -> None:
    page = conflict_rows(of_another_machine(), {}, {}, each=True)
    assert [row.takes_own for row in page.rows] == [True] * 10
    assert not page.together


def test_what_was_settled_at_once_is_opened_at_once() -> None:
    (row,) = conflict_rows(of_another_machine(settled=True), {HARDWARE: BECAUSE}, {}).rows
    assert (row.is_settled, row.settled_at, row.because) == (True, HARDWARE, BECAUSE)


def test_scopes_are_named_by_what_they_reach() -> None:
    at = "/identities/{}/hardware/devices/{}/type"
    assert [scope_text(at.format(*pair)) for pair in (("tp2", "a0"), ("tp2", "*"), ("*", "a0"), ("*", "*"))] == [
        "here only",
        "every device of tp2",
        "every trial",
        "every device of every trial",
    ]
