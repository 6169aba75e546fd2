"""Exact numbers: what a document's number means, and the only two ways back to text.

A number in a document is the shortest decimal that reads back as its IEEE double (spec 1a, rule 28), so ``0.1`` is
one tenth here, never the double's binary value. Calculations run on fractions; nothing is rounded before text.

Fractions are the standard library's. Compiled ones (quicktions 1.24) are five times as fast, and one that was read from
a text of one character changed Python's own ``b"\\0"`` in the whole process, and with it every digest over one.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf, isfinite
from typing import cast

from planner.records.base import SAFE_INTEGER
from planner.records.plan import Ratio

__all__ = [
    "GIB",
    "Exactable",
    "all_parts",
    "exact",
    "fraction_of",
    "gap",
    "in_units",
    "nearest_double",
    "parts",
    "plain",
    "plain_ratio",
    "rounded",
    "times",
]

_ALL_DECIMALS = 10**400
"""A multiple of every denominator that a double's shortest decimal can have."""
_MICRO = 10**6
_DIGITS_OF_A_DOUBLE = 10**15
"""Decimals of up to 15 digits are all told apart by doubles, so each is the shortest one of its double."""
_FEW_DIGITS = _DIGITS_OF_A_DOUBLE / 1001
"""Below it, thousandths have no more digits than that."""
GIB = 2**30
"""Bytes of a GiB."""

Exactable = int | float | Fraction | Ratio | tuple[int, int]
"""A number; a pair is numerator and denominator (above 0), not always in lowest terms."""


@lru_cache(maxsize=65_536)
def _decimal(value: float) -> Fraction:
    return Fraction(*parts(value))


def parts(value: int | float) -> tuple[int, int]:
    """Return a document's number as numerator and denominator, not always in lowest terms.

    Raises:
        ValueError: NaN or an infinity.
    """
    if type(value) is int:
        return value, 1
    if not isfinite(value):
        raise ValueError(f"{value} is no decimal")
    if -_FEW_DIGITS < value < _FEW_DIGITS:
        thousandths = round(value * 1000)
        if thousandths / 1000 == value:
            return thousandths, 1000
    # repr is the shortest round-trip decimal; Fraction(value) would be the binary value instead.
    return Decimal(repr(value)).as_integer_ratio()


def all_parts(values: Sequence[int | float]) -> tuple[Sequence[int], Sequence[int]]:
    """Return the numerators and the denominators of many numbers."""
    if set(map(type, values)) == {int}:
        return cast("Sequence[int]", values), [1] * len(values)
    if max(values) < _FEW_DIGITS:
        thousandths = [round(value * 1000) for value in values]
        if [many / 1000 for many in thousandths] == list(values):
            return thousandths, [1000] * len(values)
    numerators, denominators = zip(*map(parts, values), strict=True)
    return numerators, denominators


@lru_cache(maxsize=65_536)
def _whole(value: int) -> Fraction:
    # Small ones come again and again; to keep a large one takes as long as to make it.
    return Fraction(value)


def exact(value: Exactable) -> Fraction:
    """Return the exact value of a document's number.

    Raises:
        TypeError: a boolean or anything else that is not a number.
        ValueError: NaN or an infinity.
    """
    if type(value) is float:
        return _decimal(value)
    if type(value) is int:
        return _whole(value) if -_MICRO < value < _MICRO else Fraction(value)
    if type(value) is Fraction or isinstance(value, Fraction):
        return value
    if isinstance(value, Ratio):
        return Fraction(int(value.num), int(value.den))
    if type(value) is tuple:
        return Fraction(*value)
    raise TypeError("a boolean is no number" if isinstance(value, bool) else f"{type(value).__name__} is no number")


# A fraction's own operators look for every other kind of number first: these take half as long.


def gap(first: Fraction, second: Fraction) -> Fraction:
    """Return first - second."""
    (top, bottom), (taken, per) = first.as_integer_ratio(), second.as_integer_ratio()
    return Fraction(top - taken) if bottom == per == 1 else Fraction(top * per - taken * bottom, bottom * per)


def fraction_of(first: Fraction, second: Fraction | int) -> Fraction:
    """Return first / second.

    Raises:
        ZeroDivisionError: the second is 0.
    """
    (top, bottom), (by, per) = first.as_integer_ratio(), second.as_integer_ratio()
    return Fraction(top * per, bottom * by)


def times(count: int, part: Fraction) -> Fraction:
    """Return so many parts."""
    return Fraction(count * part.numerator, part.denominator)


def nearest_double(value: Exactable) -> float:
    """Return the double nearest to a number, an infinity beyond them: doubles keep the order of exact values, but
    several values may share one."""
    if type(value) is float:
        return value
    if type(value) is tuple:
        numerator, denominator = value
    elif type(value) is Ratio:
        numerator, denominator = int(value.num), int(value.den)
    else:
        numerator, denominator = exact(value).as_integer_ratio()
    try:
        return numerator / denominator
    except OverflowError:
        return inf if numerator > 0 else -inf


def plain(value: Fraction) -> int | float | Ratio:
    """Return the value as a plan writes it: an integer, a decimal that is exact, or a ratio in lowest terms.

    A decimal is used only where the double reads back as exactly this value.
    """
    return _lowest(*value.as_integer_ratio())


def plain_ratio(numerator: int, denominator: int) -> int | float | Ratio:
    """Return numerator / denominator (above 0) as a plan writes it; the same as ``plain`` of the fraction."""
    common = gcd(numerator, denominator)
    return _lowest(numerator // common, denominator // common)


def _lowest(numerator: int, denominator: int) -> int | float | Ratio:
    if denominator == 1 and -SAFE_INTEGER <= numerator <= SAFE_INTEGER:
        return numerator
    if _MICRO % denominator == 0 and abs(numerator) * (_MICRO // denominator) < _DIGITS_OF_A_DOUBLE:
        return numerator / denominator
    if _ALL_DECIMALS % denominator == 0:
        try:
            decimal = numerator / denominator
        except OverflowError:
            return _ratio(numerator, denominator)
        own = _decimal(decimal)
        if own.numerator == numerator and own.denominator == denominator:
            return decimal
    return _ratio(numerator, denominator)


def _ratio(numerator: int, denominator: int) -> Ratio:
    # No JSON number beyond 2^53 - 1 is exact everywhere (RFC 8785), so its digits are written as text.
    return Ratio(
        num=numerator if -SAFE_INTEGER <= numerator <= SAFE_INTEGER else str(numerator),
        den=denominator if denominator <= SAFE_INTEGER else str(denominator),
    )


def rounded(value: Exactable, places: int, *, per: int = 1) -> str:
    """Write value / ``per`` with ``places`` decimals, rounded as ``in_units`` does."""
    units = in_units(value, places, per=per)
    sign = "-" if units < 0 else ""
    digits = str(abs(units)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def in_units(value: Exactable, places: int, *, per: int = 1) -> int:
    """Return value / ``per`` in units of the last of ``places`` decimals, half to even from the exact value (never
    from a double)."""
    numerator, denominator = (value if type(value) is Fraction else exact(value)).as_integer_ratio()
    denominator *= per
    scale: int = 10**places
    units, rest = divmod(abs(numerator) * scale, denominator)
    beyond = 2 * rest - denominator
    if beyond > 0 or (beyond == 0 and units % 2):
        units += 1
    return -units if numerator < 0 else units
