"""Which gates can be waived, and what a waiver lets be put into force. A gate that is waived is never a pass."""

from collections.abc import Collection

from planner.records.plan import Plan

INTEGRITY_GATES = frozenset({"identity", "consistency", "rank_count", "placement", "equal_service"})
"""Never waived or overridden: without them nobody knows what was measured, or whether the figures can be true."""
MAY_BE_WAIVED = frozenset({"FAIL", "UNKNOWN"})


def chosen_trial(plan: Plan, waived: Collection[tuple[str, str]]) -> str | None:
    """Return the trial that may be put into force: the selected one, or the only one that waivers let pass.

    A waiver never changes what the plan selected. Where nothing is selected, a trial all of whose failing and unknown
    gates are waived takes its place; where waivers let two of them pass, neither does.
    """
    if plan.selected is not None:
        return plan.selected.trial
    let_pass = [
        trial
        for trial, candidate in plan.candidates.items()
        if all((trial, gate) in waived for gate in (*candidate.failing, *candidate.unknown))
    ]
    return let_pass[0] if len(let_pass) == 1 else None
