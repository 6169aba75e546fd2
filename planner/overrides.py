"""Several limits, or readings, taken to be other ones: both decisions, and what turned between them.

Rules kept (spec 2.3): overrides act on the contract or on gate readings after aggregation, never on evidence bytes; a
changed contract passes the same intake as any other, and every trial is judged by it; a reading moves the selection
keys that are read from the same windows. Nothing is stored and the answer holds no plan. Not handled: the identity,
because evidence is about one identity; readings of gates that follow from another reading (``cost``).
"""

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import msgspec

from planner.board import Board, Spot
from planner.canonical import canonical_bytes
from planner.demand import units_needed
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError, Problem
from planner.evaluate import judge, restated
from planner.figures import number, readable
from planner.intake import read_contract, recheck_contract, recheck_evidence
from planner.keys import key_spread
from planner.numbers import exact, plain
from planner.order import Order, order_expand
from planner.plan import check_binding
from planner.pointers import steps
from planner.records.overrides import OVERRIDDEN_CLAIM, Overridden, Override, TrialTurned, Turned
from planner.records.plan import Bound, Candidate, GateOutcome, LimitOutcome, Outcome
from planner.selection import Selection, select
from planner.shown import printable, shown
from planner.version import PLANNER_VERSION
from planner.view import TrialView, views

__all__ = ["CODE", "Reading", "Setting", "overridden", "overridden_bytes", "overridden_of_stored"]

SECTIONS = (
    "gates",
    "needs",
    "headroom",
    "comparison",
    "steady_state",
    "evidence_required",
    "fleet",
    "selection",
    "validity",
)
"""Sections of a contract that an override may change; evidence is bound to all others."""
FOLLOWS = frozenset({"cost"})
"""Gates whose reading is another one's: override that one."""
CODE = "document/override"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value of the contract to put at the pointer ``at``; with ``removes``, what stands there is left out."""

    at: str
    value: Any = None
    removes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one limit of one gate is taken to read of a trial."""

    trial: str
    gate: str
    limit_id: str
    value: int | float

    @property
    def name(self) -> str:
        """The override as it is written."""
        return f"{self.trial}:{self.gate}.{self.limit_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """All trials judged and ordered."""

    views: Mapping[str, TrialView]
    candidates: Mapping[str, Candidate]
    order: Order
    selection: Selection


def overridden(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    *,
    settings: Sequence[Setting] = (),
    readings: Sequence[Reading] = (),
) -> Overridden:
    """Decide as it is and under all overrides together.

    ``as_of`` is ``YYYY-MM-DDThh:mm:ssZ``, as for a plan.

    Raises:
        TamperedRecordError: a document is not as intake left it.
        DocumentRefusedError: the evidence belongs to another contract, an override is about something that is not
            there, or the changed contract is refused; with every problem found.
        ValueError: ``as_of`` is no such time.
    """
    recheck_contract(contract)
    recheck_evidence(evidence)
    return overridden_of_stored(contract, evidence, as_of, settings=settings, readings=readings)


def overridden_of_stored(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    *,
    settings: Sequence[Setting] = (),
    readings: Sequence[Reading] = (),
) -> Overridden:
    """Do the same with documents that were checked before.

    Raises:
        DocumentRefusedError: as above.
        ValueError: ``as_of`` is no such time.
    """
    check_binding(contract, evidence)
    try:
        changed, overrides = _changed(msgspec.to_builtins(contract.record), settings)
    except DocumentRefusedError as refused:
        # Of readings only the trial can be asked for while there is no contract to judge by.
        absent = (_no_trial(reading) for reading in readings if reading.trial not in evidence.record.trials)
        raise DocumentRefusedError((*refused.problems, *absent)) from refused
    before, after = _decided(contract, evidence, as_of), _decided(changed, evidence, as_of)
    overrides += _overrides(after, readings)
    after = _with_readings(after, readings)
    return Overridden(
        schema="topogate.what-if/v1",
        injected=True,
        claim=OVERRIDDEN_CLAIM,
        planner_version=PLANNER_VERSION,
        as_of=as_of,
        slot=contract.record.slot,
        contract=Bound(content_id=contract.content_id),
        evidence=Bound(content_id=evidence.content_id),
        overrides=overrides,
        decision_before=before.selection.decision,
        decision_after=after.selection.decision,
        winner_before=before.selection.winner,
        winner_after=after.selection.winner,
        trials={name: _trial_turned(name, before, after) for name in before.candidates},
    )


def overridden_bytes(answer: Overridden) -> bytes:
    """Return the answer's canonical bytes."""
    return canonical_bytes(msgspec.to_builtins(answer))


def _decided(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> Decided:
    order = order_expand(contract.record)
    trials = views(contract, evidence, as_of)
    return _selected(trials, {name: judge(view, order.keys) for name, view in trials.items()}, order)


def _selected(trials: Mapping[str, TrialView], candidates: Mapping[str, Candidate], order: Order) -> Decided:
    selection = select(
        candidates,
        order,
        spread_of=lambda trial: key_spread(trials[trial], order.keys[0]),
        units_of=lambda trial: units_needed(trials[trial], order),
    )
    return Decided(views=trials, candidates=candidates, order=order, selection=selection)


# The contract


def _changed(tree: Any, settings: Sequence[Setting]) -> tuple[ContractDocument, tuple[Override, ...]]:
    """Return the changed contract as intake reads it, and what was changed."""
    made = [_put(tree, setting) for setting in settings]
    problems = (*(found for found in made if isinstance(found, Problem)), *_repeated(each.at for each in settings))
    if problems:
        raise DocumentRefusedError(problems)
    try:
        changed = read_contract(canonical_bytes(tree))
    except DocumentRefusedError as error:
        # Lines and columns of a text that nobody wrote say nothing.
        raise DocumentRefusedError(tuple(replace(each, line=None, column=None) for each in error.problems)) from error
    return changed, tuple(found for found in made if isinstance(found, Override))


def _put(tree: Any, setting: Setting) -> Override | Problem:
    """Make one change in the tree; what stands around it has to be there."""
    path = steps(setting.at)
    if not path or path[0] not in SECTIONS:
        return Problem(
            CODE, setting.at, f"a pointer into {', '.join(SECTIONS)}", shown(path[0] if path else setting.at)
        )
    holder = tree
    for step in path[:-1]:
        holder = holder.get(step) if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        return Problem(CODE, setting.at, "a place inside an object of the contract", "nothing that holds it")
    old = copy.deepcopy(holder.get(path[-1]))
    if not setting.removes:
        try:
            written = canonical_bytes([setting.at, setting.value])
        except (TypeError, ValueError, RecursionError):
            return Problem(CODE, printable(setting.at), "a pointer and a value as JSON has them", "another")
        # Its own copies: a later setting may change what stands inside, and the caller keeps what is theirs.
        _, value = msgspec.json.decode(written)
        holder[path[-1]] = value
        return Override(kind="set", at=setting.at, old=old, new=copy.deepcopy(value))
    if path[-1] not in holder:
        return Problem(CODE, setting.at, "something that the contract has", "nothing")
    del holder[path[-1]]
    if not holder and path[0] == "gates" and len(path) == 3:
        # A gate that is left without a limit is not declared.
        del tree["gates"][path[1]]
    return Override(kind="without", at=setting.at, old=old)


# Readings


def _overrides(decided: Decided, readings: Sequence[Reading]) -> tuple[Override, ...]:
    """Return readings as overrides.

    Raises:
        DocumentRefusedError: one is of no trial, of no limit, or of a limit that compares no number; or given twice.
    """
    problems = [problem for reading in readings for problem in _problems(decided, reading)]
    names = [reading.name for reading in readings]
    problems += _repeated(names)
    if problems:
        raise DocumentRefusedError(tuple(problems))
    return tuple(
        Override(
            kind="reading",
            at=f"{reading.gate}.{reading.limit_id}",
            trial=reading.trial,
            old=decided.candidates[reading.trial].gates[reading.gate].limits[reading.limit_id].measured,
            new=reading.value,
        )
        for reading in readings
    )


def _repeated(names: Iterable[str]) -> Iterator[Problem]:
    for name, times in sorted(Counter(names).items()):
        if times > 1:
            yield Problem(CODE, name, "one value", f"{times} values")


def _problems(decided: Decided, reading: Reading) -> Iterator[Problem]:
    candidate = decided.candidates.get(reading.trial)
    if candidate is None:
        yield _no_trial(reading)
        return
    gate = candidate.gates.get(reading.gate)
    if gate is None or reading.limit_id not in gate.limits:
        yield Problem(CODE, reading.name, "a limit of the contract", shown(f"{reading.gate}.{reading.limit_id}"))
        return
    outcome = gate.limits[reading.limit_id]
    if reading.gate in FOLLOWS:
        yield Problem(CODE, reading.name, "a reading of its own", f"{reading.gate}, which follows from another one")
    elif outcome.comparator not in ("<=", ">=") or number(outcome.limit) is None:
        yield Problem(CODE, reading.name, "a limit that compares a number", "one that does not")


def _no_trial(reading: Reading) -> Problem:
    return Problem(CODE, reading.name, "a trial of the evidence", shown(reading.trial))


def _with_readings(decided: Decided, readings: Sequence[Reading]) -> Decided:
    candidates = dict(decided.candidates)
    for reading in readings:
        board = Board(views=decided.views, candidates=candidates, order=decided.order, eligible=())
        candidates[reading.trial] = _with_reading(board, reading)
    return _selected(decided.views, candidates, decided.order) if readings else decided


def _with_reading(board: Board, reading: Reading) -> Candidate:
    """Return the candidate with the reading in place of its own, in every limit that reads the same."""
    candidate, value = board.candidates[reading.trial], exact(reading.value)
    gate = candidate.gates[reading.gate]
    own = gate.limits[reading.limit_id]
    alike = {name: _compared(gate.limits[name], value) for name in _reading_alike(board.views[reading.trial], reading)}
    gates = {**candidate.gates, reading.gate: msgspec.structs.replace(gate, limits={**gate.limits, **alike})}
    if own.outcome == "UNKNOWN":
        gates["telemetry"] = _telemetry_with(candidate.gates["telemetry"], frozenset(own.missing))
    limit = number(own.limit) or Fraction(0)
    spot = Spot(gate=reading.gate, limit_id=reading.limit_id, outcome=own, reading=value, limit=limit)
    values = board.values_at(reading.trial, spot, value)
    keys = {key.label: found for key, found in zip(board.order.keys, values, strict=True)}
    return restated(candidate, gates, keys)


def _reading_alike(view: TrialView, reading: Reading) -> list[str]:
    """Name the limits of the gate that read the same evidence: they differ in their bound alone."""
    records = view.limits.get(reading.gate)
    if records is None:
        return [reading.limit_id]
    asks = records[reading.limit_id].asks()
    return [name for name, record in records.items() if name == reading.limit_id or (asks and record.asks() == asks)]


def _compared(outcome: LimitOutcome, value: Fraction) -> LimitOutcome:
    limit = number(outcome.limit)
    if limit is None:
        return outcome
    margin = limit - value if outcome.comparator == "<=" else value - limit
    found: Outcome = "PASS" if margin >= 0 else "FAIL"
    was = "not measured" if outcome.measured is None else f"measured {readable(outcome.measured, outcome.unit)}"
    return msgspec.structs.replace(
        outcome,
        outcome=found,
        measured=plain(value),
        margin=plain(margin),
        margin_share=plain(margin / abs(limit)) if limit else None,
        would=None,
        missing=(),
        notes=(),
        worst={},
        measured_at=(),
        sentence=f"Taken to be {readable(plain(value), outcome.unit)} ({was}).",
    )


def _telemetry_with(gate: GateOutcome, measured: frozenset[str]) -> GateOutcome:
    """Return telemetry as it is once the fields that the overridden reading misses are there."""
    limits = {
        name: msgspec.structs.replace(limit, outcome="PASS", missing=())
        if limit.outcome == "UNKNOWN" and set(limit.missing) <= measured
        else limit
        for name, limit in gate.limits.items()
    }
    return msgspec.structs.replace(gate, limits=limits)


# What turned


def _trial_turned(trial: str, before: Decided, after: Decided) -> TrialTurned:
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
