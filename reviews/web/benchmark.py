"""Pages of the benchmark matrix: of a decision, with the coverage of its evidence, and of a draft of a contract."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.matrix.clients import CLIENTS
from planner.matrix.written import CONTENT_TYPES, matrix_written
from planner.records.matrix import Matrix
from reviews.errors import NotFoundError
from reviews.selectors.benchmark import benchmark_view, draft_benchmark
from reviews.web.benchmark_rows import PAGE_SIZE, benchmark_table
from reviews.web.contract_builder_page import problems_by_step
from reviews.web.csv_text import attachment
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.page_rows import Strip
from reviews.web.pager import first_row, pager

__all__ = ["benchmark_download", "decision_benchmark", "draft_benchmark_download", "draft_benchmark_page"]

KEPT = ("revision", "page")
PLANNED = Strip(
    lead="A plan of measurements, not evidence.",
    text="Nothing in it was measured.",
    icon="unk",
    css="unk",
)
FORMS = {"json": "json", "md": "markdown", "sh": "sh"}
"""Ends of the names of files -> how the matrix is written in them."""
TITLES = {"json": "JSON", "md": "Markdown", "sh": "Shell"}


@require_safe
@page
def decision_benchmark(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what is worth measuring, and how much of it the submitted evidence covers."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    found = benchmark_view(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(query.get("revision")),
    )
    files = [
        (title, reverse("benchmark-download", args=[slug, number, suffix]) + query.link(page=None))
        for suffix, title in TITLES.items()
    ]
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-benchmark"),
        strip=PLANNED,
        too_large=found.too_large,
        **_shown(found.matrix, query, files),
    )
    return render(request, "reviews/benchmark_decision.html", context)


@require_safe
@page
def draft_benchmark_page(request: PersonRequest, slug: str, draft_id: int) -> HttpResponse:
    """Show what is worth measuring for a contract that is being written."""
    query = Query.of(request.GET.dict(), keep=("page",))
    found = draft_benchmark(actor=request.user, workspace=workspace_of(slug), draft_id=draft_id)
    files = [
        (title, reverse("draft-benchmark-download", args=[slug, draft_id, suffix])) for suffix, title in TITLES.items()
    ]
    context = frame(
        slug,
        "new",
        stored=found.stored,
        problems_by_step=problems_by_step(found.problems, found.tree),
        strip=PLANNED,
        draft_href=reverse("contract-draft", args=[slug, draft_id, "review"]),
        **({} if found.matrix is None else _shown(found.matrix, query, files)),
    )
    return render(request, "reviews/benchmark_draft.html", context)


@require_safe
@page
def benchmark_download(request: PersonRequest, slug: str, number: int | str, suffix: str) -> HttpResponse:
    """Give a decision's matrix as a file."""
    found = benchmark_view(
        actor=request.user,
        workspace=workspace_of(slug),
        number=int(number),
        revision=number_or_none(request.GET.get("revision", "")),
    )
    return _file(request, found.matrix, suffix, f"{found.page.label}-r{found.page.shown.number}-benchmark")


@require_safe
@page
def draft_benchmark_download(request: PersonRequest, slug: str, draft_id: int | str, suffix: str) -> HttpResponse:
    """Give a draft's matrix as a file.

    Raises:
        NotFoundError: the contract is not finished, so it has none.
    """
    found = draft_benchmark(actor=request.user, workspace=workspace_of(slug), draft_id=int(draft_id))
    if found.matrix is None:
        raise NotFoundError("The contract is not finished, so it has no matrix yet.")
    return _file(request, found.matrix, suffix, f"contract-{draft_id}-benchmark")


def _file(request: PersonRequest, matrix: Matrix, suffix: str, name: str) -> HttpResponse:
    client, form = request.GET.get("client", ""), FORMS[suffix]
    data = matrix_written(matrix, form, client if client in CLIENTS else None)
    return attachment(data, f"{name}.{suffix}", CONTENT_TYPES[form])


def _shown(matrix: Matrix, query: Query, files: list[tuple[str, str]]) -> dict[str, Any]:
    """Return what both pages show: one page of candidates, all runs."""
    names = tuple(matrix.candidates)
    start = first_row(number_or_none(query.get("page")), len(names), PAGE_SIZE)
    table = benchmark_table(matrix, names[start : start + PAGE_SIZE])
    return {
        "matrix": matrix,
        "table": table,
        "covered": [(name, query.link("cells", page=at)) for name, at in table.covered],
        "files": files,
        "pager": pager(start, len(names), PAGE_SIZE, "candidate", lambda at: query.link("candidates", page=at)),
    }
