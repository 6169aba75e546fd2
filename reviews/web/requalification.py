"""The page of what has to be measured again of a decision, and why, and the same as files."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from reviews.errors import DocumentsRefusedError, Finding
from reviews.models import DocumentKind
from reviews.selectors.drafts import drafts_of
from reviews.selectors.requalification import RequalificationView, requalification_of_draft, requalification_view
from reviews.selectors.requalification_value import requalification_text, requalification_value
from reviews.web.csv_text import attachment
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.requalification_rows import requalification_strips, requalification_table

__all__ = ["decision_requalification", "requalification_download"]

MOST_DRAFTS = 12
"""Drafts of contracts that are offered, the last changed first."""
MOST_PROBLEMS = 20
"""Problems that are told at one field."""
NOTHING = Finding("request", "request/missing_part", "", "a contract, reports, or both", "nothing")
FIELDS = (
    ("contract", "Newer contract", "One that is not submitted yet, 8 MiB at most."),
    ("identity", "Reports of hosts", "One of each host, or an identity of the whole slot; 8 MiB each at most."),
)
"""Fields of the form: name, label, hint."""
FILES = {"json": ("JSON", "application/json"), "md": ("Markdown", "text/markdown; charset=utf-8")}


@require_http_methods(["GET", "HEAD", "POST"])
@page
def decision_requalification(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what changed, which gates and runs that touches, and what stays valid; also of files that are not kept."""
    if request.method != "POST":
        return _shown(request, _found(request, slug, number), slug)
    contract, reports = request.FILES.get("contract"), request.FILES.getlist("identity")
    if contract is None and not reports:
        return _shown(request, _found(request, slug, number), slug, (NOTHING,))
    try:
        found = requalification_view(
            actor=request.user,
            workspace=workspace_of(slug),
            number=number,
            contract=None if contract is None else bytes(contract.read()),
            reports=[bytes(report.read()) for report in reports],
        )
    except DocumentsRefusedError as refused:
        return _shown(request, _found(request, slug, number), slug, refused.problems)
    suffix = request.POST.get("as", "")
    return _file(found, suffix) if suffix in FILES else _shown(request, found, slug)


def _shown(
    request: PersonRequest, found: RequalificationView, slug: str, problems: tuple[Finding, ...] = ()
) -> HttpResponse:
    query = Query.of(request.GET.dict(), keep=("revision", "draft"))
    number, now = found.page.number, timezone.now()
    benchmark = reverse("decision-benchmark", args=[slug, number]) + f"?revision={found.base.number}"
    # What was given is not kept, so only the form that gave it can ask for its files.
    is_given = request.method == "POST" and not problems
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
            if not is_given
        ],
        fields=_fields(problems),
        forms=[(suffix, name) for suffix, (name, _) in FILES.items()],
    )
    return render(request, "reviews/decision_requalification.html", context, status=422 if problems else 200)


def _fields(problems: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return the fields of the form with what is wrong at each."""
    wrong: dict[str, list[str]] = {name: [] for name, _, _ in FIELDS}
    for problem in problems:
        is_report = problem.document == "request" and problem.pointer.startswith("identity")
        wrong["identity" if is_report else "contract"].append(problem.sentence)
    return [
        {
            "name": name,
            "label": label,
            "hint": hint,
            "is_many": name == "identity",
            "wrong": wrong[name][:MOST_PROBLEMS],
            "more": max(0, len(wrong[name]) - MOST_PROBLEMS),
        }
        for name, label, hint in FIELDS
    ]


@require_safe
@page
def requalification_download(request: PersonRequest, slug: str, number: int | str, suffix: str) -> HttpResponse:
    """Give the answer as a file."""
    return _file(_found(request, slug, int(number)), suffix)


def _file(found: RequalificationView, suffix: str) -> HttpResponse:
    data = (
        json.dumps(requalification_value(found), ensure_ascii=False, indent=2).encode()
        if suffix == "json"
        else requalification_text(found).encode()
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
