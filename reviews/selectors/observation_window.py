"""A batch put to what is stored of its hour, and beside the envelope: what a writer needs, read without a lock.

Rules kept: what is read, made and written grows with the batch, not with what was stored before. A value is judged over
the hour so far, with the hour before it while that is younger than half an hour: a percentile needs values, and a share
of the first few requests says nothing. What other segments hold is not judged again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec.structs import replace

from planner.observations import METRICS, Batch, Compared, Key, Rolled, compared, merge_into, rolled_up
from planner.observations.packed import by_block, packed
from planner.observations.qualified import Qualified
from planner.observations.rollup import crowded
from planner.times import parsed_time
from reviews.models import ObservationFeed, ObservationSpan
from reviews.selectors.observed import BESIDE
from reviews.selectors.roll_ups import HOUR, LENGTHS, Place, Seen, covered_of, joined, seen_in, span_of

__all__ = ["Merged", "batch_span", "merged_batch"]

YOUNG = timedelta(minutes=30)
"""An hour younger than this is judged with the one before it."""

Touched: TypeAlias = frozenset[tuple[str, int, int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The hour of a batch with the batch in it. ``compared`` is of what the batch touched, none if it is not judged.

    ``crowd`` names something of which too many collectors of the reporter speak, where there is such a thing: then
    nothing is judged.
    """

    starts_at: datetime
    covered: tuple[tuple[int, int], ...]
    pieces: Mapping[Place, bytes]
    compared: tuple[Compared, ...]
    crowd: Key | None = None


def batch_span(batch: Batch) -> tuple[datetime, datetime]:
    """Return the start and the end of a batch that was read."""
    start, end = parsed_time(batch.started_at), parsed_time(batch.ended_at)
    if start is None or end is None:
        raise ValueError(f"a batch that was read has times, found {batch.started_at} and {batch.ended_at}")
    return start, end


def merged_batch(feed: ObservationFeed, batch: Batch, person_id: int, found: Qualified, *, is_judged: bool) -> Merged:
    """Put a batch of somebody to what is stored of its hour; nothing is written.

    Two persons who call their collectors the same have two.
    """
    start, end = batch_span(batch)
    hour = span_of(end, HOUR)
    own_sources = f"{person_id}/"
    blocks = by_block(rolled_up([replace(batch, source=f"{own_sources}{batch.source}")]))
    stored = {
        span.starts_at: span
        for span in ObservationSpan.objects.filter(feed=feed, level=HOUR, starts_at__in=(hour, hour - LENGTHS[HOUR]))
    }
    own = stored.get(hour)
    covered = joined([*(covered_of(own.covered) if own else ()), (int(start.timestamp()), int(end.timestamp()))])
    whole = _with_stored(own, batch.subject, blocks)
    pieces = {place: packed(held) for place, held in whole.items()}
    rows: tuple[Compared, ...] = ()
    # Of whoever reports alone: nobody keeps others from being heard.
    crowds = (crowded(key for key in held if key.source.startswith(own_sources)) for held in whole.values())
    crowd = next((key for key in crowds if key is not None), None)
    if is_judged and crowd is None:
        before = stored.get(hour - LENGTHS[HOUR]) if end - hour < YOUNG else None
        touched = frozenset((key.metric, key.rank, key.group, key.link) for held in blocks.values() for key in held)
        rows = _judged(_window(whole, covered, own, before, batch.subject, touched), found, touched)
    return Merged(starts_at=hour, covered=covered, pieces=pieces, compared=rows, crowd=crowd)


def _with_stored(
    span: ObservationSpan | None, subject: str, blocks: Mapping[Place, Mapping[Key, Rolled]]
) -> dict[Place, dict[Key, Rolled]]:
    """Return the blocks that a batch touches, whole, with the batch in them."""
    found: dict[Place, dict[Key, Rolled]] = {}
    stored = by_block(seen_in([span], subject, places=blocks).rolled) if span else {}
    for place, own in blocks.items():
        held = stored.get(place, {})
        merge_into(held, own)
        found[place] = held
    return found


def _window(
    whole: Mapping[Place, Mapping[Key, Rolled]],
    covered: tuple[tuple[int, int], ...],
    own: ObservationSpan | None,
    before: ObservationSpan | None,
    subject: str,
    touched: Touched,
) -> Seen:
    """Return what the batch touched, over the time that it is judged for, and what that is judged with."""
    beside = BESIDE if any(METRICS[name].of == "group" for name, *_ in touched) else ()

    def counts(key: Key) -> bool:
        return key.metric in beside or _is_touched(key, touched)

    seen = {key: one for held in whole.values() for key, one in held.items() if counts(key)}
    if own is not None and beside:
        # What the batch is in stands in ``whole`` already; these are the groups that others report.
        seen = seen_in([own], subject, metrics=beside).rolled | seen
    if before is not None:
        earlier = seen_in([before], subject, metrics=beside, places=list(whole))
        merge_into(seen, {key: one for key, one in earlier.rolled.items() if counts(key)})
        covered = joined([*covered, *covered_of(before.covered)])
    return Seen(seen, covered)


def _is_touched(key: Key, touched: Touched) -> bool:
    return (key.metric, key.rank, key.group, key.link) in touched


def _judged(seen: Seen, found: Qualified, touched: Touched) -> tuple[Compared, ...]:
    ranks = sorted({rank for _, rank, _, _ in touched if rank >= 0})
    rows = compared(found.entries_for(ranks), seen.rolled, seen.seconds)
    return tuple(row for row in rows if _is_touched(row.key, touched))
