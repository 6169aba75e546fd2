"""Conversion of a file's units into ours: exact, rounded once to the nearest double.

"GB" is decimal here; a tool that writes GB and means GiB is read by its importer as ``GiB``.
"""

from decimal import Decimal
from fractions import Fraction

from planner.numbers import GIB, exact
from planner.records.base import SAFE_INTEGER

__all__ = ["converted"]

_FACTORS: dict[tuple[str, str], Fraction] = {
    ("s", "ms"): Fraction(1000),
    ("us", "ms"): Fraction(1, 1000),
    ("ns", "ms"): Fraction(1, 10**6),
    ("ms", "s"): Fraction(1, 1000),
    ("us", "s"): Fraction(1, 10**6),
    ("ns", "s"): Fraction(1, 10**9),
    ("min", "s"): Fraction(60),
    ("h", "s"): Fraction(3600),
    ("kB", "bytes"): Fraction(10**3),
    ("MB", "bytes"): Fraction(10**6),
    ("GB", "bytes"): Fraction(10**9),
    ("TB", "bytes"): Fraction(10**12),
    ("KiB", "bytes"): Fraction(2**10),
    ("MiB", "bytes"): Fraction(2**20),
    ("GiB", "bytes"): Fraction(GIB),
    ("TiB", "bytes"): Fraction(2**40),
    ("GB/s", "bytes/s"): Fraction(10**9),
    ("Gb/s", "bytes/s"): Fraction(10**9, 8),
    ("Mb/s", "bytes/s"): Fraction(10**6, 8),
    ("percent", "share"): Fraction(1, 100),
}


_POWERS = {Fraction(Decimal(10) ** power): power for power in range(-12, 13)}
_SHIFTS = {units: _POWERS[factor] for units, factor in _FACTORS.items() if factor in _POWERS}
"""By how many digits a conversion shifts the decimal point, where it does no more."""


def converted(value: int | float, unit: str, into: str) -> int | float:
    """Return a finite number of ``unit`` in ``into``; whole results are integers where the unit is one of counts.

    Raises:
        KeyError: no conversion is known.
        OverflowError: beyond the range of a double.
    """
    if unit == into:
        return value
    shift = _SHIFTS.get((unit, into))
    if shift is not None and isinstance(value, float):
        # The shortest decimal of a double is what it means (``planner.numbers``); shifting it is exact, and fast.
        shifted = Decimal(repr(value)).scaleb(shift)
        return round(shifted) if into.startswith("bytes") and abs(shifted) <= SAFE_INTEGER else float(shifted)
    result = exact(value) * _FACTORS[unit, into]
    if into.startswith("bytes") and abs(result) <= SAFE_INTEGER:
        return round(result)
    if result.denominator == 1 and isinstance(value, int) and abs(result) <= SAFE_INTEGER:
        return int(result)
    return float(result)
