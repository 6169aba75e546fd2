"""Ends of a review: withdrawal with a reason, rejection by two teams, closing what selects nothing as such."""

from typing import Any

import pytest

from reviews.audit import workspace_write
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import Decision, Revision
from reviews.services.closing import decision_close, decision_reject, decision_withdraw
from reviews.services.people import Trace
from reviews.services.planned import revision_fail
from tests.reviews.factories import POLICY, PROVEN, Cast, cast, documents, last_entry, planned, sign, submitted
from tests.reviews.rules.test_rule_10_activation import activate, approved

pytestmark = pytest.mark.django_db

TRACE = Trace("req-3", PROVEN)


def act(people: Cast, who: str = "dave", **changes: Any) -> dict[str, Any]:
    request: dict[str, Any] = {
        "actor": getattr(people, who),
        "workspace": people.workspace,
        "number": 1,
        "trace": TRACE,
    }
    return request | {"reason": "Not on these links."} | changes


def state() -> str:
    return Decision.objects.get(number=1).state


def test_an_author_withdraws_a_decision_with_a_reason_and_it_is_final(people: Cast) -> None:
    revision = planned(people)
    decision_withdraw(**act(people, "alice"))
    assert (state(), last_entry(people)["action"], last_entry(people)["reason"]) == (
        "WITHDRAWN",
        "decision.withdrawn",
        "Not on these links.",
    )
    with pytest.raises(ConflictError, match="withdrawn"):
        submitted(people, decision=revision.decision)


def test_what_could_not_be_planned_is_withdrawn_too(people: Cast) -> None:
    revision = submitted(people)
    with workspace_write(people.workspace.pk):
        revision_fail(people.workspace, revision, code="broken", reason="It broke.")
    assert state() == "EVALUATION_FAILED"
    decision_withdraw(**act(people, "alice"))
    assert state() == "WITHDRAWN"


@pytest.mark.parametrize(
    ("who", "changes", "error"),
    [
        pytest.param("bob", {}, NotAllowedError, id="by somebody else"),
        pytest.param("alice", {"reason": " "}, InvalidRequestError, id="without a reason"),
    ],
)
def test_a_refused_withdrawal_is_an_entry(
    people: Cast, who: str, changes: dict[str, Any], error: type[Exception]
) -> None:
    planned(people)
    with pytest.raises(error):
        decision_withdraw(**act(people, who, **changes))
    assert (state(), last_entry(people)["action"]) == ("IN_REVIEW", "withdrawal.refused")


def test_one_rejecting_team_is_not_enough(people: Cast) -> None:
    sign(people, planned(people), meaning="reject")
    with pytest.raises(ConflictError, match="takes the rejection of 2 teams, found serving"):
        decision_reject(**act(people))


def test_two_rejecting_teams_close_it_as_rejected(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision, meaning="reject")
    sign(people, revision, people.carol, team="networking", meaning="reject")
    decision_reject(**act(people))
    assert (state(), last_entry(people)["payload"]) == ("REJECTED", {"teams": ["networking", "serving"]})


def test_one_team_with_a_hard_veto_is_enough(db: None) -> None:
    teams = POLICY["teams"] | {"serving": {"title": "Serving", "quorum": 1, "hard_veto": True}}
    people = cast(policy=POLICY | {"teams": teams})
    sign(people, planned(people), meaning="reject")
    decision_reject(**act(people))
    assert state() == "REJECTED"


def nothing_selected(people: Cast) -> Revision:
    return approved(people, pair=documents(floor=600))


def test_nothing_selected_is_never_put_into_force(people: Cast) -> None:
    revision = nothing_selected(people)
    with pytest.raises(ConflictError, match="Every team agrees that nothing is selected"):
        activate(people, revision)


def test_nothing_selected_is_closed_as_such_once_all_agree(people: Cast) -> None:
    nothing_selected(people)
    decision_close(**act(people))
    entry = last_entry(people)
    assert (state(), entry["action"], entry["payload"]) == (
        "CLOSED",
        "decision.closed",
        {"decision": "NO_ELIGIBLE_TOPOLOGY"},
    )


def test_nothing_is_closed_before_all_agree(people: Cast) -> None:
    sign(people, planned(people, pair=documents(floor=600)))
    with pytest.raises(ConflictError, match=r"Not every team agrees yet. Waiting on networking."):
        decision_close(**act(people))


def test_what_selects_a_topology_is_not_closed(people: Cast) -> None:
    approved(people)
    with pytest.raises(ConflictError, match="selects a topology"):
        decision_close(**act(people))
