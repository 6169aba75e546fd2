"""The threads of a decision: reading them, drafting comments, publishing, resolving. Plain forms that lead back."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError, ReviewError
from reviews.policies.anchors import OWNED_KINDS, Anchor
from reviews.policies.document import team_title
from reviews.selectors.threads import Discussion, NewThread, ThreadRow, discussion, new_thread
from reviews.services.acting import PROSE_LENGTH
from reviews.services.comment_checks import Written
from reviews.services.threads import draft_delete, draft_save, drafts_publish, thread_resolve
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, authentication, frame, page, trace_of, workspace_of
from reviews.web.links import number_or_none
from reviews.web.once import once_key
from reviews.web.thread_rows import KIND_WORDS, Place, draft_line, item_text, kind_word, thread_card, thread_list

REFUSED = (ConflictError, InvalidRequestError, NotAllowedError)
SENT = ("text", "kind", "name", "revision", "team", "blocking")
"""What is written in a form of these pages."""


def _common(request: PersonRequest, slug: str, number: int) -> dict[str, Any]:
    """Return what every act on a discussion names."""
    return {
        "actor": request.user,
        "workspace": workspace_of(slug),
        "number": number,
        "trace": trace_of(request),
    }


def _read(request: PersonRequest, slug: str, number: int) -> Discussion:
    return discussion(
        actor=request.user, workspace=workspace_of(slug), number=number, authentication=authentication(request)
    )


def _shown(
    request: PersonRequest,
    slug: str,
    found: Discussion,
    template: str,
    *,
    refused: ReviewError | None = None,
    **values: Any,
) -> HttpResponse:
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-threads"),
        number=found.page.number,
        label=found.page.label,
        may_comment=found.may_comment,
        problem=refused.message if refused else "",
        longest=PROSE_LENGTH,
        **values,
    )
    return render(request, template, context, status=refused.status if refused else 200)


@require_safe
@page
def decision_threads(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show all threads of a decision, and the reader's own drafts."""
    return _listed(request, slug, number)


def _listed(request: PersonRequest, slug: str, number: int, refused: ReviewError | None = None) -> HttpResponse:
    found = _read(request, slug, number)
    rows = thread_list(
        found, Place(slug, number), timezone.now(), page=number_or_none(request.GET.get("page", "")) or 1
    )
    newest = found.page.newest.number
    return _shown(
        request,
        slug,
        found,
        "reviews/thread_list.html",
        refused=refused,
        threads=rows,
        kinds=tuple(KIND_WORDS.items()),
        unplaced=newest if found.placed_on not in (None, newest) else None,
        placed_on=found.placed_on,
    )


@require_POST
@page
def threads_publish(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Publish all one's drafts at once; a refusal is told above them."""
    try:
        drafts_publish(key=once_key(request), **_common(request, slug, number))
    except REFUSED as refused:
        return _listed(request, slug, number, refused)
    return redirect(reverse("decision-threads", args=[slug, number]))


@require_http_methods(["GET", "HEAD", "POST"])
@page
def thread_new(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show the form for a thread about one item, keep it as a draft, or publish it; a refused text is kept."""
    sent = request.POST if request.method == "POST" else request.GET
    written = Written(
        text=sent.get("text", ""),
        kind=sent.get("kind", ""),
        name=sent.get("name", ""),
        revision=number_or_none(sent.get("revision", "")),
        team=sent.get("team", ""),
        is_blocking=sent.get("blocking") == "1",
    )
    refused = None
    if request.method == "POST":
        try:
            made = draft_save(
                written=_without_team_of_policy(written),
                publishes=sent.get("act") == "publish",
                key=once_key(request, *SENT),
                **_common(request, slug, number),
            )
        except REFUSED as error:
            refused = error
        else:
            return redirect(
                reverse("thread-detail", args=[slug, number, made[-1].thread.number])
                if made
                else f"{reverse('decision-threads', args=[slug, number])}#drafts"
            )
    anchor = Anchor(written.kind, written.name)
    found = new_thread(
        actor=request.user, workspace=workspace_of(slug), number=number, revision=written.revision, anchor=anchor
    )
    return _new(request, slug, found, written, refused)


def _without_team_of_policy(written: Written) -> Written:
    """Leave out the team where the policy says whose the item is, and where nobody is blocked."""
    is_asked = written.is_blocking and written.kind not in OWNED_KINDS
    return written if is_asked else replace(written, team="")


def _new(
    request: PersonRequest, slug: str, found: NewThread, written: Written, refused: ReviewError | None
) -> HttpResponse:
    anchor, place = found.anchor, Place(slug, found.page.number)
    item = found.item
    if item is None and refused is None:
        raise NotFoundError(f"There is nothing of this name on {found.page.label} that a thread could be about.")
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-threads"),
        number=found.page.number,
        label=found.page.label,
        may_comment=found.may_comment,
        problem=refused.message if refused else "",
        longest=PROSE_LENGTH,
        kind=kind_word(anchor),
        about=anchor.words,
        item=item_text(anchor, item) if item else "",
        item_href=place.item(anchor, found.revision) if item and found.revision else "",
        revision=found.revision,
        written=written,
        anchor=anchor,
        teams=_teams(found.teams, written.team),
        owner=team_title(found.owner).lower() if found.owner else "",
        can_block=found.can_block,
        drafts=found.drafts,
    )
    return render(request, "reviews/thread_new.html", context, status=refused.status if refused else 200)


def _teams(teams: tuple[str, ...], chosen: str) -> tuple[tuple[str, str, bool], ...]:
    """Return slug, title and whether it is chosen, for a select."""
    return tuple((team, team_title(team), team == chosen) for team in teams)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def thread_detail(request: PersonRequest, slug: str, number: int, thread: int) -> HttpResponse:
    """Show one thread, reply to it, or resolve it; a refused text is kept."""
    text, act = request.POST.get("text", ""), request.POST.get("act", "")
    refused = None
    if request.method == "POST":
        here = reverse("thread-detail", args=[slug, number, thread])
        try:
            if act == "resolve":
                thread_resolve(thread=thread, reason=text, **_common(request, slug, number))
            else:
                reply = Written(text=text, thread=thread)
                key = once_key(request, *SENT)
                draft_save(written=reply, publishes=act == "publish", key=key, **_common(request, slug, number))
        except REFUSED as error:
            refused = error
        else:
            return redirect(here)
    found = _read(request, slug, number)
    row = _row(found, thread)
    place, now = Place(slug, number), timezone.now()
    return _shown(
        request,
        slug,
        found,
        "reviews/thread_detail.html",
        refused=refused,
        thread=thread_card(row, found.placed_on, place, now),
        is_open=row.is_open,
        may_resolve=row.may_resolve,
        owes_reason=row.is_blocking and not row.is_mine,
        reply=text if act != "resolve" else "",
        reason=text if act == "resolve" else "",
        drafts=[draft_line(draft, place, now) for draft in found.drafts if draft.thread == thread],
        waiting=len(found.drafts),
    )


def _row(found: Discussion, thread: int) -> ThreadRow:
    row = found.thread(thread)
    if row is None:
        raise NotFoundError(f"There is no thread {thread} on {found.page.label}.")
    return row


@require_http_methods(["GET", "HEAD", "POST"])
@page
def comment_draft(request: PersonRequest, slug: str, number: int, draft: int) -> HttpResponse:
    """Show one's own draft, change it, publish it with the others, or delete it; a refused text is kept."""
    refused, back = None, f"{reverse('decision-threads', args=[slug, number])}#drafts"
    if request.method == "POST":
        common = _common(request, slug, number)
        try:
            if request.POST.get("act") == "delete":
                draft_delete(draft_id=draft, **common)
            else:
                written = Written(
                    text=request.POST.get("text", ""),
                    team=request.POST.get("team", ""),
                    is_blocking=request.POST.get("blocking") == "1",
                )
                publishes = request.POST.get("act") == "publish"
                draft_save(written=written, draft_id=draft, publishes=publishes, key=once_key(request, *SENT), **common)
        except REFUSED as error:
            refused = error
        else:
            return redirect(back)
    found = _read(request, slug, number)
    row = found.draft(draft)
    if row is None:
        raise NotFoundError(f"You have no draft with this number on {found.page.label}.")
    return _shown(
        request,
        slug,
        found,
        "reviews/comment_draft.html",
        refused=refused,
        draft=draft_line(row, Place(slug, number), timezone.now()),
        text=request.POST.get("text", row.text),
        is_reply=row.thread is not None,
        is_blocking=request.POST.get("blocking") == "1" if request.method == "POST" else row.is_blocking,
        teams=_teams(found.teams, request.POST.get("team", row.team)),
        owner=team_title(row.team).lower() if row.anchor.kind in OWNED_KINDS else "",
        waiting=len(found.drafts),
    )
