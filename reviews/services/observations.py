"""A collector reports what production did. Receipts and roll-ups are kept, the log hears of what that changes.

Rules kept: everything is read, put together and compared without a lock; what is written is written in one transaction
that holds the feed, and only if nobody else wrote to it meanwhile. Nothing of a decision is touched. Collectors are
bounded for each person, all of them and those that speak of one thing in an hour; they are kept and judged apart. A
batch that changes nothing of what is out of its envelope writes no entry, else thousands of them would bury the log
(ADR 26); the first one of a collector does, and so does a refused one.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings

from planner.canonical import file_sha256
from planner.errors import DocumentRefusedError, Problem
from planner.observations import Batch, Expected, admission_problems, read_batch
from planner.observations.qualified import Qualified
from planner.observations.rollup import MOST_SOURCES, Key
from planner.times import time_text
from reviews.audit import Act, append, refusals_recorded, rows_write, workspace_write
from reviews.blobs import blob_read
from reviews.clock import database_now
from reviews.errors import DocumentsRefusedError, Finding
from reviews.facts import Standing
from reviews.models import (
    Activation,
    ObservationBatch,
    ObservationFeed,
    ObservationFile,
    ObservationSource,
    Person,
    Workspace,
)
from reviews.policies.document import read_policy
from reviews.policies.permissions import may_report
from reviews.selectors.envelopes import qualified_of
from reviews.selectors.finding_words import finding_text, finding_value
from reviews.selectors.observation_window import Merged, batch_span, merged_batch
from reviews.selectors.people import standing_of
from reviews.selectors.running import not_running, running_of
from reviews.services.acting import require
from reviews.services.observation_findings import (
    NAMED,
    Changes,
    changes_of,
    changes_write,
)
from reviews.services.observation_hours import hour_write
from reviews.services.people import UNTRACED, Trace

__all__ = ["Taken", "observations_take"]

MOST_VALUES = 400_000
SOURCES_OF_EACH = 3
SPARE_SOURCES = 64
"""Collectors of one person: so many for every rank, group and link, and some more that were given other names."""
MOST_PROBLEMS = 1_000
LATE = timedelta(hours=1)
"""What is older than this is kept and not judged: it says nothing of now."""
TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a batch. ``is_new`` is false where the same bytes were taken before.

    ``breaches`` and ``drifts`` count what the batch touched and is out of its envelope, ``standing`` has the worst of
    it; ``open_breaches`` and ``open_drifts`` count everything of the topology. ``is_judged`` is false for old spans.
    """

    decision: int
    revision: int
    subject: str
    batch: ObservationBatch
    source: str
    is_new: bool
    is_judged: bool
    open_breaches: int
    open_drifts: int
    standing: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """A batch that was read, with who sent it, and the topology that it is of."""

    workspace: Workspace
    standing: Standing
    attempt: Act
    raw: bytes
    sha256: str
    batch: Batch
    activation: Activation
    qualified: Qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """What is to be written, as of a version of the feed. ``file``: the bytes, compressed, empty if none are kept."""

    feed: ObservationFeed
    source: ObservationSource | None
    merged: Merged
    changes: Changes
    is_judged: bool
    now: datetime
    file: bytes

    @property
    def action(self) -> str:
        """The entry's action, empty where nothing is told."""
        return self.changes.action or ("observations.began" if self.source is None else "")


def observations_take(*, actor: Person, workspace: Workspace, raw: bytes, trace: Trace = UNTRACED) -> Taken:
    """Take a batch of observations (``topogate.observations/v1``) and say what is out of its envelope.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not report.
        DocumentsRefusedError: the batch is none, is of nothing that can be running, or may not be taken now.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    standing = standing_of(actor, workspace)
    attempt = trace.act("observations.refused", standing.token)
    with refusals_recorded(workspace, attempt):
        require(may_report(standing))
        batch = _read(raw)
        activation = running_of(workspace, batch.slot, batch.subject, now := database_now())
        if activation is None:
            raise _refused([not_running(workspace, batch.slot, batch.subject, now)])
    revision = activation.revision
    attempt = replace(attempt, decision=revision.decision.number, revision=revision.number, subject=activation.subject)
    with refusals_recorded(workspace, attempt):
        return _taken(
            _Given(
                workspace=workspace,
                standing=standing,
                attempt=attempt,
                raw=raw,
                sha256=file_sha256(raw),
                batch=batch,
                activation=activation,
                qualified=qualified_of(revision, activation.trial),
            )
        )


def _read(raw: bytes) -> Batch:
    most = settings.OBSERVATION_BYTES
    if len(raw) > most:
        raise _refused([Problem("observations/size", "", f"at most {most:,} bytes", f"{len(raw):,} bytes")])
    try:
        batch = read_batch(raw)
    except DocumentRefusedError as refused:
        raise _refused(refused.problems) from refused
    values = sum(len(segment.metrics) for segment in batch.segments)
    if values > MOST_VALUES:
        raise _refused([Problem("observations/size", "/segments", f"at most {MOST_VALUES:,} values", f"{values:,}")])
    return batch


def _refused(problems: Any) -> DocumentsRefusedError:
    return DocumentsRefusedError(tuple(Finding.of(problem, "observations") for problem in problems))


def _taken(given: _Given) -> Taken:
    """Take a batch beside whoever writes to the same feed; the last try keeps them out while it computes."""
    for _ in range(TRIES - 1):
        ready = _prepared(given)
        if isinstance(ready, Taken):
            return ready
        with workspace_write(given.workspace.pk) if ready.action else rows_write():
            if _is_unchanged(ready.feed):
                return _written(given, ready)
    with workspace_write(given.workspace.pk):
        ready = _prepared(given, holds=True)
        return ready if isinstance(ready, Taken) else _written(given, ready)


def _is_unchanged(feed: ObservationFeed) -> bool:
    """Hold the feed to the end of the transaction, and say whether nobody wrote to it since it was read."""
    held = ObservationFeed.objects.select_for_update().values_list("version", flat=True).get(pk=feed.pk)
    return bool(held == feed.version)


def _prepared(given: _Given, *, holds: bool = False) -> "_Ready | Taken":
    batch, revision = given.batch, given.activation.revision
    feeds = ObservationFeed.objects.select_for_update() if holds else ObservationFeed.objects
    feed = feeds.filter(revision=revision, trial=given.activation.trial).first()
    # The collector before the receipt: where another request takes these bytes meanwhile, what moved the one is seen in
    # the other, and the bytes are known and no replay.
    person_id = given.standing.person_id
    source = ObservationSource.objects.filter(feed=feed, name=batch.source, person=person_id).first() if feed else None
    before = ObservationBatch.objects.filter(feed=feed, sha256=given.sha256).first() if feed else None
    if feed is not None and before is not None:
        return _answer(given, feed, before, is_new=False, is_judged=False, changes=Changes())
    now = database_now()
    problems = list(islice(_problems(given, feed, source, now), MOST_PROBLEMS))
    if problems:
        raise _refused(problems)
    if feed is None:
        feed, _ = ObservationFeed.objects.get_or_create(revision=revision, trial=given.activation.trial)
        if feed.version:
            # Somebody wrote since it was looked for: its collectors and receipts are to be read too.
            return _prepared(given, holds=holds)
    _, end = batch_span(batch)
    is_judged = end > now - LATE
    merged = merged_batch(feed, batch, person_id, given.qualified, is_judged=is_judged)
    if merged.crowd is not None:
        raise _refused([_crowd_problem(merged.crowd)])
    policy = read_policy(blob_read(revision.policy.blob_id, "policy"))
    changes = changes_of(feed, merged.compared, policy, end)
    return _Ready(
        feed=feed,
        source=source,
        merged=merged,
        changes=changes,
        is_judged=is_judged,
        now=now,
        file=zlib.compress(given.raw, 1) if settings.OBSERVATION_FILE_DAYS else b"",
    )


def _problems(
    given: _Given, feed: ObservationFeed | None, source: ObservationSource | None, now: datetime
) -> Iterator[Problem]:
    found = given.qualified
    expected = Expected(
        slot=given.activation.revision.decision.slot,
        subject=given.activation.subject,
        ranks=found.ranks,
        groups=found.groups,
        links=found.links,
        shapes=found.shapes,
        now=time_text(now),
        since=time_text(now - timedelta(days=settings.OBSERVATION_HOURS_DAYS)),
        taken={} if source is None else {source.name: time_text(source.ended_at)},
    )
    yield from admission_problems(given.batch, expected)
    if feed is not None and source is None:
        most = SPARE_SOURCES + SOURCES_OF_EACH * (found.ranks + found.groups + len(found.links))
        if ObservationSource.objects.filter(feed=feed, person=given.standing.person_id).count() >= most:
            yield Problem(
                "observations/sources", "/source", f"one of the {most:,} collectors that one reporter has", "another"
            )


def _crowd_problem(key: Key) -> Problem:
    parts = (("rank", key.rank), ("group", key.group), ("link", key.link), ("shape", key.shape), ("phase", key.phase))
    of = ", ".join(f"{name} {value}" for name, value in parts if value not in (-1, ""))
    expected = f"at most {MOST_SOURCES} collectors of one reporter in an hour for {key.metric} of {of}"
    return Problem("observations/sources", "/source", expected, "another")


def _written(given: _Given, ready: _Ready) -> Taken:
    """Write everything of a batch. Call it inside the transaction that holds the feed."""
    feed, batch = ready.feed, given.batch
    start, end = batch_span(batch)
    hour_write(feed, ready.merged)
    changes_write(feed, ready.changes)
    source = _write_source(given, ready, start, end)
    feed.version += 1
    feed.ended_at = end if feed.ended_at is None else max(end, feed.ended_at)
    feed.received_at = ready.now
    feed.save()
    receipt = ObservationBatch.objects.create(
        feed=feed,
        source=source,
        sha256=given.sha256,
        size_bytes=len(given.raw),
        started_at=start,
        ended_at=end,
        segments=len(batch.segments),
        values_count=sum(len(segment.metrics) for segment in batch.segments),
        breaches=sum(row.state == "BREACH" for row in ready.changes.standing),
        drifts=sum(row.state == "DRIFT" for row in ready.changes.standing),
        person_id=given.standing.person_id,
        received_at=ready.now,
    )
    if ready.file:
        ObservationFile.objects.create(batch=receipt, data=ready.file, received_at=ready.now)
    if ready.action:
        append(given.workspace, _entry(given, ready))
    return _answer(given, feed, receipt, is_new=True, is_judged=ready.is_judged, changes=ready.changes)


def _write_source(given: _Given, ready: _Ready, start: datetime, end: datetime) -> ObservationSource:
    source = ready.source or ObservationSource(
        feed=ready.feed, name=given.batch.source, person_id=given.standing.person_id, began_at=start
    )
    source.ended_at, source.received_at = end, ready.now
    source.batches += 1
    source.last_sha256 = given.sha256
    source.save()
    return source


def _entry(given: _Given, ready: _Ready) -> Act:
    told, changes = ready.changes.told(), ready.changes
    return replace(
        given.attempt,
        action=ready.action,
        team=told[0].team if told else None,
        reason=finding_text(told[0], given.qualified)[:2000] if told else None,
        payload_type="topogate.observed/v1",
        payload={
            "slot": given.batch.slot,
            "source": given.batch.source,
            "batch": given.sha256,
            "started_at": given.batch.started_at,
            "ended_at": given.batch.ended_at,
            "opened": len(changes.opened),
            "eased": len(changes.eased),
            "breaches": ready.feed.breaches,
            "drifts": ready.feed.drifts,
            "teams": sorted({finding.team for finding in (*changes.opened, *changes.eased)}),
            "named": [finding_value(finding, given.qualified) for finding in told],
        },
    )


def _answer(
    given: _Given, feed: ObservationFeed, batch: ObservationBatch, *, is_new: bool, is_judged: bool, changes: Changes
) -> Taken:
    return Taken(
        decision=given.activation.revision.decision.number,
        revision=given.activation.revision.number,
        subject=given.activation.subject,
        batch=batch,
        source=given.batch.source,
        is_new=is_new,
        is_judged=is_judged,
        open_breaches=feed.breaches,
        open_drifts=feed.drifts,
        standing=tuple(finding_value(finding, given.qualified) for finding in changes.standing[:NAMED]),
    )
