"""Evidence documents by their digest, and the files behind them, byte for byte."""

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from reviews.api.authentication import actor
from reviews.api.base import KEPT_FOR_EVER, WorkspaceView, known_versions, raw_bytes, unchanged
from reviews.api.documentation import IF_NONE_MATCH, NOT_MODIFIED, RAW_JSON, READING, refusals
from reviews.api.queries import read_query
from reviews.selectors.attachments import attachment_bytes, attachment_of, evidence_document


class EvidenceDocument(WorkspaceView):
    """A stored evidence document."""

    @extend_schema(
        operation_id="evidence_document_read",
        parameters=[IF_NONE_MATCH],
        responses={**RAW_JSON, **NOT_MODIFIED, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, sha256: str) -> HttpResponse:
        """Return an evidence document byte for byte, whether it was submitted yet or not."""
        read_query(request.GET, {})
        found = evidence_document(actor=actor(request), workspace=self.space, sha256=sha256)
        if sha256 in known_versions(request):
            return unchanged(sha256, KEPT_FOR_EVER)
        return raw_bytes(found.raw, sha256, cache=KEPT_FOR_EVER, file_name="evidence.json")


class AttachmentFile(WorkspaceView):
    """A file behind evidence."""

    @extend_schema(
        operation_id="attachment_read",
        parameters=[IF_NONE_MATCH],
        responses={
            (200, "application/octet-stream"): OpenApiResponse(
                {"type": "string", "format": "binary"}, description="The kept bytes"
            ),
            **NOT_MODIFIED,
            **refusals(*READING),
        },
    )
    def get(self, request: Request, workspace: str, sha256: str) -> HttpResponse | StreamingHttpResponse:
        """Return a file that evidence was made of, as it is kept, in a stream."""
        read_query(request.GET, {})
        row = attachment_of(actor=actor(request), workspace=self.space, sha256=sha256)
        if sha256 in known_versions(request):
            return unchanged(sha256, KEPT_FOR_EVER)
        return StreamingHttpResponse(
            attachment_bytes(row),
            content_type="application/octet-stream",
            headers={
                "Content-Length": str(row.size_bytes),
                "Content-Disposition": f'attachment; filename="{sha256.removeprefix("sha256:")[:16]}"',
                "ETag": f'"{sha256}"',
                "Cache-Control": KEPT_FOR_EVER,
                "X-Content-Type-Options": "nosniff",
            },
        )
