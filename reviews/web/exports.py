"""Exports: asking for the bundle of a decision or of everything, following it, taking it away, checking it."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from planner.decision_numbers import decision_label, decision_number
from reviews.clock import when
from reviews.errors import Finding, InvalidRequestError
from reviews.models import Workspace
from reviews.selectors.checkpoints import newest_key
from reviews.selectors.exports import ExportRow, export_rows
from reviews.services.exports import export_fetch, export_request
from reviews.web.byte_text import bytes_text
from reviews.web.formats import count, percent
from reviews.web.frame import PersonRequest, frame, page, trace_of, workspace_of
from reviews.web.words import Word

STATES: dict[str, Word] = {
    "queued": Word("Waiting", "wait", "na"),
    "running": Word("Being written", "wait", "na"),
    "done": Word("Ready", "pass", "pass"),
    "doubtful": Word("Ready, does not hold", "fail", "fail"),
    "failed": Word("Failed", "fail", "fail"),
}
CONTENTS = (
    ("log/", "every entry as stored, with payloads; of another decision's entries the hashes alone; checkpoints"),
    ("statements.jsonl", "in-toto statements in DSSE envelopes: gate runs, planner verdict, reviews"),
    ("documents/", "contract, evidence, plan and policy, byte for byte, under their digests"),
    ("decisions/, report.html", "decision records and a report for people"),
    ("tables/", "entries, sign-offs and the list of files behind evidence and diagnoses, as CSV"),
    ("files/", "these files, byte for byte, under their digests, where they were asked for"),
    ("verify.py", "the verifier: one file, Python and the package cryptography"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def export_list(request: PersonRequest, slug: str) -> HttpResponse:
    """List exports and how far they are; POST asks for one."""
    workspace = workspace_of(slug)
    if request.method == "POST":
        trace = trace_of(request)
        wanted = wanted_decision(request.POST.get("decision", ""))
        with_files = request.POST.get("files") == "yes"
        export_request(actor=request.user, workspace=workspace, decision=wanted, with_files=with_files, trace=trace)
        return redirect("export-list", slug)
    rows = export_rows(actor=request.user, workspace=workspace)
    return render(request, "reviews/export_list.html", _context(request, slug, workspace, rows))


def _context(request: PersonRequest, slug: str, workspace: Workspace, rows: tuple[ExportRow, ...]) -> dict[str, Any]:
    key = newest_key(workspace)
    bundle = next((row.file_name for row in rows if row.is_ready), "bundle.zip")
    return frame(
        slug,
        "audit",
        exports=[export_line(row) for row in rows],
        is_running=any(row.is_open for row in rows),
        contents=CONTENTS,
        key=key,
        command=f"unzip -qj {bundle} verify.py && python3 -I verify.py {bundle} --key '{key or 'KEY'}'",
        wanted=request.GET.get("decision", "")[:20],
    )


def wanted_decision(text: str) -> int | None:
    """Read which decision is to be exported, ``D-0012`` or its number; nothing stands for all of them.

    Raises:
        InvalidRequestError: it is no number of a decision.
    """
    if not text.strip():
        return None
    number = decision_number(text)
    if number is None:
        expected = "a number as D-0001, or nothing for all decisions"
        raise InvalidRequestError((Finding("request", "request/decision", "decision", expected, text[:40]),))
    return number


def export_line(row: ExportRow) -> dict[str, Any]:
    """Return an export as a row of text."""
    done, total = row.entries_done, row.entries_total
    return {
        "id": row.id,
        "scope": "All decisions" if row.decision is None else decision_label(row.decision),
        "with_files": row.with_files,
        "word": STATES["doubtful" if row.is_ready and row.error else row.state],
        "is_open": row.is_open,
        "is_ready": row.is_ready,
        "progress": f"{percent(done / total, signed=False)} of {count(total, 'entry', 'entries')}" if total else "",
        "width": 100 * done // total if total else 0,
        "asked": f"{row.asked_by}, {when(row.asked_at)}",
        "expires": when(row.expires_at) if row.expires_at else "",
        "size": bytes_text(row.size_bytes) if row.size_bytes else "",
        "sha256": row.sha256,
        "error": row.error,
    }


@require_GET
@page
def export_download(request: PersonRequest, slug: str, export: int) -> StreamingHttpResponse:
    """Send a bundle that is ready; that it was fetched is an entry of the log."""
    trace = trace_of(request)
    row, blocks = export_fetch(actor=request.user, workspace=workspace_of(slug), export_id=export, trace=trace)
    return StreamingHttpResponse(
        blocks,
        content_type="application/zip",
        headers={
            "Content-Length": str(row.size_bytes),
            "Content-Disposition": f'attachment; filename="{row.file_name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )
