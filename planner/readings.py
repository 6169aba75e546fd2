"""Readings: what the counted windows of one load point say, as exact intervals with their pointers.

Rules kept: the worst place decides (window, rank, link), never a mean over places; a place whose value is missing,
or is one side of a broken identity, is never dropped, because dropping it would let the better window pass
(settled question 6); what is recorded and gives no value, such as a duration of 0, is unfit and not missing;
one-sided evidence answers one side only. Everything is a ``Fraction`` of the decimals as written. Not handled: which
windows belong to a trial, and what a limit is (``planner.view``, ``planner.gates``).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from planner.numbers import exact, fraction_of
from planner.records.base import UNSET, Number, UnsetType
from planner.records.contract import LoadPoint
from planner.records.evidence import LinkCounters, Load, PerRank, Statistics, Window
from planner.times import window_seconds

STATISTICS: Mapping[str, Fraction | None] = {
    "mean": None,
    "p50": Fraction(50, 100),
    "p90": Fraction(90, 100),
    "p95": Fraction(95, 100),
    "p99": Fraction(99, 100),
    "p99_9": Fraction(999, 1000),
    "max": None,
}
"""Statistics a limit may name, with the quantile where it is one (settled question 21)."""

ONE_SIDED: Mapping[str, tuple[str, ...]] = {
    "lower": ("The largest seen is a lower bound of the largest there can be.",),
    "upper": ("The edge of a histogram bucket is an upper bound.",),
    "none": ("The edge of the last histogram bucket bounds no maximum.",),
}
MEAN_SAMPLES = 20
FROM_START = ("ttft_ms", "e2e_ms")
"""Latencies whose clock starts when the request is sent, or should have been."""
_FROM_START_AT = frozenset(f"/load/{field}" for field in FROM_START)
BEYOND_PERCENTILE = Fraction(10)
"""Samples that must lie beyond a percentile: n x (1 - q) >= 10 unless the contract says otherwise."""


class WindowView(Struct, frozen=True, kw_only=True, gc=False):
    """One window with where it stands and what is known about its numbers.

    ``at`` is its JSON pointer. ``broken`` maps a field of the window (``/load/duration_s``) to the sentences of the
    consistency identities that it breaks.
    """

    id: str
    at: str
    record: Window
    load_point: LoadPoint | None = None
    broken: Mapping[str, tuple[str, ...]] = {}

    def doubts(self, fields: Iterable[str]) -> tuple[str, ...]:
        """List, once each, the broken identities that touch one of ``fields`` or something below it."""
        if not self.broken:
            return ()
        found = {
            sentence: None
            for name in fields
            for broken, sentences in self.broken.items()
            if broken == name or name.startswith(f"{broken}/")
            for sentence in sentences
        }
        return tuple(found)


class Unfit(Struct, frozen=True, kw_only=True, gc=False):
    """Fields that are recorded and cannot be judged: their pointers, what they hold, and why no value follows.

    ``sentence`` is whole: "duration_s is 0: no rate follows from it."
    """

    at: tuple[str, ...]
    sentence: str


class Sample(Struct, frozen=True, kw_only=True, gc=False):
    """One measured value at one place.

    ``value`` is what is shown. ``low`` and ``high`` bound the true value: both equal ``value`` for exact evidence,
    ``high`` is None for a lower bound, ``low`` is None for an upper bound. ``limit`` is given where each place has
    its own. ``read`` are pointers of what was read, ``missing`` of what is not there; ``unfit`` says what is there and
    gives no value.
    """

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None
    where: tuple[tuple[str, str], ...]
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()
    limit: Fraction | None = None

    @property
    def place(self) -> dict[str, str]:
        """The place as a mapping, for instance ``{"window": "sat-1", "rank": "5"}``."""
        return dict(self.where)

    @property
    def usable(self) -> bool:
        """Say whether the value bounds the true one on a side at least, and no broken identity touches it."""
        return not self.doubts and (self.low is not None or self.high is not None)


class Reading(Struct, frozen=True, kw_only=True, gc=False):
    """The samples of one quantity over the places where it was owed.

    ``missing`` and ``notes`` say what keeps the whole from being a reading, beside what each sample lacks.
    """

    samples: tuple[Sample, ...]
    worst_is: Literal["highest", "lowest"]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> Sample | None:
        """The sample with the worst value (the first of equals), or None where no place has one."""
        valued = [sample for sample in self.samples if sample.value is not None]
        if not valued:
            return None
        pick = max if self.worst_is == "highest" else min
        return pick(valued, key=lambda sample: sample.value or Fraction(0))

    @property
    def value(self) -> Fraction | None:
        """The worst value; None unless every place has one that says something and that no identity doubts."""
        if self.missing:
            return None
        if len(self.samples) == 1:
            return self.samples[0].value if self.samples[0].usable else None
        return self.worst.value if self.worst and all(sample.usable for sample in self.samples) else None

    @property
    def bound(self) -> Literal["exact", "lower", "upper"]:
        """How the worst value stands to the true one."""
        worst = self.worst
        if worst is None or (worst.low is not None and worst.high is not None):
            return "exact"
        return "lower" if worst.low is not None else "upper"

    @property
    def windows(self) -> dict[str, Fraction | None]:
        """The worst value of each window, None where the window has none that can be used."""
        by_window: dict[str, list[Fraction | None]] = {}
        for sample in self.samples:
            usable = sample.value if sample.usable else None
            by_window.setdefault(sample.place.get("window", ""), []).append(usable)
        pick = max if self.worst_is == "highest" else min
        return {
            window: None if None in values else pick(value for value in values if value is not None)
            for window, values in by_window.items()
        }

    @property
    def read(self) -> tuple[str, ...]:
        """Pointers of everything read, once each."""
        return tuple(dict.fromkeys(pointer for sample in self.samples for pointer in sample.read))

    @property
    def all_missing(self) -> tuple[str, ...]:
        """Pointers of everything that was owed and could not be read, once each."""
        return tuple(dict.fromkeys([*self.missing, *(at for sample in self.samples for at in sample.missing)]))

    @property
    def all_unfit(self) -> tuple[str, ...]:
        """Pointers of everything that is recorded and gives no value, once each."""
        return tuple(dict.fromkeys(at for sample in self.samples for each in sample.unfit for at in each.at))

    def map(self, change: Callable[[Fraction], Fraction], *, worst_is: Literal["highest", "lowest"]) -> "Reading":
        """Apply a monotone ``change`` to every value; a decreasing one swaps the sides of the interval."""
        swaps = worst_is != self.worst_is
        samples = tuple([_mapped(sample, change, swaps) for sample in self.samples])
        return Reading(samples=samples, worst_is=worst_is, missing=self.missing, notes=self.notes)


def _mapped(sample: Sample, change: Callable[[Fraction], Fraction], swaps: bool) -> Sample:
    value = None if sample.value is None else change(sample.value)
    if sample.low is sample.value is sample.high:
        return replace(sample, value=value, low=value, high=value)
    low, high = (
        value if side is sample.value else None if side is None else change(side) for side in (sample.low, sample.high)
    )
    return replace(sample, value=value, low=high if swaps else low, high=low if swaps else high)


def absent(window: WindowView, *fields: str, notes: tuple[str, ...] = ()) -> Sample:
    """Return the sample of fields (``/load/ttft_ms``) that the window does not have, or not so that they answer."""
    missing = tuple(window.at + field for field in fields)
    return Sample(value=None, low=None, high=None, where=(("window", window.id),), missing=missing, notes=notes)


def zero(at: str, *fields: str, no: str) -> tuple[Unfit, ...]:
    """Say of fields below a pointer (``/load/duration_s``) that they are 0 and that therefore ``no`` value follows."""
    names = list(dict.fromkeys(field.rpartition("/")[2] for field in fields))
    is_one = len(names) == 1
    sentence = (
        f"{' and '.join(names)} {'is' if is_one else 'are'} 0: no {no} follows from {'it' if is_one else 'them'}."
    )
    return (Unfit(at=tuple(at + field for field in fields), sentence=sentence),)


def other_groups(window: WindowView) -> Unfit:
    """Say of recorded replicas that a figure of other ranks is no figure of a serving group (settled question 34)."""
    return Unfit(at=(f"{window.at}/replicas",), sentence="The recorded replicas are not the serving groups.")


def unusable(sample: Sample, *, missing: str, note: str) -> Sample:
    """Keep the value for show, but let it answer nothing, because what ``missing`` names is not there."""
    return replace(sample, low=None, high=None, missing=(*sample.missing, missing), notes=(*sample.notes, note))


Side = Literal["exact", "lower", "upper", "none"]
"""How a value stands to the true one; ``none`` is a value that bounds it on neither side."""


def peak_bound(window: WindowView, metric: PerRank | LinkCounters, most: Number | UnsetType) -> Side:
    """Say how a recorded peak stands to the true one (settled question 22).

    A sampled peak counts as the peak where its interval is at most ``most`` and the samples cover the window; else it
    is a lower bound, whatever the document calls it, and so one that is called an upper bound bounds nothing. A peak
    without an interval is what the document calls it.
    """
    stated: Side = "exact" if isinstance(metric.bound, UnsetType) else metric.bound
    if _sampled_closely(window, metric, most):
        return stated
    return "none" if stated == "upper" else "lower"


def _sampled_closely(window: WindowView, metric: PerRank | LinkCounters, most: Number | UnsetType) -> bool:
    """Say whether the peak was not sampled at all, or closely enough to count as the peak."""
    interval = number(metric.sample_interval_s)
    if interval is None:
        return True
    if isinstance(most, UnsetType) or interval > exact(most):
        return False
    seconds, samples = window_seconds(window.record), number(metric.samples)
    return samples is None or seconds is None or interval == 0 or samples >= seconds / interval - 1


def bounded(value: Fraction, bound: str) -> tuple[Fraction | None, Fraction | None]:
    """Return (low, high) of a value whose evidence is ``exact``, ``lower``, ``upper`` or ``none``."""
    return (value if bound in ("exact", "lower") else None, value if bound in ("exact", "upper") else None)


def number(value: object) -> Fraction | None:
    """Return a recorded number exactly; None where it is absent or null."""
    return exact(value) if type(value) is int or type(value) is float else None


def number_at(values: Sequence[object], index: int) -> Fraction | None:
    """Return an element of a per-rank array; None where it is null or the array is too short."""
    return number(values[index]) if index < len(values) else None


def throughput(windows: Iterable[WindowView]) -> Reading:
    """Output tokens per second of the whole deployment: output_tokens_total / duration_s of each window.

    The lowest counted window is the reading that gate, selection key, cost and failure capacity share (settled
    question 5). A rate that the tool states itself is never read.
    """
    return Reading(samples=tuple([_throughput(window) for window in windows]), worst_is="lowest")


def _throughput(window: WindowView) -> Sample:
    load = window.record.load
    fields = ("/load/output_tokens_total", "/load/duration_s")
    tokens, duration = (
        (None, None) if isinstance(load, UnsetType) else (number(load.output_tokens_total), number(load.duration_s))
    )
    at, where, doubts = window.at, (("window", window.id),), window.doubts(fields)
    if tokens is None or not duration:
        missing = tuple(at + name for name, value in zip(fields, (tokens, duration), strict=True) if value is None)
        unfit = zero(at, fields[1], no="rate") if duration == 0 else ()
        return Sample(value=None, low=None, high=None, where=where, missing=missing, doubts=doubts, unfit=unfit)
    rate = fraction_of(tokens, duration)
    read = (at + fields[0], at + fields[1])
    return Sample(value=rate, low=rate, high=rate, where=where, read=read, doubts=doubts)


def statistic(windows: Iterable[WindowView], field_name: str, name: str, *, beyond: Fraction | None = None) -> Reading:
    """A statistic of a latency field (``ttft_ms``, ``tpot_ms``, ``itl_ms``, ``e2e_ms``) in each window, in ms.

    ``beyond`` is the number of samples that must lie beyond a percentile (10 by default). The highest window is
    the reading: percentiles are never averaged.
    """
    support = BEYOND_PERCENTILE if beyond is None else beyond
    samples = tuple([_statistic(window, field_name, name, support) for window in windows])
    return Reading(samples=samples, worst_is="highest")


def _statistic(window: WindowView, field_name: str, name: str, beyond: Fraction) -> Sample:
    load = window.record.load
    recorded = UNSET if isinstance(load, UnsetType) else getattr(load, field_name)
    return statistic_at(window, f"/load/{field_name}", recorded, name, beyond)


def statistic_at(window: WindowView, at: str, recorded: object, name: str, beyond: Fraction) -> Sample:
    """Read one statistic of the distribution that stands at ``at`` below a window, if one does."""
    fields = _statistic_fields(at, name)
    if not isinstance(recorded, Statistics):
        return absent(window, *fields)
    value, n = number(getattr(recorded, name)), recorded.n if type(recorded.n) is int else None
    if value is None or n is None:
        missing = tuple(window.at + field for field, found in zip(fields, (value, n), strict=True) if found is None)
        return replace(absent(window, at), value=value, missing=missing)
    short = _too_few(name, n, beyond)
    if short:
        return replace(absent(window, at), value=value, missing=(window.at + fields[1],), notes=(short,))
    of_load = at.startswith("/load/") and not isinstance(window.record.load, UnsetType)
    side = side_of(name, window.record.load if of_load else UNSET)
    low, high = (value, value) if side == "exact" else bounded(value, side)
    sample = Sample(
        value=value,
        low=low,
        high=high,
        where=(("window", window.id),),
        read=(window.at + fields[0], window.at + fields[1]),
        doubts=window.doubts(fields),
        notes=ONE_SIDED.get(side, ()),
    )
    return _from_schedule(sample, window) if at in _FROM_START_AT else sample


@lru_cache(maxsize=4096)
def _statistic_fields(at: str, name: str) -> tuple[str, str]:
    return f"{at}/{name}", f"{at}/n"


def _from_schedule(sample: Sample, window: WindowView) -> Sample:
    """In open loop, only a latency counted from the scheduled send time includes the wait of late sends."""
    load, point = window.record.load, window.load_point
    if point is None or point.arrival != "open":
        return sample
    start = UNSET if isinstance(load, UnsetType) else load.ttft_from
    if start == "scheduled":
        return sample
    if start == "send":
        note = "Counted from the real send, late sends are left out: a lower bound."
        return replace(sample, high=None, notes=(*sample.notes, note))
    return unusable(
        sample, missing=f"{window.at}/load/ttft_from", note="Open loop, and the start of the clock is not recorded."
    )


def _too_few(name: str, n: int, beyond: Fraction) -> str | None:
    """Say in words why ``n`` samples do not carry the statistic; None where they do."""
    needed = samples_needed(name, beyond)
    return None if n >= needed else f"n = {n:,}, {name} needs {needed:,}."


def samples_needed(name: str, beyond: Fraction) -> int:
    """Return the least number of samples that carries a statistic; ``beyond`` of them lie beyond a percentile."""
    return _samples_needed(name, beyond.numerator, beyond.denominator)


@lru_cache(maxsize=256)
def _samples_needed(name: str, beyond: int, per: int) -> int:
    # Fractions are slow to hash, so their parts are the key.
    quantile = STATISTICS[name]
    if quantile is None:
        return MEAN_SAMPLES if name == "mean" else 1
    return ceil(Fraction(beyond, per) / (1 - quantile))


def side_of(name: str, load: Load | UnsetType) -> Side:
    """Say which side of the true statistic the figure is on.

    The largest of the requests seen is a lower bound of the largest there can be; the upper edge of a histogram
    bucket is an upper bound of a percentile; together they bound nothing.
    """
    from_histogram = not isinstance(load, UnsetType) and load.quantile_method == "histogram_upper" and name != "mean"
    if name == "max":
        return "none" if from_histogram else "lower"
    return "upper" if from_histogram else "exact"
