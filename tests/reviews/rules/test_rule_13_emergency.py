"""Rule 13: an emergency names incident, candidate and gates, takes two persons, 72 h at most; delegation is dated."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import Activation, Decision, Emergency, Membership, Person, Revision, Role, TeamSeat
from reviews.selectors.decision_page import decision_page
from reviews.selectors.slot_check import slot_check
from reviews.services.delegations import delegation_end, delegation_make
from reviews.services.people import member_add, seat_give, workspace_create
from reviews.services.sweeps import decisions_sweep
from tests.reviews.factories import Cast, documents, last_entry, planned, sign, statuses
from tests.reviews.rules.board import BOARD, TRACE, board, countersign, propose, someone
from tests.reviews.rules.test_rule_10_activation import activate
from tests.reviews.rules.test_rule_11_validity import SLOT, live, pass_time
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


@pytest.fixture
def failing(people: Cast) -> Revision:
    """A revision whose only trial misses its throughput."""
    return planned(people, pair=documents(floor=600))


def body(**changes: Any) -> dict[str, Any]:
    return {"trial": "t-1", "incident": "INC-7", "failing_gates": ["throughput"], "hours": 24} | changes


def declared(people: Cast) -> Activation:
    countersign(people, propose(people, "emergency", "ivan", body()), "bob")
    return Activation.objects.get()


def test_incident_response_and_an_owner_of_a_failing_gate_declare_it(people: Cast, failing: Revision) -> None:
    activation = declared(people)
    assert (Decision.objects.get().state, activation.kind, activation.trial) == ("EMERGENCY", "emergency", "t-1")
    assert activation.valid_until == activation.activated_at + timedelta(hours=24)
    entry = last_entry(people)
    assert (entry["action"], entry["payload"]["incident"], entry["payload"]["failing_gates"]) == (
        "emergency.declared",
        "INC-7",
        ["throughput"],
    )


def test_what_was_proposed_for_one_revision_is_not_declared_for_the_next(people: Cast, failing: Revision) -> None:
    proposal = propose(people, "emergency", "ivan", body())
    planned(people, pair=documents(floor=600, tokens=163000), decision=failing.decision)
    with pytest.raises(ConflictError, match="D-0001 moved since"):
        countersign(people, proposal, "bob")
    assert (last_entry(people)["action"], Emergency.objects.count()) == ("countersignature.refused", 0)


def test_a_page_of_an_earlier_revision_declares_nothing(people: Cast, failing: Revision) -> None:
    seen = failing.planned.subject
    planned(people, pair=documents(floor=600, tokens=163000), decision=failing.decision)
    with pytest.raises(ConflictError, match="D-0001 moved since"):
        propose(people, "emergency", "ivan", body(), seen_subject=seen)


def test_who_declared_it_has_to_hold_the_seat_when_it_is_countersigned(people: Cast, failing: Revision) -> None:
    proposal = propose(people, "emergency", "ivan", body())
    TeamSeat.objects.filter(membership__person=someone("ivan")).delete()
    with pytest.raises(ConflictError, match="Ivan, who proposed this, may not propose it any more"):
        countersign(people, proposal, "bob")
    assert not Emergency.objects.exists()


def test_requirements_are_overridden_and_the_review_is_still_owed(people: Cast, failing: Revision) -> None:
    declared(people)
    page = decision_page(actor=people.bob, workspace=people.workspace, number=1)
    rows = {row.team: row for row in page.requirements}
    assert (rows["serving"].status, rows["capacity"].status) == ("OVERRIDDEN", "NOT_APPLICABLE")
    assert "Review owed: 0 of 1 approval given." in rows["serving"].because
    assert not page.approval.approved


def test_a_check_prints_it(people: Cast, failing: Revision) -> None:
    declared(people)
    found = slot_check(actor=people.bob, workspace=people.workspace, slot=SLOT, live=live(failing_live(failing)))
    assert (found.incident, found.failing_gates, found.state) == ("INC-7", ("throughput",), "EMERGENCY")


def failing_live(revision: Revision) -> Revision:
    """The revision with the rank map that the emergency put into force."""
    revision.planned.basis.rank_map_digest = Activation.objects.get().rank_map_digest
    return revision


@pytest.mark.parametrize(
    ("who", "second", "message"),
    [
        pytest.param("bob", None, "This takes a member of incident-response", id="declared by another team"),
        pytest.param("ivan", "carol", "This takes a member of serving", id="countersigned by who owns no failing gate"),
        pytest.param("ivan", "alice", "You are an author of this decision", id="countersigned by an author"),
    ],
)
def test_who_may_not(people: Cast, failing: Revision, who: str, second: str | None, message: str) -> None:
    act = partial(propose, people, "emergency", who, body())
    if second is not None:
        act = partial(countersign, people, act(), second)
    with pytest.raises(NotAllowedError, match=message):
        act()
    assert not Emergency.objects.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"hours": 73}, "hours: expected 1 to 72, found 73", id="too long"),
        pytest.param({"failing_gates": []}, "failing_gates: expected all of throughput", id="a gate left out"),
        pytest.param({"incident": ""}, "incident: expected the incident's id", id="no incident"),
        pytest.param({"trial": "t-9"}, "trial: expected one candidate: t-1, found t-9", id="no such candidate"),
    ],
)
def test_what_is_wrong_is_named(people: Cast, failing: Revision, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message):
        propose(people, "emergency", "ivan", body(**changes))


def test_a_second_emergency_on_the_slot_waits_for_the_review_of_the_first(people: Cast, failing: Revision) -> None:
    declared(people)
    planned(people, pair=documents(floor=601))
    with pytest.raises(ConflictError, match="D-0001 is an emergency on this slot"):
        propose(people, "emergency", "ivan", body(), number=2)


def test_the_review_that_was_owed_makes_it_effective(people: Cast) -> None:
    revision = planned(people)
    countersign(people, propose(people, "emergency", "ivan", body(failing_gates=[])), "bob")
    sign(people, revision, people.dave)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)
    assert Decision.objects.get().state == "EFFECTIVE"


def test_one_that_ran_out_is_completed_no_more_before_any_sweep(people: Cast) -> None:
    revision = planned(people)
    countersign(people, propose(people, "emergency", "ivan", body(failing_gates=[])), "bob")
    sign(people, revision, people.dave)
    sign(people, revision, people.carol, team="networking")
    pass_time(days=2)
    with pytest.raises(ConflictError, match="D-0001 is revoked, not in review"):
        activate(people, revision)


def test_one_that_ran_out_does_not_hinder_the_next_before_any_sweep(people: Cast, failing: Revision) -> None:
    declared(people)
    planned(people, pair=documents(floor=601))
    pass_time(days=2)
    countersign(people, propose(people, "emergency", "ivan", body(), number=2), "bob")
    assert list(Decision.objects.order_by("number").values_list("state", flat=True)) == ["REVOKED", "EMERGENCY"]


def test_it_runs_out_by_itself(people: Cast, failing: Revision) -> None:
    declared(people)
    pass_time(days=2)
    assert decision_page(actor=people.bob, workspace=people.workspace, number=1).state == "REVOKED"
    assert decisions_sweep() == 1
    assert (Decision.objects.get().state, last_entry(people)["action"]) == ("REVOKED", "decision.ran_out")


def in_days(days: int) -> datetime:
    return timezone.now() + timedelta(days=days)


def lend(people: Cast, taker: str = "erin", **changes: Any) -> Any:
    now = timezone.now()
    request: dict[str, Any] = {
        "team": "serving",
        "starts_at": now - timedelta(minutes=1),
        "ends_at": now + timedelta(days=7),
    }
    said: dict[str, Any] = {"reason": "On leave.", "taker": taker, "trace": TRACE}
    return delegation_make(actor=people.bob, workspace=people.workspace, **(request | said | changes))


def test_a_delegate_signs_with_both_names_printed_and_fills_the_givers_seat(people: Cast) -> None:
    lend(people)
    assert last_entry(people)["payload"]["in_place_of"] == people.bob.token
    revision = planned(people)
    sign(people, revision, someone("erin"))
    assert last_entry(people)["payload"]["in_place_of"] == people.bob.token
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    row = next(row for row in page.requirements if row.team == "serving")
    assert (row.status, row.because) == ("SATISFIED", "Erin for Bob approved.")
    assert page.signoffs[0].person == "Erin for Bob"


def test_a_seat_in_another_workspace_is_not_the_one_that_was_lent(people: Cast) -> None:
    lend(people)
    elsewhere = workspace_create(slug="elsewhere", title="Elsewhere", policy=BOARD)
    seat_give(membership=member_add(workspace=elsewhere, person=people.bob, role=Role.MEMBER), team="serving")
    TeamSeat.objects.filter(membership__person=people.bob, membership__workspace=people.workspace).delete()
    with pytest.raises(NotAllowedError, match="You are not a member of serving"):
        sign(people, planned(people), someone("erin"))


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(lambda seat: seat.delete(), id="left the workspace"),
        pytest.param(lambda seat: Membership.objects.filter(pk=seat.pk).update(role="auditor"), id="never signs now"),
        pytest.param(lambda seat: Person.objects.filter(pk=seat.person_id).update(is_active=False), id="switched off"),
    ],
)
def test_what_a_delegate_signed_counts_no_more_once_they_could_not_sign(
    people: Cast, lost: Callable[[Membership], object]
) -> None:
    lend(people)
    sign(people, planned(people), someone("erin"))
    erin = Membership.objects.get(person=someone("erin"))
    TeamSeat.objects.filter(membership=erin).delete()
    assert statuses(people) == [("CURRENT", "", ())]
    lost(erin)
    assert statuses(people) == [("VOID", "SIGNER_INELIGIBLE", ())]


def test_an_ended_delegation_lets_nobody_sign_any_more(people: Cast) -> None:
    delegation_end(actor=people.bob, workspace=people.workspace, delegation_id=lend(people).pk, trace=TRACE)
    with pytest.raises(NotAllowedError, match="You are not a member of serving"):
        sign(people, planned(people), someone("erin"))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        pytest.param(
            {"ends_at": timezone.now() + timedelta(days=31)}, InvalidRequestError, "at most 30 days", id="long"
        ),
        pytest.param(
            {"ends_at": timezone.now() - timedelta(days=1)}, InvalidRequestError, "after the start", id="over"
        ),
        pytest.param({"team": "networking"}, NotAllowedError, "Only one's own seat is lent", id="not one's own seat"),
        pytest.param({"taker": "dave-lab"}, InvalidRequestError, "a member of the team", id="to a member"),
        pytest.param({"taker": "ada"}, InvalidRequestError, "role admin, which never signs", id="to an admin"),
        pytest.param({"taker": "charlie-lab"}, InvalidRequestError, "nobody of this login", id="to a stranger"),
    ],
)
def test_what_is_refused_is_an_entry(
    people: Cast, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        lend(people, **changes)
    assert last_entry(people)["action"] == "delegation.refused"


def test_a_seat_is_not_lent_twice_at_once_and_who_took_it_does_not_pass_it_on(people: Cast) -> None:
    lend(people)
    with pytest.raises(ConflictError, match="is lent for a part of this time already"):
        lend(people, taker="ivan")
    erin: Person = someone("erin")
    with pytest.raises(NotAllowedError, match="Only one's own seat is lent, and once"):
        delegation_make(
            actor=erin,
            workspace=people.workspace,
            team="serving",
            taker="ivan",
            starts_at=timezone.now(),
            ends_at=timezone.now() + timedelta(days=1),
            reason="Passed on.",
            trace=TRACE,
        )
