"""API tokens of a person in a workspace: list, make, revoke. A token is shown on the answer to its making, once."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reviews.clock import when
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.selectors.tokens import TokenRow, token_rows
from reviews.services.tokens import LIFETIMES_DAYS, SCOPES, MadeToken, token_create, token_revoke
from reviews.web.frame import PersonRequest, authentication, frame, page, request_id, workspace_of
from reviews.web.links import number_or_none
from reviews.web.once import FIELD
from reviews.web.words import Word

SCOPE_TEXTS = {"read": "Read", "report": "Report and read", "submit": "Submit and read"}
DEFAULT_DAYS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLine:
    """One token as text."""

    id: int
    label: str
    prefix: str
    person: str
    scopes: str
    made: str
    ends: str
    used: str
    word: Word
    is_live: bool


def token_line(row: TokenRow) -> TokenLine:
    """Make a line of a token."""
    if row.is_live:
        word = Word("Live", "pass", "pass")
    elif row.revoked_at is not None:
        word = Word("Revoked", "na", "na")
    else:
        word = Word("Ended", "stale", "unk")
    return TokenLine(
        id=row.id,
        label=row.label,
        prefix=f"{row.prefix}…",
        person="" if row.is_mine else row.person,
        scopes=", ".join(row.scopes),
        made=when(row.made_at),
        ends=when(row.expires_at),
        used=when(row.last_used_at) if row.last_used_at else "never",
        word=word,
        is_live=row.is_live,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@page
def token_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show one's tokens; a form makes another."""
    if request.method != "POST":
        return answer(request, slug)
    try:
        made = token_create(
            actor=request.user,
            workspace=workspace_of(slug),
            label=request.POST.get("label", ""),
            scope=request.POST.get("scope", ""),
            days=number_or_none(request.POST.get("days", "")) or 0,
            once=request.POST.get(FIELD, ""),
            request_id=request_id(),
            authentication=authentication(request),
        )
    except (InvalidRequestError, ConflictError, NotAllowedError) as refused:
        return answer(request, slug, problems=refused.sentences, status=refused.status)
    return answer(request, slug, made=made)


def answer(
    request: PersonRequest,
    slug: str,
    *,
    made: MadeToken | None = None,
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    """Render the page, with a new token or with what is wrong."""
    found = token_rows(actor=request.user, workspace=workspace_of(slug))
    may, report = found.may_submit, found.may_report
    offered = {"read": True, "report": report.allowed, "submit": may.allowed}
    context = frame(
        slug,
        "tokens",
        tokens=[token_line(row) for row in found.rows],
        made=made,
        made_ends=when(made.expires_at) if made else "",
        problems=problems,
        label=request.POST.get("label", "") if problems else "",
        scopes=[(scope, SCOPE_TEXTS[scope]) for scope in SCOPES if offered[scope]],
        lifetimes=[(days, f"{days} days", days == DEFAULT_DAYS) for days in LIFETIMES_DAYS],
        off=report.reason or may.reason,
    )
    return render(request, "reviews/token_list.html", context, status=status)


@require_POST
@page
def token_revoked(request: PersonRequest, slug: str, token_id: int) -> HttpResponse:
    """Revoke a token and go back to the list."""
    token_revoke(
        actor=request.user,
        workspace=workspace_of(slug),
        token_id=token_id,
        request_id=request_id(),
        authentication=authentication(request),
    )
    return redirect("token-list", slug)
