"""Whole numbers that somebody typed or sent, read in one way: decimal digits of ASCII and nothing else.

``int`` takes signs, spaces, underscores and the digits of every script besides, and raises where there are more than
4,300 of them.
"""

MOST_DIGITS = 9


def whole_number(text: str, most_digits: int = MOST_DIGITS) -> int | None:
    """Read a number of at most so many digits; None for anything else."""
    is_one = text.isascii() and text.isdigit() and len(text) <= most_digits
    return int(text) if is_one else None
