"""The form of a counted window: all of it but its numbers and its times, and how to read these from windows alike.

Rules kept: two windows have one form where they record the same fields, and say the same wherever they do not say a
number; a number that is null or absent is part of the form, so that what one of them lacks all of them lack. Times,
arrays of ranks and replicas are read apart. Not handled: sections in which an identity reads numbers that are not read
here (links, experts, hand-off, request shapes); a window with one of them has no form.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import Any

from msgspec import Struct

from planner.numbers import parts
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import PerRank, Replica, Window
from planner.times import window_seconds

__all__ = ["Form", "Number", "Pair", "Row", "UnlikeError", "form_of"]

Number = int | float
Pair = tuple[int, int]
"""Numerator and denominator (above 0), not always in lowest terms."""

NUMBERS = frozenset({int, float})
APART = ("start", "end", "per_rank", "replicas")
"""Fields of a window that are read by themselves."""
NOT_READ = ("links", "experts", "handoff")
TOKENS, DURATION = "/load/output_tokens_total", "/load/duration_s"


class UnlikeError(Exception):
    """Nothing is known of what trials of this form share: each is judged by itself."""


class Row(Struct, frozen=True, gc=False):
    """The numbers of one window.

    ``replicas`` holds a column for every field that each replica records, in the order of the form. ``rate`` are the
    output tokens per second, None where the form has none.
    """

    numbers: tuple[Number, ...]
    arrays: Mapping[str, PerRank]
    replicas: tuple[tuple[Number, ...], ...]
    start: str
    end: str
    seconds: Fraction
    rate: Pair | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of one window. ``at`` maps pointers below a window to their index among the numbers.

    ``columns`` maps fields of replicas to the index of their column.
    """

    window_id: str
    window: Window
    ranks: int
    at: Mapping[str, int]
    columns: Mapping[str, int]
    said: tuple[Any, ...]
    said_of: Callable[[Window], tuple[Any, ...]]
    numbers_of: Callable[[Window], tuple[Any, ...]]
    arrays: Mapping[str, tuple[Any, ...]]
    names: tuple[str, ...]
    replica_ranks: tuple[tuple[int, ...], ...]
    columns_of: Callable[[Replica], tuple[Any, ...]]
    replicas_said: tuple[Any, ...]
    replica_said_of: Callable[[Replica], Any]

    @property
    def has_rate(self) -> bool:
        """Say whether output tokens and the duration are recorded."""
        return TOKENS in self.at and DURATION in self.at

    def pick(self, *pointers: str) -> Callable[[tuple[Number, ...]], tuple[Number, ...]] | None:
        """Return what takes these numbers, two or more, out of a row's; None where one is not recorded."""
        if not self.at.keys() >= set(pointers):
            return None
        return itemgetter(*[self.at[pointer] for pointer in pointers])

    def read(self, window: Window) -> Row | None:
        """Return the numbers of a window; None where it has another form, or times that are none."""
        try:
            if self.said_of(window) != self.said:
                return None
            numbers = self.numbers_of(window)
        except AttributeError:
            # A section on the way is not recorded.
            return None
        replicas, seconds = self._replicas(window), window_seconds(window)
        if not NUMBERS.issuperset(map(type, numbers)) or not self._has_arrays(window):
            return None
        if replicas is None or seconds is None:
            return None
        return Row(
            numbers=numbers,
            arrays={} if isinstance(window.per_rank, UnsetType) else window.per_rank,
            replicas=replicas,
            start=window.start,
            end=window.end,
            seconds=seconds,
            rate=self._rate(numbers) if self.has_rate else None,
        )

    def _rate(self, numbers: tuple[Any, ...]) -> Pair | None:
        numerator, denominator = parts(numbers[self.at[DURATION]])
        tokens: int = numbers[self.at[TOKENS]]
        return (tokens * denominator, numerator) if numerator else None

    def _has_arrays(self, window: Window) -> bool:
        metrics = window.per_rank
        if isinstance(metrics, UnsetType):
            return not self.arrays
        if metrics.keys() != self.arrays.keys():
            return False
        for name, metric in metrics.items():
            if _array_said(metric) != self.arrays[name] or not NUMBERS.issuperset(map(type, metric.values)):
                return False
            if len(metric.values) != self.ranks:
                return False
        return True

    def _replicas(self, window: Window) -> tuple[tuple[Number, ...], ...] | None:
        replicas = window.replicas
        if isinstance(replicas, UnsetType) or not replicas:
            return None if self.names or replicas is not self.window.replicas else ()
        if tuple(replicas) != self.names or tuple(map(self.replica_said_of, replicas.values())) != self.replicas_said:
            return None
        ranks, *columns = zip(*map(self.columns_of, replicas.values()), strict=True)
        if ranks != self.replica_ranks or not all(NUMBERS.issuperset(map(type, column)) for column in columns):
            return None
        return tuple(columns)


def form_of(window_id: str, window: Window, ranks: int) -> Form:
    """Return the form of a window.

    Raises:
        UnlikeError: it has none: it is not counted, or has a section that is not read.
    """
    if window.purpose != "counted" or any(getattr(window, section) is not UNSET for section in NOT_READ):
        raise UnlikeError
    leaves = [leaf for leaf in _leaves(window) if leaf[0] not in APART]
    recorded = [path for path, value in leaves if type(value) in NUMBERS]
    others = [path for path, value in leaves if type(value) not in NUMBERS]
    if isinstance(window.load, UnsetType) or window.load.shapes is not UNSET or len(recorded) < 2:
        raise UnlikeError
    replicas = {} if isinstance(window.replicas, UnsetType) else window.replicas
    columns = [name for name in Replica.__struct_fields__ if replicas and _in_all(name, replicas)]
    rest = [name for name in Replica.__struct_fields__ if name not in ("ranks", *columns)]
    said_of, replica_said_of = attrgetter(*others), attrgetter(*rest)
    metrics = {} if isinstance(window.per_rank, UnsetType) else window.per_rank
    return Form(
        window_id=window_id,
        window=window,
        ranks=ranks,
        at={f"/{path.replace('.', '/')}": index for index, path in enumerate(recorded)},
        columns={name: index for index, name in enumerate(columns)},
        said=said_of(window),
        said_of=said_of,
        numbers_of=attrgetter(*recorded),
        arrays={name: _array_said(metric) for name, metric in metrics.items()},
        names=tuple(replicas),
        replica_ranks=tuple(replica.ranks for replica in replicas.values()),
        columns_of=attrgetter("ranks", *columns) if columns else _only_ranks,
        replicas_said=tuple(map(replica_said_of, replicas.values())),
        replica_said_of=replica_said_of,
    )


def _leaves(record: Struct, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted path, value) of every field below a record; fields of records inside stand for them."""
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, Struct):
            yield from _leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _only_ranks(replica: Replica) -> tuple[Any, ...]:
    return (replica.ranks,)


def _in_all(name: str, replicas: Mapping[str, Replica]) -> bool:
    return NUMBERS.issuperset(type(getattr(replica, name)) for replica in replicas.values())


def _array_said(metric: PerRank) -> tuple[Any, ...]:
    """Return what an array says beside its numbers; how closely it was sampled is one of these."""
    return metric.scope, metric.bound, metric.phase, metric.sample_interval_s is UNSET, metric.samples is UNSET
