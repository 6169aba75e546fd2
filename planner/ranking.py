"""Numbers as keys to sort by: exact, whether they are written as integers, decimals or ratios.

Not handled: which order is meant (``planner.selection``, ``planner.frontier``).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from planner.numbers import Exactable, exact, nearest_double

__all__ = ["sort_keys"]

_WRITTEN = frozenset({int, float})
"""As a document writes them, numbers compare as their decimals do: its integers are doubles too."""


def sort_keys(values: Sequence[Exactable]) -> Sequence[Any]:
    """Return a key for each number: keys compare as the exact numbers do, and are equal for equal ones."""
    if _WRITTEN.issuperset(map(type, values)):
        return list(map(float, values))  # type: ignore[arg-type]  # none is a ratio or pair
    near = list(map(nearest_double, values))
    if len(set(near)) == len(set(values)):
        return near
    # Several that share a double are told apart by their exact values, which may be written in several ways.
    pairs = list(zip(near, values, strict=True))
    shared = Counter(double for double, _ in set(pairs))
    return [(double, exact(value) if shared[double] > 1 else 0) for double, value in pairs]
