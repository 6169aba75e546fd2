"""Which rows of places nothing beats: exact, and quick where nothing beats most of them.

Rules kept: a row beats another one where it is nowhere worse and somewhere better; equal rows beat each other nowhere,
so that all of them stay or none does. Method: rows in order meet only better or equal ones in their first place, so a
staircase of the last two places answers for three (H. T. Kung, F. Luccio, F. P. Preparata, "On finding the maxima of a
set of vectors", JACM 22, 1975); the fourth is taken by halves. That is n log n steps for up to three places and
n log² n for four, however many rows are kept. Not handled: what a place is (``planner.frontier``).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

__all__ = ["Row", "unbeaten"]

Row = tuple[int, ...]
"""Places in up to four orders, 0 for the best."""

_WIDTH = 4
_FEW = 16
"""Rows that are quicker compared one by one than by halves."""


def unbeaten(rows: Iterable[Row]) -> set[Row]:
    """Return the rows that no other one beats; all have the same number of places, at most four."""
    different = list(set(rows))
    if len(different) < 2:
        return set(different)
    columns = _telling(different)
    padding = [(0,) * len(different)] * (_WIDTH - len(columns))
    row_of = dict(zip(zip(*padding, *columns, strict=True), different, strict=True))
    kept = _swept(sorted(row_of)) if padding else _by_halves(sorted(row_of))
    return set(map(row_of.__getitem__, kept))


def _telling(rows: Sequence[Row]) -> list[Row]:
    """Return the columns without those that tell nothing: the same as another one, or with one place alone."""
    return [column for column in dict.fromkeys(zip(*rows, strict=True)) if min(column) != max(column)]


def _by_halves(rows: list[Row]) -> list[Row]:
    """Return the unbeaten of sorted, different rows: those of the first half, and of the second what they leave."""
    if len(rows) <= _FEW:
        kept: list[Row] = []
        for row in rows:
            if not any(a <= row[1] and b <= row[2] and c <= row[3] for _, a, b, c in kept):
                kept.append(row)
        return kept
    half = len(rows) // 2
    first = _by_halves(rows[:half])
    return first + _left_by(first, _by_halves(rows[half:]))


def _left_by(first: list[Row], second: list[Row]) -> list[Row]:
    """Return, in order, the rows of the second that none of the first beats; sorted, all of the first come before."""
    steps, beaten, at = _Stairs(), set(), 0
    before = sorted(row[1:] for row in first)
    for row in sorted(second, key=lambda row: row[1:]):
        while at < len(before) and before[at] <= row[1:]:
            steps.add(*before[at][1:])
            at += 1
        if steps.cover(*row[2:]):
            beaten.add(row)
    return [row for row in second if row not in beaten]


def _swept(rows: Sequence[Row]) -> list[Row]:
    """Return the unbeaten of sorted, different rows whose first place is the same in all."""
    steps, kept = _Stairs(), []
    for row in rows:
        if not steps.cover(*row[2:]):
            steps.add(*row[2:])
            kept.append(row)
    return kept


class _Stairs:
    """The unbeaten among pairs of places: as the one gets worse the other gets better."""

    def __init__(self) -> None:
        self.ones: list[int] = []
        self.others: list[int] = []

    def cover(self, one: int, other: int) -> bool:
        """Say whether some pair is at least as good in both."""
        at = bisect_right(self.ones, one)
        return at > 0 and self.others[at - 1] <= other

    def add(self, one: int, other: int) -> None:
        """Put in a pair, in place of those that it makes needless."""
        if self.cover(one, other):
            return
        start = end = bisect_right(self.ones, one)
        if start and self.ones[start - 1] == one:
            start -= 1
        while end < len(self.others) and self.others[end] >= other:
            end += 1
        self.ones[start:end], self.others[start:end] = [one], [other]
