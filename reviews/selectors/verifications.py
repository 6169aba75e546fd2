"""Verifications of a log as rows."""

from dataclasses import dataclass
from datetime import datetime

from reviews.errors import NotFoundError
from reviews.models import JobState, Person, Verification, Workspace
from reviews.models.verifications import OPEN_STATES
from reviews.selectors.people import standing_of

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationRow:
    """A verification. ``outcome`` is a ``VerificationOutcome`` value, empty until it is done; ``error`` why it failed.

    ``entries_done`` of ``entries_total`` is the share of all its work that is done, in entries.
    """

    id: int
    state: str
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    entries_done: int
    entries_total: int
    outcome: str
    headline: str
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]
    entries: int | None
    head: str
    bad_seq: int | None
    error: str

    @property
    def is_open(self) -> bool:
        """Whether a result is still to come."""
        return self.state in OPEN_STATES


def verification_rows(*, actor: Person, workspace: Workspace) -> tuple[VerificationRow, ...]:
    """Return the newest verifications.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = Verification.objects.filter(workspace=workspace).select_related("asked_by").order_by("-pk")
    return tuple(map(_row, rows[:MOST_SHOWN]))


def last_verification(workspace: Workspace) -> VerificationRow | None:
    """Return the newest verification that is done, None where there is none."""
    rows = Verification.objects.filter(workspace=workspace, state=JobState.DONE).select_related("asked_by")
    found = rows.order_by("-pk").first()
    return None if found is None else _row(found)


def verification_detail(*, actor: Person, workspace: Workspace, verification_id: int) -> VerificationRow:
    """Return one verification.

    Raises:
        NotFoundError: there is none, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = Verification.objects.filter(workspace=workspace, pk=verification_id).select_related("asked_by")
    found = rows.first()
    if found is None:
        raise NotFoundError("There is no such verification in this workspace.")
    return _row(found)


def _row(row: Verification) -> VerificationRow:
    return VerificationRow(
        id=row.pk,
        state=row.state,
        asked_by=row.asked_by.display_name,
        asked_at=row.asked_at,
        finished_at=row.finished_at,
        entries_done=row.entries_done,
        entries_total=row.entries_total,
        outcome=row.outcome,
        headline=row.headline,
        checked=tuple(row.report.get("checked", ())),
        not_checked=tuple(row.report.get("not_checked", ())),
        entries=row.entries,
        head=row.head,
        bad_seq=row.bad_seq,
        error=row.error_detail,
    )
