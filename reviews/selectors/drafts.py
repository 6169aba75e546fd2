"""Reads of drafts: one's own, never another person's."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models.functions import Length

from reviews.errors import NotFoundError
from reviews.models import Draft, Person, Workspace
from reviews.selectors.people import standing_of


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A draft as lists show it."""

    id: int
    kind: str
    name: str
    slot: str
    version: int
    size_bytes: int
    made_at: datetime
    changed_at: datetime
    expires_at: datetime


def drafts_of(*, actor: Person, workspace: Workspace, kind: str) -> tuple[DraftRow, ...]:
    """Return the actor's own drafts of a kind, the last changed first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = (
        Draft.objects.filter(workspace=workspace, person=actor, kind=kind)
        .defer("body")
        .annotate(size_bytes=Length("body"))
    )
    return tuple(
        DraftRow(
            id=row.pk,
            kind=row.kind,
            name=row.name,
            slot=row.slot,
            version=row.version,
            size_bytes=row.size_bytes,
            made_at=row.made_at,
            changed_at=row.changed_at,
            expires_at=row.expires_at,
        )
        for row in rows.order_by("-changed_at", "-id")
    )


def draft_of_owner(*, actor: Person, workspace: Workspace, draft_id: int, kind: str) -> Draft:
    """Return a draft of the actor.

    Raises:
        NotFoundError: the actor is no member of the workspace, or has no such draft of this kind in it.
    """
    standing_of(actor, workspace)
    draft = Draft.objects.filter(pk=draft_id, workspace=workspace, person=actor, kind=kind).first()
    if draft is None:
        raise NotFoundError("There is no such draft of yours here.")
    return draft
