"""What every act on a decision begins with: who acts, the lock, and an entry for a refused attempt."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    ProofNeededError,
    is_prose,
    is_storable,
    length_of,
)
from reviews.facts import Authentication, Standing
from reviews.models import AuditEntry, Decision, Person, Revision, Workspace
from reviews.policies.document import releasing_teams
from reviews.policies.permissions import Verdict, may_release
from reviews.policies.proof import is_recent_proof
from reviews.selectors.judgement import Judgement, judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.proofs import demands_second_factor
from reviews.services.people import UNTRACED, Trace
from reviews.services.sweeps import decision_to_act_on

PROSE_LENGTH = 4000
PROSE = f"1 to {PROSE_LENGTH} characters"


@dataclass(frozen=True, slots=True)
class Acting:
    """Somebody acting on a decision, inside the lock. ``attempt`` is what an entry says of it, refused so far."""

    workspace: Workspace
    standing: Standing
    decision: Decision
    attempt: Act

    @property
    def authentication(self) -> Authentication:
        """How the person proved who they are."""
        return self.attempt.authentication or Authentication("none")

    def record(self, action: str, **said: Any) -> AuditEntry:
        """Append the entry of the act that was carried out."""
        return append(self.workspace, replace(self.attempt, **{"action": action, "reason": None, **said}))

    def judged(self) -> Judgement:
        """Judge the decision's newest revision anew, under the lock."""
        judged, _ = judge_decisions(self.workspace, [self.decision.pk])
        return judged[self.decision.pk]


@contextmanager
def acting(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    refused: str,
    trace: Trace = UNTRACED,
    **said: Any,
) -> Iterator[Acting]:
    """Let somebody act on a decision as the only writer of the workspace; a refusal becomes the entry ``refused``.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    attempt = trace.act(refused, standing.token, decision=number, **said)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        yield Acting(workspace, standing, decision_to_act_on(workspace, number), attempt)


def not_what_was_seen(decision: Decision, newest: int, seen: str) -> ConflictError:
    """Return the refusal of an act on another subject than that of the newest revision, whose number is given."""
    if not seen:
        words = (
            f"It is not said which revision of {decision.label} was read. Name its subject (over the API in If-Match)."
        )
    elif not (is_storable(seen) and Revision.objects.filter(decision=decision, planned__subject=seen).exists()):
        unknown = f"The subject that you saw belongs to no revision of {decision.label}."
        words = f"{unknown} If it moved while you read it, read it again."
    else:
        words = f"{decision.label} moved while you read it: the newest revision is r{newest}."
    return ConflictError(words, revision=newest)


def require(verdict: Verdict) -> None:
    """Raise NotAllowedError with the reason unless it is allowed."""
    if not verdict.allowed:
        raise NotAllowedError(verdict.reason)


def require_release(act: Acting) -> Judgement:
    """Judge the newest revision, and raise unless the person may release the decision and has shown who they are.

    Raises:
        NotAllowedError: they may not, or came with an API token.
        ProofNeededError: they have to show again who they are.
    """
    judgement = act.judged()
    require(
        may_release(
            act.standing,
            releasing=releasing_teams(judgement.document),
            author_ids=judgement.author_ids,
            authentication=act.authentication,
        )
    )
    require_proof(act.authentication, act.workspace.pk)
    return judgement


def require_person(authentication: Authentication) -> None:
    """Raise NotAllowedError for an API token, which is nobody."""
    if authentication.method == "token":
        raise NotAllowedError("An API token does not do this. It takes a person who logged in.")


def require_proof(authentication: Authentication, workspace_id: int) -> None:
    """Raise unless the person showed recently, and by a method that the workspace accepts, who they are.

    Raises:
        NotAllowedError: they came with an API token, which proves nobody.
        ProofNeededError: they have to show it again.
    """
    require_person(authentication)
    demanded = demands_second_factor(workspace_id)
    verdict = is_recent_proof(authentication, second_factor=demanded)
    if not verdict.allowed:
        raise ProofNeededError(verdict.reason, second_factor=demanded)


def require_prose(name: str, text: str) -> str:
    """Return a text without the space around it.

    Raises:
        InvalidRequestError: it says nothing, is too long, or holds signs that nobody sees.
    """
    text = text.strip()
    if not is_prose(text, PROSE_LENGTH):
        raise InvalidRequestError((Finding("request", f"request/{name}", name, PROSE, length_of(text)),))
    return text
