"""Acts that take two persons: one proposes, another countersigns, and with that it is carried out.

Rules kept: the two are never the same person; both show recently who they are; whether each may is asked when they
act, under the lock, and of who proposed it once more at the end; what is about one revision names its subject, and is
not carried out once that moved; a proposal waits for a time and no longer; proposal, countersignature and the act
itself are entries, refused attempts too. How a proposal ends otherwise is in ``proposal_ends``.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from planner.canonical import canonical_bytes
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_keep, blob_read
from reviews.clock import database_now, when
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotAllowedError, NotFoundError
from reviews.facts import Authentication, Standing
from reviews.models import (
    AuditEntry,
    Countersignature,
    Decision,
    Person,
    Proposal,
    ProposalKind,
    Revision,
    Workspace,
)
from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.permissions import may_decide
from reviews.policies.two_persons import open_until
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
    """A proposal in somebody's hands, inside the lock. ``proposer_...`` is of who proposed it.

    ``proposal_id`` is 0 and ``proposer_token`` empty while it is being proposed.
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
    proposer_token: str = ""
    proposal_id: int = 0

    def record(self, action: str, **said: Any) -> AuditEntry:
        """Append the entry of what was proposed or carried out; the latter names both persons."""
        if self.proposer_token:
            said["payload"] = {**said.get("payload", {}), "proposed_by": self.proposer_token}
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
    attempt = attempt_of("proposal.refused", handler.kind, standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        asking = proposing_of(workspace, standing, attempt, number, {}, "")
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
        same = {"kind": handler.kind, "decision": proposing.decision, "body_id": kept}
        earlier = Proposal.objects.still_open().filter(workspace=workspace, person_id=standing.person_id, **same).last()
        if earlier is not None and proposing.now < open_until(earlier.kind, body, earlier.proposed_at):
            return earlier
        proposal = Proposal.objects.create(
            workspace=workspace,
            **same,
            reason=proposing.reason,
            team=team,
            person_id=standing.person_id,
            proposed_at=proposing.now,
        )
        said = {"proposal": proposal.pk, "kind": str(handler.kind), "body": body}
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
    attempt = attempt_of("countersignature.refused", ProposalKind(proposal.kind), standing, number, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        proposal = proposal_named(workspace, proposal_id)
        handler, proposing = second_of(handlers, proposal, standing, attempt)
        if _was_countersigned_by(proposal, standing):
            return proposal
        proposing, team = seated(handler, proposing, proposal)
        Countersignature.objects.create(
            proposal=proposal, person_id=standing.person_id, team=team, signed_at=proposing.now
        )
        proposing.record(
            "proposal.countersigned",
            team=team or None,
            payload_type="topogate.countersignature/v1",
            payload=proposal_payload(proposal, proposing.body),
        )
        handler.carry_out(proposing)
    return proposal


def second_of(
    handlers: dict[str, Handler], proposal: Proposal, standing: Standing, attempt: Act
) -> tuple[Handler, Proposing]:
    """Return a proposal in the hands of somebody who can be its second person, whatever exactly it takes.

    Raises:
        NotAllowedError: they proposed it, may countersign no such thing, or have not shown recently who they are.
    """
    if proposal.person_id == standing.person_id:
        raise NotAllowedError("You proposed this. It takes a second person.")
    body = msgspec.json.decode(blob_read(proposal.body_id, "proposal"), type=dict[str, Any])
    number = proposal.decision.number if proposal.decision else None
    handler = handlers[proposal.kind]
    proposing = replace(
        proposing_of(proposal.workspace, standing, attempt, number, body, proposal.reason),
        proposer_id=proposal.person_id,
        proposer_team=proposal.team,
        proposer_token=proposal.person.token,
        proposal_id=proposal.pk,
    )
    require_person(proposing.authentication)
    handler.may_countersign(proposing)
    require_proof(proposing.authentication, proposal.workspace_id)
    return handler, proposing


def seated(handler: Handler, proposing: Proposing, proposal: Proposal) -> tuple[Proposing, str]:
    """Return a proposal that still stands, and the team from whose seat the second person agrees or declines.

    Raises:
        NotAllowedError: it takes somebody else.
        ConflictError: it is not open any more, who proposed it may not any more, or the state does not take it now.
    """
    require_open(proposal)
    _require_in_time(proposal, proposing.body, proposing.now)
    if handler.names_subject:
        _require_unmoved(proposing, str(proposing.body.get("subject", "")))
    proposing = replace(proposing, proposer_team=_proposer_team(handler, proposing, proposal.person))
    return proposing, handler.countersign(proposing)


def proposal_named(workspace: Workspace, proposal_id: int) -> Proposal:
    """Return a proposal of the workspace.

    Raises:
        NotFoundError: there is none.
    """
    rows = Proposal.objects.filter(workspace=workspace, pk=proposal_id)
    ended = ("countersignature__person", "withdrawal__person", "lapse")
    proposal = rows.select_related("workspace", "decision", "person", *ended).first()
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


def proposal_payload(proposal: Proposal, body: dict[str, Any]) -> dict[str, Any]:
    """Return what an entry about what became of a proposal says in full."""
    return {
        "proposal": proposal.pk,
        "kind": proposal.kind,
        "body": body,
        "proposed_by": proposal.person.token,
    }


def _require_in_time(proposal: Proposal, body: dict[str, Any], now: datetime) -> None:
    until = open_until(proposal.kind, body, proposal.proposed_at)
    if until <= now:
        raise ConflictError(f"This proposal was open until {when(until)} UTC. Propose it anew.")


def require_open(proposal: Proposal) -> None:
    """Refuse what nobody can countersign or take back any more, whatever the time.

    Raises:
        ConflictError: it was carried out, taken back or declined, or it lapsed.
    """
    if hasattr(proposal, "countersignature"):
        second = proposal.countersignature.person.display_name
        raise ConflictError(f"This proposal was carried out already: {second} countersigned it.")
    if hasattr(proposal, "withdrawal"):
        who = proposal.withdrawal.person
        did = "withdrawn" if who == proposal.person else "declined"
        raise ConflictError(f"This proposal was {did} by {who.display_name}.")
    if hasattr(proposal, "lapse"):
        raise ConflictError(f"This proposal lapsed. {proposal.lapse.because}")


def attempt_of(action: str, kind: ProposalKind, standing: Standing, number: int | None, trace: Trace) -> Act:
    """Return the entry of a proposal that is refused."""
    return trace.act(action, standing.token, decision=number, meaning=str(kind))


def proposing_of(
    workspace: Workspace, standing: Standing, attempt: Act, number: int | None, body: dict[str, Any], reason: str
) -> Proposing:
    """Return a proposal in somebody's hands; call it inside ``workspace_write``.

    Raises:
        NotFoundError: there is no such decision.
    """
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
