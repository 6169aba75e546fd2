"""Acts that take two persons: one proposes, another countersigns, and with that it is carried out.

Rules kept: the two are never the same person; both show recently who they are; whether each may is asked when they
act, under the lock, and of who proposed it once more at the end; what is about one revision names its subject, and is
not carried out once that moved; proposal, countersignature and the act itself are entries, refused attempts too.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from planner.canonical import canonical_bytes
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_keep, blob_read
from reviews.clock import database_now
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotAllowedError, NotFoundError
from reviews.facts import Authentication, Standing
from reviews.models import (
    AuditEntry,
    Countersignature,
    Decision,
    Person,
    Proposal,
    ProposalKind,
    ProposalWithdrawal,
    Revision,
    Workspace,
)
from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.permissions import may_comment, may_decide
from reviews.selectors.judgement import author_ids
from reviews.selectors.people import standing_of
from reviews.services.acting import (
    Acting,
    not_what_was_seen,
    require,
    require_person,
    require_proof,
    require_prose,
)
from reviews.services.people import UNTRACED, Trace
from reviews.services.sweeps import decision_to_act_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """A proposal in somebody's hands, inside the lock. ``proposer_id`` and ``proposer_team`` are of who proposed it.

    ``proposal_id`` is 0 while it is being proposed.
    """

    workspace: Workspace
    standing: Standing
    authentication: Authentication
    decision: Decision | None
    body: dict[str, Any]
    reason: str
    now: datetime
    attempt: Act
    proposer_id: int
    proposer_team: str = ""
    proposal_id: int = 0

    def record(self, action: str, **said: Any) -> AuditEntry:
        """Append the entry of what was carried out."""
        return append(self.workspace, replace(self.attempt, **{"action": action, "reason": self.reason, **said}))

    def acting(self) -> Acting:
        """The same as an act on the decision.

        Raises:
            NotFoundError: the proposal is about no decision.
        """
        if self.decision is None:
            raise NotFoundError("This proposal is about no decision.")
        return Acting(self.workspace, self.standing, self.decision, self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One kind of proposal.

    ``may_propose`` and ``may_countersign`` raise for whoever may not whatever is proposed: they are asked before the
    state and the body are looked at. ``propose`` and ``countersign`` return the team from whose seat the person acts,
    empty where the role counts, and raise where the state does not take it, the body is wrong, or this very act takes
    another seat; ``carry_out`` does it. ``names_subject``: it is about what the newest revision is, so that a later
    revision asks for another proposal.
    """

    kind: ProposalKind
    may_propose: Callable[[Proposing], None]
    may_countersign: Callable[[Proposing], None]
    propose: Callable[[Proposing], str]
    countersign: Callable[[Proposing], str]
    carry_out: Callable[[Proposing], None]
    names_subject: bool = False


def proposal_make(
    handler: Handler,
    *,
    actor: Person,
    workspace: Workspace,
    body: dict[str, Any] | Callable[[], dict[str, Any]],
    reason: str,
    number: int | None = None,
    seen_subject: str = "",
    trace: Trace = UNTRACED,
) -> Proposal:
    """Propose an act; ``number`` is the decision that it is about. The same proposal again returns the open one.

    ``body`` may be what reads it from what was sent: a person who may not propose is told so, not what is wrong with
    their file. ``seen_subject`` is the subject on the page that the proposer read, where there was one.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not propose it, or has not shown recently who they are.
        InvalidRequestError: no reason, or the body is wrong.
        ConflictError: the state does not take it, or the subject moved.
    """
    standing = standing_of(actor, workspace)
    attempt = _attempt("proposal.refused", handler.kind, standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        asking = _proposing(workspace, standing, attempt, number, {}, "")
        require_person(asking.authentication)
        handler.may_propose(asking)
        require_proof(asking.authentication, workspace.pk)
        body = body() if callable(body) else body
        proposing = replace(asking, body=body, reason=require_prose("reason", reason))
        team = handler.propose(proposing)
        if seen_subject and proposing.decision is not None:
            _require_unmoved(proposing, seen_subject)
        if handler.names_subject:
            body = {**body, "subject": _newest(proposing)[1]}
        kept = blob_keep(canonical_bytes(body)).sha256
        same = Proposal.objects.filter(
            workspace=workspace, kind=handler.kind, decision=proposing.decision, body_id=kept
        )
        earlier = same.filter(
            person_id=standing.person_id, countersignature__isnull=True, withdrawal__isnull=True
        ).first()
        if earlier is not None:
            return earlier
        proposal = Proposal.objects.create(
            workspace=workspace,
            kind=handler.kind,
            decision=proposing.decision,
            body_id=kept,
            reason=proposing.reason,
            team=team,
            person_id=standing.person_id,
            proposed_at=proposing.now,
        )
        said = {"kind": str(handler.kind), "body": body}
        proposing.record("proposal.made", team=team or None, payload_type="topogate.proposal/v1", payload=said)
    return proposal


def proposal_countersign(
    handlers: dict[str, Handler], *, actor: Person, workspace: Workspace, proposal_id: int, trace: Trace = UNTRACED
) -> Proposal:
    """Agree to a proposal of somebody else, which carries it out; once more by the same person changes nothing.

    Raises:
        NotFoundError: no such proposal, or the actor is no member of the workspace.
        NotAllowedError: the actor proposed it, may not countersign it, or has not shown recently who they are.
        ConflictError: it is not open any more, who proposed it may not any more, or the state does not take it now.
    """
    standing = standing_of(actor, workspace)
    proposal = proposal_named(workspace, proposal_id)
    number = proposal.decision.number if proposal.decision else None
    attempt = _attempt("countersignature.refused", ProposalKind(proposal.kind), standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        proposal = proposal_named(workspace, proposal_id)
        if proposal.person_id == standing.person_id:
            raise NotAllowedError("You proposed this. It takes a second person.")
        body = msgspec.json.decode(blob_read(proposal.body_id, "proposal"), type=dict[str, Any])
        handler = handlers[proposal.kind]
        proposing = replace(
            _proposing(workspace, standing, attempt, number, body, proposal.reason),
            proposer_id=proposal.person_id,
            proposer_team=proposal.team,
            proposal_id=proposal.pk,
        )
        require_person(proposing.authentication)
        handler.may_countersign(proposing)
        require_proof(proposing.authentication, workspace.pk)
        if _was_countersigned_by(proposal, standing):
            return proposal
        _require_open(proposal)
        if handler.names_subject:
            _require_unmoved(proposing, str(body.get("subject", "")))
        proposing = replace(proposing, proposer_team=_proposer_team(handler, proposing, proposal.person))
        team = handler.countersign(proposing)
        Countersignature.objects.create(
            proposal=proposal, person_id=standing.person_id, team=team, signed_at=proposing.now
        )
        proposing.record(
            "proposal.countersigned",
            team=team or None,
            payload_type="topogate.countersignature/v1",
            payload={"kind": proposal.kind, "body": body, "proposed_by": proposal.person.token},
        )
        handler.carry_out(proposing)
    return proposal


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
    attempt = _attempt("proposal.withdrawal_refused", ProposalKind(proposal.kind), standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        proposal = proposal_named(workspace, proposal_id)
        require(may_comment(standing))
        if proposal.person_id != standing.person_id:
            raise NotAllowedError("Only who proposed it withdraws a proposal.")
        said = require_prose("reason", reason)
        earlier = ProposalWithdrawal.objects.filter(proposal=proposal).first()
        if earlier is not None:
            return earlier
        _require_open(proposal)
        withdrawal = ProposalWithdrawal.objects.create(
            proposal=proposal, person_id=standing.person_id, reason=said, withdrawn_at=database_now()
        )
        append(workspace, replace(attempt, action="proposal.withdrawn", reason=said))
    return withdrawal


def proposal_named(workspace: Workspace, proposal_id: int) -> Proposal:
    """Return a proposal of the workspace.

    Raises:
        NotFoundError: there is none.
    """
    rows = Proposal.objects.filter(workspace=workspace, pk=proposal_id)
    proposal = rows.select_related("decision", "person", "countersignature__person", "withdrawal").first()
    if proposal is None:
        raise NotFoundError("There is no such proposal in this workspace.")
    return proposal


def _newest(proposing: Proposing) -> tuple[int, str]:
    """Return number and subject of the newest revision; the subject is empty before there is a plan."""
    newest = Revision.objects.filter(decision=proposing.decision).select_related("planned").order_by("-number")[0]
    planned = getattr(newest, "planned", None)
    return newest.number, planned.subject if planned else ""


def _require_unmoved(proposing: Proposing, seen: str) -> None:
    decision, (number, subject) = proposing.acting().decision, _newest(proposing)
    if subject == seen:
        return
    if not Revision.objects.filter(decision=decision, planned__subject=seen).exists():
        raise not_what_was_seen(decision, number, seen)
    raise ConflictError(f"{decision.label} moved since: its newest revision is another one. Propose it for that one.")


def _proposer_team(handler: Handler, proposing: Proposing, proposer: Person) -> str:
    """Return the team from whose seat the proposal is still made.

    Raises:
        ConflictError: who proposed it may not any more.
    """
    try:
        as_proposed = replace(proposing, standing=standing_of(proposer, proposing.workspace))
        handler.may_propose(as_proposed)
        return handler.propose(as_proposed)
    except (NotAllowedError, NotFoundError) as lost:
        raise ConflictError(
            f"{proposer.display_name}, who proposed this, may not propose it any more. Somebody else has to."
        ) from lost


def _was_countersigned_by(proposal: Proposal, standing: Standing) -> bool:
    """Whether the person agreed before, as after a double click."""
    given = getattr(proposal, "countersignature", None)
    return given is not None and given.person_id == standing.person_id


def _require_open(proposal: Proposal) -> None:
    if hasattr(proposal, "countersignature"):
        second = proposal.countersignature.person.display_name
        raise ConflictError(f"This proposal was carried out already: {second} countersigned it.")
    if hasattr(proposal, "withdrawal"):
        raise ConflictError(f"This proposal was withdrawn by {proposal.person.display_name}.")


def _attempt(action: str, kind: ProposalKind, standing: Standing, number: int | None, trace: Trace) -> Act:
    return trace.act(action, standing.token, decision=number, meaning=str(kind))


def _proposing(
    workspace: Workspace, standing: Standing, attempt: Act, number: int | None, body: dict[str, Any], reason: str
) -> Proposing:
    return Proposing(
        workspace=workspace,
        standing=standing,
        authentication=attempt.authentication or Authentication("none"),
        decision=None if number is None else decision_to_act_on(workspace, number),
        body=body,
        reason=reason,
        now=database_now(),
        attempt=attempt,
        proposer_id=standing.person_id,
    )


def wrong(name: str, expected: str, found: object) -> InvalidRequestError:
    """Return the refusal of one field of a proposal."""
    return InvalidRequestError((Finding("request", f"request/{name}", name, expected, str(found)[:80] or "nothing"),))


def holder_of(teams: Callable[[PolicyDocument], Collection[str]]) -> Callable[[Proposing], None]:
    """Return what refuses whoever has no seat in one of the teams that the decision's policy gives such acts to."""

    def ask(proposing: Proposing) -> None:
        decision = proposing.acting().decision
        newest = Revision.objects.filter(decision=decision).select_related("policy").order_by("-number")[0]
        document = read_policy(blob_read(newest.policy.blob_id, "policy"))
        seat_of(proposing, set(teams(document)), author_ids=author_ids(decision))

    return ask


def holder_of_any_seat(proposing: Proposing) -> None:
    """Refuse whoever has no seat at all: of which team it takes one depends on what exactly is proposed."""
    held = proposing.standing.teams
    holder_of(lambda document: held or document.teams)(proposing)


def seat_of(proposing: Proposing, teams: Collection[str], *, author_ids: frozenset[int]) -> str:
    """Return the team from whose seat the person acts: one of ``teams``.

    Raises:
        NotAllowedError: they have no seat in one, are an author of the decision, or came with a token.
    """
    standing = proposing.standing
    require(may_decide(standing, teams=teams, author_ids=author_ids, authentication=proposing.authentication))
    return min(standing.teams & set(teams))
