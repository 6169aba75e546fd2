"""The order in which people read names with numbers in them: ``gpu-2`` before ``gpu-10``."""

import re

__all__ = ["NaturalKey", "natural"]

NaturalKey = tuple[tuple[int, int, str], ...]
_NUMBER = re.compile("([0-9]+)")


def natural(name: str) -> NaturalKey:
    """Return a key that orders names by their numbers; digits of other scripts than ASCII are letters."""
    return tuple(_key(part) for part in _NUMBER.split(name) if part)


def _key(part: str) -> tuple[int, int, str]:
    if _NUMBER.fullmatch(part) is None:
        return 1, 0, part
    # Its length comes first: a name of a file may hold more digits than an integer is read from.
    digits = part.lstrip("0")
    return 0, len(digits), digits
