"""Rule 19: retracted evidence contests what counted it; rolling back is one act with its own requirements."""

import json
from typing import Any

import pytest

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import Activation, AuditEntry, Decision, Retraction, Revision
from reviews.services.retractions import evidence_retract
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.factories import Cast, documents, last_entry, planned, sign, statuses, submitted
from tests.reviews.rules.board import TRACE, board, countersign, propose
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def retract(people: Cast, content_id: str, **changes: Any) -> Any:
    request: dict[str, Any] = {
        "actor": people.bob,
        "workspace": people.workspace,
        "reason": "A cooling fault.",
        "trace": TRACE,
    }
    return evidence_retract(content_id=content_id, **(request | changes))


def states() -> list[str]:
    return list(Decision.objects.order_by("number").values_list("state", flat=True))


def in_force(people: Cast, **choices: Any) -> Revision:
    revision = approved(people, **choices)
    activate(people, revision)
    return revision


def test_every_decision_that_counted_it_is_listed_and_what_is_in_force_is_contested(people: Cast) -> None:
    revision = in_force(people)
    planned(people)
    planned(people, pair=documents(tokens=170000))
    retraction, counting = retract(people, revision.evidence.content_id)
    assert ([row.number for row in counting], states()) == ([1, 2], ["CONTESTED", "IN_REVIEW", "IN_REVIEW"])
    entry = AuditEntry.objects.get(action="evidence.retracted")
    assert retraction.reason == "A cooling fault."
    assert entry.seq < AuditEntry.objects.get(action="decision.contested").seq


def test_a_single_trial_is_retracted_by_its_content(people: Cast) -> None:
    revision = in_force(people)
    trial = next(iter(plan_of(revision)["candidates"].values()))["trial_content_id"]
    retraction, _ = retract(people, trial)
    assert (retraction.is_trial, states()) == (True, ["CONTESTED"])


def plan_of(revision: Revision) -> dict[str, Any]:
    from_blob = bytes(revision.planned.plan.blob.data)
    return dict(json.loads(from_blob))


def test_what_only_an_earlier_revision_counted_is_retracted_and_contests_nothing(people: Cast) -> None:
    first = planned(people)
    in_force(people, pair=documents(tokens=170000), decision=first.decision)
    retraction, counting = retract(people, first.evidence.content_id)
    assert ([row.number for row in counting], states(), retraction.is_trial) == ([1], ["EFFECTIVE"], False)


def test_what_is_planned_again_can_be_retracted_meanwhile(people: Cast) -> None:
    first = planned(people)
    submitted(people, pair=documents(floor=510), decision=first.decision)
    retract(people, first.evidence.content_id)
    assert states() == ["EVALUATING"]


def test_lifting_an_objection_does_not_undo_a_retraction(people: Cast) -> None:
    revision = in_force(people)
    objection = sign(people, revision, people.dave, meaning="object")
    retract(people, revision.evidence.content_id)
    signoff_withdraw(actor=people.dave, workspace=people.workspace, signoff_id=objection.pk, reason="Mine is answered.")
    assert states() == ["CONTESTED"]


def test_what_counts_retracted_evidence_is_not_put_into_force(people: Cast) -> None:
    revision = approved(people)
    retract(people, revision.evidence.content_id)
    with pytest.raises(ConflictError, match="counts evidence that was retracted"):
        activate(people, revision)


def test_a_retraction_is_made_once(people: Cast) -> None:
    revision = planned(people)
    assert retract(people, revision.evidence.content_id)[0] == retract(people, revision.evidence.content_id)[0]
    assert Retraction.objects.count() == 1


def test_what_nobody_counted_is_not_retracted(people: Cast) -> None:
    planned(people)
    with pytest.raises(InvalidRequestError, match="content_id: expected the content id of evidence or a trial"):
        retract(people, "sha256:" + "0" * 64)
    assert last_entry(people)["action"] == "retraction.refused"


def test_an_auditor_retracts_nothing(people: Cast) -> None:
    with pytest.raises(NotAllowedError):
        retract(people, planned(people).evidence.content_id, actor=people.audrey)


def test_a_contested_decision_is_revoked_by_capacity_and_incident_response(people: Cast) -> None:
    revision = in_force(people)
    retract(people, revision.evidence.content_id)
    proposal = propose(people, "revocation", "erin", {})
    with pytest.raises(NotAllowedError, match="This takes a member of incident-response"):
        countersign(people, proposal, "bob")
    countersign(people, proposal, "ivan")
    assert (states(), last_entry(people)["action"]) == (["REVOKED"], "decision.revoked")


def superseded(people: Cast) -> tuple[Revision, Revision]:
    first = in_force(people)
    return first, in_force(people, pair=documents(tokens=170000))


def test_rolling_back_is_a_new_decision_on_the_very_bytes_of_the_earlier(people: Cast) -> None:
    first, _ = superseded(people)
    countersign(people, propose(people, "rollback", "dave", {"to": 1}, number=2), "ivan")
    assert states() == ["SUPERSEDED", "SUPERSEDED", "EFFECTIVE"]
    back = Revision.objects.get(decision__number=3)
    assert (back.contract, back.evidence, back.planned.plan) == (first.contract, first.evidence, first.planned.plan)
    activation = Activation.objects.get(revision=back)
    assert (activation.kind, activation.rollback) == ("rollback", "D-0002")
    entry = last_entry(people)
    assert (entry["action"], entry["decision"], entry["payload"]["rollback_to"]) == ("decision.rolled_back", 3, 1)


def test_rolling_back_takes_incident_response_too(people: Cast) -> None:
    superseded(people)
    proposal = propose(people, "rollback", "dave", {"to": 1}, number=2)
    with pytest.raises(NotAllowedError, match="This takes a member of incident-response"):
        countersign(people, proposal, "bob")


def test_nothing_is_rolled_back_to_what_was_never_in_force(people: Cast) -> None:
    in_force(people)
    planned(people, pair=documents(tokens=170000))
    with pytest.raises(InvalidRequestError, match="to: expected an earlier decision"):
        propose(people, "rollback", "dave", {"to": 2}, number=1)


def test_another_title_unbinds_nothing(people: Cast) -> None:
    revision = approved(people)
    Decision.objects.update(title="Another title")
    assert [status for status, *_ in statuses(people)] == ["CURRENT", "CURRENT"]
    assert activate(people, revision).subject == revision.planned.subject
