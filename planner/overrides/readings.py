"""Readings: what a limit of a gate is taken to read of a trial, and all that follows from it.

Rules kept: a reading acts after aggregation, never on evidence bytes; limits of a gate that read the same evidence get
it too, telemetry counts its fields as there, and the selection keys move that are read from the same windows.
Not handled: gates that follow from another reading (``FOLLOWS``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from planner.board import Board, Spot
from planner.errors import DocumentRefusedError, Problem
from planner.evaluate import restated
from planner.figures import number, readable
from planner.numbers import exact, plain
from planner.overrides.decided import Decided, selected
from planner.overrides.settings import CODE, repeated
from planner.records.overrides import Override
from planner.records.plan import Candidate, GateOutcome, LimitOutcome, Outcome
from planner.shown import shown
from planner.view import TrialView

__all__ = ["FOLLOWS", "Reading", "no_trial", "reading_overrides", "with_readings"]

FOLLOWS = frozenset({"cost"})
"""Gates whose reading is another one's: override that one."""


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


def reading_overrides(decided: Decided, readings: Sequence[Reading]) -> tuple[Override, ...]:
    """Return readings as overrides.

    Raises:
        DocumentRefusedError: one is of no trial, of no limit, or of a limit that compares no number; or given twice.
    """
    problems = [problem for reading in readings for problem in _problems(decided, reading)]
    names = [reading.name for reading in readings]
    problems += repeated(names)
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


def _problems(decided: Decided, reading: Reading) -> Iterator[Problem]:
    candidate = decided.candidates.get(reading.trial)
    if candidate is None:
        yield no_trial(reading)
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


def no_trial(reading: Reading) -> Problem:
    """Return the problem of a reading whose trial the evidence does not have."""
    return Problem(CODE, reading.name, "a trial of the evidence", shown(reading.trial))


def with_readings(decided: Decided, readings: Sequence[Reading]) -> Decided:
    """Return all trials ordered and selected with the readings in place of their own."""
    for reading in readings:
        board = Board(views=decided.views, candidates=decided.candidates, order=decided.order, eligible=())
        verdicts = {**decided.candidates.verdicts, reading.trial: _with_reading(board, reading)}
        decided = selected(decided.views, verdicts, decided.order)
    return decided


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
