"""The audit log."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import PAGING, READING, number, refusals, text
from reviews.api.queries import BEFORE, digest, printable, read_query
from reviews.api.queries import PAGING as PAGING_READERS
from reviews.selectors.log import PAGE_SIZE, audit_rows
from reviews.selectors.log_filters import EntryFilter

FILTERS = {**PAGING_READERS, "decision": BEFORE, "action": printable, "team": printable, "digest": digest}


class Audit(WorkspaceView):
    """The entries of a workspace's log."""

    @extend_schema(
        operation_id="audit_list",
        parameters=[
            *PAGING,
            number("decision", "a decision's number", lowest=0, highest=999_999_999),
            text("action", "exact, or a beginning with a full stop at its end, as in `signoff.`"),
            text("team", "a team's name"),
            text("digest", "of a subject or an entry", pattern="^sha256:[0-9a-f]{64}$"),
        ],
        responses={200: serializers.EntryPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List entries, newest first."""
        query = read_query(request.GET, FILTERS)
        found = audit_rows(
            actor=actor(request),
            workspace=self.space,
            wanted=EntryFilter(
                decision=query.get("decision"),
                action=query.get("action", ""),
                team=query.get("team", ""),
                digest=query.get("digest", ""),
            ),
            older_than=query.get("before"),
            page_size=query.get("limit", PAGE_SIZE),
        )
        value = {
            "audit": [asdict(row) for row in found.rows],
            "entries": found.entries,
            "next": self.links.older(found.older_than),
        }
        return Response(serializers.EntryPage(value).data)
