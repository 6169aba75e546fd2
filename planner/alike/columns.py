"""Columns of many windows: what is read of all of them at once, and which of them are strangers.

Rules kept: a column has an entry for every window; a window that says something else, or has no number where numbers
are read, is a stranger, and any number stands in its place. Not handled: what is read (``planner.alike.form``).
"""

from collections.abc import Callable, Sequence
from operator import itemgetter, mul
from typing import Any, TypeVar

from msgspec import Struct

from planner.numbers import all_parts

__all__ = [
    "DURATION",
    "NUMBERS",
    "SECONDS",
    "SPAN",
    "TOKENS",
    "Column",
    "Number",
    "Pair",
    "Ratios",
    "Table",
    "above_zero",
    "are_numbers",
    "hold",
    "instead",
    "metric_column",
    "numbers",
    "picking",
    "replica_column",
]

T = TypeVar("T")

Number = int | float
Column = Sequence[Number]
Pair = tuple[int, int]
"""Numerator and denominator (above 0), not always in lowest terms."""

NUMBERS = frozenset({int, float})
TOKENS, DURATION = "/load/output_tokens_total", "/load/duration_s"
SPAN, SECONDS = "span", "seconds"
"""Columns of start and end, and of the whole seconds between them, 0 where they are no times."""


class Ratios(Struct, frozen=True, gc=False):
    """One exact number of each trial: numerators over denominators."""

    tops: Sequence[int]
    bottoms: Sequence[int]

    def at(self, place: int) -> Pair:
        """Return the number of one trial."""
        return self.tops[place], self.bottoms[place]


class Table(Struct, gc=False):
    """The columns of many windows of one form; entry i of each belongs to window i.

    ``columns`` are those of numbers, by pointer below a window, and others by the names that are given here.
    ``replicas`` says which of all replicas are those of each window.
    """

    size: int
    columns: dict[str, Sequence[Any]]
    replicas: Sequence[slice]
    strangers: set[int]

    def rates(self) -> Ratios:
        """Return the output tokens per second of every window, over 0 where it took no time."""
        tokens, durations = self.columns[TOKENS], self.columns[DURATION]
        seconds, per = all_parts(durations)
        return Ratios(tokens if set(per) == {1} else list(map(mul, tokens, per)), seconds)

    def by_window(self, field: str) -> Sequence[tuple[int, ...]]:
        """Return a number of every replica: those of a window together, in the order of its form."""
        return self._once(f"/replicas/each/{field}", lambda: self._by_window(self.columns[replica_column(field)]))

    def sums(self, field: str) -> Sequence[int]:
        """Return what all replicas of a window count together."""
        return self._once(f"/replicas/sum/{field}", lambda: list(map(sum, self.by_window(field))))

    def of_windows(self, fits: Sequence[bool]) -> Sequence[bool]:
        """Say which windows fit, of what is said of every replica; nothing where nothing is said."""
        return list(map(all, self._by_window(fits))) if fits else ()

    def _by_window(self, column: Sequence[Any]) -> list[Any]:
        return list(map(column.__getitem__, self.replicas))

    def _once(self, name: str, make: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        if name not in self.columns:
            self.columns[name] = make()
        return self.columns[name]


def above_zero(column: Column) -> Sequence[bool]:
    """Say which numbers are above 0; nothing where all of them are."""
    return () if min(column) > 0 else [value > 0 for value in column]


def metric_column(name: str, field: str) -> str:
    """Name the column of a field of an array of ranks: ``values``, of which ``highest`` is the highest one, and of
    those that were sampled ``sample_interval_s`` and ``samples``."""
    return f"/per_rank/{name}/{field}"


def replica_column(field: str) -> str:
    """Name the column of a field of all replicas, window by window."""
    return f"/replicas/*/{field}"


def picking(keys: Sequence[Any]) -> Callable[[Any], Sequence[Any]]:
    """Return what picks the entries of these keys or places, in this order, also where it is a single one."""
    return itemgetter(*keys) if len(keys) > 1 else lambda entries: [entries[key] for key in keys]


def hold(column: Sequence[Any], expected: Any, into: Table) -> None:
    """Find strangers by what windows say in a field."""
    if column.count(expected) < into.size:
        into.strangers.update(at for at, value in enumerate(column) if value != expected)


def instead(fits: Sequence[bool], column: Sequence[T], own: T, into: Table) -> Sequence[T]:
    """Return the column with the form's own value in place of those that do not fit, which only strangers have."""
    into.strangers.update(at for at, fit in enumerate(fits) if not fit)
    return [value if fit else own for value, fit in zip(column, fits, strict=True)]


def numbers(column: Sequence[Any], own: Number, into: Table) -> Column:
    """Return a column of numbers."""
    return column if are_numbers(column) else instead([type(each) in NUMBERS for each in column], column, own, into)


def are_numbers(column: Sequence[Any]) -> bool:
    """Say whether all values are numbers: of what documents hold, nothing else can be added up.

    That is several times faster than to ask each for its type.
    """
    try:
        sum(column)
    except TypeError:
        return False
    return True
