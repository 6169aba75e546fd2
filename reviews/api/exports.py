"""Exports: ask for a bundle, see how far it is, fetch it. A worker writes it meanwhile."""

from dataclasses import asdict
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.whole_numbers import whole_number
from reviews.api.act_parts import act_of, sent_fields
from reviews.api.authentication import actor
from reviews.api.base import NOT_KEPT, WorkspaceView
from reviews.api.documentation import READING, SENDING, body, number, refusals
from reviews.api.queries import BEFORE, read_query
from reviews.api.rows import Links
from reviews.api.serializers_exports import ExportItem, ExportList
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.selectors.exports import ExportRow, export_detail, export_row, export_rows
from reviews.services.exports import export_fetch, export_request

DECISION = {
    "type": "string",
    "pattern": "^[0-9]{0,9}$",
    "description": "a decision's number; empty or left out, the whole workspace",
}

FILES = {
    "type": "string",
    "enum": ["", "yes"],
    "description": "`yes` puts the files behind evidence and diagnoses in; without, they are listed",
}


def export_value(row: ExportRow, links: Links) -> dict[str, Any]:
    """Return an export as the API shows it."""
    return {
        **asdict(row),
        "url": links.to("api-export", row.id),
        "bundle": links.to("api-export-bundle", row.id) if row.is_ready else None,
    }


class Exports(WorkspaceView):
    """The exports of a workspace. Asking for one reads, so the scope read is enough."""

    token_scope = "read"  # noqa: S105 - the name of a scope

    @extend_schema(
        operation_id="export_list",
        parameters=[number("decision", "a decision's number", lowest=0, highest=999_999_999)],
        responses={200: ExportList, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List exports, newest first."""
        query = read_query(request.GET, {"decision": BEFORE})
        rows = export_rows(actor=actor(request), workspace=self.space, decision=query.get("decision"))
        return Response(ExportList({"exports": [export_value(row, self.links) for row in rows]}).data)

    @extend_schema(
        operation_id="export_request",
        request=body((), decision=DECISION, files=FILES),
        responses={202: ExportItem, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Ask for a bundle; poll its `url`. The same again, while it waits, is the same export."""
        sent = sent_fields(request, "decision", "files")
        decision, with_files = _decision(sent["decision"]), _with_files(sent["files"])
        _refuse_formless(request)
        export = export_request(decision=decision, with_files=with_files, **act_of(request, self.space))
        value = export_value(export_row(export), self.links)
        return Response(ExportItem(value).data, status=202, headers={"Location": value["url"]})


class ExportDetail(WorkspaceView):
    """One export."""

    @extend_schema(operation_id="export_read", responses={200: ExportItem, **refusals(*READING)})
    def get(self, request: Request, workspace: str, export: int) -> Response:
        """Return where an export stands."""
        read_query(request.GET, {})
        row = export_detail(actor=actor(request), workspace=self.space, export_id=export)
        return Response(ExportItem(export_value(row, self.links)).data)


class ExportBundle(WorkspaceView):
    """The bytes of an export."""

    @extend_schema(
        operation_id="export_bundle",
        responses={
            (200, "application/zip"): OpenApiResponse({"type": "string", "format": "binary"}, description="The bundle"),
            **refusals(*READING, 409),
        },
    )
    def get(self, request: Request, workspace: str, export: int) -> StreamingHttpResponse:
        """Fetch a bundle, in a stream; that it was fetched is an entry of the log."""
        read_query(request.GET, {})
        row, pieces = export_fetch(export_id=export, **act_of(request, self.space))
        return StreamingHttpResponse(
            pieces,
            content_type="application/zip",
            headers={
                "Content-Length": str(row.size_bytes),
                "Content-Disposition": f'attachment; filename="{row.file_name}"',
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": NOT_KEPT,
            },
        )


def _refuse_formless(request: Request) -> None:
    """Refuse a body of several parts of which none is a field: it asks for something, and not for everything.

    Raises:
        InvalidRequestError: it is longer than a form without fields, which is one line with the boundary in it.
    """
    _, _, boundary = request.META.get("CONTENT_TYPE", "").partition("boundary=")
    length = whole_number(str(request.META.get("CONTENT_LENGTH", "")), 18) or 0
    if boundary and not request.POST and length > len(boundary) + len("----\r\n\r\n"):
        expected = "a form with the field decision, or an empty one"
        raise InvalidRequestError((Finding("request", "request/decision", "decision", expected, "no field"),))


def _with_files(text: str) -> bool:
    """Read whether files are wanted.

    Raises:
        InvalidRequestError: it says something else.
    """
    if text not in ("", "yes"):
        raise InvalidRequestError(
            (Finding("request", "request/files", "files", "yes, or nothing", printable(text, 40)),)
        )
    return text == "yes"


def _decision(text: str) -> int | None:
    """Read the number of a decision; none is the whole workspace.

    Raises:
        InvalidRequestError: it is none.
    """
    if not text:
        return None
    number = whole_number(text)
    if number is None:
        expected = "a decision's number, or nothing for the whole workspace"
        raise InvalidRequestError((Finding("request", "request/decision", "decision", expected, text[:40]),))
    return number
