"""Lets go of observations after the time that the settings name, and of findings that nothing speaks of any more.

Rules kept: each turn does a bounded part, the oldest first, in transactions of their own; an hour becomes part of its
day and is marked so in one of them, so no value is lost or counted twice, whoever dies when. Hours stay beside their
day for their time, all of a day as long. What tells replays, up to when each collector reported, goes when whatever it
sent until then is too old to be taken. Safe to run from any number of processes.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Model, Q, QuerySet

from planner.observations.packed import packed, unpacked
from planner.observations.rollup import bounded, merge_into
from reviews.audit import Act, append, workspace_write
from reviews.clock import database_now
from reviews.models import (
    Activation,
    ObservationBatch,
    ObservationFeed,
    ObservationFile,
    ObservationFinding,
    ObservationRollUp,
    ObservationSource,
    ObservationSpan,
    Workspace,
)
from reviews.policies.transitions import FINAL
from reviews.selectors.envelopes import qualified_of
from reviews.selectors.finding_words import finding_text, finding_value, open_counts
from reviews.selectors.roll_ups import DAY, HOUR, LENGTHS, covered_of, covered_text, joined, span_of
from reviews.services.observation_findings import NAMED

__all__ = ["findings_lapse", "observations_prune"]

FILES_AT_ONCE = 100
ROWS_AT_ONCE = 2000
SPANS_AT_ONCE = 24
FEEDS_AT_ONCE = 50
PIECES_AT_ONCE = 32
DAYS_AT_ONCE = 4
SETTLED = timedelta(hours=2)
"""So long after its end an hour goes into its day; what comes later has the day put together anew."""
SILENT = timedelta(days=1)
"""A finding that was not judged for so long lapses: its rank is gone, or its limit holds at another load."""


def observations_prune() -> int:
    """Delete what is past its time, and put old hours into their days; return how many rows went."""
    now = database_now()
    files, hours, days = (
        now - timedelta(days=count)
        for count in (
            settings.OBSERVATION_FILE_DAYS,
            settings.OBSERVATION_HOURS_DAYS,
            settings.OBSERVATION_DAYS_DAYS,
        )
    )
    return (
        _delete(ObservationFile.objects.filter(received_at__lt=files), FILES_AT_ONCE)
        + _delete(ObservationBatch.objects.filter(received_at__lt=hours), ROWS_AT_ONCE)
        + _delete(ObservationFinding.objects.filter(closed_at__lt=days), ROWS_AT_ONCE)
        + _delete(ObservationSpan.objects.filter(level=DAY, starts_at__lt=days - LENGTHS[DAY]), SPANS_AT_ONCE)
        + _forget_collectors(hours - LENGTHS[DAY])
        + sum(_into_day(pk) for pk in _settled_hours(now))
        + sum(_let_go(hours) for _ in range(DAYS_AT_ONCE))
    )


def _delete(rows: "QuerySet[Model]", most: int) -> int:
    due = list(rows.order_by("pk").values_list("pk", flat=True)[:most])
    if due:
        rows.model._default_manager.filter(pk__in=due).delete()
    return len(due)


def _forget_collectors(until: datetime) -> int:
    """Delete collectors that reported nothing since and have no receipts; return how many went.

    They are locked first: one that reports meanwhile has moved its end by then, and stays.
    """
    silent = ObservationSource.objects.filter(receipts=None, ended_at__lt=until).order_by("pk")
    with transaction.atomic():
        return _delete(silent.select_for_update(of=("self",)), ROWS_AT_ONCE)


def _settled_hours(now: datetime) -> Iterator[int]:
    """Yield hours that are in no day yet, and of which little is still to come."""
    due = ObservationSpan.objects.filter(level=HOUR, in_day=False, starts_at__lt=now - SETTLED - LENGTHS[HOUR])
    yield from due.order_by("starts_at", "pk").values_list("pk", flat=True)[:SPANS_AT_ONCE]


def _let_go(until: datetime) -> int:
    """Delete the hours of the oldest day that ended before, which has them all; return how many went."""
    due = ObservationSpan.objects.filter(level=HOUR, in_day=True, starts_at__lt=span_of(until, DAY))
    oldest = due.order_by("starts_at", "feed").first()
    if oldest is None:
        return 0
    day = span_of(oldest.starts_at + LENGTHS[HOUR], DAY)
    own = due.filter(feed=oldest.feed_id, starts_at__gte=day, starts_at__lt=day + LENGTHS[DAY])
    return _delete(own, ROWS_AT_ONCE)


def _into_day(hour_id: int) -> int:
    """Put one hour into its day; return 1, or 0 where another process does it or did."""
    with transaction.atomic():
        # Of the hour alone: in the order of spans its feed is read too, and was locked with it against all other hours.
        spans = ObservationSpan.objects.select_for_update(skip_locked=True, of=("self",))
        hour = spans.filter(pk=hour_id, in_day=False).first()
        if hour is None:
            return 0
        day, is_new = ObservationSpan.objects.get_or_create(
            feed_id=hour.feed_id,
            level=DAY,
            starts_at=span_of(hour.starts_at + LENGTHS[HOUR], DAY),
            defaults={"covered": hour.covered},
        )
        if not is_new:
            # Two hours of one day wait for one another here.
            day = ObservationSpan.objects.select_for_update().get(pk=day.pk)
            day.covered = covered_text(joined([*covered_of(day.covered), *covered_of(hour.covered)]))
            day.save(update_fields=["covered"])
        _merge_pieces(hour, day)
        hour.in_day = True
        hour.save(update_fields=["in_day"])
        return 1


def _merge_pieces(hour: ObservationSpan, day: ObservationSpan) -> None:
    """Put the pieces of an hour to those of a day, a few at a time."""
    pieces = list(hour.roll_ups.order_by("metric", "block").values_list("pk", flat=True))
    for start in range(0, len(pieces), PIECES_AT_ONCE):
        some = list(ObservationRollUp.objects.filter(pk__in=pieces[start : start + PIECES_AT_ONCE]))
        beside = ObservationRollUp.objects.filter(span=day, metric__in={row.metric for row in some})
        blocks = beside.filter(block__in={row.block for row in some})
        known = {(row.metric, row.block): bytes(row.data) for row in blocks}
        ObservationRollUp.objects.bulk_create(
            [
                ObservationRollUp(
                    span=day,
                    metric=row.metric,
                    block=row.block,
                    data=_joined_pieces(row.metric, bytes(row.data), known.get((row.metric, row.block))),
                )
                for row in some
            ],
            update_conflicts=True,
            unique_fields=["span", "metric", "block"],
            update_fields=["data"],
        )


def _joined_pieces(metric: str, one: bytes, other: bytes | None) -> bytes:
    if other is None:
        return one
    found = unpacked(other, "", metric)
    merge_into(found, unpacked(one, "", metric))
    return packed(bounded(found))


def findings_lapse() -> int:
    """Close findings that were not judged for a day, and those of what runs no more; return how many, an entry a feed.

    Nothing says that such a value is within; it only is not known to be out any more.
    """
    since = database_now() - SILENT
    has_open = Q(breaches__gt=0) | Q(drifts__gt=0)
    feeds = ObservationFeed.objects.filter(has_open).select_related("revision__decision__workspace")
    due = feeds.filter(
        Q(revision__decision__state__in=FINAL) | Q(findings__closed_at=None, findings__last_seen_at__lt=since)
    ).distinct()
    return sum(_lapse(feed, since) for feed in due.order_by("pk")[:FEEDS_AT_ONCE])


def _lapse(feed: ObservationFeed, since: datetime) -> int:
    workspace = feed.revision.decision.workspace
    with workspace_write(workspace.pk):
        held = ObservationFeed.objects.select_for_update(of=("self",)).select_related(*DOCUMENTS).get(pk=feed.pk)
        ended = held.revision.decision.state in FINAL
        rows = ObservationFinding.objects.filter(feed=held, closed_at=None)
        silent = rows if ended else rows.filter(last_seen_at__lt=since)
        due = list(silent.order_by("state", "-used", "pk"))
        if not due:
            return 0
        silent.update(closed_at=database_now())
        held.breaches, held.drifts = open_counts(held)
        held.version += 1
        held.save(update_fields=["version", "breaches", "drifts"])
        _record(workspace, held, due, ended=ended)
    return len(due)


DOCUMENTS = ("revision__decision", "revision__contract", "revision__evidence")


def _record(workspace: Workspace, feed: ObservationFeed, due: list[ObservationFinding], *, ended: bool) -> None:
    revision = feed.revision
    subject = Activation.objects.filter(revision=revision).values_list("subject", flat=True)[0]
    found = qualified_of(revision, feed.trial)
    why = "It runs no more" if ended else "Not judged for a day"
    append(
        workspace,
        Act(
            action="observations.lapsed",
            decision=revision.decision.number,
            revision=revision.number,
            subject=subject,
            team=due[0].team,
            reason=f"{why}. {finding_text(due[0], found)}"[:2000],
            payload_type="topogate.observed/v1",
            payload={
                "slot": revision.decision.slot,
                "lapsed": len(due),
                "breaches": feed.breaches,
                "drifts": feed.drifts,
                "teams": sorted({row.team for row in due}),
                "named": [finding_value(row, found) for row in due[:NAMED]],
            },
        ),
    )
