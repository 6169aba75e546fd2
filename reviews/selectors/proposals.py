"""Acts that wait for their second person, and what such acts can be about."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import QuerySet

from reviews.blobs import checked
from reviews.errors import NotFoundError
from reviews.models import Activation, Decision, DecisionState, Person, Proposal, ProposalKind, Workspace
from reviews.selectors.decision_page import decision_named
from reviews.selectors.people import standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """A proposal; ``body`` is what is to be done, ``state`` is ``open``, ``carried_out`` or ``withdrawn``.

    ``decision`` is the number of the one that it is about, None where it is about the workspace. ``is_mine``: the
    reader made it.
    """

    id: int
    kind: str
    title: str
    decision: int | None
    state: str
    body: dict[str, Any]
    reason: str
    person: str
    team: str
    proposed_at: datetime
    is_mine: bool


def open_proposals(
    *, actor: Person, workspace: Workspace, number: int | None = None, is_everywhere: bool = False
) -> tuple[ProposalRow, ...]:
    """Return what waits for a second person: of one decision, or of the workspace itself where ``number`` is None.

    ``is_everywhere``: of the workspace and of all its decisions.

    Raises:
        NotFoundError: the actor is no member of the workspace, or there is no such decision.
    """
    standing_of(actor, workspace)
    rows = _proposals(workspace).filter(countersignature__isnull=True, withdrawal__isnull=True)
    if number is not None:
        rows = rows.filter(decision=decision_named(workspace, number))
    elif not is_everywhere:
        rows = rows.filter(decision__isnull=True)
    return tuple(_row(row, actor) for row in rows.order_by("pk"))


def proposal_row(*, actor: Person, workspace: Workspace, proposal_id: int) -> ProposalRow:
    """Return one proposal, whatever became of it.

    Raises:
        NotFoundError: there is none, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    row = _proposals(workspace).filter(pk=proposal_id).first()
    if row is None:
        raise NotFoundError("There is no such proposal in this workspace.")
    return _row(row, actor)


def _proposals(workspace: Workspace) -> QuerySet[Proposal]:
    return Proposal.objects.filter(workspace=workspace).select_related(
        "body", "person", "decision", "countersignature", "withdrawal"
    )


def _row(row: Proposal, reader: Person) -> ProposalRow:
    is_over = {"carried_out": hasattr(row, "countersignature"), "withdrawn": hasattr(row, "withdrawal")}
    return ProposalRow(
        id=row.pk,
        kind=row.kind,
        title=ProposalKind(row.kind).label,
        decision=row.decision.number if row.decision else None,
        state=next((state for state, is_so in is_over.items() if is_so), "open"),
        body=msgspec.json.decode(checked(bytes(row.body.data), row.body_id, "proposal")),
        reason=row.reason,
        person=row.person.display_name,
        team=row.team,
        proposed_at=row.proposed_at,
        is_mine=row.person_id == reader.pk,
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
