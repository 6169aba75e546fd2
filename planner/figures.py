"""Values of a plan as people read them, and the decimals that lie beside a boundary."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from planner.numbers import GIB, exact, in_units, rounded
from planner.records.plan import Ratio, Value

__all__ = [
    "DECIMALS",
    "SIGNS",
    "beside",
    "decimals",
    "figure",
    "grouped",
    "number",
    "percent",
    "readable",
    "with_commas",
]

PLACES = 3
DECIMALS: Mapping[str, tuple[int, int]] = {
    "bytes": (1, 1),
    "bytes/s": (1, 1),
    "ms": (0, 2),
    "s": (0, 2),
    "tok/s": (0, 1),
    "USD": (2, 2),
    "USD/h": (2, 2),
    "USD/M tokens": (2, 2),
    "W": (0, 1),
    "J/token": (0, 3),
    "share": (3, 3),
    "ratio": (3, 3),
    "score": (0, 4),
}
"""Least and most decimals of a unit, in sentences and in tables alike; bytes are written as GiB. Others are counts."""
BARE_UNITS = frozenset({"share", "ratio"})
SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "<": "<", ">": ">"}
"""How a comparator is written for people."""


def number(value: Value) -> Fraction | None:
    """Return a value that is a number exactly; None for text and for nothing."""
    return exact(value) if isinstance(value, int | float | Ratio) else None


def figure(value: Value, unit: str | None = None) -> str:
    """Write a value: text as it is, an integer in full, a decimal as written, a ratio with three decimals."""
    if value is None:
        return "missing"
    text = rounded(exact(value), PLACES) if isinstance(value, Ratio) else str(value)
    return f"{text} {unit}" if unit else text


def grouped(value: int | Fraction, places: int = PLACES) -> str:
    """Write a number with commas for thousands, a real minus, and no more decimals than it has."""
    units = in_units(value, places)
    whole, rest = divmod(abs(units), 10**places)
    decimals = "." + str(rest).zfill(places).rstrip("0") if rest else ""
    return f"{'−' if units < 0 else ''}{with_commas(whole)}{decimals}"


def with_commas(number: int) -> str:
    """Write a whole number with commas for thousands."""
    # A format is read anew each time, which takes several times as long as the digits.
    return str(number) if -1000 < number < 1000 else f"{number:,}"


def readable(value: Value, unit: str | None = None) -> str:
    """Write a value as a sentence has it: bytes in GiB, a share or ratio without a unit."""
    bytes_ = number(value) if unit == "bytes" else None
    if bytes_ is not None:
        return f"{rounded(bytes_ / GIB, PLACES)} GiB"
    return figure(value, None if unit in BARE_UNITS else unit)


def percent(share: Fraction) -> str:
    """Write a signed share as a percentage with one decimal and a real minus."""
    return f"{'−' if share < 0 else '+'}{rounded(abs(share) * 100, 1)} %"


def decimals(value: Value) -> int:
    """Return how many decimals a value is written with; three for a ratio, which no decimal writes."""
    if isinstance(value, float):
        exponent = Decimal(repr(value)).as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0
    return PLACES if isinstance(value, Ratio) else 0


def beside(value: Fraction, places: int, *, up: bool, strict: bool) -> Fraction:
    """Return the nearest number of ``places`` decimals at or above ``value`` (``up``) or at or below it.

    ``strict`` leaves out ``value`` itself: the next representable number beyond a boundary.
    """
    scale: int = 10**places
    whole, rest = divmod(value.numerator * scale, value.denominator)
    if rest == 0:
        whole += strict if up else -strict
    elif up:
        whole += 1
    return Fraction(whole, scale)
