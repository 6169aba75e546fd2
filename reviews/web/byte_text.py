"""Bytes in the binary unit that suits their size: a boundary moves anything from bytes to tebibytes."""

from fractions import Fraction

from planner.numbers import rounded
from reviews.web.formats import MINUS, grouped

STEPS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def bytes_text(value: int | Fraction) -> str:
    """Write a size with one decimal in the largest unit that it fills, for example ``80.0 KiB``."""
    size = Fraction(value)
    unit, scale = next(((name, step) for name, step in STEPS if abs(size) >= step), ("B", 1))
    return f"{grouped(rounded(size / scale, 1 if scale > 1 else 0))} {unit}"


def signed_bytes(value: int | Fraction) -> str:
    """Write a difference with its sign; less than a byte is none."""
    text = bytes_text(value)
    if text.strip(MINUS) == "0 B":
        return "±0 B"
    return text if text.startswith(MINUS) else f"+{text}"
