"""Revisions of a decision: list, submit the next, poll one, and the bytes behind it."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.decision_numbers import decision_label
from reviews.api import serializers
from reviews.api.authentication import actor, authentication, request_id
from reviews.api.base import (
    KEPT_FOR_EVER,
    KEPT_IF_UNCHANGED,
    WorkspaceView,
    known_versions,
    raw_bytes,
    unchanged,
    wanted_versions,
)
from reviews.api.documentation import (
    AS_OF,
    DOCUMENT,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    NOT_MODIFIED,
    PAGING,
    RAW_JSON,
    READING,
    SENDING,
    body,
    refusals,
)
from reviews.api.queries import PAGING as PAGING_READERS
from reviews.api.queries import read_query
from reviews.api.rows import revision_value
from reviews.api.uploads import refusals_kept, uploaded
from reviews.selectors.revision_detail import PAGE_SIZE, FileKind, revision_detail, revision_file, revision_rows
from reviews.selectors.revisions import revision_row
from reviews.services.revisions import revision_create

POLL_AFTER_S = "1"


class Revisions(WorkspaceView):
    """The revisions of a decision."""

    @extend_schema(
        operation_id="revision_list",
        parameters=PAGING,
        responses={200: serializers.RevisionPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List revisions, newest first."""
        query = read_query(request.GET, PAGING_READERS)
        found = revision_rows(
            actor=actor(request),
            workspace=self.space,
            number=number,
            older_than=query.get("before"),
            page_size=query.get("limit", PAGE_SIZE),
        )
        value = {
            "revisions": [revision_value(row, number, self.links) for row in found.rows],
            "next": self.links.older(found.older_than),
        }
        return Response(serializers.RevisionPage(value).data)

    @extend_schema(
        operation_id="revision_submit",
        parameters=[IDEMPOTENCY_KEY, IF_MATCH],
        request=body((), contract=DOCUMENT, evidence=DOCUMENT, as_of=AS_OF),
        responses={
            201: OpenApiResponse(serializers.Revision, description="The revision; Location leads to it"),
            **refusals(*SENDING),
        },
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Submit new evidence, a new contract, or both; what is not sent is the newest revision's."""
        with refusals_kept(request, self.space, number):
            upload = uploaded(request, fields=("as_of",), needs_both=False)
        made = revision_create(
            actor=actor(request),
            workspace=self.space,
            number=number,
            contract=upload.contract,
            evidence=upload.evidence,
            as_of=upload.fields.get("as_of"),
            idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
            seen_subjects=wanted_versions(request),
            request_id=request_id(),
            authentication=authentication(request),
        )
        value = revision_value(revision_row(made), number, self.links)
        return Response(serializers.Revision(value).data, status=201, headers={"Location": value["url"]})


class RevisionDetail(WorkspaceView):
    """One revision."""

    @extend_schema(
        operation_id="revision_read",
        parameters=[IF_NONE_MATCH],
        responses={200: serializers.Revision, **NOT_MODIFIED, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int, revision: int) -> Response | HttpResponse:
        """Return a revision and how its planning stands; once planned, its ETag is its subject."""
        read_query(request.GET, {})
        row = revision_detail(actor=actor(request), workspace=self.space, number=number, revision=revision)
        if row.subject is not None and row.subject in known_versions(request):
            return unchanged(row.subject, KEPT_IF_UNCHANGED)
        value = revision_value(row, number, self.links)
        headers = {}
        if row.subject is not None:
            headers = {"ETag": f'"{row.subject}"', "Cache-Control": KEPT_IF_UNCHANGED}
        elif row.job.is_open:
            headers = {"Retry-After": POLL_AFTER_S}
        return Response(serializers.Revision(value).data, headers=headers)


class StoredFile(WorkspaceView):
    """Stored bytes behind a revision. They never change, so a client that has them need not ask again."""

    kind: FileKind

    def get(self, request: Request, workspace: str, number: int, revision: int) -> HttpResponse:
        """Return the bytes."""
        read_query(request.GET, {})
        found = revision_file(
            actor=actor(request),
            workspace=self.space,
            number=number,
            revision=revision,
            kind=self.kind,
            known=known_versions(request),
        )
        if found.data is None:
            return unchanged(found.version, KEPT_FOR_EVER)
        name = "" if self.kind == "plan" else f"{decision_label(number)}-r{revision}-{self.kind}.json"
        return raw_bytes(found.data, found.version, cache=KEPT_FOR_EVER, file_name=name)


FILE_ANSWERS = {**RAW_JSON, **NOT_MODIFIED, **refusals(*READING)}


class PlanFile(StoredFile):
    """The plan."""

    kind = "plan"

    @extend_schema(operation_id="plan_read", parameters=[IF_NONE_MATCH], responses=FILE_ANSWERS)
    def get(self, request: Request, workspace: str, number: int, revision: int) -> HttpResponse:
        """Return the plan's canonical bytes; 404 until there is one. The ETag is the plan's id."""
        return super().get(request, workspace, number, revision)


class ContractFile(StoredFile):
    """The contract."""

    kind = "contract"

    @extend_schema(operation_id="contract_read", parameters=[IF_NONE_MATCH], responses=FILE_ANSWERS)
    def get(self, request: Request, workspace: str, number: int, revision: int) -> HttpResponse:
        """Return the contract byte for byte as it was uploaded."""
        return super().get(request, workspace, number, revision)


class EvidenceFile(StoredFile):
    """The evidence."""

    kind = "evidence"

    @extend_schema(operation_id="evidence_read", parameters=[IF_NONE_MATCH], responses=FILE_ANSWERS)
    def get(self, request: Request, workspace: str, number: int, revision: int) -> HttpResponse:
        """Return the evidence byte for byte as it was uploaded."""
        return super().get(request, workspace, number, revision)
