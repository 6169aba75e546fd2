"""The form of a counted window: all of it but its numbers and its times, and the columns of windows of that form.

Rules kept: two windows have one form where they record the same fields, and say the same wherever they do not say a
number; a number that is null or absent is part of the form, so that what one of them lacks all of them lack. Windows
are read a field at a time and not one by one; a window of another form is a stranger, and has the figures of the form's
own window in its place. Not handled: sections in which an identity reads numbers that are not read here (links,
experts, hand-off, request shapes); a window with one of them has no form.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import mul
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import astuple

from planner.numbers import all_parts
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import PerRank, Replica, Window
from planner.times import seconds_between

__all__ = ["DURATION", "TOKENS", "Column", "Form", "Number", "Pair", "Ratios", "Table", "UnlikeError", "form_of"]

Number = int | float
Column = Sequence[Number]
Pair = tuple[int, int]
"""Numerator and denominator (above 0), not always in lowest terms."""


class Ratios(Struct, frozen=True, gc=False):
    """One exact number of each trial: numerators over denominators."""

    tops: Sequence[int]
    bottoms: Sequence[int]

    def at(self, place: int) -> Pair:
        """Return the number of one trial."""
        return self.tops[place], self.bottoms[place]


NUMBERS = frozenset({int, float})
APART = frozenset({"start", "end", "per_rank", "replicas"})
"""Fields of a window that are read by themselves."""
NOT_READ = ("links", "experts", "handoff")
TOKENS, DURATION = "/load/output_tokens_total", "/load/duration_s"


class UnlikeError(Exception):
    """Nothing is known of what trials of this form share: each is judged by itself."""


class Table(Struct, gc=False):
    """The columns of many windows of one form; entry i of each belongs to window i.

    ``numbers`` are by pointer below a window, ``arrays`` by metric, ``sampled`` beside them the intervals and counts of
    samples of those that were sampled. ``replicas`` has, by field, a column for each
    replica in the order of the form. ``strangers`` are the windows of another form.
    """

    form: "Form"
    size: int
    numbers: dict[str, Column]
    arrays: dict[str, Sequence[Sequence[Number]]]
    sampled: dict[str, tuple[Sequence[Any], Sequence[Any]]]
    replicas: dict[str, list[Column]]
    spans: list[tuple[str, str]]
    seconds: list[int]
    strangers: set[int]

    def rates(self) -> Ratios:
        """Return the output tokens per second of every window, over 0 where it took no time."""
        tokens, durations = cast("Sequence[int]", self.numbers[TOKENS]), self.numbers[DURATION]
        seconds, per = all_parts(durations)
        return Ratios(tokens if set(per) == {1} else list(map(mul, tokens, per)), seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A record inside a window: what it says, and where its numbers and the records inside stand among its fields."""

    record: Struct
    said: tuple[tuple[int, Any], ...]
    numbers: tuple[tuple[int, str], ...]
    inside: tuple[tuple[int, "Node"], ...]

    def read(self, records: Sequence[Any], into: Table) -> None:
        """Read one record of each window."""
        kind = type(self.record)
        columns = list(zip(*map(astuple, _like(records, {kind}.issuperset, self.record, into)), strict=True))
        for index, expected in self.said:
            _hold(columns[index], expected, into)
        for index, pointer in self.numbers:
            into.numbers[pointer] = _like(columns[index], NUMBERS.issuperset, astuple(self.record)[index], into)
        for index, node in self.inside:
            node.read(columns[index], into)


def _hold(column: Sequence[Any], expected: Any, into: Table) -> None:
    """Find strangers by what windows say in a field."""
    if column.count(expected) < into.size:
        into.strangers.update(at for at, value in enumerate(column) if value != expected)


def _like(column: Sequence[Any], fits: Callable[[Iterable[type]], bool], own: Any, into: Table) -> Sequence[Any]:
    """Return the column with the form's own value in place of those of other types, which only strangers have."""
    if fits(map(type, column)):
        return column
    into.strangers.update(at for at, value in enumerate(column) if not fits((type(value),)))
    return [value if fits((type(value),)) else own for value in column]


def _owed(column: Sequence[Any], own: Any, into: Table) -> Sequence[Any]:
    """Return a column of numbers where the form has one, else of nothing."""
    if type(own) in NUMBERS:
        return _like(column, NUMBERS.issuperset, own, into)
    _hold(column, own, into)
    return column


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of one window, which ``window`` has. ``pointers`` are those of its numbers."""

    window_id: str
    window: Window
    ranks: int
    root: Node
    pointers: frozenset[str]
    arrays: Mapping[str, PerRank]
    replicas: Mapping[str, Replica]
    columns: tuple[str, ...]

    @property
    def has_rate(self) -> bool:
        """Say whether output tokens and the duration are recorded."""
        return {TOKENS, DURATION} <= self.pointers

    def has(self, *pointers: str) -> bool:
        """Say whether these numbers are recorded."""
        return self.pointers.issuperset(pointers)

    def table(self, windows: Sequence[Window]) -> Table:
        """Return the columns of windows."""
        table = Table(self, len(windows), {}, {}, {}, {}, [], [], set())
        self.root.read(windows, table)
        self._read_times(windows, table)
        self._read_arrays([window.per_rank for window in windows], table)
        self._read_replicas([window.replicas for window in windows], table)
        return table

    def _read_times(self, windows: Sequence[Window], table: Table) -> None:
        table.spans = [(window.start, window.end) for window in windows]
        seconds = {span: seconds_between(*span) for span in set(table.spans)}
        known = {span: int(found or 0) for span, found in seconds.items()}
        table.seconds = [known[span] for span in table.spans]
        if None in seconds.values():
            table.strangers.update(at for at, span in enumerate(table.spans) if seconds[span] is None)

    def _read_arrays(self, recorded: Sequence[Any], table: Table) -> None:
        if isinstance(self.window.per_rank, UnsetType):
            table.strangers.update(at for at, metrics in enumerate(recorded) if metrics is not UNSET)
            return
        own, names = self.window.per_rank, self.arrays.keys()
        fits = [type(metrics) is dict and metrics.keys() == names for metrics in recorded]
        if not all(fits):
            table.strangers.update(at for at, fit in enumerate(fits) if not fit)
            recorded = [metrics if fit else own for metrics, fit in zip(recorded, fits, strict=True)]
        for name, metric in self.arrays.items():
            *said, intervals, samples, values = zip(*map(astuple, [each[name] for each in recorded]), strict=True)
            for column, expected in zip(said, astuple(metric), strict=False):
                _hold(column, expected, table)
            table.sampled[name] = (
                _owed(intervals, metric.sample_interval_s, table),
                _owed(samples, metric.samples, table),
            )
            if set(map(len, values)) != {self.ranks} or not NUMBERS.issuperset(map(type, chain.from_iterable(values))):
                fits = [_is_full(each, self.ranks) for each in values]
                table.strangers.update(at for at, fit in enumerate(fits) if not fit)
                values = tuple(each if fit else own[name].values for each, fit in zip(values, fits, strict=True))
            table.arrays[name] = values

    def _read_replicas(self, recorded: Sequence[Any], table: Table) -> None:
        if isinstance(self.window.replicas, UnsetType):
            table.strangers.update(at for at, replicas in enumerate(recorded) if replicas is not UNSET)
            return
        names, width = tuple(self.replicas), len(self.replicas)
        fits = [type(replicas) is dict and tuple(replicas) == names for replicas in recorded]
        if not all(fits):
            table.strangers.update(at for at, fit in enumerate(fits) if not fit)
            recorded = [each if fit else self.replicas for each, fit in zip(recorded, fits, strict=True)]
        every = zip(*map(astuple, chain.from_iterable(each.values() for each in recorded)), strict=True)
        for field, column in zip(Replica.__struct_fields__, every, strict=True):
            if field in self.columns:
                table.replicas[field] = _split(column, width, table)
            else:
                own = [getattr(replica, field) for replica in self.replicas.values()]
                self._hold_replicas(own, column, table)

    def _hold_replicas(self, own: Sequence[Any], column: Sequence[Any], table: Table) -> None:
        """Find strangers by what replicas say in a field; ``own`` are the form's."""
        first, width = own[0], len(own)
        if own.count(first) == width and column.count(first) == len(column):
            return
        for place, expected in enumerate(own):
            _hold(column[place::width], expected, table)


def _split(column: Sequence[Any], width: int, table: Table) -> list[Column]:
    """Return the numbers of each replica, where they follow each other window by window."""
    if not NUMBERS.issuperset(map(type, column)):
        table.strangers.update(at // width for at, value in enumerate(column) if type(value) not in NUMBERS)
        column = [value if type(value) in NUMBERS else 0 for value in column]
    return [column[place::width] for place in range(width)]


def form_of(window_id: str, window: Window, ranks: int) -> Form:
    """Return the form of a window.

    Raises:
        UnlikeError: it has none: it is not counted, has a section that is not read, or an array lacks a rank.
    """
    if window.purpose != "counted" or any(getattr(window, section) is not UNSET for section in NOT_READ):
        raise UnlikeError
    if isinstance(window.load, UnsetType) or window.load.shapes is not UNSET or window.replicas == {}:
        raise UnlikeError
    replicas = {} if isinstance(window.replicas, UnsetType) else window.replicas
    metrics = {} if isinstance(window.per_rank, UnsetType) else window.per_rank
    if not all(_is_full(metric.values, ranks) for metric in metrics.values()):
        raise UnlikeError
    root = _node(window, "", APART)
    return Form(
        window_id=window_id,
        window=window,
        ranks=ranks,
        root=root,
        pointers=frozenset(_pointers(root)),
        arrays=metrics,
        replicas=replicas,
        columns=tuple(name for name in Replica.__struct_fields__ if replicas and _in_all(name, replicas)),
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


def _in_all(name: str, replicas: Mapping[str, Replica]) -> bool:
    return NUMBERS.issuperset(type(getattr(replica, name)) for replica in replicas.values())
