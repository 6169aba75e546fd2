"""What a fault led to: the limits of a trial before and after, and the one that says most.

Rules kept (domain rules 6): a limit that was not passing cannot catch; one that the fault is aimed at answers for
the contract, others only where they turn; "within" needs a limit that moved, so a gate without one never counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from planner.figures import number
from planner.gates import GATES
from planner.records.plan import Candidate, LimitOutcome, Outcome, Value
from planner.records.stress import StressCell, StressResult
from planner.stress.base import Case, Injected, Injection, NotInjectable

__all__ = ["cell_after", "cell_without", "families"]

FAMILY = {gate.id: gate.family for gate in GATES}
ALWAYS_ON = frozenset(gate.id for gate in GATES if gate.limit is None)
HELD = frozenset({"PASS", "NOT_APPLICABLE"})
TURNED = frozenset({"FAIL", "UNKNOWN"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One limit before and after the fault."""

    gate: str
    limit_id: str
    aimed: bool
    intended: bool
    outcome: Outcome
    reading: Value
    was: LimitOutcome
    after: LimitOutcome

    @property
    def moved(self) -> bool:
        """Say whether the fault reached the limit's reading or outcome."""
        return (self.outcome, self.reading) != (self.after.outcome, self.after.measured)

    @property
    def is_caught(self) -> bool:
        """Say whether the limit held and does not any more."""
        return self.outcome in HELD and self.after.outcome in TURNED

    @property
    def room(self) -> Fraction:
        """How far the limit is, as a share of it."""
        share = number(self.after.margin_share)
        return Fraction(1) if share is None else share

    @property
    def name(self) -> str:
        """The limit as text: an always-on gate has no limit id."""
        return self.gate if self.limit_id == "always" else f"{self.gate}.{self.limit_id}"


def families(injection: Injection) -> tuple[str, ...]:
    """Return the families of the gates that an injection is aimed at, once each."""
    return tuple(dict.fromkeys(FAMILY[gate] for gate in injection.gates))


def cell_without(injection: Injection, case: Case, fault: NotInjectable) -> StressCell:
    """Return the cell of a trial that the fault could not be put into."""
    return StressCell(result="NOT_INJECTABLE", sentence=" ".join((fault.sentence, *_undeclared(injection, case))))


def _undeclared(injection: Injection, case: Case) -> Iterator[str]:
    if not any(gate in ALWAYS_ON or case.view.limits.get(gate) for gate in injection.gates):
        yield f"No limit would read it: {_declare(injection, case.target)}."


def _declare(injection: Injection, target: str) -> str:
    takes_limits = [gate for gate in injection.gates if gate not in ALWAYS_ON]
    if not takes_limits:
        return "declare validity.max_evidence_age_s"
    return f"declare {' or '.join(takes_limits)}{f' for a {target}' if target else ''}"


def cell_after(injection: Injection, case: Case, fault: Injected, after: Candidate) -> StressCell:
    """Return the cell of a trial that was judged with the fault in it."""
    pairs = list(_pairs(injection, case.before, fault, after))
    caught = [pair for pair in pairs if pair.is_caught]
    masked = [pair for pair in pairs if pair.aimed and pair.outcome in TURNED]
    within = [
        pair for pair in pairs if pair.aimed and pair.moved and pair.outcome in HELD and pair.after.limit is not None
    ]
    if caught:
        return _caught(injection, min(caught, key=_strength), fault, after)
    if masked and (not within or any(pair.moved for pair in masked)):
        return _masked(next((pair for pair in masked if pair.moved), masked[0]), fault, after)
    if within:
        tightest = min(within, key=lambda pair: pair.room)
        return _cell("WITHIN_LIMIT", tightest, fault, after, f"{tightest.name} still passes: {tightest.after.sentence}")
    return StressCell(
        result="NOT_DECLARED",
        state=after.state,
        changed=fault.changed,
        sentence=f"No declared limit reads it: {_declare(injection, case.target)}.",
    )


def _pairs(injection: Injection, before: Candidate, fault: Injected, after: Candidate) -> Iterator[Pair]:
    intended = families(injection)
    for gate, outcome in before.gates.items():
        for limit_id, was in outcome.limits.items():
            state, reading = fault.baseline.get((gate, limit_id), (was.outcome, was.measured))
            yield Pair(
                gate=gate,
                limit_id=limit_id,
                aimed=gate in injection.gates and (gate, limit_id) not in fault.beside,
                intended=FAMILY[gate] in intended,
                outcome=state,
                reading=reading,
                was=was,
                after=after.gates[gate].limits[limit_id],
            )


def _strength(pair: Pair) -> tuple[bool, bool, bool]:
    """Order what caught a fault: gates it is aimed at, then their families; FAIL before UNKNOWN; then by gate."""
    return not pair.aimed, not pair.intended, pair.after.outcome != "FAIL"


def _caught(injection: Injection, pair: Pair, fault: Injected, after: Candidate) -> StressCell:
    how = "fails" if pair.after.outcome == "FAIL" else "is UNKNOWN"
    outside = "" if pair.intended else f" No limit of the family {' or '.join(families(injection))} catches it."
    return _cell("CAUGHT", pair, fault, after, f"{pair.name} {how}: {pair.after.sentence}{outside}")


def _masked(pair: Pair, fault: Injected, after: Candidate) -> StressCell:
    how = "failed" if pair.outcome == "FAIL" else "was UNKNOWN"
    return _cell("MASKED", pair, fault, after, f"{pair.name} {how} before the fault: {pair.was.sentence}")


def _cell(result: StressResult, pair: Pair, fault: Injected, after: Candidate, sentence: str) -> StressCell:
    return StressCell(
        result=result,
        gate=pair.gate,
        limit_id=pair.limit_id,
        intended=pair.intended,
        outcome=pair.after.outcome,
        unit=pair.after.unit,
        before=pair.reading,
        after=pair.after.measured,
        comparator=pair.after.comparator,
        limit=pair.after.limit,
        margin=pair.after.margin,
        margin_share=pair.after.margin_share,
        state=after.state,
        changed=fault.changed,
        sentence=sentence,
    )
