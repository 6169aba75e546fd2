"""The form of a counted window: all of it but its numbers and its times, and the columns of windows of that form.

Rules kept: two windows have one form where they record the same fields, and say the same wherever they do not say a
number; a number that is null or absent is part of the form, so that what one of them lacks all of them lack. Windows
are read a field at a time and not one by one; a window of another form is a stranger, and has the figures of the form's
own window in its place. Not handled: sections in which an identity reads numbers that are not read here (links,
experts, hand-off, request shapes); a window with one of them has no form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter, methodcaller, mul
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import astuple

from planner.numbers import all_parts
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import PerRank, Replica, Window
from planner.times import seconds_between

__all__ = [
    "AT_ONCE",
    "DURATION",
    "TOKENS",
    "Column",
    "Form",
    "Number",
    "Pair",
    "Ratios",
    "Table",
    "UnlikeError",
    "form_of",
]

T = TypeVar("T")

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
AT_ONCE = 256
"""Windows that are read together: few enough for all of their records to stay in the processor's cache."""


class UnlikeError(Exception):
    """Nothing is known of what trials of this form share: each is judged by itself."""


class Table(Struct, gc=False):
    """The columns of many windows of one form; entry i of each belongs to window i.

    ``numbers`` are by pointer below a window, ``arrays`` by metric, ``highest`` beside them the highest value of each,
    ``sampled`` the intervals and counts of samples of those that were sampled. ``replicas`` has, by field, a column for
    each replica in the order of the form. ``strangers`` are the windows of another form.
    """

    form: "Form"
    size: int
    numbers: dict[str, Column]
    arrays: dict[str, Sequence[Sequence[Number]]]
    highest: dict[str, Column]
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

    def read(self, records: Sequence[Any], into: Table) -> list[Sequence[Any]]:
        """Read one record of each window; return the column of each of its fields."""
        own, only = astuple(self.record), {type(self.record)}
        if not only.issuperset(map(type, records)):
            records = _instead([type(record) in only for record in records], records, self.record, into)
        columns: list[Sequence[Any]] = list(zip(*map(astuple, records), strict=True))
        for index, expected in self.said:
            _hold(columns[index], expected, into)
        for index, pointer in self.numbers:
            into.numbers[pointer] = _numbers(columns[index], own[index], into)
        for index, node in self.inside:
            node.read(columns[index], into)
        return columns


def _hold(column: Sequence[Any], expected: Any, into: Table) -> None:
    """Find strangers by what windows say in a field."""
    if column.count(expected) < into.size:
        into.strangers.update(at for at, value in enumerate(column) if value != expected)


def _instead(fits: Sequence[bool], column: Sequence[T], own: T, into: Table) -> Sequence[T]:
    """Return the column with the form's own value in place of those that do not fit, which only strangers have."""
    into.strangers.update(at for at, fit in enumerate(fits) if not fit)
    return [value if fit else own for value, fit in zip(column, fits, strict=True)]


def _numbers(column: Sequence[Any], own: Number, into: Table) -> Column:
    """Return a column of numbers."""
    return column if _are_numbers(column) else _instead([type(each) in NUMBERS for each in column], column, own, into)


def _are_numbers(column: Sequence[Any]) -> bool:
    """Say whether all values are numbers: of what documents hold, nothing else can be added up.

    That is several times faster than to ask each for its type.
    """
    try:
        sum(column)
    except TypeError:
        return False
    return True


def _highest(arrays: Sequence[Sequence[Any]]) -> Column | None:
    """Return the highest of each array; None where they are not all of numbers, which alone can be compared."""
    try:
        found = list(map(max, arrays))
    except TypeError:
        return None
    # One place alone is compared with nothing.
    return found if _are_numbers(found) else None


def _owed(column: Sequence[Any], own: Any, into: Table) -> Sequence[Any]:
    """Return a column of numbers where the form has one, else of nothing."""
    if type(own) in NUMBERS:
        return _numbers(column, own, into)
    _hold(column, own, into)
    return column


def _named(recorded: Sequence[Any], own: Mapping[str, T], into: Table) -> Sequence[Mapping[str, T]]:
    """Return what is recorded by the names that the form has, in its order."""
    names = tuple(own)
    if {dict}.issuperset(map(type, recorded)) and list(map(tuple, recorded)).count(names) == into.size:
        return recorded
    return _instead([type(each) is dict and tuple(each) == names for each in recorded], recorded, own, into)


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
    replicas: Mapping[str, Replica]
    columns: tuple[str, ...]
    reads_arrays: bool

    @property
    def has_rate(self) -> bool:
        """Say whether output tokens and the duration are recorded."""
        return {TOKENS, DURATION} <= self.pointers

    def has(self, *pointers: str) -> bool:
        """Say whether these numbers are recorded."""
        return self.pointers.issuperset(pointers)

    def table(self, windows: Sequence[Window]) -> Table:
        """Return the columns of windows."""
        table = Table(self, len(windows), {}, {}, {}, {}, {}, [], [], set())
        columns = dict(zip(Window.__struct_fields__, self.root.read(windows, table), strict=True))
        self._read_times(zip(columns["start"], columns["end"], strict=True), table)
        read_arrays = self._read_arrays if self.reads_arrays else self._read_lengths
        for section, read in (("per_rank", read_arrays), ("replicas", self._read_replicas)):
            own = getattr(self.window, section)
            if own is UNSET:
                _hold(columns[section], own, table)
            else:
                read(_named(columns[section], own, table), table)
        return table

    def _read_times(self, spans: Iterable[tuple[str, str]], table: Table) -> None:
        table.spans = list(spans)
        seconds = {span: seconds_between(*span) for span in set(table.spans)}
        known = {span: int(found or 0) for span, found in seconds.items()}
        table.seconds = list(map(known.__getitem__, table.spans))
        if None in seconds.values():
            table.strangers.update(at for at, span in enumerate(table.spans) if seconds[span] is None)

    def _read_arrays(self, recorded: Sequence[Mapping[str, PerRank]], table: Table) -> None:
        for name, metric in self.arrays.items():
            columns: list[Sequence[Any]] = list(zip(*map(astuple, map(itemgetter(name), recorded)), strict=True))
            *said, intervals, samples, values = columns
            for column, expected in zip(said, astuple(metric), strict=False):
                _hold(column, expected, table)
            table.sampled[name] = (
                _owed(intervals, metric.sample_interval_s, table),
                _owed(samples, metric.samples, table),
            )
            highest = _highest(values) if set(map(len, values)) == {self.ranks} else None
            if highest is None:
                values = _instead([_is_full(each, self.ranks) for each in values], values, metric.values, table)
                highest = list(map(max, values))
            table.arrays[name], table.highest[name] = values, highest

    def _read_lengths(self, recorded: Sequence[Mapping[str, PerRank]], table: Table) -> None:
        for name in self.arrays:
            _hold([metrics[name].places for metrics in recorded], self.ranks, table)

    def _read_replicas(self, recorded: Sequence[Mapping[str, Replica]], table: Table) -> None:
        width = len(self.replicas)
        every = zip(*map(astuple, chain.from_iterable(map(methodcaller("values"), recorded))), strict=True)
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
    if not _are_numbers(column):
        table.strangers.update(at // width for at, value in enumerate(column) if type(value) not in NUMBERS)
        column = [value if type(value) in NUMBERS else 0 for value in column]
    return [column[place::width] for place in range(width)]


def form_of(window_id: str, window: Window, ranks: int, *, reads_arrays: bool = True) -> Form:
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
    if not all(metric.places == ranks for metric in metrics.values()):
        raise UnlikeError
    if reads_arrays and not all(_is_full(metric.values, ranks) for metric in metrics.values()):
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


def _in_all(name: str, replicas: Mapping[str, Replica]) -> bool:
    return NUMBERS.issuperset(type(getattr(replica, name)) for replica in replicas.values())
