"""Rule 7: too few eligible signers is UNSATISFIABLE with the names, a rule that fails is ERROR; both block."""

from typing import Any

import pytest

from reviews.models import Person, Role, TeamSeat
from reviews.policies import requirements as rules
from reviews.policies.requirements import Requirement
from reviews.selectors.decision_page import decision_page
from reviews.selectors.rows import DecisionPage
from reviews.services.people import member_add, seat_give, seat_take
from tests.reviews.factories import POLICY, Cast, cast, planned, sign

pytestmark = pytest.mark.django_db

TWO_OF_SERVING: dict[str, Any] = POLICY | {
    "teams": POLICY["teams"] | {"serving": {"title": "Serving", "quorum": 2}},
}


def page_of(people: Cast) -> DecisionPage:
    return decision_page(actor=people.alice, workspace=people.workspace, number=1)


def requirement(people: Cast, team: str = "serving") -> Requirement:
    return next(row for row in page_of(people).requirements if row.team == team)


@pytest.fixture
def board(db: None) -> Cast:
    """A board whose serving team needs two and has bob and dave; ada is its admin."""
    people = cast(policy=TWO_OF_SERVING)
    ada = Person.objects.create_user("ada", display_name="Ada")
    member_add(workspace=people.workspace, person=ada, role=Role.ADMIN)
    return people


def test_a_member_who_is_switched_off_is_missing_by_name(board: Cast) -> None:
    planned(board)
    Person.objects.filter(pk=board.dave.pk).update(is_active=False)
    row = requirement(board)
    assert (row.status, row.owed_by, row.since) == ("UNSATISFIABLE", ("Ada",), page_of(board).newest.planned_at)
    assert row.because == ("serving has 1 eligible member of 2. Missing: Dave (switched off). An admin adds members.")


def test_an_author_with_a_seat_is_missing_by_name(board: Cast) -> None:
    member_add(workspace=board.workspace, person=board.dave, role=Role.AUTHOR)
    planned(board, actor=board.dave)
    assert "Missing: Dave (an author of this decision)." in requirement(board).because


def test_who_fills_another_teams_seat_is_missing_by_name(board: Cast) -> None:
    TeamSeat.objects.filter(team__slug="networking").delete()
    seat_give(membership=board.bob.memberships.get(), team="networking")
    revision = planned(board)
    sign(board, revision, board.bob, team="networking")
    assert "Missing: Bob (fills another team's seat)." in requirement(board).because


def test_a_team_without_members_asks_an_admin(people: Cast) -> None:
    planned(people)
    seat_take(seat=TeamSeat.objects.get(team__slug="networking"))
    row = requirement(people, "networking")
    assert (row.status, row.because) == (
        "UNSATISFIABLE",
        "networking has 0 eligible members of 1. An admin adds members.",
    )


def test_unsatisfiable_blocks(people: Cast) -> None:
    revision = planned(people)
    seat_take(seat=TeamSeat.objects.get(team__slug="networking"))
    sign(people, revision)
    assert page_of(people).approval.because == "Waiting on networking."


def test_a_rule_that_fails_is_an_error_that_blocks_and_says_so(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = planned(people)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")

    def broken(case: Any, team: str, quorum: int) -> None:
        if team == "serving":
            raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(rules, "RULES", (broken, *rules.RULES))
    row = requirement(people)
    assert (row.status, row.because) == (
        "ERROR",
        "This requirement could not be judged: ZeroDivisionError: division by zero. An operator looks into it.",
    )
    assert not page_of(people).approval.approved
