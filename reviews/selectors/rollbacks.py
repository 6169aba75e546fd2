"""Where a slot can go back to when what was decided turns out wrong."""

from dataclasses import dataclass

from planner.records.plan import Plan
from reviews.models import Activation, Decision, DecisionState

NO_ROLLBACK = "none"


@dataclass(frozen=True, slots=True)
class RollbackChoice:
    """A topology to go back to: ``D-0003`` for a decision of the slot, a trial's id, or ``none``."""

    value: str
    text: str


def rollback_choices(decision: Decision, plan: Plan) -> tuple[RollbackChoice, ...]:
    """Return what may be named: decisions of the slot that were in force, the other eligible trials, or none."""
    in_force = Activation.objects.filter(
        revision__decision__workspace_id=decision.workspace_id,
        revision__decision__slot=decision.slot,
        revision__decision__state__in=(DecisionState.EFFECTIVE, DecisionState.SUPERSEDED),
    ).exclude(revision__decision=decision)
    decisions: dict[str, RollbackChoice] = {}
    told = in_force.order_by("-pk").values_list("revision__decision__number", "revision__number", "topology")
    for number, revision, topology in told:
        label = f"D-{number:04d}"
        decisions.setdefault(label, RollbackChoice(label, f"{topology} of {label} r{revision}"))
    selected = plan.selected.trial if plan.selected else None
    trials = [
        RollbackChoice(row.trial, f"{plan.candidates[row.trial].topology} ({row.trial}, eligible here)")
        for row in plan.eligible
        if row.trial != selected
    ]
    return (*decisions.values(), *trials, RollbackChoice(NO_ROLLBACK, "Nothing to go back to"))
