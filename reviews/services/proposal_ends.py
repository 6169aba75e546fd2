"""Ends proposals that are not carried out: taken back by who made them, declined by a second person, or lapsed.

A proposal lapses when its time is over, or when what it was about moved past it. At read that is computed; the sweep
writes it down, so that who proposed it hears of it. Safe to run from any number of processes.
"""

import logging
from dataclasses import replace
from typing import Any

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now
from reviews.errors import NotAllowedError, TamperedError
from reviews.models import Person, Proposal, ProposalKind, ProposalLapse, ProposalWithdrawal, Workspace
from reviews.policies.permissions import may_comment
from reviews.selectors.countersigning import waits_of
from reviews.selectors.people import standing_of
from reviews.selectors.proposals import untouched
from reviews.services.acting import require, require_prose
from reviews.services.people import UNTRACED, Trace
from reviews.services.two_persons import (
    Handler,
    attempt_of,
    proposal_named,
    proposal_payload,
    require_open,
    seated,
    second_of,
)

logger = logging.getLogger(__name__)


def proposal_withdraw(
    *, actor: Person, workspace: Workspace, proposal_id: int, reason: str, trace: Trace = UNTRACED
) -> ProposalWithdrawal:
    """Take back one's own proposal; a second time returns the first.

    Raises:
        NotFoundError: no such proposal, or the actor is no member of the workspace.
        NotAllowedError: it is somebody else's.
        InvalidRequestError: no reason.
        ConflictError: it was carried out.
    """
    standing = standing_of(actor, workspace)
    proposal = proposal_named(workspace, proposal_id)
    number = proposal.decision.number if proposal.decision else None
    attempt = attempt_of("proposal.withdrawal_refused", ProposalKind(proposal.kind), standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        proposal = proposal_named(workspace, proposal_id)
        require(may_comment(standing))
        if proposal.person_id != standing.person_id:
            raise NotAllowedError("Only who proposed it withdraws a proposal.")
        said = require_prose("reason", reason)
        earlier = ProposalWithdrawal.objects.filter(proposal=proposal).first()
        if earlier is not None:
            return earlier
        require_open(proposal)
        withdrawal = ProposalWithdrawal.objects.create(
            proposal=proposal, person_id=standing.person_id, reason=said, withdrawn_at=database_now()
        )
        append(workspace, replace(attempt, action="proposal.withdrawn", reason=said))
    return withdrawal


def proposal_decline(
    handlers: dict[str, Handler],
    *,
    actor: Person,
    workspace: Workspace,
    proposal_id: int,
    reason: str,
    trace: Trace = UNTRACED,
) -> ProposalWithdrawal:
    """Refuse to be the second person of a proposal, which ends it; a second time returns the first.

    Whoever could countersign it declines it. The same can be proposed again.

    Raises:
        NotFoundError: no such proposal, or the actor is no member of the workspace.
        NotAllowedError: the actor proposed it, may not countersign it, or has not shown recently who they are.
        InvalidRequestError: no reason.
        ConflictError: it is not open any more, who proposed it may not any more, or the state does not take it now.
    """
    standing = standing_of(actor, workspace)
    proposal = proposal_named(workspace, proposal_id)
    number = proposal.decision.number if proposal.decision else None
    attempt = attempt_of("proposal.decline_refused", ProposalKind(proposal.kind), standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        proposal = proposal_named(workspace, proposal_id)
        handler, proposing = second_of(handlers, proposal, standing, attempt)
        said = require_prose("reason", reason)
        earlier = ProposalWithdrawal.objects.filter(proposal=proposal, person_id=standing.person_id).first()
        if earlier is not None:
            return earlier
        proposing, team = seated(handler, proposing, proposal)
        declined = ProposalWithdrawal.objects.create(
            proposal=proposal, person_id=standing.person_id, reason=said, withdrawn_at=proposing.now
        )
        act = replace(attempt, action="proposal.declined", team=team or None, reason=said)
        payload = proposal_payload(proposal, proposing.body)
        append(workspace, replace(act, payload_type="topogate.decline/v1", payload=payload))
    return declined


def proposals_sweep() -> int:
    """Write down which proposals lapsed, with an entry each; return how many."""
    with_open = Proposal.objects.still_open().values("workspace")
    return sum(_lapse(workspace) for workspace in Workspace.objects.filter(pk__in=with_open).order_by("pk"))


def _lapse(workspace: Workspace) -> int:
    try:
        if not _over(workspace):
            return 0
        with workspace_write(workspace.pk):
            # Anew under the lock: somebody may have countersigned meanwhile.
            due = _over(workspace)
            for lapsed in due:
                _write_down(workspace, *lapsed)
    except TamperedError as error:
        # One workspace that cannot be judged keeps no other one waiting.
        logger.warning("no proposal of %s lapses: %s", workspace.slug, error.message)
        return 0
    return len(due)


def _write_down(workspace: Workspace, proposal: Proposal, body: dict[str, Any], because: str) -> None:
    ProposalLapse.objects.create(proposal=proposal, because=because, lapsed_at=database_now())
    append(
        workspace,
        Act(
            action="proposal.lapsed",
            decision=proposal.decision.number if proposal.decision else None,
            meaning=proposal.kind,
            reason=because,
            payload_type="topogate.lapse/v1",
            payload=proposal_payload(proposal, body),
        ),
    )


def _over(workspace: Workspace) -> list[tuple[Proposal, dict[str, Any], str]]:
    """Return the open proposals that are not carried out any more, each with its body and why.

    Raises:
        TamperedError: a policy is not what was stored.
    """
    rows = Proposal.objects.still_open().filter(workspace=workspace).select_related("body", "decision", "person")
    found = untouched(rows.order_by("pk"))
    waits = waits_of(workspace, found)
    return [(row, body, waits[row.pk].over) for row, body in found if waits[row.pk].over]
