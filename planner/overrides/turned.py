"""What turned for a trial between two decisions."""

from collections.abc import Iterator

from planner.alike import outcomes_of
from planner.overrides.decided import Decided
from planner.records.overrides import TrialTurned, Turned
from planner.records.plan import Candidate

__all__ = ["trial_turned"]


def trial_turned(trial: str, before: Decided, after: Decided) -> TrialTurned:
    """Return a trial on both sides: state, place in the order, and every limit that answers otherwise."""
    was, now = before.candidates.verdicts[trial], after.candidates.verdicts[trial]
    # Most trials answer as before, and need not be written down to see it.
    alike = outcomes_of(was) == outcomes_of(now)
    return TrialTurned(
        topology=was.topology,
        before=was.state,
        after=now.state,
        place_before=before.places.get(trial),
        place_after=after.places.get(trial),
        turned=() if alike else tuple(_turned(before.candidates[trial], after.candidates[trial])),
    )


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
