"""What limits, selection keys and frontier figures read of trials alike: one exact number for each trial.

Rules kept: a measure is built once for trials alike, of what they say, and read off the columns of many of them; the
worst window decides, as everywhere. A trial whose numbers do not give the figure as the gates read it (too few samples,
no tokens, nothing sent) is odd, and has any number in its place. Not handled: comparing with limits
(``planner.alike.limits``).
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import sub
from typing import Literal

from msgspec import Struct

from planner.alike.columns import Column, Number, Ratios, Table, above_zero
from planner.alike.form import Form, UnlikeError
from planner.alike.replicas import Replicas
from planner.numbers import all_parts
from planner.readings import FROM_START, samples_needed, side_of
from planner.records.base import UnsetType
from planner.records.evidence import Window
from planner.view import TrialView

__all__ = [
    "Batch",
    "Likeness",
    "Measure",
    "measured_price",
    "measured_rate",
    "measured_share",
    "measured_statistic",
    "multiple_of",
    "scaled",
    "where",
    "worst_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """What trials alike share: the view of one of them, the form of each counted window, and the other windows.

    ``shared`` are the measures that are read once for all kinds of trials that are read together, ``built`` those of
    this kind alone, ``used`` which of the shared ones it needs.
    """

    view: TrialView
    forms: tuple[Form, ...]
    others: Mapping[str, Window]
    shared: dict[Hashable, "Measure"]
    built: dict[Hashable, "Measure"] = field(default_factory=dict, repr=False)
    used: set["Measure"] = field(default_factory=set, repr=False)

    @property
    def replicas(self) -> tuple[Replicas, ...]:
        """The replicas of each counted window."""
        return tuple(form.replicas for form in self.forms)

    def once(self, key: Hashable, build: Callable[[], "Measure"]) -> "Measure":
        """Return the measure that was built the first time, so that what it reads is read once."""
        return _once(self.built, key, build)

    def once_for_all(self, key: Hashable, build: Callable[[], "Measure"]) -> "Measure":
        """Return the same for a measure that no placement and no replica's ranks matter to."""
        found = _once(self.shared, key, build)
        self.used.add(found)
        return found

    def at(self, load_point: str) -> tuple[int, ...]:
        """Return which counted windows are at a load point.

        Raises:
            UnlikeError: none is, so that there is nothing to read.
        """
        found = tuple(at for at, form in enumerate(self.forms) if form.window.load_point == load_point)
        if not found:
            raise UnlikeError
        return found


def _once(kept: dict[Hashable, "Measure"], key: Hashable, build: Callable[[], "Measure"]) -> "Measure":
    found = kept.get(key)
    if found is None:
        found = kept[key] = build()
    return found


class Batch(Struct, gc=False):
    """Many trials alike: a table for each window. ``odd`` are the trials that have to be judged by themselves.

    Those of one kind have what was measured of all kinds in place of tables, and for each window the output tokens of
    every replica.
    """

    size: int
    tables: tuple[Table, ...]
    odd: set[int]
    measured: dict["Measure", Ratios] = {}
    tokens: tuple[Sequence[tuple[int, ...]], ...] = ()

    def of(self, measure: "Measure") -> Ratios:
        """Return what a measure reads of every trial."""
        found = self.measured.get(measure)
        if found is None:
            found = self.measured[measure] = measure(self)
        return found

    def at_least(self, column: Column, least: Number) -> None:
        """Put the trials whose number is lower among the odd ones."""
        if min(column) < least:
            self.odd.update(at for at, value in enumerate(column) if value < least)

    def only(self, fits: Sequence[bool]) -> None:
        """Put the trials that do not fit among the odd ones; nothing is said where all do."""
        if not all(fits):
            self.odd.update(at for at, fit in enumerate(fits) if not fit)


Measure = Callable[[Batch], Ratios]


def worst_of(columns: Sequence[Ratios], worst_is: Literal["highest", "lowest"]) -> Ratios:
    """Return the highest or lowest of each trial's numbers."""
    first, *others = columns
    for other in others:
        pairs = zip(first.tops, first.bottoms, other.tops, other.bottoms, strict=True)
        # In integers over a common denominator: exact.
        worst = [
            (top, bottom) if (top * per >= value * bottom) == (worst_is == "highest") else (value, per)
            for top, bottom, value, per in pairs
        ]
        first = Ratios(*zip(*worst, strict=True))
    return first


def where(ratios: Ratios, fits: Sequence[bool]) -> Ratios:
    """Return the numbers with any number in place of those that do not fit."""
    if all(fits):
        return ratios
    tops = [top if fit else 1 for top, fit in zip(ratios.tops, fits, strict=True)]
    return Ratios(tops, [bottom if fit else 1 for bottom, fit in zip(ratios.bottoms, fits, strict=True)])


def measured_statistic(likeness: Likeness, field: str, name: str, load_point: str) -> Measure:
    """Return how to read the highest of a statistic over the windows at a load point.

    Raises:
        UnlikeError: it is not recorded in all of them, or bounds the true one on one side only.
    """
    return likeness.once_for_all((field, name, load_point), lambda: _statistic(likeness, field, name, load_point))


def _statistic(likeness: Likeness, field: str, name: str, load_point: str) -> Measure:
    places = likeness.at(load_point)
    value, n = f"/load/{field}/{name}", f"/load/{field}/n"
    for at in places:
        form, load = likeness.forms[at], likeness.forms[at].window.load
        late = field in FROM_START and not _from_schedule(likeness, form)
        if late or not form.has(value, n) or isinstance(load, UnsetType) or side_of(name, load) != "exact":
            raise UnlikeError
    least = samples_needed(name, likeness.view.beyond)

    def measure(batch: Batch) -> Ratios:
        values: list[Column] = []
        for at in places:
            batch.at_least(batch.tables[at].columns[n], least)
            values.append(batch.tables[at].columns[value])
        # Values as written order as the decimals that they mean.
        return Ratios(*all_parts(values[0] if len(values) == 1 else list(map(max, *values))))

    return measure


def _from_schedule(likeness: Likeness, form: Form) -> bool:
    """Say whether a latency of the form includes the wait of late sends, or there are none."""
    point, load = likeness.view.workload.load_points.get(form.window.load_point), form.window.load
    return point is None or point.arrival != "open" or getattr(load, "ttft_from", None) == "scheduled"


def measured_rate(likeness: Likeness, load_point: str) -> Measure:
    """Return how to read the lowest output rate over the windows at a load point; no tokens at all are odd.

    Raises:
        UnlikeError: it is not recorded in all of them.
    """
    return likeness.once_for_all(("rate", load_point), lambda: _rate(likeness, load_point))


def _rate(likeness: Likeness, load_point: str) -> Measure:
    places = likeness.at(load_point)
    if not all(likeness.forms[at].has_rate for at in places):
        raise UnlikeError

    def measure(batch: Batch) -> Ratios:
        columns = []
        for at in places:
            rates = batch.tables[at].rates()
            for fits in (above_zero(rates.tops), above_zero(rates.bottoms)):
                batch.only(fits)
                rates = where(rates, fits)
            columns.append(rates)
        return worst_of(columns, "lowest")

    return measure


def measured_share(likeness: Likeness, part: str, load_point: str, worst_is: Literal["highest", "lowest"]) -> Measure:
    """Return how to read the worst share that a part of the requests has of those sent, without those cut off.

    Raises:
        UnlikeError: one of them is not recorded in all windows at the load point.
    """
    return likeness.once_for_all(
        ("share", part, load_point, worst_is), lambda: _share(likeness, part, load_point, worst_is)
    )


def _share(likeness: Likeness, part: str, load_point: str, worst_is: Literal["highest", "lowest"]) -> Measure:
    places = likeness.at(load_point)
    sent, some, cut_off = (f"/load/requests/{name}" for name in ("sent", part, "cut_off"))
    if not all(likeness.forms[at].has(sent, some) for at in places):
        raise UnlikeError
    point = likeness.view.workload.load_points.get(load_point)
    in_flight = None if point is None or isinstance(point.concurrent_requests, UnsetType) else point.concurrent_requests

    def measure(batch: Batch) -> Ratios:
        found = []
        for at in places:
            columns = batch.tables[at].columns
            cut = columns[cut_off] if likeness.forms[at].has(cut_off) else (0,) * batch.size
            most = cut if in_flight is None else [min(each, in_flight) for each in cut]
            whole = list(map(sub, columns[sent], most))
            fits = above_zero(whole)
            batch.only(fits)
            found.append(where(Ratios(columns[some], whole), fits))
        return worst_of(found, worst_is)

    return measure


def _inverse_of(measure: Measure, times: Fraction) -> Measure:
    """Return how to read ``times`` over what is measured, which is above 0."""

    def inverse(batch: Batch) -> Ratios:
        ratios = batch.of(measure)
        return Ratios(scaled(ratios.bottoms, times.numerator), scaled(ratios.tops, times.denominator))

    return inverse


def measured_price(likeness: Likeness, usd: Fraction, load_point: str) -> Measure:
    """Return how to read what many tokens cost, which is ``usd`` at one token a second.

    Raises:
        UnlikeError: the rate is not recorded in all windows at the load point.
    """
    rate = measured_rate(likeness, load_point)
    return likeness.once(("price", load_point), lambda: _inverse_of(rate, usd))


def multiple_of(measure: Measure, times: Fraction) -> Measure:
    """Return how to read ``times`` what is measured."""

    def multiple(batch: Batch) -> Ratios:
        ratios = batch.of(measure)
        return Ratios(scaled(ratios.tops, times.numerator), scaled(ratios.bottoms, times.denominator))

    return multiple


def scaled(column: Sequence[int], factor: int) -> Sequence[int]:
    """Return the column times a factor."""
    if factor == 1:
        return column
    # Many denominators are one and the same.
    first = column[0]
    return (
        [first * factor] * len(column) if column.count(first) == len(column) else [value * factor for value in column]
    )
