"""API tokens: made, used, revoked.

Rules kept: only a digest is stored and the token itself is shown once; a token belongs to one person in one workspace,
ends at a stated time, and reads, reports or submits, nothing else; it stops working the moment it is revoked or its
person is switched off. Making, revoking, and asking in vain are entries of the audit log.
"""

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now, utc_text, when
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    NotAuthenticatedError,
    NotFoundError,
    length_of,
    printable,
)
from reviews.facts import Authentication, Standing
from reviews.models import ApiToken, Person, Workspace
from reviews.policies.permissions import may_administer, may_report, may_submit
from reviews.sealing import MADE_TOKENS, derived_secret
from reviews.selectors.people import standing_of
from reviews.services.shown_again import shown_again_require

SCOPES = {
    "read": frozenset({"read"}),
    "report": frozenset({"read", "report"}),
    "submit": frozenset({"read", "submit"}),
}
"""What can be asked for, and what it allows: who submits or reports also reads what became of it."""
LIFETIMES_DAYS = (7, 30, 90, 365)
LABEL_LENGTH = 120
TOKENS_PER_PERSON = 20
USE_NOTED_EVERY = timedelta(minutes=1)
PREFIX_LENGTH = 10
FORM = re.compile(r"tg_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token. ``secret`` exists nowhere else and is never shown again."""

    id: int
    label: str
    secret: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """What a token that was accepted allows, and where."""

    token_id: int
    workspace_id: int
    scopes: frozenset[str]


def token_create(
    *,
    actor: Person,
    workspace: Workspace,
    label: str,
    scope: str,
    days: int,
    once: str = "",
    request_id: str = "",
    authentication: Authentication | None = None,
) -> MadeToken:
    """Make a token for the actor themselves.

    The same again from the form that carried ``once`` returns the first, for an hour.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        InvalidRequestError: label, scope or lifetime is none that can be asked for.
        NotAllowedError: the scope asks for more than the actor's role.
        ConflictError: the actor has as many live tokens as one may have, or the form made its token long ago.
    """
    standing = standing_of(actor, workspace)
    attempt = Act(
        action="token.refused",
        actor=standing.token,
        authentication=authentication,
        request_id=request_id,
        payload_type="topogate.token/v1",
        payload={"scope": printable(scope), "days": days},
    )
    label = label.strip()
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        _require_token(standing, label=label, scope=scope, days=days)
        asked = (standing.token, workspace.log_origin, label, scope, str(days))
        secret = f"tg_{derived_secret(MADE_TOKENS, once, *asked)}"
        earlier = _found(secret)
        if earlier is not None:
            instead = "Revoke it and make another one."
            shown_again_require(made_at=earlier.made_at, what=f"the token {earlier.label}", instead=instead)
            return MadeToken(earlier.pk, earlier.label, secret, earlier.expires_at)
        return _made(actor, workspace, attempt, secret, label=label, scope=scope, days=days)


def _require_token(standing: Standing, *, label: str, scope: str, days: int) -> None:
    findings = _findings(label=label, scope=scope, days=days)
    if findings:
        raise InvalidRequestError(findings)
    for needed, verdict in (("submit", may_submit(standing)), ("report", may_report(standing))):
        if needed in SCOPES[scope] and not verdict.allowed:
            raise NotAllowedError(verdict.reason)


def _made(
    actor: Person, workspace: Workspace, attempt: Act, secret: str, *, label: str, scope: str, days: int
) -> MadeToken:
    now = database_now()
    live = ApiToken.objects.filter(workspace=workspace, person=actor, revoked_at=None, expires_at__gt=now)
    if live.count() >= TOKENS_PER_PERSON:
        raise ConflictError(f"You have {TOKENS_PER_PERSON} tokens here. Revoke one first.")
    made = ApiToken.objects.create(
        workspace=workspace,
        person=actor,
        label=label,
        prefix=secret[:PREFIX_LENGTH],
        sha256=_digest(secret),
        scopes=" ".join(sorted(SCOPES[scope])),
        expires_at=now + timedelta(days=days),
    )
    said = {
        "id": made.pk,
        "label": made.label,
        "prefix": made.prefix,
        "scopes": made.scopes,
        "expires_at": utc_text(made.expires_at),
    }
    append(workspace, replace(attempt, action="token.created", payload=said))
    return MadeToken(made.pk, made.label, secret, made.expires_at)


def _findings(*, label: str, scope: str, days: int) -> tuple[Finding, ...]:
    findings = []
    if not label or len(label) > LABEL_LENGTH or not label.isprintable():
        expected = f"1 to {LABEL_LENGTH} printable characters"
        findings.append(Finding("request", "request/label", "label", expected, length_of(label)))
    if scope not in SCOPES:
        findings.append(
            Finding("request", "request/scope", "scope", "one of " + ", ".join(SCOPES), printable(scope) or "nothing")
        )
    if days not in LIFETIMES_DAYS:
        expected = f"one of {', '.join(map(str, LIFETIMES_DAYS))} days"
        findings.append(Finding("request", "request/days", "days", expected, str(days)))
    return tuple(findings)


def token_revoke(
    *,
    actor: Person,
    workspace: Workspace,
    token_id: int,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> None:
    """Revoke a token: one's own, or anybody's as an admin. A token revoked before stays as it is.

    Raises:
        NotFoundError: no such token here that the actor may know of, or the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    mine = Q() if may_administer(standing).allowed else Q(person=actor)
    with workspace_write(workspace.pk):
        token = ApiToken.objects.filter(mine, workspace=workspace, pk=token_id).select_related("person").first()
        if token is None:
            raise NotFoundError("There is no such token of yours.")
        if not ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=database_now()):
            return
        act = Act(
            action="token.revoked",
            actor=standing.token,
            authentication=authentication,
            request_id=request_id,
            payload_type="topogate.token/v1",
            payload={"id": token.pk, "label": token.label, "prefix": token.prefix, "person": token.person.token},
        )
        append(workspace, act)


def token_use(secret: str) -> tuple[Person, TokenGrant]:
    """Return whose token it is and what it allows, and note the use (once a minute at most).

    The token is found by its digest, so how long the search takes says nothing about the token.

    Raises:
        NotAuthenticatedError: it is none, it has ended, it was revoked, or its person is switched off.
    """
    token = _found(secret)
    if token is None:
        raise NotAuthenticatedError("This is no token of this server.")
    now = database_now()
    if token.revoked_at is not None:
        raise NotAuthenticatedError("This token was revoked. Make a new one on the token page.")
    if token.expires_at <= now:
        raise NotAuthenticatedError(f"This token ended at {when(token.expires_at)} UTC. Make a new one.")
    if not token.person.is_active:
        raise NotAuthenticatedError("The person of this token is switched off.")
    if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.person, TokenGrant(token.pk, token.workspace_id, frozenset(token.scopes.split()))


def _found(secret: str) -> ApiToken | None:
    if not FORM.fullmatch(secret):
        return None
    return ApiToken.objects.filter(sha256=_digest(secret)).select_related("person").first()


def _digest(secret: str) -> str:
    # 256 random bits need no slow hash: there is nothing to guess from.
    return f"sha256:{hashlib.sha256(secret.encode()).hexdigest()}"
