"""Rule 1: what a sign-off records, its meanings, conditions apart from follow-ups, and the named rollback."""

import json
from typing import Any

import pytest

from reviews.errors import InvalidRequestError
from reviews.models import PointSettlement, SignOff, SignOffPoint, TeamScope
from reviews.selectors.decision_page import decision_page
from reviews.services.withdrawals import point_settle
from tests.reviews.factories import Cast, last_entry, planned, sign

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def because(people: Cast, team: str = "serving") -> str:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return next(row.because for row in page.requirements if row.team == team)


def test_a_signoff_records_subject_scope_team_meaning_statement_token_time_and_what_was_displayed(
    people: Cast,
) -> None:
    revision = planned(people)
    signoff = sign(people, revision)
    payload = last_entry(people)["payload"]
    assert payload.pop("at") == signoff.signed_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert json.loads(payload.pop("displayed")) == {
        "contract": revision.contract.content_id,
        "contract_file_sha256": revision.contract.file_sha256,
        "evidence": revision.evidence.content_id,
        "evidence_file_sha256": revision.evidence.file_sha256,
        "identity": revision.identity,
        "plan": revision.planned.plan.plan_id,
        "planner_version": revision.planner_version,
        "policy": revision.policy.content_id,
        "subject": revision.planned.subject,
    }
    assert payload == {
        "subject": revision.planned.subject,
        "scope": TeamScope.objects.get(basis__planned=revision.planned, team="serving").digest,
        "team": "serving",
        "meaning": "approve",
        "statement": "The margins hold.",
        "person": people.bob.token,
        "turn": 1,
        "rollback": "none",
        "opened": signoff.opened_id,
    }


@pytest.mark.parametrize(
    ("meaning", "expected"),
    [
        pytest.param("approve", "Bob approved.", id="approves for the team"),
        pytest.param("accept_risk", "Bob approved.", id="accepts the risk"),
        pytest.param("request_changes", "Changes requested by Bob.", id="requests changes"),
        pytest.param("reject", "Rejected by Bob.", id="rejects"),
        pytest.param("object", "Bob objects. It stays until it is lifted.", id="objects"),
    ],
)
def test_every_meaning_says_something_else_for_the_requirement(people: Cast, meaning: str, expected: str) -> None:
    sign(people, planned(people), meaning=meaning)
    assert because(people) == expected


def test_a_condition_blocks_until_it_is_met_and_a_follow_up_never_does(people: Cast) -> None:
    sign(
        people,
        planned(people),
        meaning="approve_with_conditions",
        conditions=("Rerun the soak.",),
        follow_ups=("Write the runbook.",),
    )
    assert because(people) == "Condition of Bob not met: Rerun the soak."
    point_settle(
        actor=people.dave,
        workspace=people.workspace,
        point_id=SignOffPoint.objects.get(kind="condition").pk,
        note="Soak of 24 h attached as r1 evidence.",
    )
    assert because(people) == "Bob approved."
    assert SignOffPoint.objects.get(kind="follow_up").text == "Write the runbook."
    entry = last_entry(people)
    assert (entry["action"], entry["reason"]) == ("point.settled", "Soak of 24 h attached as r1 evidence.")


def test_a_point_settled_twice_is_settled_once(people: Cast) -> None:
    sign(people, planned(people), meaning="approve_with_conditions", conditions=("Rerun the soak.",))
    settle: dict[str, Any] = {
        "actor": people.bob,
        "workspace": people.workspace,
        "point_id": SignOffPoint.objects.get().pk,
    }
    assert point_settle(note="Done.", **settle) == point_settle(note="Done again.", **settle)
    assert PointSettlement.objects.get().note == "Done."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(
            {"meaning": "approve_with_conditions"},
            "conditions: expected at least one, found none.",
            id="conditions that are none",
        ),
        pytest.param(
            {"conditions": ("Rerun.",)},
            "conditions: expected none unless you approve_with_conditions, found 1.",
            id="conditions of a plain approval",
        ),
        pytest.param(
            {"follow_ups": ("",)}, "follow_ups/0: expected 1 to 1000 characters, found nothing.", id="empty point"
        ),
        pytest.param(
            {"rollback": ""}, "rollback: expected where to go back to: none, found nothing.", id="no rollback"
        ),
        pytest.param(
            {"rollback": "t-9"}, "rollback: expected where to go back to: none, found t-9.", id="rollback to nothing"
        ),
    ],
)
def test_what_is_missing_is_named(people: Cast, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        sign(people, planned(people), **changes)
    assert refused.value.message == message
    assert not SignOff.objects.exists()
    assert last_entry(people)["action"] == "signoff.refused"
