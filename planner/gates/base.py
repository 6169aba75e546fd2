"""What a gate is: one pure function from a view of one trial to one outcome.

A gate never raises on bad evidence and never guesses: what is missing is UNKNOWN, and names the field. It reads one
trial and the contract, never another trial, so adding a trial changes no other verdict (spec 2.0, rule 7).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from planner.view import TrialView

from planner.records.base import Prose, Record

Verdict = Literal["PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"]
Quantity = int | float | str | Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a gate found for one limit of one trial; the fields are those of ``LimitOutcome``."""

    outcome: Verdict
    sentence: str
    measured: Quantity = None
    limit: Quantity = None
    margin: Quantity = None
    worst: tuple[tuple[str, str], ...] = ()
    measured_at: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    would: Literal["PASS", "FAIL", None] = None


class Limit(Record, kw_only=True):
    """Base of the record that types a gate's limits in the contract."""

    because: Prose


Rule = Callable[[TrialView, Any], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate as pages, command line, schema and docs list it.

    ``limit`` is the record of its limits, or None for a gate that is always on. ``reads`` names the evidence
    fields it reads (``<section>.<field>``): the telemetry gate asks for them and UNKNOWN spreads along them.
    ``comparator`` and ``unit`` are those of measured and limit.
    """

    id: str
    family: str
    title: str
    rule: Rule
    limit: type[Limit] | None
    reads: tuple[str, ...]
    unit: str | None
    comparator: Literal["<=", ">=", "==", None]

    @property
    def doc(self) -> str:
        """The rule in words."""
        return (self.rule.__doc__ or "").strip()


def gate(
    id: str,
    *,
    family: str,
    title: str,
    limit: type[Limit] | None = None,
    reads: tuple[str, ...] = (),
    unit: str | None = None,
    comparator: Literal["<=", ">=", "==", None] = None,
) -> Callable[[Rule], Gate]:
    """Make a gate of a rule. The rule gets (view, limit); limit is None for an always-on gate."""

    def wrap(rule: Rule) -> Gate:
        return Gate(
            id=id, family=family, title=title, rule=rule, limit=limit, reads=reads, unit=unit, comparator=comparator
        )

    return wrap
