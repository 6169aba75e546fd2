"""Read the inputs of a question by name, type and range; every wrong one is kept, not only the first.

Rules kept: a boolean is no number, 8.0 is no whole number, text is no number. Upper limits are far above anything that
is built; what lies beyond is a typing error, and exact arithmetic on it would not end. A stand-in takes the place of a
wrong value until ``check`` refuses the question.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from planner.errors import PlannerError
from planner.hypotheses.facts import MOST_LAYERS
from planner.numbers import exact
from planner.records.base import SAFE_INTEGER
from planner.shown import shown

__all__ = ["DEGREE", "LAYERS", "SAFE", "WIDEST", "WIDTH", "Inputs", "Refused", "RefusedAskError"]

Refused = list[tuple[str, str]]
"""Name of an input and what is wrong with it."""

LAYERS = MOST_LAYERS
DEGREE = 65_536
WIDTH = 2**24
SAFE = SAFE_INTEGER
WIDEST = 16
"""Bytes of an element; the widest number format has 8."""
LARGEST = 1e21
SMALLEST = 1e-21


class RefusedAskError(PlannerError):
    """A question cannot be answered; ``problems`` name every input at fault."""

    def __init__(self, problems: Refused) -> None:
        super().__init__("; ".join(message for _, message in problems))
        self.problems = problems


class Inputs:
    """The inputs of one question."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, dict):
            raise RefusedAskError([("inputs", f"inputs is an object; found {_found(values)}")])
        self._values: Mapping[str, Any] = values
        self._problems: dict[str, str] = {}
        self._read: set[str] = set()
        self.assumed: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def also_stated(self, values: Mapping[str, Any]) -> None:
        """Take values that stand in the question's text for the names that its inputs do not have."""
        self._values = {**values, **self._values}

    def count(self, name: str, *, most: int, least: int = 1) -> int:
        """Return a whole number from ``least`` to ``most``."""
        return self._count(name, self._value(name), most, least)

    def counts(self, name: str, *, most: int) -> tuple[int, ...]:
        """Return a list of whole numbers from 1 to ``most``, each different, in order."""
        value = self._value(name)
        if not isinstance(value, list) or not value or len(value) > 64:
            if name not in self._problems:
                self._problems[name] = f"{name} is a list of 1 to 64 whole numbers; found {_found(value)}"
            return (1,)
        return tuple(dict.fromkeys(self._count(name, item, most, 1) for item in value))

    def count_or(self, name: str, otherwise: int, *, most: int) -> int:
        """Return a whole number from 1, or ``otherwise``, which is then said to be assumed."""
        if name in self:
            return self.count(name, most=most)
        self.assumed[name] = otherwise
        return otherwise

    def number(self, name: str) -> Fraction:
        """Return a number above 0, exact."""
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            self._problems.setdefault(name, f"{name} is a number; found {_found(value)}")
        elif not SMALLEST <= value <= LARGEST:
            limits = f"above 0 (from {SMALLEST} to {LARGEST})"
            self._problems.setdefault(name, f"{name} must be {limits}; found {shown(value)}")
        else:
            return exact(value)
        return Fraction(1)

    def number_or(self, name: str, otherwise: int, *, most: int) -> Fraction:
        """Return a number above 0 and up to ``most``, or ``otherwise``, which is then said to be assumed."""
        if name not in self:
            self.assumed[name] = otherwise
            return Fraction(otherwise)
        value = self.number(name)
        if value > most:
            self._problems.setdefault(name, f"{name} is at most {most}; found {shown(self._values[name])}")
        return min(value, Fraction(most))

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._value(name)
        if isinstance(value, str) and value:
            return value
        self._problems.setdefault(name, f"{name} is a text; found {_found(value)}")
        return ""

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self._value(name)
        if not isinstance(value, bool):
            self._problems.setdefault(name, f"{name} is true or false; found {_found(value)}")
        return value is True

    def refuse(self, name: str, message: str) -> None:
        """Keep a problem that shows itself only when inputs are put together."""
        self._problems.setdefault(name, message)

    def check(self) -> None:
        """Refuse the question if anything was wrong.

        Raises:
            RefusedAskError: with every problem.
        """
        if self._problems:
            raise RefusedAskError(list(self._problems.items()))

    def not_read(self) -> list[str]:
        """Return the names that no formula asked for."""
        return sorted(shown(name, quote=False) for name in set(self._values) - self._read - {"label"})

    def _value(self, name: str) -> Any:
        self._read.add(name)
        if name not in self._values:
            self._problems.setdefault(name, f"{name} is missing")
            return None
        return self._values[name]

    def _count(self, name: str, value: Any, most: int, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            self._problems.setdefault(name, f"{name} is a whole number; found {_found(value)}")
        elif value < least:
            self._problems.setdefault(name, f"{name} is at least {least}; found {shown(value)}")
        elif value > most:
            self._problems.setdefault(name, f"{name} is at most {most}; found {shown(value)}")
        else:
            return value
        return least or 1


def _found(value: Any) -> str:
    return "nothing" if value is None else shown(value)
