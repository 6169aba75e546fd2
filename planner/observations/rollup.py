"""Roll-ups of observations: counts, sums, least, most, and a digest of the distribution; they merge in any order.

Rules kept: what two collectors say of one thing stays apart, so that the calm of one hides nothing of the other. The
digest has fixed buckets, eight for every doubling, at most ``MOST_BUCKETS``, so a roll-up is bounded whatever it holds.
Every value is counted twice, by the lowest and by the highest that it can have been: a bucket of a histogram is wide,
and a percentile that is read from it is a range. Nothing is interpolated.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, frexp, ldexp

from planner.records.base import UnsetType
from planner.records.observations import Batch, Observed, Segment

__all__ = [
    "MOST_BUCKETS",
    "MOST_SOURCES",
    "Key",
    "Rolled",
    "bounded",
    "crowded",
    "merge_into",
    "merged",
    "quantile",
    "rolled",
    "rolled_up",
]

PARTS = 8
LOWEST, HIGHEST = -20 * PARTS, 60 * PARTS
"""Bucket i ends at 2 ** (i / 8): from a millionth to 2^60; what is outside is counted in the last bucket there."""
MOST_BUCKETS = HIGHEST - LOWEST + 1
MOST_SOURCES = 32
"""Collectors of one reporter whose words on one metric of one rank, group or link stay apart."""
_MANTISSAS = tuple(2 ** (part / PARTS - 1) for part in range(1, PARTS))
"""Ends of buckets as ``frexp`` splits them; the last of eight is 1."""

Buckets = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What a roll-up is of: the topology revision, the segment ("" and -1 where it names none) and the metric.

    ``source`` is whose words it is, empty where it is everybody's together; of a reporter who has several collectors it
    begins with the reporter's own name and a slash.
    """

    subject: str
    metric: str
    rank: int = -1
    group: int = -1
    link: str = ""
    shape: str = ""
    phase: str = ""
    source: str = ""

    @property
    def place(self) -> "Key":
        """The same of everybody together."""
        if not self.source:
            return self
        return Key(self.subject, self.metric, self.rank, self.group, self.link, self.shape, self.phase)

    @property
    def reporter(self) -> str:
        """What the sources of one reporter begin with, empty where the source names none."""
        name, slash, _ = self.source.partition("/")
        return f"{name}/" if slash else ""


@dataclass(frozen=True, slots=True)
class Rolled:
    """A roll-up. ``lows`` and ``highs`` are bucket and count, sparse, in order, of the values that a histogram had.

    ``reached`` is what the most was at least where ``max`` is not known, 0 where it is.
    """

    count: int
    sum: float
    min: float | None = None
    max: float | None = None
    lows: Buckets = ()
    highs: Buckets = ()
    reached: float = 0.0

    @property
    def most_at_least(self) -> float:
        """What the most was, or was at least."""
        return self.reached if self.max is None else self.max


def bucket_of(value: float) -> int:
    """Return the bucket of a value; exact on every machine."""
    if value <= 0:
        return LOWEST
    mantissa, exponent = frexp(value)
    if mantissa == 0.5:  # A power of two ends the bucket below.
        mantissa, exponent = 1.0, exponent - 1
    index = (exponent - 1) * PARTS + bisect_left(_MANTISSAS, mantissa) + 1
    return min(max(index, LOWEST), HIGHEST)


def end_of(bucket: int) -> float:
    """Return where a bucket ends."""
    doublings, part = divmod(bucket, PARTS)
    return ldexp(2 ** (part / PARTS), doublings)


def rolled(observed: Observed) -> Rolled:
    """Return one observation as a roll-up."""
    least = None if isinstance(observed.min, UnsetType) else float(observed.min)
    most = None if isinstance(observed.max, UnsetType) else float(observed.max)
    if isinstance(observed.histogram, UnsetType):
        if observed.count == 1:
            bucket = bucket_of(float(observed.sum))
            value = float(observed.sum)
            return Rolled(1, value, value, value, ((bucket, 1),), ((bucket, 1),))
        reached = max(float(observed.sum) / observed.count, least or 0.0) if most is None else 0.0
        return Rolled(observed.count, float(observed.sum), least, most, reached=reached)
    lows: dict[int, int] = {}
    highs: dict[int, int] = {}
    ends = _ends(observed.histogram.edges)
    last = HIGHEST if most is None else bucket_of(most)
    reached = 0.0
    for at, count in enumerate(observed.histogram.counts):
        if count:
            low, high = ends[at] if at else LOWEST, ends[at + 1] if at + 1 < len(ends) else last
            lows[low] = lows.get(low, 0) + count
            highs[high] = highs.get(high, 0) + count
            reached = float(observed.histogram.edges[at - 1]) if at and most is None else 0.0
    return Rolled(observed.count, float(observed.sum), least, most, _sorted(lows), _sorted(highs), reached)


@lru_cache(maxsize=1024)
def _ends(edges: tuple[int | float, ...]) -> tuple[int, ...]:
    """Return the bucket of every edge after a place for the lowest; exporters have few sets of edges."""
    return (LOWEST, *(bucket_of(float(edge)) for edge in edges))


def merged(one: Rolled, other: Rolled) -> Rolled:
    """Put two roll-ups together. What one does not know takes nothing away from what the other knows."""
    most = None if one.max is None or other.max is None else max(one.max, other.max)
    return Rolled(
        one.count + other.count,
        one.sum + other.sum,
        None if one.min is None or other.min is None else min(one.min, other.min),
        most,
        _added(one.lows, other.lows),
        _added(one.highs, other.highs),
        max(one.most_at_least, other.most_at_least) if most is None else 0.0,
    )


def _added(one: Buckets, other: Buckets) -> Buckets:
    if not one or not other:
        return one or other
    counts = dict(one)
    for bucket, count in other:
        counts[bucket] = counts.get(bucket, 0) + count
    return _sorted(counts)


def _sorted(counts: Mapping[int, int]) -> Buckets:
    return tuple(sorted(counts.items()))


def merge_into(found: dict[Key, Rolled], others: Mapping[Key, Rolled]) -> None:
    """Put other roll-ups to those that are there."""
    for key, other in others.items():
        known = found.get(key)
        found[key] = other if known is None else merged(known, other)


def crowded(found: Iterable[Key]) -> Key | None:
    """Return the first key that is one source too many of the same thing; None where there is none."""
    sources: dict[Key, int] = {}
    for key in found:
        place = key.place
        sources[place] = sources.get(place, 0) + 1
        if sources[place] > MOST_SOURCES:
            return key
    return None


def bounded(found: Mapping[Key, Rolled]) -> dict[Key, Rolled]:
    """Return roll-ups of which at most ``MOST_SOURCES`` of one reporter and one thing are apart.

    Of more those whose mean is lowest are put together, under the name of the reporter alone: what is calm drowns
    nothing among the calm, and nothing of anybody else.
    """
    by_reporter: dict[tuple[Key, str], list[Key]] = {}
    for key in found:
        by_reporter.setdefault((key.place, key.reporter), []).append(key)
    kept: dict[Key, Rolled] = {}
    for (place, reporter), keys in by_reporter.items():
        most = len(keys) if len(keys) <= MOST_SOURCES else MOST_SOURCES - 1
        named = sorted(keys, key=lambda key: (key.source == key.reporter, -found[key].sum / found[key].count, key))
        together = replace(place, source=reporter)
        for at, key in enumerate(named):
            merge_into(kept, {key if at < most else together: found[key]})
    return kept


def rolled_up(batches: Iterable[Batch]) -> dict[Key, Rolled]:
    """Return the roll-ups of batches, by what they are of."""
    found: dict[Key, Rolled] = {}
    for batch in batches:
        for segment in batch.segments:
            for metric, observed in segment.metrics.items():
                key = _key(batch, metric, segment)
                one = rolled(observed)
                known = found.get(key)
                found[key] = one if known is None else merged(known, one)
    return found


def _key(batch: Batch, metric: str, segment: Segment) -> Key:
    return Key(
        batch.subject,
        metric,
        -1 if isinstance(segment.rank, UnsetType) else segment.rank,
        -1 if isinstance(segment.group, UnsetType) else segment.group,
        "" if isinstance(segment.link, UnsetType) else segment.link,
        "" if isinstance(segment.shape, UnsetType) else segment.shape,
        "" if isinstance(segment.phase, UnsetType) else segment.phase,
        batch.source,
    )


def quantile(one: Rolled, part: tuple[int, int]) -> tuple[float, float] | None:
    """Return the least and the most that a quantile (numerator, denominator) can be; None without a digest.

    Values that no histogram had can lie anywhere.
    """
    if not one.highs:
        return None
    rank = ceil(one.count * part[0] / part[1])
    rest = one.count - sum(count for _, count in one.highs)
    lows, highs = (((LOWEST, rest), *one.lows), (*one.highs, (HIGHEST, rest))) if rest else (one.lows, one.highs)
    low, high = _at(lows, rank), _at(highs, rank)
    lowest = 0.0 if low <= LOWEST else end_of(low - 1)
    highest = end_of(high) if high < HIGHEST else float("inf")
    if one.min is not None:
        lowest = max(lowest, one.min)
    if one.max is not None:
        highest = min(highest, one.max)
    return min(lowest, highest), highest


def _at(buckets: Buckets, rank: int) -> int:
    seen = 0
    for bucket, count in buckets:
        seen += count
        if seen >= rank:
            return bucket
    return buckets[-1][0]
