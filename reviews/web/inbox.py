"""The list of decisions, and the way into a workspace."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from reviews.models import DecisionState
from reviews.selectors.decisions import DecisionFilter, decision_rows
from reviews.selectors.people import workspace_rows
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.inbox_rows import empty_text, sections
from reviews.web.links import Query

FILTERS = ("q", "slot", "state")


@require_safe
@page
def home(request: PersonRequest) -> HttpResponse:
    """Go to the only workspace, or choose one."""
    rows = workspace_rows(request.user)
    if len(rows) == 1:
        return redirect("decision-list", rows[0].slug)
    return render(request, "reviews/workspace_list.html", {"rows": rows})


def number_or_none(text: str) -> int | None:
    """Read a number of an address; anything else is as if it were not there."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@require_safe
@page
def decision_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the inbox: my turn, waiting, settled."""
    query = Query.of(request.GET.dict(), keep=(*FILTERS, "before"))
    wanted = DecisionFilter(state=query.get("state"), slot=query.get("slot"), text=query.get("q"))
    found = decision_rows(
        actor=request.user,
        workspace=workspace_of(slug),
        wanted=wanted,
        older_than=number_or_none(query.get("before")),
    )
    rows = [(row, reverse("decision-detail", args=[slug, row.number])) for row in found.rows]
    lists = sections(rows, now=timezone.now())
    is_filtered = any(query.get(name) for name in FILTERS)
    heading, text = empty_text(lists, is_filtered=is_filtered)
    context = frame(
        slug,
        "inbox",
        sections=lists,
        empty_heading=heading,
        empty_text=text,
        is_filtered=is_filtered,
        states=[(value, label, value == query.get("state")) for value, label in DecisionState.choices],
        slot=query.get("slot"),
        search=query.get("q"),
        turn_count=len(lists[0].items),
        older_href=query.link(before=found.older_than) if found.older_than else "",
        newest_href=query.link(before=None) if query.get("before") else "",
    )
    return render(request, "reviews/decision_list.html", context)
