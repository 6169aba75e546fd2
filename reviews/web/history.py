"""The history of a decision."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reviews.selectors.pages import decision_view
from reviews.web.audit_rows import entry_line
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.history_rows import revision_lines


@require_safe
@page
def decision_history(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show revisions, sign-offs and state changes with their digests."""
    found = decision_view(actor=request.user, workspace=workspace_of(slug), number=number, read_plan=False)
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-history"),
        revisions=revision_lines(found.page, reverse("decision-detail", args=[slug, number])),
        entries=[entry_line(row, slug) for row in found.events],
        audit_href=f"{reverse('audit-list', args=[slug])}?decision={number}",
    )
    return render(request, "reviews/decision_history.html", context)
