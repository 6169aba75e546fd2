"""Stored roll-ups of a span of time, put together.

Rules kept: hours and days are taken whole, and a day stands for its hours where all of them are asked for; what is read
is bounded by the metrics and blocks that are asked for.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import msgspec
from django.db.models import Q

from planner.observations.packed import unpacked, unpacked_place
from planner.observations.rollup import Key, Rolled, merge_into
from reviews.asked_once import once
from reviews.models import ObservationFeed, ObservationRollUp, ObservationSpan, RollUpLevel

__all__ = [
    "LENGTHS",
    "Covered",
    "Seen",
    "covered_by",
    "covered_of",
    "covered_text",
    "finest_spans",
    "joined",
    "length_of",
    "place_by_span",
    "seen_in",
    "source_of",
    "span_of",
    "spans_of",
]

HOUR, DAY = RollUpLevel.HOUR.value, RollUpLevel.DAY.value
LENGTHS: Mapping[str, timedelta] = {HOUR: timedelta(hours=1), DAY: timedelta(days=1)}

Place = tuple[str, int]
"""A metric, and the block of what it is of."""
Covered = tuple[tuple[int, int], ...]
"""Spans of time in seconds since 1970, in order, none touching another."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Roll-ups of a span of time. ``seconds`` is how much of it somebody reported."""

    rolled: dict[Key, Rolled] = field(default_factory=dict)
    covered: Covered = ()

    @property
    def seconds(self) -> Fraction:
        """How long what was covered is."""
        return length_of(self.covered)


def length_of(covered: Covered) -> Fraction:
    """Return how many seconds were covered."""
    return Fraction(sum(end - start for start, end in covered))


def covered_by(spans: Iterable[ObservationSpan]) -> Covered:
    """Return what of some spans somebody reported."""
    return joined(pair for span in spans for pair in covered_of(span.covered))


def covered_of(text: str) -> Covered:
    """Read what a span says that it covers."""
    return msgspec.json.decode(text, type=Covered)


def covered_text(covered: Covered) -> str:
    """Write it."""
    return msgspec.json.encode(covered).decode()


def joined(spans: Iterable[tuple[int, int]]) -> Covered:
    """Put spans of time together; the same seconds reported by several collectors count once."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def span_of(moment: datetime, level: str) -> datetime:
    """Return where the hour or day of a moment begins; the last moment of an hour is of that hour."""
    within = moment - timedelta(microseconds=1)
    start = within.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return start if level == HOUR else start.replace(hour=0)


@once
def spans_of(feed: ObservationFeed, start: datetime, end: datetime) -> list[ObservationSpan]:
    """Return the hours and days that reach into a span of time, in order: as few as hold it."""
    hours, days = _held(feed, start, end)
    within = {hour.pk for hour in hours if _reaches(hour, start, end)}
    kept = [day for day in days if _reaches(day, start, end) and all(hour.pk in within for hour in _of_day(day, hours))]
    over = {hour.pk for day in kept for hour in _of_day(day, hours)}
    return _in_order([*kept, *(hour for hour in hours if hour.pk in within - over)])


def finest_spans(feed: ObservationFeed, start: datetime, end: datetime) -> list[ObservationSpan]:
    """Return the same in hours while those are kept, and in days before that."""
    hours, days = _held(feed, start, end)
    kept = [span for span in (*hours, *days) if _reaches(span, start, end) and not _of_day(span, hours)]
    return _in_order(kept)


def _held(feed: ObservationFeed, start: datetime, end: datetime) -> tuple[list[ObservationSpan], list[ObservationSpan]]:
    """Return the hours and the days that reach into a span, and the other hours of such days."""
    near = Q(starts_at__gt=start - LENGTHS[DAY], starts_at__lt=end + LENGTHS[DAY])
    found = list(ObservationSpan.objects.filter(near, feed=feed))
    return [span for span in found if span.level == HOUR], [span for span in found if span.level == DAY]


def _reaches(span: ObservationSpan, start: datetime, end: datetime) -> bool:
    return start - LENGTHS[span.level] < span.starts_at < end


def _of_day(day: ObservationSpan, hours: Iterable[ObservationSpan]) -> list[ObservationSpan]:
    """Return the hours that a day holds and that are still kept; none of an hour."""
    if day.level != DAY:
        return []
    until = day.starts_at + LENGTHS[DAY]
    return [hour for hour in hours if hour.in_day and day.starts_at <= hour.starts_at < until]


def _in_order(spans: list[ObservationSpan]) -> list[ObservationSpan]:
    return sorted(spans, key=lambda span: (span.starts_at, span.level))


def source_of(source: str) -> str:
    """Return the name that a collector gave itself, of what its roll-ups are kept under; empty of everybody's."""
    return source.partition("/")[2]


def seen_in(
    spans: Collection[ObservationSpan], subject: str, *, metrics: Collection[str] = (), places: Collection[Place] = ()
) -> Seen:
    """Return what was seen in spans: all of the metrics, and of others the places that are asked for."""
    found: dict[Key, Rolled] = {}
    for row in _rows(spans, metrics, places):
        merge_into(found, unpacked(bytes(row.data), subject, row.metric))
    return Seen(found, covered_by(spans))


def place_by_span(
    spans: Collection[ObservationSpan], subject: str, metric: str, block: int, place: int | str
) -> dict[int, dict[Key, Rolled]]:
    """Return span id -> the roll-ups of one rank, group or link of a block, where the span has that block."""
    rows = _rows(spans, (), ((metric, block),))
    return {row.span_id: unpacked_place(bytes(row.data), subject, metric, place) for row in rows}


def _rows(
    spans: Collection[ObservationSpan], metrics: Collection[str], places: Collection[Place]
) -> Iterator[ObservationRollUp]:
    wanted = Q(metric__in=list(metrics))
    by_metric: dict[str, list[int]] = {}
    for metric, block in places:
        if metric not in metrics:
            by_metric.setdefault(metric, []).append(block)
    for metric, blocks in by_metric.items():
        wanted |= Q(metric=metric, block__in=blocks)
    rows = ObservationRollUp.objects.filter(wanted, span__in=[span.pk for span in spans])
    return rows.order_by("span", "metric", "block").iterator(chunk_size=64)
