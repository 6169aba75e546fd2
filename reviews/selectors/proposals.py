"""Acts that wait for their second person, and what such acts can be about."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reviews.errors import NotFoundError, TamperedError
from reviews.facts import Standing
from reviews.models import Activation, Decision, DecisionState, Person, Proposal, ProposalKind, SignOff, Workspace
from reviews.models.proposals import ProposalQuerySet
from reviews.policies.permissions import Verdict
from reviews.policies.two_persons import open_until
from reviews.selectors.countersigning import Waits, waits_of
from reviews.selectors.countersigning_facts import proposed_body
from reviews.selectors.decision_page import decision_named
from reviews.selectors.people import standing_of
from reviews.selectors.proposal_words import asked_text, objection_text, takes_text, waiting_text

logger = logging.getLogger(__name__)
STATES = ("open", "carried_out", "withdrawn", "declined", "lapsed")
"""``declined``: by somebody who could countersign it; ``lapsed``: by time, or by what happened since."""
STRANGER = Verdict(False, "You are no member of this workspace.")
OVER = Verdict(False, "It does not wait for anybody any more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """A proposal; ``body`` is what is to be done, ``asks`` the same in words. ``state`` is one of ``STATES``.

    ``decision`` is the number of the one that it is about, None where it is about the workspace, with its ``label``,
    title and slot. ``waits`` says for whom, while it is open, and ``verdict`` whether for the reader; ``is_mine``: they
    made it. ``ended_by`` is who agreed, took it back or declined.
    """

    id: int
    kind: str
    title: str
    decision: int | None
    label: str
    title_of: str
    slot: str
    state: str
    body: dict[str, Any]
    asks: str
    reason: str
    person: str
    team: str
    proposed_at: datetime
    until: datetime
    is_mine: bool
    ended_by: str
    ended_reason: str
    waits: Waits | None
    verdict: Verdict

    @property
    def seconds(self) -> tuple[str, ...]:
        """The names of those who can countersign it now."""
        return tuple(self.waits.seconds.values()) if self.waits else ()

    @property
    def waiting_text(self) -> str:
        """Who can countersign it, or why nobody can and what to do then; empty once it is over."""
        if self.waits is None:
            return ""
        return self.waits.over or self.waits.held or waiting_text(self.seconds, takes_text(self.waits.teams))


def open_proposals(
    *, actor: Person, workspace: Workspace, number: int | None = None, is_everywhere: bool = False
) -> tuple[ProposalRow, ...]:
    """Return what waits for a second person: of one decision, or of the workspace itself where ``number`` is None.

    ``is_everywhere``: of the workspace and of all its decisions.

    Raises:
        NotFoundError: the actor is no member of the workspace, or there is no such decision.
        TamperedError: what is proposed is not what was stored.
    """
    standing_of(actor, workspace)
    rows = _proposals(workspace).still_open()
    if number is not None:
        rows = rows.filter(decision=decision_named(workspace, number))
    elif not is_everywhere:
        rows = rows.filter(decision__isnull=True)
    return _rows(workspace, [(row, proposed_body(row)) for row in rows.order_by("pk")], actor.pk)


def proposals_beside(
    *, actor: Person, workspace: Workspace, number: int | None = None, slot: str = ""
) -> tuple[ProposalRow, ...]:
    """Return what still waits for a second person about a decision, or those of a slot, what is urgent first.

    What is not what was stored is left out: the page that it is countersigned on says so.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = _proposals(workspace).still_open()
    rows = rows.filter(decision__slot=slot) if number is None else rows.filter(decision__number=number)
    found = _rows(workspace, untouched(rows.order_by("pk")), actor.pk)
    return _urgent_first(row for row in found if row.waits and not row.waits.over)


def proposals_waiting_on(standing: Standing, workspace: Workspace) -> tuple[ProposalRow, ...]:
    """Return what a person can countersign now, over the whole workspace, what is urgent first.

    What is not what was stored is left out: the page that it is countersigned on says so.
    """
    rows = _proposals(workspace).still_open().exclude(person_id=standing.person_id).order_by("pk")
    found = _rows(workspace, untouched(rows), standing.person_id)
    return _urgent_first(row for row in found if row.waits and standing.person_id in row.waits.seconds)


def proposal_row(*, actor: Person, workspace: Workspace, proposal_id: int) -> ProposalRow:
    """Return one proposal, whatever became of it.

    Raises:
        NotFoundError: there is none, or the actor is no member of the workspace.
        TamperedError: what is proposed is not what was stored.
    """
    standing_of(actor, workspace)
    row = _proposals(workspace).filter(pk=proposal_id).first()
    if row is None:
        raise NotFoundError("There is no such proposal in this workspace.")
    return _rows(workspace, [(row, proposed_body(row))], actor.pk)[0]


def proposal_said(row: Proposal) -> tuple[str, datetime | None]:
    """Return in words what a proposal asks, and until when it is open; nothing where it is not what was stored."""
    try:
        body = proposed_body(row)
    except TamperedError as error:
        logger.warning("proposal %d is told without what it asks: %s", row.pk, error.message)
        return "", None
    objection = ""
    if row.kind == ProposalKind.LIFT_OBJECTION:
        signoff = SignOff.objects.select_related("person", "team").get(pk=body["signoff"])
        objection = objection_text(signoff.person.display_name, signoff.team.slug)
    return asked_text(row.kind, body, objection), open_until(row.kind, body, row.proposed_at)


def _urgent_first(rows: Iterable[ProposalRow]) -> tuple[ProposalRow, ...]:
    return tuple(sorted(rows, key=lambda row: (row.kind != ProposalKind.EMERGENCY, row.until, row.id)))


def _proposals(workspace: Workspace) -> ProposalQuerySet:
    return Proposal.objects.filter(workspace=workspace).select_related(
        "body", "person", "decision", "countersignature__person", "withdrawal__person", "lapse"
    )


def untouched(rows: Iterable[Proposal]) -> list[tuple[Proposal, dict[str, Any]]]:
    """Return proposals, each with its body; those that are not what was stored are left out, and logged."""
    found = []
    for row in rows:
        try:
            found.append((row, proposed_body(row)))
        except TamperedError as error:
            logger.warning("proposal %d is left out: %s", row.pk, error.message)
    return found


def _rows(
    workspace: Workspace, proposals: Sequence[tuple[Proposal, dict[str, Any]]], reader_id: int
) -> tuple[ProposalRow, ...]:
    waits = waits_of(workspace, [(row, body) for row, body in proposals if state_of(row) == "open"])
    return tuple(_row(row, body, waits.get(row.pk), reader_id) for row, body in proposals)


def state_of(row: Proposal) -> str:
    """Return what became of a proposal."""
    if hasattr(row, "withdrawal"):
        return "withdrawn" if row.withdrawal.person_id == row.person_id else "declined"
    if hasattr(row, "lapse"):
        return "lapsed"
    return "carried_out" if hasattr(row, "countersignature") else "open"


def _row(row: Proposal, body: dict[str, Any], waits: Waits | None, reader_id: int) -> ProposalRow:
    decision, state = row.decision, state_of(row)
    ended_by, ended_reason = _end(row, state)
    return ProposalRow(
        id=row.pk,
        kind=row.kind,
        title=ProposalKind(row.kind).label,
        decision=decision.number if decision else None,
        label=decision.label if decision else "",
        title_of=decision.title if decision else "",
        slot=decision.slot if decision else "",
        state=state,
        body=body,
        asks=asked_text(row.kind, body, waits.objection if waits else ""),
        reason=row.reason,
        person=row.person.display_name,
        team=row.team,
        proposed_at=row.proposed_at,
        until=waits.until if waits else open_until(row.kind, body, row.proposed_at),
        is_mine=row.person_id == reader_id,
        ended_by=ended_by,
        ended_reason=ended_reason,
        waits=waits,
        verdict=waits.verdicts.get(reader_id, STRANGER) if waits else OVER,
    )


def _end(row: Proposal, state: str) -> tuple[str, str]:
    """Return who ended a proposal, and why where it was not carried out."""
    if state in ("withdrawn", "declined"):
        return row.withdrawal.person.display_name, row.withdrawal.reason
    if state == "carried_out":
        return row.countersignature.person.display_name, ""
    return "", row.lapse.because if state == "lapsed" else ""


def earlier_in_force(decision: Decision) -> tuple[tuple[int, str], ...]:
    """Return number and topology of the slot's decisions that were in force and were superseded, newest first."""
    rows = Activation.objects.filter(
        revision__decision__workspace_id=decision.workspace_id,
        revision__decision__slot=decision.slot,
        revision__decision__state=DecisionState.SUPERSEDED,
    ).select_related("revision__decision")
    found = {row.revision.decision.number: row.topology for row in rows.order_by("pk")}
    return tuple(sorted(found.items(), reverse=True))
