"""Puts one named candidate into force before its review is done: an incident, its failing gates, two persons, 72 h.

Rules kept: every failing and unknown gate is named; integrity gates are never gone past; the review is still owed and
its end makes the decision effective; without that end the emergency runs out.
"""

from datetime import timedelta

from planner.canonical import canonical_bytes
from reviews.blobs import blob_keep
from reviews.clock import utc_text
from reviews.errors import ConflictError, is_prose
from reviews.models import Activation, ActivationKind, Decision, DecisionState, Emergency, ProposalKind
from reviews.policies.two_persons import emergency_second
from reviews.policies.waiving import INTEGRITY_GATES
from reviews.selectors.planned import PlannedNewest, planned_newest
from reviews.selectors.rollbacks import NO_ROLLBACK
from reviews.services.activation import requirements_record
from reviews.services.footprints import footprint_keep
from reviews.services.signoffs import require_untouched
from reviews.services.states import decision_move, not_in_review
from reviews.services.two_persons import Handler, Proposing, holder_of, holder_of_any_seat, seat_of, wrong

LONGEST_HOURS = 72


def _checked(proposing: Proposing) -> tuple[PlannedNewest, tuple[str, ...]]:
    """Return the newest revision with its plan, and the gates that the candidate does not pass."""
    decision, body = proposing.acting().decision, proposing.body
    if decision.state != DecisionState.IN_REVIEW:
        raise not_in_review(decision)
    running = Decision.objects.filter(
        workspace=proposing.workspace, slot=decision.slot, state=DecisionState.EMERGENCY
    ).first()
    if running is not None:
        raise ConflictError(f"{running.label} is an emergency on this slot whose review is still owed.")
    newest = planned_newest(decision)
    candidate = newest.plan.candidates.get(str(body.get("trial", "")))
    if candidate is None:
        raise wrong("trial", f"one candidate: {', '.join(newest.plan.candidates)}", body.get("trial"))
    if not is_prose(str(body.get("incident", "")), 120):
        raise wrong("incident", "the incident's id, at most 120 characters", body.get("incident"))
    hours = body.get("hours")
    if not isinstance(hours, int) or not 1 <= hours <= LONGEST_HOURS:
        raise wrong("hours", f"1 to {LONGEST_HOURS}", hours)
    blocked = (*candidate.failing, *candidate.unknown)
    integrity = sorted(INTEGRITY_GATES & set(blocked))
    if integrity:
        raise ConflictError(f"{', '.join(integrity)} cannot be gone past: nobody would know what is put into force.")
    if sorted(body.get("failing_gates", ())) != sorted(blocked):
        raise wrong("failing_gates", f"all of {', '.join(blocked) or 'none'}", ", ".join(body.get("failing_gates", ())))
    return newest, blocked


def _declare(proposing: Proposing) -> str:
    newest, _ = _checked(proposing)
    return seat_of(proposing, {newest.document.duties.emergency}, author_ids=newest.author_ids)


def _second(proposing: Proposing) -> str:
    newest, blocked = _checked(proposing)
    gates = newest.plan.candidates[proposing.body["trial"]].gates
    wanted = emergency_second(newest.document, {gates[gate].family for gate in blocked})
    return seat_of(proposing, wanted, author_ids=newest.author_ids)


def _carry_out(proposing: Proposing) -> None:
    newest, blocked = _checked(proposing)
    act, body = proposing.acting(), proposing.body
    require_untouched(newest.revision)
    snapshot = requirements_record(act.judged())
    decision_move(act.decision, "declare_emergency", proposing.now)
    candidate = newest.plan.candidates[body["trial"]]
    activation = Activation.objects.create(
        revision=newest.revision,
        kind=ActivationKind.EMERGENCY,
        person_id=proposing.standing.person_id,
        statement=proposing.reason,
        subject=newest.revision.planned.subject,
        trial=body["trial"],
        topology=candidate.topology,
        rank_map_digest=candidate.rank_map_digest,
        rollback=NO_ROLLBACK,
        requirements_id=blob_keep(canonical_bytes(snapshot)).sha256,
        activated_at=proposing.now,
        valid_until=proposing.now + timedelta(hours=body["hours"]),
    )
    footprint_keep(activation, newest.plan)
    Emergency.objects.create(
        activation=activation,
        proposal_id=proposing.proposal_id,
        incident=body["incident"],
        failing_gates=canonical_bytes(list(blocked)).decode(),
    )
    proposing.record(
        "emergency.declared",
        revision=newest.revision.number,
        subject=activation.subject,
        payload_type="topogate.emergency/v1",
        payload={
            "trial": body["trial"],
            "topology": candidate.topology,
            "incident": body["incident"],
            "failing_gates": list(blocked),
            "until": utc_text(activation.valid_until) if activation.valid_until else None,
            **snapshot,
        },
    )


EMERGENCY = Handler(
    kind=ProposalKind.EMERGENCY,
    may_propose=holder_of(lambda document: {document.duties.emergency}),
    may_countersign=holder_of_any_seat,
    propose=_declare,
    countersign=_second,
    carry_out=_carry_out,
    names_subject=True,
)
