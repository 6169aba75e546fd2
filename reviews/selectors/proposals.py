"""Acts that wait for their second person, and what such acts can be about."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from reviews.blobs import checked
from reviews.models import Activation, Decision, DecisionState, Person, Proposal, ProposalKind, Workspace
from reviews.selectors.people import standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """A proposal that is open; ``body`` is what would be done. ``is_mine``: the reader made it."""

    id: int
    kind: str
    title: str
    body: dict[str, Any]
    reason: str
    person: str
    team: str
    proposed_at: datetime
    is_mine: bool


def open_proposals(*, actor: Person, workspace: Workspace, number: int | None = None) -> tuple[ProposalRow, ...]:
    """Return what waits for a second person: of one decision, or of the workspace itself where ``number`` is None.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = Proposal.objects.filter(workspace=workspace, countersignature__isnull=True, withdrawal__isnull=True)
    rows = rows.filter(decision__isnull=True) if number is None else rows.filter(decision__number=number)
    return tuple(
        ProposalRow(
            id=row.pk,
            kind=row.kind,
            title=ProposalKind(row.kind).label,
            body=msgspec.json.decode(checked(bytes(row.body.data), row.body_id, "proposal")),
            reason=row.reason,
            person=row.person.display_name,
            team=row.team,
            proposed_at=row.proposed_at,
            is_mine=row.person_id == actor.pk,
        )
        for row in rows.select_related("body", "person").order_by("pk")
    )


def earlier_in_force(decision: Decision) -> tuple[tuple[int, str], ...]:
    """Return number and topology of the slot's decisions that were in force and were superseded, newest first."""
    rows = Activation.objects.filter(
        revision__decision__workspace_id=decision.workspace_id,
        revision__decision__slot=decision.slot,
        revision__decision__state=DecisionState.SUPERSEDED,
    ).select_related("revision__decision")
    found = {row.revision.decision.number: row.topology for row in rows.order_by("pk")}
    return tuple(sorted(found.items(), reverse=True))
