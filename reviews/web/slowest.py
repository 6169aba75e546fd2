"""Pages of the slowest rank: the diagnoses of a decision with the form that makes one, one diagnosis, and its files."""

import json
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from planner.decision_numbers import decision_label
from planner.observations.ras import NO_VERDICT
from planner.observations.slowest import LATE_US
from reviews.clock import when
from reviews.errors import InvalidRequestError, NotAllowedError, ReviewError
from reviews.selectors.diagnoses import (
    DiagnosisDetail,
    FileRow,
    diagnosis_detail,
    diagnosis_file,
    diagnosis_file_bytes,
    diagnosis_view,
    slowest_view,
)
from reviews.services.diagnoses import MOST_BYTES, Asked, diagnosis_make
from reviews.web.builder_files import given_of
from reviews.web.builder_rows import removed_text
from reviews.web.byte_text import bytes_text
from reviews.web.csv_text import attachment, csv_response
from reviews.web.decision_head import head_for
from reviews.web.evidence import kept_file
from reviews.web.formats import ago, count
from reviews.web.frame import PersonRequest, frame, page, trace_of, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.rank_pages import FIRST, rank_page
from reviews.web.ras_rows import snapshot_row
from reviews.web.slowest_rows import (
    COLUMNS,
    KINDS,
    diagnosis_line,
    download_rows,
    facts_of,
    handoff_lines,
    headline,
    notes_of,
    place_of,
    rank_lines,
    shares,
)
from reviews.web.timeline_rows import PER_PAGE, timelines_of

RANKS_PER_PAGE = 64
OTHER_PAGE = "lanes"
"""The field of an address that names the first timeline of a page; ``FIRST`` is that of the table of ranks."""


@require_http_methods(["GET", "HEAD", "POST"])
@page
def decision_slowest(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show the diagnoses of a decision, and make another of the files that are sent."""
    if request.method != "POST":
        return _list(request, slug, number)
    form = request.POST
    asked = Asked(
        files=[given_of(upload) for upload in request.FILES.getlist("files")],
        with_evidence=form.get("with_evidence") == "true",
        trial=form.get("trial", ""),
        late_us=form.get("late_us", ""),
        note=form.get("note", ""),
    )
    try:
        made = diagnosis_make(
            actor=request.user, workspace=workspace_of(slug), number=number, asked=asked, trace=trace_of(request)
        )
    except (InvalidRequestError, NotAllowedError) as refused:
        return _list(request, slug, number, asked=asked, refused=refused)
    return redirect("diagnosis-detail", slug, number, made.number)


def _list(
    request: PersonRequest, slug: str, number: int, *, asked: Asked | None = None, refused: ReviewError | None = None
) -> HttpResponse:
    query = Query.of(request.GET.dict(), keep=("before",))
    before = number_or_none(query.get("before"))
    found = slowest_view(actor=request.user, workspace=workspace_of(slug), number=number, older_than=before)
    now = timezone.now()
    rows = found.diagnoses.rows
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-slowest"),
        lines=[diagnosis_line(row, reverse("diagnosis-detail", args=[slug, number, row.number]), now) for row in rows],
        total=found.diagnoses.total,
        older_href="" if found.diagnoses.older_than is None else query.link(before=found.diagnoses.older_than),
        trials=[(trial, trial == ((asked and asked.trial) or found.trial_id)) for trial in found.trial_ids],
        behind=count(found.behind, "file") if found.behind else "",
        with_evidence=asked.with_evidence if asked else False,
        late_us=(asked and asked.late_us) or f"{LATE_US:.0f}",
        note=asked.note if asked else "",
        most=bytes_text(MOST_BYTES),
        problems=refused.sentences if refused else (),
        handoffs=handoff_lines(found.handoffs),
        diagnostics=[(name, one, when_text(one.collected_at)) for name, one in found.diagnostics.items()],
        no_verdict=NO_VERDICT,
    )
    return render(request, "reviews/decision_slowest.html", context, status=refused.status if refused else 200)


def when_text(text: str) -> str:
    """Write a document's time as pages do."""
    return text.replace("T", " ").removesuffix("Z")


@require_safe
@page
def diagnosis_page(request: PersonRequest, slug: str, number: int, diagnosis: int) -> HttpResponse:
    """Show one diagnosis."""
    decision, found = diagnosis_view(
        actor=request.user, workspace=workspace_of(slug), number=number, diagnosis=diagnosis
    )
    query = Query.of(request.GET.dict(), keep=(FIRST, OTHER_PAGE))
    own = reverse("diagnosis-detail", args=[slug, number, diagnosis])
    map_query = f"?revision={found.row.revision}&trial={found.row.trial}&rank="
    context = frame(
        slug,
        "inbox",
        head=head_for(decision, slug, "decision-slowest"),
        row=found.row,
        made=when(found.row.made_at),
        made_ago=ago(found.row.made_at, timezone.now()),
        list_href=reverse("decision-slowest", args=[slug, number]),
        map_href=reverse("decision-map", args=[slug, number]) + map_query,
        no_verdict=NO_VERDICT,
        csv=f"{own}ranks.csv",
        json=f"{own}ranks.json",
        snapshots=[snapshot_row(one) for one in found.found.snapshots],
        files=[_file_line(one, own) for one in found.files],
        handoffs=handoff_lines(found.found.handoffs),
        **_ranks(found, query),
    )
    return render(request, "reviews/diagnosis_detail.html", context)


def _ranks(found: DiagnosisDetail, query: Query) -> dict[str, Any]:
    slowest = found.found.slowest
    start = number_or_none(query.get(OTHER_PAGE)) or 0
    lanes = timelines_of(found.found, start)
    total = len(slowest.ranks) if slowest else 0
    shown = rank_page(total, query, "ranks", at=0, size=RANKS_PER_PAGE)
    late = found.row.late_us / 1000
    return {
        "headline": headline(found.found),
        "place": place_of(found.found, slowest.rank) if slowest and slowest.rank is not None else "",
        "nodes": ", ".join(slowest.nodes) if slowest and slowest.rank is None else "",
        "suggests": slowest.suggests if slowest else "",
        "shares": shares(slowest) if slowest else "",
        "facts": tuple(facts_of(found.found)),
        "notes": notes_of(found.found),
        "late_ms": f"{late:g}",
        "around": found.found.around,
        "call": found.found.around.nth + 1 if found.found.around else 0,
        "lanes": lanes,
        "lanes_earlier": query.link("lanes", **{OTHER_PAGE: max(0, start - PER_PAGE)}) if start else "",
        "lanes_later": query.link("lanes", **{OTHER_PAGE: start + PER_PAGE})
        if lanes and start + PER_PAGE < lanes.total
        else "",
        "lanes_text": f"{start + 1:,}–{min(lanes.total, start + PER_PAGE):,} of {lanes.total:,} ranks" if lanes else "",
        "ranks": rank_lines(found.found, shown.start, shown.end),
        "shown": shown,
    }


def _file_line(row: FileRow, own: str) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": KINDS[row.kind],
        "size": bytes_text(row.size_bytes),
        "sha256": row.sha256,
        "is_of_evidence": row.is_of_evidence,
        "removed": removed_text(row.removed),
        "href": f"{own}files/{row.number}",
    }


@require_safe
@page
def diagnosis_download(
    request: PersonRequest, slug: str, number: int | str, diagnosis: str, suffix: str
) -> HttpResponse:
    """Return every rank as CSV, or all that was found as JSON."""
    found = diagnosis_detail(
        actor=request.user, workspace=workspace_of(slug), number=int(number), diagnosis=int(diagnosis)
    )
    name = f"{decision_label(int(number))}-diagnosis-{found.row.number}.{suffix}"
    if suffix == "csv":
        return csv_response(name, COLUMNS, download_rows(found.found))
    return attachment(json.dumps(json.loads(found.raw), indent=1).encode(), name, "application/json")


@require_safe
@page
def diagnosis_file_raw(request: PersonRequest, slug: str, number: int, diagnosis: int, file: int) -> HttpResponseBase:
    """Return a file that a diagnosis was read from, as it is kept."""
    row = diagnosis_file(
        actor=request.user, workspace=workspace_of(slug), number=number, diagnosis=diagnosis, file=file
    )
    return kept_file(row.name, row.sha256, row.size_bytes, diagnosis_file_bytes(row))
