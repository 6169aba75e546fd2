"""The views of the inbox that a person saved: links beside the lists, and a page to rename and delete them."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from reviews.errors import ConflictError, InvalidRequestError
from reviews.selectors.people import workspace_of_member
from reviews.selectors.saved_views import SavedViewRow, saved_view_rows
from reviews.services.saved_views import saved_view_delete, saved_view_make, saved_view_rename
from reviews.web.frame import PersonRequest, frame, page
from reviews.web.links import Query

FILTERS = ("q", "slot", "team", "state", "engine", "model")
KEPT = (*FILTERS, "list")


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A saved view as a link; ``is_here`` where its filters are those of the page."""

    id: int
    name: str
    href: str
    is_here: bool


def view_links(rows: Iterable[SavedViewRow], slug: str, here: str = "") -> tuple[ViewLink, ...]:
    """Make links of saved views; ``here`` is the query of the page that they stand on."""
    inbox = reverse("decision-list", args=[slug])
    return tuple(ViewLink(row.id, row.name, f"{inbox}?{row.query}", row.query == here) for row in rows)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def saved_view_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show one's saved views; a form of the inbox saves another and leads back to it."""
    if request.method != "POST":
        return answer(request, slug)
    query = Query.of(request.POST.dict(), keep=KEPT)
    workspace = workspace_of_member(request.user, slug)
    name = request.POST.get("name", "")
    try:
        saved_view_make(actor=request.user, workspace=workspace, name=name, query=query.text)
    except (InvalidRequestError, ConflictError) as refused:
        return answer(request, slug, refused=refused, kept=query, name=name)
    return redirect(f"{reverse('decision-list', args=[slug])}?{query.text}")


@require_POST
@page
def saved_view_renamed(request: PersonRequest, slug: str, view_id: int) -> HttpResponse:
    """Rename a view and go back to the list."""
    workspace = workspace_of_member(request.user, slug)
    try:
        saved_view_rename(actor=request.user, workspace=workspace, view_id=view_id, name=request.POST.get("name", ""))
    except (InvalidRequestError, ConflictError) as refused:
        return answer(request, slug, refused=refused)
    return redirect("saved-view-list", slug)


@require_POST
@page
def saved_view_deleted(request: PersonRequest, slug: str, view_id: int) -> HttpResponse:
    """Delete a view and go back to the list."""
    saved_view_delete(actor=request.user, workspace=workspace_of_member(request.user, slug), view_id=view_id)
    return redirect("saved-view-list", slug)


def answer(
    request: PersonRequest,
    slug: str,
    *,
    refused: InvalidRequestError | ConflictError | None = None,
    kept: Query | None = None,
    name: str = "",
) -> HttpResponse:
    """Render the page; ``kept`` are filters that were refused under ``name`` and can be sent again."""
    rows = saved_view_rows(actor=request.user, workspace=workspace_of_member(request.user, slug))
    problems = (
        tuple(problem.sentence for problem in refused.problems)
        if isinstance(refused, InvalidRequestError)
        else (refused.message,)
        if refused
        else ()
    )
    context = frame(
        slug, "inbox", views=view_links(rows, slug), problems=problems, kept=kept.values if kept else (), name=name
    )
    return render(request, "reviews/saved_view_list.html", context, status=refused.status if refused else 200)
