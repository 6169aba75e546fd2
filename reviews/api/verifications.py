"""Verifications of a log: ask for one, see how far it is and what it found. A worker makes it meanwhile."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.act_parts import act_of, sent_fields
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, SENDING, refusals
from reviews.api.queries import read_query
from reviews.api.rows import Links
from reviews.api.serializers_log import VerificationItem, VerificationList
from reviews.selectors.verifications import VerificationRow, verification_detail, verification_rows
from reviews.services.verifications import verification_request


def verification_value(row: VerificationRow, links: Links) -> dict[str, Any]:
    """Return a verification as the API shows it."""
    return {**asdict(row), "outcome": row.outcome or None, "url": links.to("api-verification", row.id)}


class Verifications(WorkspaceView):
    """The verifications of a workspace. Asking for one reads, so the scope read is enough."""

    token_scope = "read"  # noqa: S105 - the name of a scope

    @extend_schema(operation_id="verification_list", responses={200: VerificationList, **refusals(*READING)})
    def get(self, request: Request, workspace: str) -> Response:
        """List verifications, newest first."""
        read_query(request.GET, {})
        rows = verification_rows(actor=actor(request), workspace=self.space)
        return Response(VerificationList({"verifications": [verification_value(row, self.links) for row in rows]}).data)

    @extend_schema(
        operation_id="verification_request",
        request=None,
        responses={202: VerificationItem, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Ask for a verification; poll its `url`. While one waits or runs, that is the one."""
        read_query(request.GET, {})
        if request.META.get("CONTENT_LENGTH") not in (None, "", "0"):
            sent_fields(request)  # names what was sent: nothing is taken here
        made = verification_request(**act_of(request, self.space))
        row = verification_detail(actor=actor(request), workspace=self.space, verification_id=made.pk)
        value = verification_value(row, self.links)
        return Response(VerificationItem(value).data, status=202, headers={"Location": value["url"]})


class VerificationDetail(WorkspaceView):
    """One verification."""

    @extend_schema(operation_id="verification_read", responses={200: VerificationItem, **refusals(*READING)})
    def get(self, request: Request, workspace: str, verification: int) -> Response:
        """Return how far a verification is, or what it found."""
        read_query(request.GET, {})
        row = verification_detail(actor=actor(request), workspace=self.space, verification_id=verification)
        return Response(VerificationItem(verification_value(row, self.links)).data)
