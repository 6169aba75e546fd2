"""Diagnoses of the slowest rank: send traces, logs and snapshots of what runs now, and read what was found in them."""

from typing import Any

import msgspec
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.authentication import actor, trace_of
from reviews.api.base import KEPT_FOR_EVER, WorkspaceView
from reviews.api.documentation import (
    PAGING as PAGING_SAID,
)
from reviews.api.documentation import (
    READING,
    SENDING,
    body,
    refusals,
)
from reviews.api.draft_parts import FILES, given_files
from reviews.api.parts import check_outer_form, unknown_parts
from reviews.api.queries import PAGING, read_query
from reviews.api.rows import Links
from reviews.api.serializers_operate import DiagnosisPage, DiagnosisWhole
from reviews.errors import Finding, InvalidRequestError
from reviews.selectors.diagnoses import (
    PAGE_SIZE,
    DiagnosisDetail,
    DiagnosisRow,
    diagnosis_detail,
    diagnosis_file,
    diagnosis_file_bytes,
    diagnosis_list,
)
from reviews.services.acting import PROSE_LENGTH
from reviews.services.diagnoses import MOST_LATE_US, Asked, diagnosis_make

FIELDS = ("with_evidence", "trial", "late_us", "note")


class Diagnoses(WorkspaceView):
    """The diagnoses of a decision."""

    @extend_schema(
        operation_id="diagnosis_list", parameters=PAGING_SAID, responses={200: DiagnosisPage, **refusals(*READING)}
    )
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List what was found out about ranks, newest first."""
        query = read_query(request.GET, PAGING)
        found = diagnosis_list(
            actor=actor(request),
            workspace=self.space,
            number=number,
            older_than=query.get("before"),
            page_size=query.get("limit", PAGE_SIZE),
        )
        items = [diagnosis_value(row, number, self.links) for row in found.rows]
        return Response(DiagnosisPage({"diagnoses": items, "next": self.links.older(found.older_than)}).data)

    @extend_schema(
        operation_id="diagnosis_make",
        request=body(
            (),
            files=FILES,
            with_evidence={"type": "string", "enum": ["true", "false"], "description": "files behind the evidence too"},
            trial={"type": "string", "maxLength": 64, "description": "in force, or selected, where left out"},
            late_us={"type": "string", "pattern": "^[0-9]{1,8}$", "description": f"1 to {MOST_LATE_US}; 100"},
            note={"type": "string", "maxLength": PROSE_LENGTH, "description": "kept in the audit log"},
        ),
        responses={201: OpenApiResponse(DiagnosisWhole, description="Location leads to it"), **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Read files for the rank that others wait for, and keep what is found with them."""
        made = diagnosis_make(
            actor=actor(request),
            workspace=self.space,
            number=number,
            asked=_asked(request),
            trace=trace_of(request),
        )
        found = diagnosis_detail(actor=actor(request), workspace=self.space, number=number, diagnosis=made.number)
        value = whole_value(found, number, self.links)
        return Response(DiagnosisWhole(value).data, status=201, headers={"Location": value["url"]})


class DiagnosisOne(WorkspaceView):
    """One diagnosis, which never changes."""

    @extend_schema(operation_id="diagnosis_read", responses={200: DiagnosisWhole, **refusals(*READING)})
    def get(self, request: Request, workspace: str, number: int, diagnosis: int) -> Response:
        """Return what was found, and the files that it was read from."""
        read_query(request.GET, {})
        found = diagnosis_detail(actor=actor(request), workspace=self.space, number=number, diagnosis=diagnosis)
        return Response(DiagnosisWhole(whole_value(found, number, self.links)).data)


class DiagnosisFile(WorkspaceView):
    """A file that a diagnosis was read from."""

    @extend_schema(
        operation_id="diagnosis_file_read",
        responses={
            (200, "application/octet-stream"): OpenApiResponse({"type": "string", "format": "binary"}),
            **refusals(*READING),
        },
    )
    def get(
        self, request: Request, workspace: str, number: int, diagnosis: int, file: int
    ) -> StreamingHttpResponse | HttpResponse:
        """Return its bytes as they are kept."""
        read_query(request.GET, {})
        row = diagnosis_file(actor=actor(request), workspace=self.space, number=number, diagnosis=diagnosis, file=file)
        return StreamingHttpResponse(
            diagnosis_file_bytes(row),
            content_type="application/octet-stream",
            headers={
                "Content-Length": str(row.size_bytes),
                "Content-Disposition": "attachment",
                "X-Content-Type-Options": "nosniff",
                "ETag": f'"{row.sha256}"',
                "Cache-Control": KEPT_FOR_EVER,
            },
        )


def diagnosis_value(row: DiagnosisRow, number: int, links: Links) -> dict[str, Any]:
    """Return a diagnosis as lists of the API show it."""
    return {
        "number": row.number,
        "revision": row.revision,
        "trial": row.trial,
        "pattern": row.pattern or None,
        "points_at": row.points_at or None,
        "note": row.note,
        "late_us": row.late_us,
        "person": row.person,
        "made_at": row.made_at,
        "planner_version": row.planner_version,
        "result_sha256": row.result,
        "url": links.to("api-diagnosis", number, row.number),
        "page": links.to("diagnosis-detail", number, row.number),
    }


def whole_value(found: DiagnosisDetail, number: int, links: Links) -> dict[str, Any]:
    """Return a diagnosis with what it found, as it was stored."""
    files = [
        {
            "name": file.name,
            "kind": file.kind,
            "sha256": file.sha256,
            "size_bytes": file.size_bytes,
            "is_of_evidence": file.is_of_evidence,
            "uploaded_sha256": file.uploaded_sha256,
            "url": links.to("api-diagnosis-file", number, found.row.number, file.number),
        }
        for file in found.files
    ]
    stored = msgspec.json.decode(found.raw)
    return {**diagnosis_value(found.row, number, links), "files": files, "diagnosis": stored}


def _asked(request: Request) -> Asked:
    """Take the parts out of a body.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: with every part that is not taken here.
    """
    check_outer_form(request)
    problems = unknown_parts(request, files=("files",), fields=FIELDS)
    given = {name: str(request.POST.get(name, "")) for name in FIELDS}
    if given["with_evidence"] not in ("", "true", "false"):
        problems.append(Finding("request", "request/encoding", "with_evidence", "true or false", "another text"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return Asked(
        files=given_files(request),
        with_evidence=given["with_evidence"] == "true",
        trial=given["trial"],
        late_us=given["late_us"],
        note=given["note"],
    )
