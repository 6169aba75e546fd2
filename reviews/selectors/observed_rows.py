"""Lists of what production reported: what is out of its envelope, who reports, receipts of batches and their bytes."""

import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db.models import Model, QuerySet

from planner.canonical import file_sha256
from reviews.errors import NotFoundError, TamperedError, is_storable
from reviews.models import (
    FindingState,
    ObservationBatch,
    ObservationFile,
    ObservationFinding,
    ObservationSource,
    Person,
    Workspace,
)
from reviews.selectors.finding_words import value_up_to
from reviews.selectors.observed import Observed, observed

__all__ = [
    "BatchRow",
    "FindingRow",
    "FindingsPage",
    "SourceRow",
    "batch_bytes",
    "batch_rows",
    "findings_page",
    "source_rows",
]

PAGE_SIZE = 50
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One value that is, or was, out of its envelope.

    ``rank`` and ``group`` are None, ``link`` and ``shape`` empty where it is of none; ``node`` and ``device`` are those
    of the decided rank. ``calm_since`` is given while it is back within, and not for long enough to be closed.
    """

    state: str
    metric: str
    statistic: str
    rank: int | None
    group: int | None
    link: str
    shape: str
    node: str
    device: str
    team: str
    value: float | None
    value_up_to: float | None
    limit: float | None
    limit_at: str
    qualified: float | None
    qualified_at: str
    used: float | None
    opened_at: datetime
    last_seen_at: datetime
    calm_since: datetime | None
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class FindingsPage:
    """A page of findings, breaches first, then what uses most of its limit; ``total`` counts those of all pages."""

    rows: tuple[FindingRow, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A collector: from when until when it reported, and who it was last."""

    name: str
    person: str
    began_at: datetime
    ended_at: datetime
    received_at: datetime
    batches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """The receipt of a batch; ``has_bytes`` while its bytes are kept."""

    sha256: str
    source: str
    person: str
    started_at: datetime
    ended_at: datetime
    received_at: datetime
    size_bytes: int
    segments: int
    values: int
    breaches: int
    drifts: int
    has_bytes: bool


def findings_page(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    is_open: bool = True,
    state: str = "",
    metric: str = "",
    team: str = "",
    rank: int | None = None,
    page: int = 1,
    page_size: int = PAGE_SIZE,
) -> FindingsPage:
    """Return findings of what a decision put into force last, those that are open or those that were closed.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    if found.feed is None:
        return FindingsPage((), 0)
    rows = ObservationFinding.objects.filter(feed=found.feed, closed_at__isnull=is_open)
    for name, value in (("state", state), ("metric", metric), ("team", team)):
        rows = rows.filter(**{name: value}) if value else rows
    rows = rows.filter(rank=rank) if rank is not None else rows
    ordered = rows.order_by("state", "-used", "pk") if is_open else rows.order_by("-closed_at", "-pk")
    first = (max(page, 1) - 1) * page_size
    shown = ordered[first : first + page_size]
    return FindingsPage(tuple(_finding(found, row) for row in shown), rows.count())


def _finding(found: Observed, row: ObservationFinding) -> FindingRow:
    places = found.qualified.places if found.qualified else {}
    node, device = places.get(row.rank, ("", ""))
    return FindingRow(
        state=FindingState(row.state).value,
        metric=row.metric,
        statistic=row.statistic,
        rank=row.rank if row.rank >= 0 else None,
        group=row.group if row.group >= 0 else None,
        link=row.link,
        shape=row.shape,
        node=node,
        device=device,
        team=row.team,
        value=row.value,
        value_up_to=value_up_to(row.value, row.used, row.limit, row.qualified),
        limit=row.limit,
        limit_at=row.limit_at,
        qualified=row.qualified,
        qualified_at=row.qualified_at,
        used=row.used,
        opened_at=row.opened_at,
        last_seen_at=row.last_seen_at,
        calm_since=row.calm_since,
        closed_at=row.closed_at,
    )


def source_rows(
    *, actor: Person, workspace: Workspace, number: int, page: int = 1, page_size: int = PAGE_SIZE
) -> tuple[tuple[SourceRow, ...], int]:
    """Return a page of the collectors, the one first that was silent longest, and how many there are.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    if found.feed is None:
        return (), 0
    rows = ObservationSource.objects.filter(feed=found.feed).select_related("person").order_by("ended_at", "name", "pk")
    shown = _paged(rows, page, page_size)
    return tuple(
        SourceRow(
            name=row.name,
            person=row.person.display_name,
            began_at=row.began_at,
            ended_at=row.ended_at,
            received_at=row.received_at,
            batches=row.batches,
        )
        for row in shown
    ), rows.count()


def batch_rows(
    *, actor: Person, workspace: Workspace, number: int, page: int = 1, page_size: int = PAGE_SIZE
) -> tuple[tuple[BatchRow, ...], int]:
    """Return a page of receipts, the newest first, and how many there are.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    if found.feed is None:
        return (), 0
    rows = ObservationBatch.objects.filter(feed=found.feed).select_related("source", "person").order_by("-pk")
    shown = list(_paged(rows, page, page_size))
    kept = set(ObservationFile.objects.filter(batch__in=shown).values_list("batch_id", flat=True))
    return tuple(
        BatchRow(
            sha256=row.sha256,
            source=row.source.name,
            person=row.person.display_name,
            started_at=row.started_at,
            ended_at=row.ended_at,
            received_at=row.received_at,
            size_bytes=row.size_bytes,
            segments=row.segments,
            values=row.values_count,
            breaches=row.breaches,
            drifts=row.drifts,
            has_bytes=row.pk in kept,
        )
        for row in shown
    ), rows.count()


def _paged(rows: QuerySet[Row], page: int, page_size: int) -> QuerySet[Row]:
    first = (max(page, 1) - 1) * page_size
    return rows[first : first + page_size]


def batch_bytes(*, actor: Person, workspace: Workspace, number: int, sha256: str) -> bytes:
    """Return the bytes of a batch, of what a decision put into force last, as they came.

    Raises:
        NotFoundError: no such batch, its bytes are kept no more, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    found = observed(actor=actor, workspace=workspace, number=number)
    data = None
    if found.feed is not None and is_storable(sha256):
        rows = ObservationFile.objects.filter(batch__feed=found.feed, batch__sha256=sha256)
        data = rows.values_list("data", flat=True).first()
    if data is None:
        raise NotFoundError("The bytes of such a batch are not kept here.")
    raw = zlib.decompress(bytes(data))
    if file_sha256(raw) != sha256:
        raise TamperedError(f"The stored batch is not what was stored: expected {sha256}, found {file_sha256(raw)}.")
    return raw
