"""Putting things in the order of their values, those of equal values together.

Rules kept: numbers are compared exactly, whether they are written as integers, decimals or ratios; things of equal
values stay in the order in which they came. Not handled: which order is meant (``planner.selection``,
``planner.frontier``).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

from planner.numbers import Exactable, exact, nearest_double

__all__ = ["number_runs", "runs"]

T = TypeVar("T")


def runs(things: Sequence[T], values: Sequence[Any], *, reverse: bool = False) -> Iterator[list[T]]:
    """Yield runs of things that have equal values, the lowest first; ``values[i]`` is that of ``things[i]``."""
    places = sorted(range(len(things)), key=values.__getitem__, reverse=reverse)
    for _, alike in groupby(places, key=values.__getitem__):
        yield [things[place] for place in alike]


def number_runs(things: Sequence[T], values: Sequence[Exactable], *, reverse: bool = False) -> Iterator[list[T]]:
    """Do the same where values are numbers of a document."""
    near = list(map(nearest_double, values))
    # Most have a double of their own; exact values tell those apart that share one.
    for places in runs(range(len(things)), near, reverse=reverse):
        if len(places) == 1:
            yield [things[places[0]]]
            continue
        alike, own = [things[place] for place in places], [values[place] for place in places]
        if own.count(own[0]) == len(own):
            yield alike
        else:
            yield from runs(alike, list(map(exact, own)), reverse=reverse)
