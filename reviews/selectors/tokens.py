"""API tokens as rows; a token itself is never among what can be read."""

from dataclasses import dataclass
from datetime import datetime

from reviews.clock import database_now
from reviews.models import ApiToken, Person, Workspace
from reviews.policies.permissions import Verdict, may_administer, may_report, may_submit
from reviews.selectors.people import standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """One token; ``is_live``: it can be used now."""

    id: int
    label: str
    prefix: str
    person: str
    is_mine: bool
    scopes: tuple[str, ...]
    made_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    is_live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """The tokens that somebody may see, newest first, and whether they may make one that submits or reports."""

    rows: tuple[TokenRow, ...]
    may_submit: Verdict
    may_report: Verdict


def token_rows(*, actor: Person, workspace: Workspace) -> TokenList:
    """Return one's own tokens in the workspace; an admin sees everybody's.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    tokens = ApiToken.objects.filter(workspace=workspace).select_related("person").order_by("-pk")
    if not may_administer(standing).allowed:
        tokens = tokens.filter(person=actor)
    now = database_now()
    return TokenList(
        rows=tuple(_row(token, actor, now) for token in tokens),
        may_submit=may_submit(standing),
        may_report=may_report(standing),
    )


def _row(token: ApiToken, actor: Person, now: datetime) -> TokenRow:
    return TokenRow(
        id=token.pk,
        label=token.label,
        prefix=token.prefix,
        person=token.person.display_name,
        is_mine=token.person_id == actor.pk,
        scopes=tuple(token.scopes.split()),
        made_at=token.made_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
        revoked_at=token.revoked_at,
        is_live=token.revoked_at is None and token.expires_at > now,
    )
