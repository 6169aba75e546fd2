"""What an identity is judged on, and how it answers."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import filterfalse
from operator import attrgetter
from typing import Any

from msgspec import Struct

from planner.numbers import exact
from planner.records.contract import Link, LoadPoint, Model, Workload
from planner.records.evidence import Trial, Window

__all__ = [
    "TOLERANCE",
    "Check",
    "Exact",
    "Facts",
    "Identity",
    "at_most",
    "broken",
    "broken_of",
    "equal",
    "exactly",
    "kept",
]

Exact = int | Fraction
"""An exact number: whole numbers stay as they are, because most are and their arithmetic is several times faster.

Two of them are divided by ``Fraction``: ``/`` would give a double of two integers.
"""
TOLERANCE = Fraction(2, 100)
"""Starting value; a contract may declare another (``comparison.consistency_tolerance``)."""


class Check(Struct, frozen=True, kw_only=True, gc=False):
    """One identity, evaluated: ``fields`` are pointers below the window, ``sentence`` says what does not fit.

    An identity that holds has nothing to say.
    """

    id: str
    holds: bool
    fields: tuple[str, ...]
    sentence: str = ""


def broken_of(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the identities that do not hold; of most windows there is none."""
    return filterfalse(attrgetter("holds"), checks)


@lru_cache(maxsize=4096)
def kept(id: str, fields: tuple[str, ...]) -> Check:
    """Return the check of an identity that holds."""
    return Check(id=id, holds=True, fields=fields)


def broken(id: str, fields: tuple[str, ...], sentence: str) -> Check:
    """Return the check of an identity that does not hold."""
    return Check(id=id, holds=False, fields=fields, sentence=sentence)


class Facts(Struct, frozen=True, kw_only=True, gc=False):
    """A window and what is needed to judge its figures.

    ``ranks`` is the number of ranks placed, ``kv_format`` the number format of the KV cache, ``nics`` NIC -> node.
    """

    window: Window
    trial: Trial
    model: Model
    kv_format: str
    workload: Workload
    load_point: LoadPoint | None
    links: Mapping[str, Link]
    nics: Mapping[str, str]
    ranks: int
    tolerance: Fraction = TOLERANCE

    def get(self, at: str) -> Exact | None:
        """Return a number of the window by its pointer below it, None where it was not recorded."""
        return exactly(self.recorded(at))

    def recorded(self, at: str) -> int | float | None:
        """Return the same number as the document writes it.

        Two of them compare as their decimals do: shortest decimals keep the order of their doubles, and integers of
        documents are doubles too.
        """
        try:
            found = _getter((at,))(self.window)
        except AttributeError:
            # A section on the way is not recorded.
            return None
        return found if type(found) is int or type(found) is float else None

    def values(self, *fields: str) -> tuple[Exact, ...] | None:
        """Return all numbers, or None where one was not recorded."""
        try:
            read = _getter(fields)(self.window)
        except AttributeError:
            return None
        found: tuple[Any, ...] = read if len(fields) > 1 else (read,)
        kinds = set(map(type, found))
        if kinds == _WHOLE:
            return found
        return tuple(map(exact, found)) if kinds <= _NUMBERS else None


_WHOLE = {int}
_NUMBERS = {int, float}


@lru_cache(maxsize=1024)
def _getter(fields: tuple[str, ...]) -> Callable[[Window], Any]:
    return attrgetter(*(at[1:].replace("/", ".") for at in fields))


def exactly(value: object) -> Exact | None:
    """Return a recorded number; None where it is absent or null."""
    return value if type(value) is int else exact(value) if type(value) is float else None


def equal(left: Exact, right: Exact, tolerance: Fraction) -> bool:
    """Say whether two values differ by at most a share of the larger."""
    # In integers over the common denominator: as exact as fractions, and many times faster.
    one, other = left.numerator * right.denominator, right.numerator * left.denominator
    return abs(one - other) * tolerance.denominator <= tolerance.numerator * max(abs(one), abs(other))


def at_most(left: Exact, right: Exact, tolerance: Fraction) -> bool:
    """Say whether a value is at most another one plus a share of it."""
    share = tolerance.denominator + tolerance.numerator
    return left.numerator * right.denominator * tolerance.denominator <= right.numerator * left.denominator * share


Identity = Callable[[Facts], Iterator[Check]]
"""Evaluates one identity wherever a window records all its fields; yields nothing where it is not valid."""
