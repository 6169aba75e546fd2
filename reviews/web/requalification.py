"""The page of what has to be measured again of a decision, and why, and the same as files."""

import json
from urllib.parse import quote

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.requalification.written import requalification_markdown
from reviews.models import DocumentKind
from reviews.selectors.drafts import drafts_of
from reviews.selectors.requalification import RequalificationView, requalification_of_draft, requalification_view
from reviews.selectors.requalification_value import requalification_value
from reviews.web.csv_text import attachment
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.requalification_rows import requalification_strips, requalification_table

__all__ = ["decision_requalification", "requalification_download"]

MOST_DRAFTS = 12
"""Drafts of contracts that are offered, the last changed first."""
FILES = {"json": ("JSON", "application/json"), "md": ("Markdown", "text/markdown; charset=utf-8")}


@require_safe
@page
def decision_requalification(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what changed, which gates and runs that touches, and what stays valid."""
    query = Query.of(request.GET.dict(), keep=("revision", "draft"))
    found = _found(request, slug, number)
    now = timezone.now()
    benchmark = reverse("decision-benchmark", args=[slug, number]) + f"?revision={found.base.number}"
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-requalification"),
        strips=requalification_strips(found),
        table=requalification_table(found, now, lambda run: f"{benchmark}#run-{quote(run)}"),
        revisions=[
            (row.number, row.number == (found.compared or found.base).number)
            for row in reversed(found.page.revisions)
            if found.was_in_force and row.number >= found.base.number
        ],
        drafts=[
            (f"{row.name or 'draft'} {row.id}", f"?draft={row.id}", str(row.id) == query.get("draft"))
            for row in drafts_of(actor=request.user, workspace=workspace_of(slug), kind=DocumentKind.CONTRACT)
            if row.slot in ("", found.page.slot)
        ][:MOST_DRAFTS],
        files=[
            (name, reverse("requalification-download", args=[slug, number, suffix]) + query.link())
            for suffix, (name, _) in FILES.items()
        ],
    )
    return render(request, "reviews/decision_requalification.html", context)


@require_safe
@page
def requalification_download(request: PersonRequest, slug: str, number: int | str, suffix: str) -> HttpResponse:
    """Give the answer as a file."""
    found = _found(request, slug, int(number))
    data = (
        json.dumps(requalification_value(found), ensure_ascii=False, indent=2).encode()
        if suffix == "json"
        else requalification_markdown(found.answer, f"{found.page.label} r{found.base.number}: measure again").encode()
    )
    _, content_type = FILES[suffix]
    return attachment(data, f"{found.page.label}-measure-again.{suffix}", content_type)


def _found(request: PersonRequest, slug: str, number: int) -> RequalificationView:
    draft = number_or_none(request.GET.get("draft", ""))
    if draft is not None:
        return requalification_of_draft(actor=request.user, workspace=workspace_of(slug), number=number, draft_id=draft)
    return requalification_view(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(request.GET.get("revision", "")),
    )
