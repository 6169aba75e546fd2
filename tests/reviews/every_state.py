"""A decision in every state there is, each brought there by the acts that lead to it."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from reviews.audit import workspace_write
from reviews.models import Activation, Decision, DecisionState, Person, Revision, Role
from reviews.services.closing import decision_close, decision_reject, decision_withdraw
from reviews.services.identity_reports import identity_report
from reviews.services.people import member_add
from reviews.services.planned import revision_fail
from reviews.services.sweeps import decisions_sweep
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, planned, sign, submitted
from tests.reviews.rules.board import TRACE, board, countersign, propose
from tests.reviews.rules.test_rule_10_activation import approved
from tests.reviews.slots import emergency, ending, in_force


def in_every_state() -> Cast:
    """Make a board with a decision in each state, on a slot named like it; amy is an author who made none of them."""
    people = board()
    amy = Person.objects.create_user("amy", display_name="Amy")
    member_add(workspace=people.workspace, person=amy, role=Role.AUTHOR)
    for making in MAKING.values():
        making(people)
    decisions_sweep()
    emergency(people)
    return people


def numbers() -> dict[str, int]:
    """Return state -> number of the newest decision in it, of all states that there are."""
    found = dict(Decision.objects.order_by("number").values_list("state", "number"))
    assert found.keys() == set(DecisionState.values)
    return found


def _draft(people: Cast) -> Revision:
    revision = _failed(people)
    Decision.objects.filter(pk=revision.decision_id).update(state=DecisionState.DRAFT)
    return revision


def _evaluating(people: Cast) -> Revision:
    return submitted(people, pair=documents(slot="own/evaluating"))


def _failed(people: Cast) -> Revision:
    revision = submitted(people, pair=documents(slot="own/failed"))
    with workspace_write(people.workspace.pk):
        revision_fail(people.workspace, revision, code="broken", reason="It broke.")
    return revision


def _in_review(people: Cast) -> Revision:
    return planned(people, pair=documents(slot="own/in-review", floor=600))


def _effective(people: Cast) -> Revision:
    in_force(people, documents(slot="own/effective", tokens=170_000))
    return in_force(people, documents(slot="own/effective"))


def _superseded(people: Cast) -> Revision:
    revision = in_force(people, documents(slot="own/superseded"))
    in_force(people, documents(slot="own/superseded", tokens=170_000))
    return revision


def _stale(people: Cast) -> Revision:
    revision = in_force(people, documents(slot="own/stale"))
    identity_report(actor=people.bob, workspace=people.workspace, slot="own/stale", live={"model": {"name": "x"}})
    return revision


def _expired(people: Cast) -> Revision:
    revision = in_force(people, ending("own/expired", 1))
    with lifted():
        now = timezone.now()
        times = {"activated_at": now - timedelta(days=2), "valid_until": now - timedelta(days=1)}
        Activation.objects.filter(revision=revision).update(**times)
    return revision


def _contested(people: Cast) -> Revision:
    revision = in_force(people, documents(slot="own/contested"))
    sign(people, revision, people.dave, meaning="object")
    return revision


def _revoked(people: Cast) -> Revision:
    revision = in_force(people, documents(slot="own/revoked"))
    sign(people, revision, people.dave, meaning="object")
    countersign(people, propose(people, "revocation", "erin", {}, number=revision.decision.number), "ivan")
    return revision


def _withdrawn(people: Cast) -> Revision:
    revision = planned(people, pair=documents(slot="own/withdrawn"))
    decision_withdraw(**_ended(people, revision, people.alice))
    return revision


def _rejected(people: Cast) -> Revision:
    revision = planned(people, pair=documents(slot="own/rejected"))
    for signer, team in ((people.bob, "serving"), (people.carol, "networking")):
        sign(people, revision, signer, team=team, meaning="reject")
    decision_reject(**_ended(people, revision, people.dave))
    return revision


def _closed(people: Cast) -> Revision:
    revision = approved(people, pair=documents(slot="own/closed", floor=600))
    decision_close(**_ended(people, revision, people.dave))
    return revision


def _ended(people: Cast, revision: Revision, actor: Person) -> dict[str, Any]:
    return {
        "actor": actor,
        "workspace": people.workspace,
        "number": revision.decision.number,
        "reason": "Its end.",
        "trace": TRACE,
    }


MAKING = {
    DecisionState.DRAFT: _draft,
    DecisionState.EVALUATING: _evaluating,
    DecisionState.EVALUATION_FAILED: _failed,
    DecisionState.IN_REVIEW: _in_review,
    DecisionState.EFFECTIVE: _effective,
    DecisionState.SUPERSEDED: _superseded,
    DecisionState.STALE: _stale,
    DecisionState.EXPIRED: _expired,
    DecisionState.CONTESTED: _contested,
    DecisionState.REVOKED: _revoked,
    DecisionState.WITHDRAWN: _withdrawn,
    DecisionState.REJECTED: _rejected,
    DecisionState.CLOSED: _closed,
}
