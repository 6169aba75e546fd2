"""Verifications of a log: asking for one, following it, what it found, and those before."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from reviews.selectors.checkpoints import newest_key
from reviews.selectors.verifications import verification_detail, verification_rows
from reviews.services.verifications import verification_request
from reviews.web.frame import PersonRequest, frame, go_to, page, trace_of, workspace_of
from reviews.web.verification_rows import headline_of, progress_of_verification, verification_line


@require_http_methods(["GET", "HEAD", "POST"])
@page
def verification_list(request: PersonRequest, slug: str) -> HttpResponse:
    """List verifications; POST asks for one and leads to it."""
    workspace = workspace_of(slug)
    if request.method == "POST":
        trace = trace_of(request)
        made = verification_request(actor=request.user, workspace=workspace, trace=trace)
        return go_to(request, reverse("verification-detail", args=[slug, made.pk]))
    rows = verification_rows(actor=request.user, workspace=workspace)
    context = frame(slug, "audit", verifications=[verification_line(row, slug) for row in rows])
    return render(request, "reviews/verification_list.html", context)


@require_safe
@page
def verification_page(request: PersonRequest, slug: str, verification: int) -> HttpResponse:
    """Show how far a verification is, or what it found."""
    workspace = workspace_of(slug)
    row = verification_detail(actor=request.user, workspace=workspace, verification_id=verification)
    context = frame(
        slug,
        "audit",
        line=verification_line(row, slug),
        progress=None if row.outcome else progress_of_verification(row),
        headline=headline_of(row) if row.outcome else None,
        row=row,
        key=newest_key(workspace),
    )
    return render(request, "reviews/verification_detail.html", context)
