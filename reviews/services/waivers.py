"""Waives one gate of one candidate in one decision for a time: its owning team and the team of waivers sign."""

from datetime import UTC, datetime, timedelta

from planner.records.plan import Plan
from planner.times import parsed_time
from reviews.clock import utc_text
from reviews.errors import ConflictError, NotAllowedError
from reviews.models import DecisionState, ProposalKind, Waiver
from reviews.policies.document import PolicyDocument, gate_owner
from reviews.policies.two_persons import waiving, waiving_second
from reviews.policies.waiving import INTEGRITY_GATES, MAY_BE_WAIVED
from reviews.selectors.planned import PlannedNewest, planned_newest
from reviews.services.states import not_in_review
from reviews.services.two_persons import Handler, Proposing, holder_of, seat_of, wrong

LONGEST = timedelta(days=180)


def _checked(proposing: Proposing) -> tuple[PlannedNewest, str, datetime]:
    """Return the newest revision with its plan, the family of the gate, and the end."""
    decision = proposing.acting().decision
    if decision.state != DecisionState.IN_REVIEW:
        raise not_in_review(decision)
    newest = planned_newest(decision)
    family = _family(proposing, newest.plan)
    ends = parsed_time(str(proposing.body.get("ends_at", "")))
    if ends is None or not proposing.now < ends <= proposing.now + LONGEST:
        expected = f"UTC in whole seconds, after now, in at most {LONGEST.days} days"
        raise wrong("ends_at", expected, proposing.body.get("ends_at"))
    return newest, family, ends.astimezone(UTC)


def _family(proposing: Proposing, plan: Plan) -> str:
    trial, gate = str(proposing.body.get("trial", "")), str(proposing.body.get("gate", ""))
    candidate = plan.candidates.get(trial)
    if candidate is None:
        raise wrong("trial", f"a trial of the plan: {', '.join(plan.candidates)}", trial)
    if gate in INTEGRITY_GATES:
        raise ConflictError(
            f"{gate} is an integrity gate: without it nobody knows what was measured. It is not waived."
        )
    outcome = candidate.gates.get(gate)
    if outcome is None or outcome.outcome not in MAY_BE_WAIVED:
        open_gates = (*candidate.failing, *candidate.unknown)
        raise wrong("gate", f"a failing or unknown gate of {trial}: {', '.join(open_gates) or 'there is none'}", gate)
    return outcome.family


def _propose(proposing: Proposing) -> str:
    newest, family, _ = _checked(proposing)
    return seat_of(proposing, waiving(newest.document, family), author_ids=newest.author_ids)


def _countersign(proposing: Proposing) -> str:
    newest, family, _ = _checked(proposing)
    if newest.document.duties.waiver not in newest.document.teams:
        raise NotAllowedError(f"The policy has no team {newest.document.duties.waiver}, which signs every waiver.")
    wanted = waiving_second(newest.document, family, proposing.proposer_team)
    return seat_of(proposing, wanted, author_ids=newest.author_ids)


def _carry_out(proposing: Proposing) -> None:
    newest, family, ends = _checked(proposing)
    decision = proposing.acting().decision
    waiver = Waiver.objects.create(
        decision=decision,
        proposal_id=proposing.proposal_id,
        trial=proposing.body["trial"],
        gate=proposing.body["gate"],
        reason=proposing.reason,
        owner_id=proposing.proposer_id,
        granted_at=proposing.now,
        ends_at=ends,
    )
    proposing.record(
        "waiver.granted",
        revision=newest.revision.number,
        subject=newest.revision.planned.subject,
        team=gate_owner(newest.document, family),
        payload_type="topogate.waiver/v1",
        payload={
            "trial": waiver.trial,
            "gate": waiver.gate,
            "owner": waiver.owner.token,
            "ends_at": utc_text(waiver.ends_at),
        },
    )


def _waiving_teams(document: PolicyDocument) -> set[str]:
    """Return whoever may own a gate, and the team that countersigns every waiver."""
    return {*document.gate_owners.values(), document.fallback_owner, document.duties.waiver}


_may = holder_of(_waiving_teams)

WAIVER = Handler(
    kind=ProposalKind.WAIVER,
    may_propose=_may,
    may_countersign=_may,
    propose=_propose,
    countersign=_countersign,
    carry_out=_carry_out,
    names_subject=True,
)
