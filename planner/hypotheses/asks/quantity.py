"""What a quantity is: how a question names it, and the function that answers it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from planner.hypotheses.asks.inputs import Inputs, RefusedAskError
from planner.hypotheses.asks.shapes import Models
from planner.records.base import SAFE_INTEGER

__all__ = ["GIB", "MIB", "Ask", "Exact", "Found", "Quantity", "Rounded"]

MIB = 2**20
GIB = 2**30

Exact = Any
"""A fraction, a whole number, or lists and objects of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question: its inputs, its texts (id, formula, unit), and what was said before."""

    inputs: Inputs
    texts: Mapping[str, str]
    models: Models
    step_s: Fraction | None

    @property
    def unit(self) -> str:
        """The unit that is asked for, "" where none is."""
        return self.texts.get("unit", "")

    @property
    def formula(self) -> str:
        """The formula's text, "" where there is none."""
        return self.texts.get("formula", "")


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number that is written with four decimals."""

    exact: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An answer: exact figures, their unit, and the formula they come from."""

    exact: Exact
    unit: str
    formula: str
    more: Mapping[str, Exact] = field(default_factory=dict)

    def value(self) -> Any:
        """Return the figures as JSON numbers: whole ones as integers, others as doubles.

        Raises:
            RefusedAskError: a whole figure is beyond 2^53 - 1, which not every reader of JSON keeps exactly.
        """
        return _plain(self.exact)

    def also(self) -> dict[str, Any]:
        """Return what stands beside the value."""
        return {name: _plain(value) for name, value in self.more.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A figure that can be asked for.

    ``formulas`` is a regular expression for the start of a formula's text; ``prefix`` is how ids of such questions
    start where they alone say what is meant.
    """

    id: str
    formulas: str
    answer: Callable[[Ask], Found]
    prefix: str = ""

    def has_formula(self, text: str) -> bool:
        """Say whether a formula's text asks for this quantity."""
        return bool(text) and re.match(self.formulas, text) is not None

    def has_id(self, text: str) -> bool:
        """Say whether an id alone tells that this quantity is meant."""
        return bool(self.prefix) and text.startswith(self.prefix)


def _plain(value: Exact) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Rounded):
        return float(round(value.exact, 4))
    number = Fraction(value)
    if abs(number) > SAFE_INTEGER:
        raise RefusedAskError([("inputs", "inputs make a figure beyond 2^53 - 1, which is no exact number in JSON")])
    return number.numerator if number.denominator == 1 else float(number)
