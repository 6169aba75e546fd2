"""Outcomes as a plan has them: what a gate found, written down.

Rules kept: every number is exact, in the form that a plan has for it; what trials share is written once and pointed at
each of them. Not handled: what gates find, and what follows from it (``planner.evaluate``).
"""

from collections.abc import Mapping
from fractions import Fraction

from msgspec.structs import replace

from planner.gates.base import Finding, Gate, Limit, Quantity, Standing
from planner.numbers import plain, plain_ratio
from planner.records.plan import GateOutcome, LimitOutcome, Outcome, Value

__all__ = ["Line", "gate_outcome", "pointed_at", "points_into", "worst_of"]

WORST_FIRST: tuple[Outcome, ...] = ("FAIL", "UNKNOWN", "PASS", "NOT_APPLICABLE")


def gate_outcome(family: str, lines: Mapping[str, "Line"], findings: Mapping[str, Finding]) -> GateOutcome:
    """Write down what a gate of a family found, by limit; ``lines`` are those of its limits."""
    written = {name: lines[name].written(finding) for name, finding in findings.items()}
    return GateOutcome(family=family, outcome=worst_of(written), limits=written)


def worst_of(limits: Mapping[str, LimitOutcome] | Mapping[str, Finding]) -> Outcome:
    """Return what a gate says whose limits say this."""
    if len(limits) == 1:
        (only,) = limits.values()
        return only.outcome
    outcomes = {limit.outcome for limit in limits.values()}
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), "NOT_DECLARED")


def points_into(outcome: GateOutcome, at: str) -> bool:
    """Say whether an outcome points at something inside of ``at``."""
    pointers = (pointer for limit in outcome.limits.values() for pointer in (*limit.measured_at, *limit.missing))
    return any(pointer.startswith(f"{at}/") for pointer in pointers)


def pointed_at(outcome: GateOutcome, at: str, to: str) -> GateOutcome:
    """Point an outcome for one trial at another one that shares it."""
    if at == to:
        return outcome
    inside = f"{at}/"
    start, to = len(inside), f"{to}/"

    def moved(pointers: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([to + pointer[start:] if pointer.startswith(inside) else pointer for pointer in pointers])

    limits = {
        name: replace(
            limit, measured_at=moved(limit.measured_at), missing=moved(limit.missing) if limit.missing else ()
        )
        for name, limit in outcome.limits.items()
    }
    return GateOutcome(family=outcome.family, outcome=outcome.outcome, limits=limits)


class Line:
    """How one limit of a gate is written down for many trials, most of which it holds to the same number."""

    def __init__(self, gate: Gate, name: str, limit: Limit | Standing) -> None:
        self._unit, self._comparator = gate.unit, gate.comparator
        self._because = None if isinstance(limit, Standing) else limit.because
        self._at = None if isinstance(limit, Standing) else f"/gates/{gate.id}/{name}"
        self._number: Quantity = None
        self._number_written: Value = None
        self._parts: tuple[int, int] | None = None
        self._last: tuple[Finding, LimitOutcome] | None = None

    def written(self, finding: Finding) -> LimitOutcome:
        """Write down what the gate found for the limit; what it found of the trial before as well is written once."""
        if self._last is None or self._last[0] is not finding:
            self._last = finding, self._outcome(finding)
        return self._last[1]

    def _outcome(self, finding: Finding) -> LimitOutcome:
        number, margin = finding.limit, finding.margin
        if number is not self._number:
            self._number, self._number_written = number, _value(number)
            self._parts = number.as_integer_ratio() if type(number) is Fraction else None
        at, field = self._at, finding.limit_field
        share = _share(margin, *self._parts) if type(margin) is Fraction and self._parts is not None else None
        return LimitOutcome(
            outcome=finding.outcome,
            sentence=finding.text,
            unit=finding.unit or self._unit,
            measured=_value(finding.measured),
            comparator=finding.comparator or self._comparator,
            limit=self._number_written,
            margin=_value(margin),
            margin_share=share,
            would=finding.would,
            worst=dict(finding.worst),
            measured_at=finding.measured_at,
            limit_at=finding.limit_at or (f"{at}/{field}" if at and field else at),
            missing=finding.missing,
            notes=finding.notes,
            because=self._because,
        )


def _share(margin: Fraction, most: int, per: int) -> Value:
    """Return margin / limit, which is most / per; None for a limit of 0."""
    top, bottom = margin.as_integer_ratio()
    return plain_ratio(top * per, abs(most) * bottom) if most else None


def _value(value: Quantity) -> Value:
    # Asked for their very type: whether one is a fraction's child takes several times as long to find out.
    return plain(value) if type(value) is Fraction else value  # type: ignore[return-value]  # no child of it is made
