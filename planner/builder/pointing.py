"""Pointers of a draft: from one trial and window to all, and below what a settlement reaches.

The most exact pointer counts: one window, then all windows of a trial, then the windows of one name in all trials, then
all windows. ``*`` also stands for every device, node, NIC, island or link of an identity.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from planner.pointers import joined, steps

__all__ = ["ANY", "above", "most_exact", "variants"]

ANY = "*"
T = TypeVar("T")


def variants(field: str) -> tuple[str, ...]:
    """Return the pointers under which a field may be answered, from the field itself to the widest."""
    path = steps(field)
    if path[:1] == ("identities",) and len(path) > 1:
        return _unique(field, *_of_identity(path))
    if path[:1] != ("trials",) or len(path) < 2:
        return (field,)
    if len(path) > 3 and path[2] == "windows":
        places = ((path[1], ANY), (ANY, path[3]), (ANY, ANY))
        return _unique(field, *(joined((path[0], trial, "windows", window, *path[4:])) for trial, window in places))
    return _unique(field, joined((path[0], ANY, *path[2:])))


def _of_identity(path: tuple[str, ...]) -> Iterator[str]:
    """Yield the wider pointers of a field of an identity; of hardware also those of every thing of its kind."""
    named, rest = path[2:5], path[5:]
    if named[:1] != ("hardware",) or not rest:
        yield joined((path[0], ANY, *path[2:]))
        return
    for trial, thing in ((path[1], ANY), (ANY, named[2]), (ANY, ANY)):
        yield joined((path[0], trial, *named[:2], thing, *rest))


def _unique(*pointers: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pointers))


def most_exact(said: Mapping[str, T], field: str) -> tuple[str, T] | None:
    """Return what was said of a field with its pointer, None where nothing was."""
    return next(((at, said[at]) for at in variants(field) if at in said), None)


def above(field: str) -> Iterator[str]:
    """Yield the pointers whose settlement reaches a field, the most exact first: its own, then sections above it.

    The widest is a whole window; of an identity or a trial it is one section.
    """
    path = steps(field)
    least = 4 if path[2:3] == ("windows",) else min(3, len(path))
    for length in range(len(path), least - 1, -1):
        yield from variants(joined(path[:length]))
