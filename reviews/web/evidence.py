"""Evidence that was made here, and the files behind it: where a value came from, byte for byte."""

from collections.abc import Iterator
from urllib.parse import quote

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.decision_numbers import decision_label, revision_label
from reviews.clock import when
from reviews.selectors.attachments import attachment_bytes, attachment_of, evidence_document
from reviews.web.attachment_lines import place_in_file
from reviews.web.builder_rows import places_text, removed_text
from reviews.web.byte_text import bytes_text
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import number_or_none


@require_safe
@page
def evidence_detail(request: PersonRequest, slug: str, digest: str) -> HttpResponse:
    """Show a made document: its digests, the files behind it, and the ways on."""
    found = evidence_document(actor=request.user, workspace=workspace_of(slug), sha256=digest)
    new = reverse("decision-new", args=[slug])
    given = f"contract_sha256={found.contract_sha256}&evidence_sha256={found.file_sha256}"
    context = frame(
        slug,
        "new",
        found=found,
        stored=when(found.stored_at),
        raw_href=reverse("digest-raw", args=[slug, found.file_sha256]),
        size=bytes_text(len(found.raw)),
        files=[(row, bytes_text(row.size_bytes), removed_text(row.removed)) for row in found.attachments],
        file_count=count(len(found.attachments), "file"),
        new_href=f"{new}?{given}" if found.contract_sha256 else "",
        revisions=[
            (decision_label(number), title, f"{new}?decision={number}&{given}") for number, title in found.decisions
        ],
        used=[
            (revision_label(number, revision), f"{reverse('decision-detail', args=[slug, number])}?revision={revision}")
            for number, revision in found.used_in
        ],
    )
    return render(request, "reviews/evidence_detail.html", context)


@require_safe
@page
def attachment_detail(request: PersonRequest, slug: str, digest: str) -> HttpResponse:
    """Show a place in a file behind evidence."""
    row = attachment_of(actor=request.user, workspace=workspace_of(slug), sha256=digest)
    line, pointer = number_or_none(request.GET.get("line", "")), request.GET.get("at", "")[:512]
    place = place_in_file(attachment_bytes(row), line=line, pointer=pointer)
    context = frame(
        slug,
        "",
        row=row,
        size=bytes_text(row.size_bytes),
        place=place,
        line=line,
        pointer=pointer,
        column=request.GET.get("column", "")[:128],
        removed=removed_text(row.removed),
        places=places_text(row.removed),
    )
    return render(request, "reviews/attachment.html", context)


@require_safe
@page
def attachment_raw(request: PersonRequest, slug: str, digest: str) -> HttpResponseBase:
    """Return a file behind evidence exactly as it is kept, to be saved, a piece at a time."""
    row = attachment_of(actor=request.user, workspace=workspace_of(slug), sha256=digest)
    return kept_file(row.name, row.sha256, row.size_bytes, attachment_bytes(row))


def kept_file(name: str, sha256: str, size_bytes: int, blocks: Iterator[bytes]) -> StreamingHttpResponse:
    """Answer with the bytes of a file, never to be shown or guessed at."""
    plain = "".join(sign if sign.isascii() and sign.isprintable() and sign not in '"\\' else "_" for sign in name)
    return StreamingHttpResponse(
        blocks,
        content_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}",
            "Content-Length": str(size_bytes),
            "X-Content-Type-Options": "nosniff",
            "ETag": f'"{sha256}"',
        },
    )
