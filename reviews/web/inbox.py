"""The list of decisions, and the way into a workspace."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from reviews.selectors.decisions import DecisionFilter
from reviews.selectors.inbox import SECONDS, Inbox, inbox
from reviews.selectors.people import workspace_rows
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.inbox_rows import breach_section, empty_text, second_section, sections, selects
from reviews.web.links import Query, number_or_none
from reviews.web.pager import Pager, numbered
from reviews.web.proposal_rows import countersigning_href
from reviews.web.saved_views import FILTERS, view_links


@require_safe
@page
def home(request: PersonRequest) -> HttpResponse:
    """Go to the only workspace, or choose one."""
    rows = workspace_rows(request.user)
    if len(rows) == 1:
        return redirect("decision-list", rows[0].slug)
    return render(request, "reviews/workspace_list.html", {"rows": rows})


@require_safe
@page
def decision_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the inbox: what I can countersign, my turn, waiting on others, expiring, stale, recently decided."""
    query = Query.of(request.GET.dict(), keep=(*FILTERS, "list", "page"))
    found = inbox(
        actor=request.user,
        workspace=workspace_of(slug),
        wanted=DecisionFilter(
            state=query.get("state"),
            slot=query.get("slot"),
            engine=query.get("engine"),
            model=query.get("model"),
            text=query.get("q"),
        ),
        waits_on=query.get("team"),
        only=query.get("list"),
        page=number_or_none(query.get("page")) or 1,
    )
    request.turn_count = found.all_turns
    now = timezone.now()
    lists = sections(found, query, lambda row: reverse("decision-detail", args=[slug, row.number]), now=now)
    broken = breach_section(
        found.breaches,
        query,
        lambda number: f"{reverse('decision-observations', args=[slug, number])}#findings",
        is_only=bool(found.only),
        now=now,
    )
    seconds = second_section(found, query, lambda row: countersigning_href(slug, row), now=now)
    is_filtered = any(query.get(name) for name in FILTERS)
    heading, text = empty_text(found, is_filtered=is_filtered)
    kept = query.changed(list=found.only or None, page=None)
    context = frame(
        slug,
        "inbox",
        sections=(seconds, broken, *lists),
        has_waiting=bool(found.of("waiting").rows),
        only=found.only,
        all_href=query.link(list=None, page=None),
        empty_heading=heading,
        empty_text=text,
        is_filtered=is_filtered,
        selects=selects(found.choices, query),
        slot=query.get("slot"),
        search=query.get("q"),
        pager=_pager(found, query),
        views=view_links(found.views, slug, kept.text),
        kept=kept.values,
    )
    return render(request, "reviews/decision_list.html", context)


def _pager(found: Inbox, query: Query) -> Pager:
    """Return the pager of the one list that is shown, nothing where the first rows of all lists are."""
    if not found.only:
        return Pager()
    things = count(found.total, "proposal" if found.only == SECONDS else "decision")
    return numbered(found.page, found.pages, query, things)
