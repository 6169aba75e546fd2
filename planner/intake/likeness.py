"""Identifiers that look equal to a reader, such as ``node-1`` and ``node-l``, or ``a0`` and ``ao``.

Identifiers are ASCII by pattern, so few characters are left to mistake: 0 for o, 1 for l, 1 for i, and rn for m.
``i`` and ``l`` are told apart, so that ``node-i`` and ``node-l`` of one lettered series stay allowed; so do digits
(``a0`` to ``a9``), whose members differ from each other by more than one of these pairs.
"""

from collections.abc import Iterable, Iterator

__all__ = ["look_alikes"]

_READINGS = (str.maketrans("01", "ol"), str.maketrans("01", "oi"))


def look_alikes(ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (first, later) for every id that looks like an earlier one of the same collection."""
    seen: tuple[dict[str, str], ...] = ({}, {})
    for identifier in ids:
        earlier = {
            first
            for reading, known in zip(_READINGS, seen, strict=True)
            if (first := known.setdefault(identifier.translate(reading).replace("rn", "m"), identifier)) != identifier
        }
        for first in sorted(earlier):
            yield first, identifier
