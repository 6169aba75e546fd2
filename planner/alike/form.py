"""The form of a counted window: all of it but its numbers and its times, and the columns of windows of that form.

Rules kept: two windows have one form where they record the same fields, and say the same wherever they do not say a
number; a number that is null or absent is part of the form, so that what one of them lacks all of them lack. Windows
are read a field at a time and not one by one; a window of another form is a stranger, and has the figures of the form's
own window in its place. Forms that differ only in which replicas there are can be read together. Not handled: sections
in which an identity reads numbers that are not read here (links, experts, hand-off, request shapes); a window with one
of them has no form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from planner.alike.columns import (
    DURATION,
    NUMBERS,
    SECONDS,
    SPAN,
    TOKENS,
    Column,
    Table,
    are_numbers,
    hold,
    instead,
    metric_column,
    numbers,
)
from planner.alike.replicas import Replicas, replicas_of
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import PerRank, Window
from planner.times import seconds_between

__all__ = ["AT_ONCE", "Form", "UnlikeError", "form_of"]

APART = frozenset({"start", "end", "per_rank", "replicas"})
"""Fields of a window that are read by themselves."""
NOT_READ = ("links", "experts", "handoff")
AT_ONCE = 512
"""Windows that are read together: few enough for all of their records to stay in the processor's cache."""


class UnlikeError(Exception):
    """Nothing is known of what trials of this form share: each is judged by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A record inside a window: what it says, and where its numbers and the records inside stand among its fields."""

    record: Struct
    said: tuple[tuple[int, Any], ...]
    numbers: tuple[tuple[int, str], ...]
    inside: tuple[tuple[int, "Node"], ...]

    def read(self, records: Sequence[Any], into: Table) -> list[Sequence[Any]]:
        """Read one record of each window; return the column of each of its fields."""
        own, only = astuple(self.record), {type(self.record)}
        if not only.issuperset(map(type, records)):
            records = instead([type(record) in only for record in records], records, self.record, into)
        columns: list[Sequence[Any]] = list(zip(*map(astuple, records), strict=True))
        for index, expected in self.said:
            hold(columns[index], expected, into)
        for index, pointer in self.numbers:
            into.columns[pointer] = numbers(columns[index], own[index], into)
        for index, node in self.inside:
            node.read(columns[index], into)
        return columns

    def fits(self, record: Any) -> bool:
        """Say whether a record says the same, and has numbers where this one has them."""
        if type(record) is not type(self.record):
            return False
        own = astuple(record)
        return (
            all(own[index] == expected for index, expected in self.said)
            and all(type(own[index]) in NUMBERS for index, _ in self.numbers)
            and all(node.fits(own[index]) for index, node in self.inside)
        )


def _highest(arrays: Sequence[Sequence[Any]]) -> Column | None:
    """Return the highest of each array; None where they are not all of numbers, which alone can be compared."""
    try:
        found = list(map(max, arrays))
    except TypeError:
        return None
    # One place alone is compared with nothing.
    return found if are_numbers(found) else None


def _owed(column: Sequence[Any], own: Any, into: Table) -> Sequence[Any]:
    """Return a column of numbers where the form has one, else of nothing."""
    if type(own) in NUMBERS:
        return numbers(column, own, into)
    hold(column, own, into)
    return column


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of one window, which ``window`` has.

    ``pointers`` are those of its numbers. Without ``reads_arrays`` it leaves open what arrays of ranks hold, but not
    their names and lengths.
    """

    window_id: str
    window: Window
    ranks: int
    root: Node
    pointers: frozenset[str]
    arrays: Mapping[str, PerRank]
    replicas: Replicas
    reads_arrays: bool

    @property
    def has_rate(self) -> bool:
        """Say whether output tokens and the duration are recorded."""
        return {TOKENS, DURATION} <= self.pointers

    def has(self, *pointers: str) -> bool:
        """Say whether these numbers are recorded."""
        return self.pointers.issuperset(pointers)

    def is_read_with(self, other: "Form") -> bool:
        """Say whether windows of both forms can be read at once: they differ at most in which replicas there are."""
        return (
            self.root is other.root
            and (self.window_id, self.ranks, self.arrays.keys()) == (other.window_id, other.ranks, other.arrays.keys())
            and all(_say_the_same(metric, other.arrays[name]) for name, metric in self.arrays.items())
            and self.replicas.are_read_with(other.replicas)
        )

    def table(self, windows: Sequence[Window], replicas: Sequence[Replicas] | None = None) -> Table:
        """Return the columns of windows; ``replicas`` are those of each one's form, where forms are read together."""
        table = Table(len(windows), {}, (), set())
        columns = dict(zip(Window.__struct_fields__, self.root.read(windows, table), strict=True))
        _read_times(list(zip(columns["start"], columns["end"], strict=True)), table)
        if self.window.per_rank is UNSET:
            hold(columns["per_rank"], UNSET, table)
        elif self.reads_arrays:
            self._read_arrays(columns["per_rank"], table)
        else:
            self._read_lengths(columns["per_rank"], table)
        if self.replicas.recorded:
            self.replicas.read(columns["replicas"], replicas or [self.replicas] * len(windows), table)
        else:
            hold(columns["replicas"], UNSET, table)
        return table

    def _read_arrays(self, recorded: Sequence[Mapping[str, PerRank]], table: Table) -> None:
        for name, metrics in self._metrics(recorded, table):
            own = self.arrays[name]
            *said, intervals, samples, values = zip(*map(astuple, metrics), strict=True)
            for column, expected in zip(said, astuple(own), strict=False):
                hold(column, expected, table)
            highest = _highest(values) if set(map(len, values)) == {self.ranks} else None
            if highest is None:
                full = [_is_full(each, self.ranks) for each in values]
                values = tuple(instead(full, values, own.values, table))
                highest = list(map(max, values))
            table.columns |= {
                metric_column(name, "values"): values,
                metric_column(name, "highest"): highest,
                metric_column(name, "sample_interval_s"): _owed(intervals, own.sample_interval_s, table),
                metric_column(name, "samples"): _owed(samples, own.samples, table),
            }

    def _read_lengths(self, recorded: Sequence[Mapping[str, PerRank]], table: Table) -> None:
        for _, metrics in self._metrics(recorded, table):
            hold([metric.places for metric in metrics], self.ranks, table)

    def _metrics(self, recorded: Sequence[Any], table: Table) -> Iterable[tuple[str, list[PerRank]]]:
        """Return the arrays of all windows by name; the form's own where a window has not these."""
        try:
            if set(map(len, recorded)) == {len(self.arrays)}:
                return [(name, list(map(itemgetter(name), recorded))) for name in self.arrays]
        except (KeyError, TypeError):
            pass  # A name is missing, or the whole section.
        fits = [isinstance(each, dict) and each.keys() == self.arrays.keys() for each in recorded]
        named = instead(fits, recorded, self.arrays, table)
        return [(name, list(map(itemgetter(name), named))) for name in self.arrays]


def _read_times(spans: list[tuple[str, str]], table: Table) -> None:
    seconds = {span: seconds_between(*span) for span in set(spans)}
    known = {span: int(found or 0) for span, found in seconds.items()}
    table.columns[SPAN], table.columns[SECONDS] = spans, list(map(known.__getitem__, spans))
    timeless = {span for span, found in seconds.items() if found is None}
    if timeless:
        table.strangers.update(at for at, span in enumerate(spans) if span in timeless)


def _say_the_same(metric: PerRank, other: PerRank) -> bool:
    """Say whether arrays say the same but in numbers."""
    return all(
        own == its or {type(own), type(its)} <= NUMBERS
        for own, its in zip(astuple(metric)[:-1], astuple(other)[:-1], strict=True)
    )


def form_of(
    window_id: str, window: Window, ranks: int, *, reads_arrays: bool = True, roots: Iterable[Node] = ()
) -> Form:
    """Return the form of a window, which has one of the ``roots`` where that says the same.

    Raises:
        UnlikeError: it has none: it is not counted, has a section that is not read, or an array lacks a rank.
    """
    if window.purpose != "counted" or any(getattr(window, section) is not UNSET for section in NOT_READ):
        raise UnlikeError
    if isinstance(window.load, UnsetType) or window.load.shapes is not UNSET or window.replicas == {}:
        raise UnlikeError
    replicas = {} if isinstance(window.replicas, UnsetType) else window.replicas
    metrics = {} if isinstance(window.per_rank, UnsetType) else window.per_rank
    if not all(metric.places == ranks for metric in metrics.values()):
        raise UnlikeError
    if reads_arrays and not all(_is_full(metric.values, ranks) for metric in metrics.values()):
        raise UnlikeError
    root = next((root for root in roots if root.fits(window)), None) or _node(window, "", APART)
    return Form(
        window_id=window_id,
        window=window,
        ranks=ranks,
        root=root,
        pointers=frozenset(_pointers(root)),
        arrays=metrics,
        replicas=replicas_of(replicas),
        reads_arrays=reads_arrays,
    )


def _node(record: Struct, pointer: str, apart: frozenset[str] = frozenset()) -> Node:
    fields = [
        (index, f"{pointer}/{name}", getattr(record, name))
        for index, name in enumerate(record.__struct_fields__)
        if name not in apart
    ]
    others = [(index, value) for index, _, value in fields if type(value) not in NUMBERS]
    return Node(
        record=record,
        said=tuple((index, value) for index, value in others if not isinstance(value, Struct)),
        numbers=tuple((index, at) for index, at, value in fields if type(value) in NUMBERS),
        inside=tuple((index, _node(value, at)) for index, at, value in fields if isinstance(value, Struct)),
    )


def _pointers(node: Node) -> Iterable[str]:
    yield from (pointer for _, pointer in node.numbers)
    for _, inner in node.inside:
        yield from _pointers(inner)


def _is_full(values: Sequence[Any], ranks: int) -> bool:
    return len(values) == ranks and NUMBERS.issuperset(map(type, values))
