"""Exports of a workspace: where each stands, and how far it is."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from planner.decision_numbers import decision_label
from reviews.errors import NotFoundError
from reviews.models import Export, Person, Workspace
from reviews.selectors.people import standing_of

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRow:
    """An export as it is shown. ``sha256``, sizes and ``expires_at`` are there once it is ready."""

    id: int
    decision: int | None
    with_files: bool
    state: str
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    expires_at: datetime | None
    entries_done: int
    entries_total: int
    size_bytes: int
    sha256: str
    error: str

    @property
    def is_ready(self) -> bool:
        """Whether its bytes can be fetched."""
        return self.state == "done"

    @property
    def is_open(self) -> bool:
        """Whether it still waits or is being written."""
        return self.state in ("queued", "running")

    @property
    def file_name(self) -> str:
        """What the bundle is saved as."""
        scope = "workspace" if self.decision is None else decision_label(self.decision)
        return f"topogate-{scope}-{self.sha256.removeprefix('sha256:')[:12]}.zip"


def export_rows(*, actor: Person, workspace: Workspace, decision: int | None = None) -> tuple[ExportRow, ...]:
    """Return the newest exports, of one decision where one is named.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = _present(workspace)
    if decision is not None:
        rows = rows.filter(decision_number=decision)
    return tuple(export_row(row) for row in rows.select_related("person").order_by("-pk")[:MOST_SHOWN])


def export_detail(*, actor: Person, workspace: Workspace, export_id: int) -> ExportRow:
    """Return one export.

    Raises:
        NotFoundError: no such export, or it expired, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    return export_row(export_named(workspace, export_id))


def export_named(workspace: Workspace, export_id: int) -> Export:
    """Return an export of the workspace that has not expired.

    Raises:
        NotFoundError: there is none.
    """
    export = _present(workspace).filter(pk=export_id).select_related("person").first()
    if export is None:
        raise NotFoundError("There is no such export in this workspace, or it expired.")
    return export


def _present(workspace: Workspace) -> QuerySet[Export]:
    return Export.objects.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()), workspace=workspace)


def export_row(export: Export) -> ExportRow:
    """Return a stored export as it is shown."""
    return ExportRow(
        id=export.pk,
        decision=export.decision_number,
        with_files=export.with_files,
        state=export.state,
        asked_by=export.person.display_name,
        asked_at=export.asked_at,
        finished_at=export.finished_at,
        expires_at=export.expires_at,
        entries_done=export.entries_done,
        entries_total=export.entries_total,
        size_bytes=export.size_bytes,
        sha256=export.sha256,
        error=export.error,
    )
