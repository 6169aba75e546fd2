"""What an identity is judged on, and how it answers."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from msgspec import Struct

from planner.numbers import rounded
from planner.readings import number
from planner.records.contract import Link, LoadPoint, Workload
from planner.records.evidence import Window

__all__ = ["TOLERANCE", "Check", "Facts", "Identity", "at_most", "equal", "written"]

TOLERANCE = Fraction(2, 100)
"""Starting value; a contract may declare another (``comparison.consistency_tolerance``)."""


class Check(Struct, frozen=True, kw_only=True):
    """One identity, evaluated: ``fields`` are pointers below the window, ``sentence`` says what does not fit."""

    id: str
    holds: bool
    fields: tuple[str, ...]
    sentence: str


class Facts(Struct, frozen=True, kw_only=True):
    """A window and what is needed to judge its figures. ``ranks`` is the number of ranks placed."""

    window: Window
    workload: Workload
    load_point: LoadPoint | None
    links: Mapping[str, Link]
    ranks: int
    tolerance: Fraction = TOLERANCE

    def get(self, at: str) -> Fraction | None:
        """Return a number of the window by its pointer below it, None where it was not recorded."""
        found: object = self.window
        for step in at.split("/")[1:]:
            found = getattr(found, step, None)
        return number(found)

    def values(self, *fields: str) -> tuple[Fraction, ...] | None:
        """Return all numbers, or None where one was not recorded."""
        found = tuple(value for value in map(self.get, fields) if value is not None)
        return found if len(found) == len(fields) else None


def equal(left: Fraction, right: Fraction, tolerance: Fraction) -> bool:
    """Say whether two values differ by at most a share of the larger."""
    return abs(left - right) <= tolerance * max(abs(left), abs(right))


def at_most(left: Fraction, right: Fraction, tolerance: Fraction) -> bool:
    """Say whether a value is at most another one plus a share of it."""
    return left <= right * (1 + tolerance)


def written(value: Fraction) -> str:
    """Write a number with at most three decimals."""
    text = rounded(value, 3)
    return text.rstrip("0").rstrip(".")


Identity = Callable[[Facts], Iterator[Check]]
"""Evaluates one identity wherever a window records all its fields; yields nothing where it is not valid."""
