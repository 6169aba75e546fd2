"""Rule 16: policy, rosters and delegations are entries; a policy is changed by two persons."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.canonical import content_id
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import AuditEntry, Policy, Proposal, Role
from reviews.services.delegations import delegation_make
from reviews.services.people import member_add, seat_give, seat_take
from reviews.services.proposal_ends import proposal_withdraw
from tests.reviews.factories import Cast, last_entry, planned, sign
from tests.reviews.rules.board import BOARD, TRACE, board, countersign, propose, someone
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def change(**changes: Any) -> dict[str, Any]:
    return {"base": content_id(BOARD), "policy": BOARD | {"max_age_s": 3600} | changes}


def test_two_admins_change_the_policy(people: Cast) -> None:
    proposal = propose(people, "policy", "ada", change(), number=None)
    assert Policy.objects.count() == 1
    countersign(people, proposal, "abel")
    newest = Policy.objects.order_by("-version")[0]
    assert (newest.version, newest.content_id) == (2, content_id(BOARD | {"max_age_s": 3600}))
    actions = list(AuditEntry.objects.order_by("-seq").values_list("action", flat=True)[:3])
    assert actions == ["policy.set", "proposal.countersigned", "proposal.made"]


def test_one_admin_alone_changes_nothing(people: Cast) -> None:
    proposal = propose(people, "policy", "ada", change(), number=None)
    with pytest.raises(NotAllowedError, match="It takes a second person"):
        countersign(people, proposal, "ada")
    assert (Policy.objects.count(), last_entry(people)["action"]) == (1, "countersignature.refused")


def test_an_admin_who_is_none_any_more_has_proposed_nothing(people: Cast) -> None:
    proposal = propose(people, "policy", "ada", change(), number=None)
    member_add(workspace=people.workspace, person=someone("ada"), role=Role.MEMBER)
    with pytest.raises(ConflictError, match="Ada, who proposed this, may not propose it any more"):
        countersign(people, proposal, "abel")
    assert Policy.objects.count() == 1


@pytest.mark.parametrize("who", ["bob", "alice", "audrey"])
def test_only_admins_propose(people: Cast, who: str) -> None:
    with pytest.raises(NotAllowedError, match="needs the role admin"):
        propose(people, "policy", who, change(), number=None)
    assert last_entry(people)["action"] == "proposal.refused"


def test_a_change_of_a_policy_that_moved_is_a_conflict(people: Cast) -> None:
    first = propose(people, "policy", "ada", change(), number=None)
    second = propose(people, "policy", "abel", change(max_age_s=7200), number=None)
    countersign(people, first, "abel")
    with pytest.raises(ConflictError, match="The policy moved: its newest version is 2"):
        countersign(people, second, "ada")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"fallback_owner": "nobody"}, "a policy document"),
        ({"teams": BOARD["teams"] | {"serving": {"title": "gnivre\u202eS", "quorum": 1}}}, "a title of serving that"),
        ({"teams": BOARD["teams"] | {"serving": {"title": " ", "quorum": 1}}}, "a title of serving that"),
        ({"duties": {"revocation": ["capacity", "capacity"]}}, "two teams that revoke together"),
    ],
)
def test_what_is_no_policy_is_refused(people: Cast, changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"policy: expected {expected}"):
        propose(people, "policy", "ada", change(**changes), number=None)


def test_a_proposal_is_made_once_and_withdrawn_by_who_made_it(people: Cast) -> None:
    proposal = propose(people, "policy", "ada", change(), number=None)
    assert propose(people, "policy", "ada", change(), number=None) == proposal
    asked: dict[str, Any] = {"workspace": people.workspace, "proposal_id": proposal.pk, "trace": TRACE}
    with pytest.raises(NotAllowedError, match="Only who proposed it"):
        proposal_withdraw(actor=someone("abel"), reason="No.", **asked)
    proposal_withdraw(actor=someone("ada"), reason="Another draft follows.", **asked)
    with pytest.raises(ConflictError, match="was withdrawn"):
        countersign(people, proposal, "abel")
    assert Proposal.objects.count() == 1


def test_rosters_and_delegations_are_entries_that_name_people_by_token_alone(people: Cast) -> None:
    membership = member_add(workspace=people.workspace, person=people.charlie, role=Role.MEMBER)
    role = last_entry(people)
    seat_take(seat=seat_give(membership=membership, team="serving"))
    taken = last_entry(people)
    now = timezone.now()
    lent: dict[str, Any] = {"team": "serving", "taker": "erin", "reason": "On leave.", "trace": TRACE}
    delegation_make(
        actor=people.bob, workspace=people.workspace, starts_at=now, ends_at=now + timedelta(days=1), **lent
    )
    delegation = last_entry(people)
    assert [entry["action"] for entry in (role, taken, delegation)] == [
        "roster.role_set",
        "roster.seat_taken",
        "delegation.made",
    ]
    assert role["payload"] == {"person": people.charlie.token, "role": "member"}
    assert (delegation["actor"], delegation["payload"]["person"]) == (people.bob.token, someone("erin").token)
    assert "Charlie" not in str(role) + str(taken)


def test_a_refused_signature_is_an_entry_too(people: Cast) -> None:
    with pytest.raises(NotAllowedError):
        sign(people, planned(people), people.audrey)
    entry = last_entry(people)
    assert (entry["action"], entry["team"], entry["meaning"]) == ("signoff.refused", "serving", "approve")


def test_the_same_countersignature_again_changes_nothing(people: Cast) -> None:
    proposal = propose(people, "policy", "ada", change(), number=None)
    countersign(people, proposal, "abel")
    before = AuditEntry.objects.count()
    countersign(people, proposal, "abel")
    assert (Policy.objects.count(), AuditEntry.objects.count()) == (2, before)
