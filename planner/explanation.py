"""A plan in full as text: every candidate, every gate, every limit.

Rules kept: failing first, then unknown, then the rest in the order of the gates; a figure stands beside its limit
and margin; pointers say where measured value and limit stand in the documents.
"""

from collections.abc import Iterator

from planner.figures import figure
from planner.records.plan import Candidate, GateOutcome, LimitOutcome, Plan

__all__ = ["plan_explained"]

OUTCOMES = ("FAIL", "UNKNOWN", "PASS", "NOT_APPLICABLE", "NOT_DECLARED")
STATES = ("ELIGIBLE", "INCONCLUSIVE", "REJECTED")


def plan_explained(plan: Plan) -> str:
    """Return the explanation, a line feed after every line."""
    return "".join(f"{line}\n" for line in _lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    keys = ", ".join(f"{key.label} {key.direction}" for key in plan.order)
    yield f"plan {plan.plan_id}"
    yield f"order {keys}"
    yield f"baseline {plan.baseline}"
    for reason in plan.justification:
        yield f"{reason.verdict} {reason.sentence}"
    for flip in plan.flips:
        yield f"flip {flip.sentence}"
    if plan.demand is not None:
        yield f"demand {plan.demand.sentence}"
    place = {entry.trial: index for index, entry in enumerate(plan.eligible)}
    for trial, candidate in sorted(
        plan.candidates.items(), key=lambda item: (STATES.index(item[1].state), place.get(item[0], 0), item[0])
    ):
        yield ""
        yield from _candidate_lines(trial, candidate, plan)


def _candidate_lines(trial: str, candidate: Candidate, plan: Plan) -> Iterator[str]:
    yield f"{trial} {candidate.topology} {candidate.state}"
    yield "  keys " + ", ".join(f"{key.label} {figure(candidate.keys.get(key.label))}" for key in plan.order)
    ordered = sorted(plan.gates, key=lambda gate: OUTCOMES.index(candidate.gates[gate].outcome))
    for gate in ordered:
        yield from _gate_lines(gate, candidate.gates[gate])
    for hint in candidate.hints:
        yield f"  hint {hint}"


def _gate_lines(gate: str, outcome: GateOutcome) -> Iterator[str]:
    if not outcome.limits:
        yield f"  {outcome.outcome} {gate}"
    for limit_id, limit in sorted(outcome.limits.items()):
        name = gate if limit_id == "always" else f"{gate}.{limit_id}"
        yield f"  {limit.outcome} {name}: {limit.sentence}"
        yield from (f"    {line}" for line in _details(limit))


def _details(limit: LimitOutcome) -> Iterator[str]:
    if limit.measured is not None and limit.limit is not None:
        unit = f" {limit.unit}" if limit.unit else ""
        margin = "" if limit.margin is None else f", margin {figure(limit.margin)}"
        sign = limit.comparator or "against"
        yield f"measured {figure(limit.measured)}{unit} {sign} {figure(limit.limit)}{unit}{margin}"
    if limit.would is not None:
        yield f"would {limit.would} if its evidence could be trusted"
    yield from (f"note {note}" for note in limit.notes)
    yield from (f"missing {pointer}" for pointer in limit.missing)
    yield from (f"measured at {pointer}" for pointer in limit.measured_at)
    if limit.limit_at is not None:
        yield f"limit at {limit.limit_at}"
