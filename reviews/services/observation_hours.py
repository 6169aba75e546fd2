"""Writes the hour of a batch, and lets go of the day that had it without the batch."""

from reviews.models import ObservationFeed, ObservationRollUp, ObservationSpan
from reviews.selectors.observation_window import Merged
from reviews.selectors.roll_ups import DAY, HOUR, LENGTHS, covered_text, span_of

__all__ = ["hour_write"]

PIECES_AT_ONCE = 200


def hour_write(feed: ObservationFeed, merged: Merged) -> None:
    """Write what an hour is with a batch in it. Call it inside the transaction that holds the feed."""
    covered = covered_text(merged.covered)
    span, is_new = ObservationSpan.objects.select_for_update().get_or_create(
        feed=feed, level=HOUR, starts_at=merged.starts_at, defaults={"covered": covered}
    )
    if span.in_day:
        _take_out_of_day(feed, span)
    if not is_new:
        span.covered = covered
        span.save(update_fields=["covered"])
    ObservationRollUp.objects.bulk_create(
        (
            ObservationRollUp(span=span, metric=metric, block=block, data=data)
            for (metric, block), data in merged.pieces.items()
        ),
        batch_size=PIECES_AT_ONCE,
        update_conflicts=True,
        unique_fields=["span", "metric", "block"],
        update_fields=["data"],
    )


def _take_out_of_day(feed: ObservationFeed, hour: ObservationSpan) -> None:
    """Let go of the day that an hour was put into: what comes late is of it too, so it is put together anew.

    Hours are held before their day, as the sweep holds them, so that neither waits for the other for ever.
    """
    day = span_of(hour.starts_at + LENGTHS[HOUR], DAY)
    hours = feed.spans.filter(level=HOUR, starts_at__gte=day, starts_at__lt=day + LENGTHS[DAY])
    held = [span.pk for span in hours.select_for_update().order_by("pk")]
    feed.spans.filter(pk__in=held).update(in_day=False)
    feed.spans.filter(level=DAY, starts_at=day).delete()
