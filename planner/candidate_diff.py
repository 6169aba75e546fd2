"""Two judged candidates side by side: which values moved, whether that is gain or loss, which outcomes differ.

Rules kept: a change is a share of the size of the value before, worked out exactly; the direction that is better is
that of the limit's comparator or of the order's key; a value with neither has none, nor has what describes the
evidence itself (its age, its repeats). Values are set against one
another only where both were measured of the same thing: workload, model, precision and hardware of both sides are the
same leaf by leaf (what runs recorded of them too), the limit reads the same, the unit is one, and neither is UNKNOWN.
Everything else keeps its values, and the reason why no change is given. Outcomes are always compared.

Not handled: which candidate to choose (``planner.selection``), maps (``planner.map_diff``), and the fields of
documents (``planner.document_diff``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from planner.document_diff import FieldChange, document_diff
from planner.figures import number
from planner.identity import UNKNOWN, leaves, same
from planner.pointers import joined, steps
from planner.records.plan import Candidate, LimitOutcome, OrderKey, Outcome, Plan, State, Value

__all__ = [
    "BASIS",
    "BESIDE",
    "CandidateDiff",
    "CandidateSide",
    "Mismatch",
    "OutcomeChange",
    "TrialChange",
    "ValueChange",
    "candidate_diff",
    "limits_of",
    "trial_changes",
]

BASIS = ("workload", "model", "precision", "hardware")
"""Sections of an identity that two measurements must share before one can be better than the other."""
BESIDE = ("stack", "telemetry")
"""Sections that may be what is compared; their differences are named beside the figures."""

Better = Literal["lower", "higher"]
Effect = Literal["GAIN", "LOSS", "SAME", "CHANGED", "NOT_COMPARED"]
BETTER: Mapping[str, Better] = {"<=": "lower", ">=": "higher", "asc": "lower", "desc": "higher"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSide:
    """One side. ``contract`` is the contract and ``observed`` the identity that the trial's runs recorded, as JSON."""

    plan: Plan
    trial: str
    contract: Mapping[str, Any]
    observed: Mapping[str, Any]

    @property
    def candidate(self) -> Candidate:
        """The judged trial."""
        return self.plan.candidates[self.trial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A leaf that differs; ``pointer`` is below ``identity``, or in the contract for a price.

    ``of``: ``contract`` where the contracts ask for different things, ``run`` where only what ran differs.
    """

    section: str
    pointer: str
    of: Literal["contract", "run"]
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """One value on both sides: a key of the selection order (``limit_id`` None), or what a limit reads.

    ``change`` is (after - before) / |before|, positive where the value rose; None where there is none. ``reason`` says
    why, where ``effect`` is NOT_COMPARED; CHANGED is a change that is neither better nor worse.
    """

    name: str
    limit_id: str | None
    unit: str | None
    better: Better | None
    before: Value
    after: Value
    limit_before: Value = None
    limit_after: Value = None
    comparator: str | None = None
    change: Fraction | None = None
    effect: Effect
    reason: str = ""

    @property
    def differs(self) -> bool:
        """Whether the value or its limit is another one."""
        return not (_equal(self.before, self.after) and _equal(self.limit_before, self.limit_after))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeChange:
    """A limit with another outcome; None on the side that has no such limit."""

    gate: str
    limit_id: str
    before: LimitOutcome | None
    after: LimitOutcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateDiff:
    """The difference. ``mismatches`` forbid comparing figures, ``cautions`` are to be known when reading them."""

    mismatches: tuple[Mismatch, ...]
    cautions: tuple[Mismatch, ...]
    values: tuple[ValueChange, ...]
    outcomes: tuple[OutcomeChange, ...]
    same_outcomes: int

    @property
    def differing(self) -> tuple[str, ...]:
        """The sections that forbid comparing figures, in the order of ``BASIS``."""
        return tuple(section for section in BASIS if any(found.section == section for found in self.mismatches))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialChange:
    """A trial that came, went or was judged otherwise; None on the side that does not have it.

    ``gates`` holds (gate, outcome before, outcome after) of every gate with another outcome; ``is_measured_anew``
    where its evidence is not the same.
    """

    trial: str
    before: Candidate | None
    after: Candidate | None
    gates: tuple[tuple[str, Outcome | None, Outcome | None], ...]
    is_measured_anew: bool

    @property
    def states(self) -> tuple[State | None, State | None]:
        """The state on both sides."""
        return (self.before.state if self.before else None, self.after.state if self.after else None)

    @property
    def is_judged_otherwise(self) -> bool:
        """Whether a state or an outcome differs."""
        return self.states[0] != self.states[1] or bool(self.gates)


def candidate_diff(before: CandidateSide, after: CandidateSide) -> CandidateDiff:
    """Compare two candidates: of one plan, or of two."""
    found = _mismatches(before, after)
    mismatches = tuple(one for one in found if one.section in BASIS)
    sections = tuple(section for section in BASIS if any(one.section == section for one in mismatches))
    refusal = f"{_listed(sections)} {'differs' if len(sections) == 1 else 'differ'}" if sections else ""
    pairs = list(_pairs(before.candidate, after.candidate))
    outcomes = tuple(
        OutcomeChange(gate=gate, limit_id=limit, before=old, after=new)
        for gate, limit, old, new in pairs
        if _outcome(old) != _outcome(new)
    )
    return CandidateDiff(
        mismatches=mismatches,
        cautions=tuple(one for one in found if one.section not in BASIS),
        values=(*_keys(before, after, refusal), *_limits(before, after, pairs, refusal)),
        outcomes=outcomes,
        same_outcomes=len(pairs) - len(outcomes),
    )


def trial_changes(before: Plan, after: Plan) -> tuple[TrialChange, ...]:
    """Return every trial that came, went, was measured anew or is judged otherwise, in order of their ids."""
    found = (_trial_change(before, after, trial) for trial in sorted({*before.candidates, *after.candidates}))
    return tuple(one for one in found if one.is_measured_anew or one.is_judged_otherwise)


def limits_of(candidate: Candidate) -> dict[str, LimitOutcome]:
    """Return what every limit says of a candidate, by ``gate.limit``."""
    return {
        f"{gate}.{limit}": outcome for gate, found in candidate.gates.items() for limit, outcome in found.limits.items()
    }


def _trial_change(before: Plan, after: Plan, trial: str) -> TrialChange:
    old, new = before.candidates.get(trial), after.candidates.get(trial)
    gates: list[tuple[str, Outcome | None, Outcome | None]] = []
    if old is not None and new is not None:
        for gate in dict.fromkeys((*after.gates, *before.gates)):
            outcomes = tuple(side.gates[gate].outcome if gate in side.gates else None for side in (old, new))
            if outcomes[0] != outcomes[1]:
                gates.append((gate, outcomes[0], outcomes[1]))
    return TrialChange(
        trial=trial,
        before=old,
        after=new,
        gates=tuple(gates),
        is_measured_anew=old is None or new is None or old.trial_content_id != new.trial_content_id,
    )


def _mismatches(before: CandidateSide, after: CandidateSide) -> tuple[Mismatch, ...]:
    """Compare what the contracts ask for, then what the runs recorded beyond that."""
    found: dict[str, Mismatch] = {}
    if before.contract is not after.contract:
        for change in document_diff(before.contract.get("identity", {}), after.contract.get("identity", {})):
            found[change.pointer] = _mismatch(change)
        for change in document_diff(_prices(before.contract), _prices(after.contract)):
            found[change.pointer] = _mismatch(change)
    for mismatch in _of_runs(before.observed, after.observed):
        found.setdefault(mismatch.pointer, mismatch)
    return tuple(found.values())


def _mismatch(change: FieldChange) -> Mismatch:
    return Mismatch(
        section=steps(change.pointer)[0],
        pointer=change.pointer,
        of="contract",
        before=change.before,
        after=change.after,
    )


def _prices(contract: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what turns a rate into a price: how devices are charged, and for how much."""
    fleet = contract.get("fleet", {})
    return {
        "fleet": {name: fleet[name] for name in ("charge", "usd_per_device_hour", "spare_devices") if name in fleet}
    }


def _of_runs(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Yield leaves that both runs recorded and that differ; what one side does not know is no difference."""
    if before is after:
        return
    old, new = dict(leaves(before)), dict(leaves(after))
    for path in sorted(old.keys() & new.keys()):
        is_known = not {UNKNOWN, None} & {value for value in (old[path], new[path]) if isinstance(value, str | None)}
        if is_known and path[:1] and path[0] in (*BASIS, *BESIDE) and not same(old[path], new[path]):
            yield Mismatch(section=path[0], pointer=joined(path), of="run", before=old[path], after=new[path])


def _pairs(before: Candidate, after: Candidate) -> Iterator[tuple[str, str, LimitOutcome | None, LimitOutcome | None]]:
    """Yield every limit of either side with both outcomes, gates in the order of the plans."""
    for gate in dict.fromkeys((*after.gates, *before.gates)):
        old, new = (side.gates[gate].limits if gate in side.gates else {} for side in (before, after))
        for limit in dict.fromkeys((*new, *old)):
            yield gate, limit, old.get(limit), new.get(limit)


def _outcome(found: LimitOutcome | None) -> Outcome | None:
    return found.outcome if found is not None else None


def _keys(before: CandidateSide, after: CandidateSide, refusal: str) -> Iterator[ValueChange]:
    """Yield the numbers that the order is made of."""
    old, new = ({key.label: key for key in side.plan.order} for side in (before, after))
    for label in dict.fromkeys((*new, *old)):
        values = before.candidate.keys.get(label), after.candidate.keys.get(label)
        if all(number(value) is None for value in values):
            continue
        key = new.get(label) or old[label]
        yield _change(
            name=label,
            better=BETTER[key.direction],
            values=values,
            refusal=refusal or _key_refusal(old.get(label), new.get(label)),
        )


def _key_refusal(before: OrderKey | None, after: OrderKey | None) -> str:
    if before is None or after is None:
        return f"the order {'before' if before is None else 'after'} has no such key"
    if (before.load_point, before.statistic) != (after.load_point, after.statistic):
        return "another load point or statistic is read"
    return "" if before.direction == after.direction else "the orders ask for opposite directions"


def _limits(
    before: CandidateSide,
    after: CandidateSide,
    pairs: list[tuple[str, str, LimitOutcome | None, LimitOutcome | None]],
    refusal: str,
) -> Iterator[ValueChange]:
    """Yield what the limits read, where it is a number on a side at least."""
    for gate, limit, old, new in pairs:
        values = (old.measured if old else None, new.measured if new else None)
        if all(number(value) is None for value in values):
            continue
        shown = new or old
        comparator = shown.comparator if shown else None
        yield _change(
            name=gate,
            limit_id=limit,
            unit=shown.unit if shown else None,
            better=None if _is_of_evidence(before, after, gate) else BETTER.get(comparator or ""),
            values=values,
            limits=(old.limit if old else None, new.limit if new else None),
            comparator=comparator,
            refusal=refusal or _limit_refusal(before, after, gate, limit, old, new),
        )


def _is_of_evidence(before: CandidateSide, after: CandidateSide, gate: str) -> bool:
    """Say whether a gate reads the evidence itself, such as its age: more or less of it is no gain of a topology."""
    found = after.candidate.gates.get(gate) or before.candidate.gates.get(gate)
    return found is not None and found.family == "evidence"


def _limit_refusal(
    before: CandidateSide,
    after: CandidateSide,
    gate: str,
    limit: str,
    old: LimitOutcome | None,
    new: LimitOutcome | None,
) -> str:
    if old is None or new is None:
        return f"the contract {'before' if old is None else 'after'} has no such limit"
    if old.unit != new.unit:
        return "the units differ"
    unknown = [side for side, found in (("before", old), ("after", new)) if found.outcome == "UNKNOWN"]
    if unknown:
        return f"the outcome {_listed(tuple(unknown))} is UNKNOWN"
    thresholds = {steps(found.limit_at)[-1] for found in (old, new) if found.limit_at}
    read = document_diff(*(_reads(side.contract, gate, limit, thresholds) for side in (before, after)))
    return f"the limits read differently: {', '.join(change.pointer[1:] for change in read)}" if read else ""


def _reads(contract: Mapping[str, Any], gate: str, limit: str, thresholds: set[str]) -> dict[str, Any]:
    """Return what a limit says beside its threshold and its reason: statistic, load point and the like."""
    declared = contract.get("gates", {}).get(gate, {}).get(limit, {})
    return {name: value for name, value in declared.items() if name not in thresholds and name != "because"}


def _change(
    *,
    name: str,
    better: Better | None,
    values: tuple[Value, Value],
    refusal: str,
    limit_id: str | None = None,
    unit: str | None = None,
    limits: tuple[Value, Value] = (None, None),
    comparator: str | None = None,
) -> ValueChange:
    before, after = number(values[0]), number(values[1])
    effect: Effect = "NOT_COMPARED"
    change: Fraction | None = None
    if not refusal and (before is None or after is None):
        missing = tuple(side for side, value in (("before", before), ("after", after)) if value is None)
        refusal = f"not measured {_listed(missing)}"
    if not refusal and before is not None and after is not None:
        change = (after - before) / abs(before) if before else None
        is_better = (after < before) is (better == "lower")
        effect = "SAME" if before == after else "CHANGED" if better is None else "GAIN" if is_better else "LOSS"
    return ValueChange(
        name=name,
        limit_id=limit_id,
        unit=unit,
        better=better,
        before=values[0],
        after=values[1],
        limit_before=limits[0],
        limit_after=limits[1],
        comparator=comparator,
        change=change,
        effect=effect,
        reason=refusal,
    )


def _equal(before: Value, after: Value) -> bool:
    numbers = number(before), number(after)
    return numbers[0] == numbers[1] if None not in numbers else before == after


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1]) if len(words) > 1 else words)
