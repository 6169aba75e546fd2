"""Lists and pages of decisions: what they show, to whom, with how many queries."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reviews.asked_once import reading
from reviews.errors import NotFoundError
from reviews.models import Decision
from reviews.selectors.decision_page import decision_page
from reviews.selectors.decisions import DecisionFilter, decision_rows
from reviews.services.people import seat_give
from tests.reviews.factories import Cast, documents, planned, sign, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def rows(people: Cast, **choices: Any) -> list[int]:
    found = decision_rows(actor=people.alice, workspace=people.workspace, **choices)
    return [row.number for row in found.rows]


def test_a_row_says_what_a_decision_is_and_who_owes_what(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision)
    row = decision_rows(actor=people.carol, workspace=people.workspace).rows[0]
    assert (row.label, row.title, row.slot, row.state, row.state_label, row.opened_by) == (
        "D-0001",
        "One device",
        "own/one-device",
        "IN_REVIEW",
        "In review",
        "Alice",
    )
    assert row.newest.plan is not None
    assert (row.newest.plan.decision_word, row.newest.plan.selected_topology) == ("SELECT_TOPOLOGY", "tp1-pp1-ep1-dp1")
    assert [(r.team, r.status, r.owed_by) for r in row.requirements] == [
        ("networking", "UNSATISFIED", ("Carol",)),
        ("serving", "SATISFIED", ()),
    ]
    assert (row.satisfied, row.approval.because) == (1, "Waiting on networking.")


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        pytest.param("carol", ("networking",), id="a member of the team that owes"),
        pytest.param("bob", (), id="who signed already"),
        pytest.param("dave", (), id="whose team is satisfied"),
        pytest.param("alice", (), id="the author"),
        pytest.param("audrey", (), id="an auditor"),
    ],
)
def test_whose_turn_it_is(people: Cast, name: str, mine: tuple[str, ...]) -> None:
    sign(people, planned(people))
    assert decision_rows(actor=getattr(people, name), workspace=people.workspace).rows[0].my_teams == mine


def test_nobodys_turn_while_the_plan_is_made(people: Cast) -> None:
    submitted(people)
    row = decision_rows(actor=people.bob, workspace=people.workspace).rows[0]
    assert (row.my_teams, row.newest.plan, row.newest.job.is_open) == ((), None, True)


def test_decisions_come_newest_first_page_by_page(people: Cast) -> None:
    for number in range(5):
        submitted(people, pair=documents(tokens=170000 + number))
    first = decision_rows(actor=people.alice, workspace=people.workspace, page_size=2)
    assert ([row.number for row in first.rows], first.older_than) == ([5, 4], 4)
    assert rows(people, page_size=2, older_than=4) == [3, 2]
    last = decision_rows(actor=people.alice, workspace=people.workspace, page_size=2, older_than=2)
    assert ([row.number for row in last.rows], last.older_than) == ([1], None)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param(DecisionFilter(state="IN_REVIEW"), [1], id="state"),
        pytest.param(DecisionFilter(slot="own/other"), [2], id="slot"),
        pytest.param(DecisionFilter(text="OTHER"), [2], id="text in the slot"),
        pytest.param(DecisionFilter(text="one dev"), [2, 1], id="text in the title"),
        pytest.param(DecisionFilter(text="tp1-pp1"), [1], id="text in the topology"),
        pytest.param(DecisionFilter(text="%"), [], id="a wildcard is only text"),
        pytest.param(DecisionFilter(text="\0"), [], id="NUL, which PostgreSQL cannot hold"),
        pytest.param(DecisionFilter(slot="\ud800"), [], id="half a character"),
        pytest.param(DecisionFilter(state="IN_REVIEW", slot="own/other"), [], id="both must hold"),
    ],
)
def test_filters(people: Cast, wanted: DecisionFilter, found: list[int]) -> None:
    planned(people)
    submitted(people, pair=documents(slot="own/other"))
    assert rows(people, wanted=wanted) == found


def test_a_list_takes_as_many_queries_for_one_decision_as_for_twenty(people: Cast) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            decision_rows(actor=people.bob, workspace=people.workspace)
        return len(captured)

    sign(people, planned(people))
    one = queries()
    for number in range(19):
        sign(people, planned(people, pair=documents(tokens=170000 + number)))
    assert (queries(), one) == (one, 12)


def test_a_page_takes_as_many_queries_for_many_signoffs_and_revisions(people: Cast) -> None:
    def queries() -> int:
        with reading(), CaptureQueriesContext(connection) as captured:
            decision_page(actor=people.bob, workspace=people.workspace, number=1)
        return len(captured)

    revision = planned(people)
    sign(people, revision)
    one = queries()
    revision = planned(people, pair=documents(tokens=160_000), decision=revision.decision)
    moved = queries()  # asks what moved under the sign-off
    for number in range(4):
        revision = planned(people, pair=documents(tokens=170000 + number), decision=revision.decision)
        for turn in range(3):
            sign(people, revision, statement=f"Turn {turn}.")
    assert (one, moved, queries()) == (13, 14, 14)


def test_a_page_shows_the_newest_revision_or_the_one_asked_for(people: Cast) -> None:
    first = planned(people)
    second = planned(people, pair=documents(tokens=170000), decision=first.decision)
    page = decision_page(actor=people.bob, workspace=people.workspace, number=1)
    assert (page.shown.number, page.is_newest, page.moved) == (2, True, ())
    assert page.plan_bytes == bytes(second.planned.plan.blob.data)
    older = decision_page(actor=people.bob, workspace=people.workspace, number=1, revision=1)
    assert (older.shown.number, older.newest.number, older.is_newest) == (1, 2, False)
    assert older.moved == ("evidence", "plan")
    assert older.plan_bytes == bytes(first.planned.plan.blob.data)
    assert [row.number for row in older.revisions] == [1, 2]


def test_a_page_gives_the_plan_as_a_record(people: Cast) -> None:
    planned(people)
    plan = decision_page(actor=people.bob, workspace=people.workspace, number=1).plan()
    assert plan is not None
    assert (plan.decision, plan.slot) == ("SELECT_TOPOLOGY", "own/one-device")


def test_a_page_without_a_plan_has_no_subject_to_sign(people: Cast) -> None:
    submitted(people)
    page = decision_page(actor=people.bob, workspace=people.workspace, number=1)
    assert (page.plan(), page.shown.subject, page.approval.because) == (None, None, "There is no plan yet.")


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        pytest.param("bob", [("serving", True, "")], id="a member"),
        pytest.param("audrey", [], id="without a seat"),
        pytest.param(
            "alice",
            [("serving", False, "You made a revision of this decision. Its authors never sign it.")],
            id="the author, with a seat",
        ),
    ],
)
def test_a_page_says_for_whom_the_reader_may_sign(people: Cast, name: str, seats: list[tuple[str, bool, str]]) -> None:
    seat_give(membership=people.alice.memberships.get(), team="serving")
    planned(people)
    page = decision_page(actor=getattr(people, name), workspace=people.workspace, number=1)
    assert [(seat.team, seat.verdict.allowed, seat.verdict.reason) for seat in page.seats] == seats


def test_a_signoff_row_shows_what_was_displayed(people: Cast) -> None:
    signoff = sign(people, planned(people))
    row = decision_page(actor=people.bob, workspace=people.workspace, number=1).signoffs[0]
    assert (row.person, row.team, row.revision, row.is_mine, row.status) == ("Bob", "serving", 1, True, "CURRENT")
    assert json.loads(row.displayed)["subject"] == row.subject == signoff.subject


@pytest.mark.parametrize(
    ("name", "number", "revision", "message"),
    [
        pytest.param("charlie", 1, None, "There is no workspace lab that you belong to.", id="a stranger"),
        pytest.param("bob", 2, None, "There is no decision D-0002 in lab.", id="no such decision"),
        pytest.param("bob", 1, 7, "D-0001 has no revision 7. The newest is 1.", id="no such revision"),
    ],
)
def test_what_is_not_there_is_not_found(
    people: Cast, name: str, number: int, revision: int | None, message: str
) -> None:
    submitted(people)
    with pytest.raises(NotFoundError) as missing:
        decision_page(actor=getattr(people, name), workspace=people.workspace, number=number, revision=revision)
    assert missing.value.message == message
    assert Decision.objects.count() == 1
