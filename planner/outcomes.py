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

__all__ = ["gate_outcome", "pointed_at", "points_into", "worst_of"]

WORST_FIRST: tuple[Outcome, ...] = ("FAIL", "UNKNOWN", "PASS", "NOT_APPLICABLE")


def gate_outcome(gate: Gate, limits: Mapping[str, Limit | Standing], findings: Mapping[str, Finding]) -> GateOutcome:
    """Write down what a gate found, by limit."""
    written = {name: _limit_outcome(gate, name, limits[name], finding) for name, finding in findings.items()}
    return GateOutcome(family=gate.family, outcome=worst_of(written), limits=written)


def worst_of(limits: Mapping[str, LimitOutcome]) -> Outcome:
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
    limits = {
        name: replace(
            limit,
            measured_at=_moved(limit.measured_at, inside, f"{to}/"),
            missing=_moved(limit.missing, inside, f"{to}/"),
        )
        for name, limit in outcome.limits.items()
    }
    return replace(outcome, limits=limits)


def _moved(pointers: tuple[str, ...], inside: str, to: str) -> tuple[str, ...]:
    start = len(inside)
    return tuple([to + pointer[start:] if pointer.startswith(inside) else pointer for pointer in pointers])


def _limit_outcome(gate: Gate, name: str, limit: Limit | Standing, finding: Finding) -> LimitOutcome:
    is_declared = type(limit) is not Standing
    return LimitOutcome(
        outcome=finding.outcome,
        sentence=finding.text,
        unit=finding.unit or gate.unit,
        measured=_value(finding.measured),
        comparator=finding.comparator or gate.comparator,
        limit=_value(finding.limit),
        margin=_value(finding.margin),
        margin_share=_margin_share(finding),
        would=finding.would,
        worst=dict(finding.worst),
        measured_at=finding.measured_at,
        limit_at=finding.limit_at or (_limit_pointer(gate, name, finding) if is_declared else None),
        missing=finding.missing,
        notes=finding.notes,
        because=None if isinstance(limit, Standing) else limit.because,
    )


def _limit_pointer(gate: Gate, name: str, finding: Finding) -> str:
    at = f"/gates/{gate.id}/{name}"
    return f"{at}/{finding.limit_field}" if finding.limit_field else at


def _margin_share(finding: Finding) -> Value:
    margin, limit = finding.margin, finding.limit
    if type(margin) is not Fraction or type(limit) is not Fraction or limit.numerator == 0:
        return None
    return plain_ratio(margin.numerator * limit.denominator, abs(limit.numerator) * margin.denominator)


def _value(value: Quantity) -> Value:
    # Asked for their very type: whether one is a fraction's child takes several times as long to find out.
    return plain(value) if type(value) is Fraction else value  # type: ignore[return-value]  # no child of it is made
