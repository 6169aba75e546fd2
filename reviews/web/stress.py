"""The page of a decision's stress matrix."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reviews.selectors.stress import PAGE_SIZE, stress_view
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.page_rows import Strip
from reviews.web.pager import pager
from reviews.web.stress_rows import MEANINGS, stress_table

KEPT = ("revision", "page")
INJECTED = Strip(
    lead="Injected faults.",
    text="Every figure is of a changed copy of the evidence: none was measured, and no plan or sign-off holds one.",
    icon="unk",
    css="unk",
)


@require_safe
@page
def decision_stress(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show which limit sees which fault, a few trials at a time."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    found = stress_view(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(query.get("revision")),
        asked=number_or_none(query.get("page")),
    )
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-stress"),
        strip=INJECTED,
        table=stress_table(found.matrix, found.shown) if found.matrix else None,
        meanings=MEANINGS,
        pager=pager(found.start, found.total, PAGE_SIZE, "candidate", lambda page: query.link("stress", page=page)),
        detail_href=reverse("decision-detail", args=[slug, number]),
    )
    return render(request, "reviews/decision_stress.html", context)
