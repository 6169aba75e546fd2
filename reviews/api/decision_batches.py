"""What collectors sent of a decision: a receipt of each batch, and its bytes for as long as they are kept."""

from dataclasses import asdict

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.decision_observations import PAGE_READERS, PAGES
from reviews.api.documentation import READING, refusals
from reviews.api.queries import read_query
from reviews.api.serializers_operate import BatchPage
from reviews.selectors.observed_rows import PAGE_SIZE, batch_bytes, batch_rows


class DecisionBatches(WorkspaceView):
    """Batches of what a decision put into force last."""

    @extend_schema(operation_id="decision_batches", parameters=PAGES, responses={200: BatchPage, **refusals(*READING)})
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List who sent what, the last first."""
        query = read_query(request.GET, PAGE_READERS)
        page, limit = query.get("page", 1), query.get("limit", PAGE_SIZE)
        rows, total = batch_rows(actor=actor(request), workspace=self.space, number=number, page=page, page_size=limit)
        value = {
            "batches": [asdict(row) for row in rows],
            "total": total,
            "next": self.links.with_query(page=page + 1) if page * limit < total else None,
        }
        return Response(BatchPage(value).data)


class DecisionBatch(WorkspaceView):
    """One batch as it was sent."""

    @extend_schema(
        operation_id="decision_batch_read",
        responses={
            (200, "application/json"): OpenApiResponse({"type": "object"}, description="topogate.observations/v1"),
            **refusals(*READING),
        },
    )
    def get(self, request: Request, workspace: str, number: int, sha256: str) -> HttpResponse:
        """Return its bytes, 404 where they are kept no more."""
        read_query(request.GET, {})
        raw = batch_bytes(actor=actor(request), workspace=self.space, number=number, sha256=sha256)
        headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return HttpResponse(raw, content_type="application/json", headers=headers)
