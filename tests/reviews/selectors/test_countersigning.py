"""Whom a proposal waits for is whom the act lets, whatever the kind and whatever moved; and until when."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from reviews.errors import ReviewError
from reviews.models import Person, Proposal, TeamSeat
from reviews.selectors.people import standing_of
from reviews.selectors.proposals import ProposalRow, proposal_row, proposals_waiting_on
from reviews.services.people import policy_set, seat_give
from reviews.services.proposal_ends import proposal_decline
from reviews.services.proposals import HANDLERS
from reviews.services.two_persons import proposal_countersign
from tests.reviews import waiting
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import BOARD, TRACE, board, countersign, propose
from tests.reviews.rules.test_rule_11_validity import pass_time
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

SECONDS = {
    "policy": ["Abel"],
    "waiver": ["Erin"],
    "emergency": ["Bob", "Dave"],
    "revocation": ["Ivan"],
    "rollback": ["Ivan"],
    "lift_objection": ["Bob"],
}


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def row(people: Cast, proposal: Proposal) -> ProposalRow:
    return proposal_row(actor=people.audrey, workspace=people.workspace, proposal_id=proposal.pk)


def able(people: Cast, proposal: Proposal) -> list[str]:
    """Everybody whom the act itself lets, each asked and undone; whom it lets may decline as well, and nobody else."""
    found: dict[str, list[str]] = {"countersign": [], "decline": []}
    acts: dict[str, Callable[..., object]] = {
        "countersign": proposal_countersign,
        "decline": partial(proposal_decline, reason="Not now."),
    }
    members = Person.objects.filter(memberships__workspace=people.workspace, is_active=True)
    for person, name in product(members.order_by("display_name"), acts):
        said: dict[str, Any] = {"actor": person, "workspace": people.workspace, "trace": TRACE}
        with suppress(ReviewError), transaction.atomic():
            acts[name](HANDLERS, proposal_id=proposal.pk, **said)
            found[name].append(person.display_name)
            transaction.set_rollback(True)
    assert found["countersign"] == found["decline"]
    return found["countersign"]


@pytest.mark.parametrize("kind", waiting.KINDS)
def test_it_waits_for_exactly_those_whom_the_act_lets(kind: str, people: Cast) -> None:
    proposal = waiting.KINDS[kind](people)
    assert list(row(people, proposal).seconds) == SECONDS[kind] == able(people, proposal)
    for person in Person.objects.filter(memberships__workspace=people.workspace):
        mine = proposals_waiting_on(standing_of(person, people.workspace), people.workspace)
        assert [one.id for one in mine] == [proposal.pk] * (person.display_name in SECONDS[kind])


def a_new_revision(people: Cast) -> None:
    planned(people, pair=documents(floor=601), decision=people.workspace.decisions.get(number=1))


def another_emergency(people: Cast) -> None:
    planned(people, pair=documents(floor=602))
    countersign(people, propose(people, "emergency", "ivan", waiting.EMERGENCY, number=2), "bob")


def another_emergency_that_ran_out(people: Cast) -> None:
    another_emergency(people)
    pass_time(days=4)


def second_admin_is_no_admin(people: Cast) -> None:
    waiting.as_auditor("abel")


def another_policy(people: Cast) -> None:
    policy_set(workspace=people.workspace, policy=BOARD | {"max_age_s": 7200})


MOVED: list[tuple[str, str, Callable[[Cast], object], list[str], str]] = [
    ("emergency", "a new revision", a_new_revision, [], "It was proposed for an earlier revision."),
    ("emergency", "another emergency", another_emergency, [], "D-0002 is an emergency on this slot"),
    ("emergency", "one that ran out", another_emergency_that_ran_out, ["Bob", "Dave"], "Bob or Dave."),
    ("emergency", "a seat less", lambda people: waiting.without_seat("bob"), ["Dave"], "second person: Dave."),
    ("emergency", "an auditor", lambda people: waiting.as_auditor("bob"), ["Dave"], "second person: Dave."),
    ("emergency", "an account less", lambda people: waiting.switched_off("bob"), ["Dave"], "second person: Dave."),
    ("emergency", "its proposer's seat", lambda people: waiting.without_seat("ivan"), [], "Ivan, who proposed this"),
    ("policy", "no second admin", second_admin_is_no_admin, [], "nobody can be it: it takes another admin."),
    ("policy", "another policy", another_policy, [], "It was made for another version of the policy."),
    ("lift_objection", "its lead", lambda people: waiting.without_seat("dave"), [], "Dave, who proposed this"),
    ("waiver", "no capacity", lambda people: waiting.without_seat("erin"), [], "another member of Capacity"),
]


@pytest.mark.parametrize(
    ("kind", "moved", "seconds", "said"),
    [pytest.param(kind, moved, seconds, said, id=f"{kind}: {name}") for kind, name, moved, seconds, said in MOVED],
)
def test_what_moves_around_it_moves_whom_it_waits_for(
    kind: str, moved: Callable[[Cast], object], seconds: list[str], said: str, people: Cast
) -> None:
    proposal = waiting.KINDS[kind](people)
    moved(people)
    found = row(people, proposal)
    assert list(found.seconds) == seconds == able(people, proposal)
    assert said in found.waiting_text


@pytest.mark.parametrize(
    ("kind", "by"), [("emergency", {"hours": 24}), ("waiver", {"days": 14}), ("policy", {"days": 14})]
)
def test_it_waits_for_a_time_and_no_longer(kind: str, by: dict[str, int], people: Cast) -> None:
    proposal = waiting.KINDS[kind](people)
    nearly = {name: count - 1 for name, count in by.items()}
    waiting.older(proposal, **nearly)
    assert able(people, proposal) == list(row(people, proposal).seconds) != []
    waiting.older(proposal, **by)
    assert able(people, proposal) == list(row(people, proposal).seconds) == []
    assert row(people, proposal).waiting_text.startswith("It was open until ")


def test_a_waiver_is_open_no_longer_than_it_would_hold(people: Cast) -> None:
    planned(people, pair=documents(floor=600))
    body = waiting.waiver_body(days=3)
    found = row(people, propose(people, "waiver", "bob", body))
    assert f"{found.until:%Y-%m-%dT%H:%M:%SZ}" == body["ends_at"]


def test_a_second_seat_of_the_proposer_is_no_second_person(people: Cast) -> None:
    proposal = waiting.waiver(people)
    seat_give(membership=people.bob.memberships.get(), team="capacity")
    assert list(row(people, proposal).seconds) == able(people, proposal)
    assert "Bob" not in row(people, proposal).seconds


def test_a_proposer_who_has_one_seat_left_proposes_from_that_one(people: Cast) -> None:
    """Whoever sits where it was proposed from at first is the second person then, to agree as to decline."""
    seat_give(membership=people.bob.memberships.get(), team="capacity")
    proposal = waiting.waiver(people)
    TeamSeat.objects.filter(membership__person=people.bob, team__slug="capacity").delete()
    assert (proposal.team, list(row(people, proposal).seconds)) == ("capacity", ["Erin"])
    assert able(people, proposal) == ["Erin"]


def test_however_many_wait_they_cost_the_same(people: Cast) -> None:
    waiting.emergency(people)
    standing = standing_of(people.bob, people.workspace)

    def queries() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as made:
            found = proposals_waiting_on(standing, people.workspace)
        return len(found), len(made)

    first = queries()
    for number in range(2, 6):
        planned(people, pair=documents(floor=600 + number))
        propose(people, "emergency", "ivan", waiting.EMERGENCY, number=number)
    assert (first[0], queries()) == (1, (5, first[1]))
    assert first[1] <= 7


def test_what_is_urgent_stands_first(people: Cast) -> None:
    planned(people, pair=documents(floor=600))
    slow = propose(people, "waiver", "erin", waiting.waiver_body())
    urgent = propose(people, "emergency", "ivan", waiting.EMERGENCY)
    mine = proposals_waiting_on(standing_of(people.bob, people.workspace), people.workspace)
    assert [one.id for one in mine] == [urgent.pk, slow.pk]
