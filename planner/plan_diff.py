"""Two plans side by side as Markdown, for a pull request.

Rules kept: only what differs is listed; a verdict is told apart from a reading that moved; text that came from a
document is escaped, so it cannot break out of its cell. Not handled: why a document changed.
"""

import re
from collections.abc import Iterator

from planner.candidate_diff import limits_of, trial_changes
from planner.figures import SIGNS, figure
from planner.records.plan import LimitOutcome, Plan

__all__ = ["plan_diff"]

ABSENT = "–"


def plan_diff(before: Plan, after: Plan) -> str:
    """Return what changed from one plan to the other as Markdown, a line feed after every line."""
    return "".join(f"{line}\n" for line in _lines(before, after))


def _lines(before: Plan, after: Plan) -> Iterator[str]:
    yield f"## Topogate: {_escaped(after.slot)}"
    yield ""
    if before.plan_id == after.plan_id:
        yield f"No difference: both are plan `{after.plan_id}`, {after.decision}."
        return
    yield from _table(("", "before", "after"), _head(before, after))
    moved = list(_outcomes(before, after))
    if moved:
        yield ""
        yield from _table(("trial", "gate", "before", "after"), moved)
    readings = list(_readings(before, after))
    if readings:
        yield ""
        yield from _table(("trial", "reading", "before", "after"), readings)
    yield ""
    yield f"Claim: {after.claim}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _head(before: Plan, after: Plan) -> list[tuple[str, ...]]:
    rows = [
        ("decision", before.decision, after.decision),
        ("selected", _winner(before), _winner(after)),
        ("slot", _escaped(before.slot), _escaped(after.slot)),
        ("contract", f"`{before.contract.content_id}`", f"`{after.contract.content_id}`"),
        ("evidence", f"`{before.evidence.content_id}`", f"`{after.evidence.content_id}`"),
        ("as-of", before.as_of, after.as_of),
        ("planner", _escaped(before.planner_version), _escaped(after.planner_version)),
        ("decisive", _word(before.decisive), _word(after.decisive)),
        ("contenders", _contenders(before), _contenders(after)),
        ("plan", f"`{before.plan_id}`", f"`{after.plan_id}`"),
    ]
    return [row for row in rows if row[1] != row[2] or row[0] in ("decision", "selected")]


def _winner(plan: Plan) -> str:
    return ABSENT if plan.selected is None else f"{plan.selected.topology} ({plan.selected.trial})"


def _word(value: bool | None) -> str:
    return ABSENT if value is None else str(value).lower()


def _contenders(plan: Plan) -> str:
    return ", ".join(contender.trial for contender in plan.contenders) or ABSENT


def _outcomes(before: Plan, after: Plan) -> Iterator[tuple[str, ...]]:
    """Yield trials that came, went or changed state, then each of their gates with another outcome."""
    for change in trial_changes(before, after):
        states = tuple(state or "not measured" for state in change.states)
        if states[0] != states[1]:
            yield (change.trial, "", f"**{states[0]}**", f"**{states[1]}**")
        for gate, old, new in change.gates:
            yield (change.trial, gate, old or ABSENT, new or ABSENT)


def _readings(before: Plan, after: Plan) -> Iterator[tuple[str, ...]]:
    """Yield every reading or limit that moved in a trial that both plans know."""
    for trial in sorted(before.candidates.keys() & after.candidates.keys()):
        old, new = limits_of(before.candidates[trial]), limits_of(after.candidates[trial])
        for name in sorted(old.keys() & new.keys()):
            shown = (_reading(old[name]), _reading(new[name]))
            if (old[name].measured, old[name].limit) != (new[name].measured, new[name].limit):
                yield (trial, name, *shown)


def _reading(outcome: LimitOutcome) -> str:
    unit = f" {outcome.unit}" if outcome.unit else ""
    comparator = SIGNS.get(outcome.comparator or "", "against")
    return _escaped(f"{figure(outcome.measured)}{unit} ({comparator} {figure(outcome.limit)})")


def _escaped(text: str) -> str:
    """Escape what Markdown or HTML would act on, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|&~])", r"\\\1", " ".join(text.split()))
