"""What turned for a trial between two decisions."""

from collections.abc import Iterator

from planner.overrides.decided import Decided
from planner.records.overrides import TrialTurned, Turned
from planner.records.plan import Candidate

__all__ = ["trial_turned"]


def trial_turned(trial: str, before: Decided, after: Decided) -> TrialTurned:
    """Return a trial on both sides: state, place in the order, and every limit that answers otherwise."""
    was, now = before.candidates[trial], after.candidates[trial]
    return TrialTurned(
        topology=was.topology,
        before=was.state,
        after=now.state,
        place_before=_place(trial, before),
        place_after=_place(trial, after),
        turned=tuple(_turned(was, now)),
    )


def _place(trial: str, decided: Decided) -> int | None:
    names = [entry.trial for entry in decided.selection.eligible]
    return names.index(trial) + 1 if trial in names else None


def _turned(was: Candidate, now: Candidate) -> Iterator[Turned]:
    for gate in was.gates:
        old, new = was.gates[gate].limits, now.gates[gate].limits
        for limit_id in sorted(old.keys() | new.keys()):
            first, second = old.get(limit_id), new.get(limit_id)
            said = second or first
            if said is None or (first and first.outcome) == (second and second.outcome):
                continue
            yield Turned(
                gate=gate,
                limit_id=limit_id,
                before=None if first is None else first.outcome,
                after=None if second is None else second.outcome,
                measured=said.measured,
                limit=said.limit,
                unit=said.unit,
                sentence="Not declared any more." if second is None else second.sentence,
            )
