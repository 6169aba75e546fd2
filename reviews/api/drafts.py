"""Drafts of evidence: the evidence builder for programs. Begin, send files, read the state, decide, make the document.

Every change may name the version that it was made from (``If-Match``); where the draft moved on since, it is refused
and nothing is lost. Sending the same file again changes nothing.
"""

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.whole_numbers import whole_number
from reviews.api import serializers_drafts as shapes
from reviews.api.authentication import actor, authentication, request_id
from reviews.api.base import KEPT_IF_UNCHANGED, WorkspaceView, known_versions, unchanged, wanted_versions
from reviews.api.documentation import (
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    NOT_MODIFIED,
    READING,
    SENDING,
    body,
    refusals,
)
from reviews.api.draft_parts import CHANGES, FILES, sent_changes, sent_contract, sent_files
from reviews.api.draft_values import draft_row_value, made_value, outcome_value, state_value
from reviews.api.queries import read_query
from reviews.draft_changes import changes_from
from reviews.errors import ConflictError
from reviews.models import DocumentKind
from reviews.selectors.attachments import evidence_document
from reviews.selectors.drafts import drafts_of
from reviews.selectors.evidence_drafts import evidence_draft
from reviews.services.draft_files import file_remove, files_add
from reviews.services.drafts import MOVED, draft_delete, drafting_require
from reviews.services.evidence_drafts import evidence_draft_begin, evidence_draft_change, evidence_make

KEY = OpenApiParameter(
    IDEMPOTENCY_KEY.name,
    IDEMPOTENCY_KEY.type,
    OpenApiParameter.HEADER,
    description="The same request under the same key again returns the draft that it began.",
)
CHANGED = {200: shapes.EvidenceDraftState, **refusals(*SENDING)}


class DraftView(WorkspaceView):
    """A view of drafts of one kind."""

    kind: DocumentKind

    def asked(self, request: Request, number: int) -> dict[str, Any]:
        """Return what every act on a draft names."""
        return {
            "actor": actor(request),
            "workspace": self.space,
            "draft_id": number,
            "request_id": request_id(),
            "authentication": authentication(request),
        }

    def permitted(self, request: Request, number: int | None = None) -> dict[str, Any]:
        """Return the same once the caller may have drafts here: nothing is said of what is sent before."""
        asked = self.asked(request, number or 0)
        beginning = {name: asked[name] for name in asked if name != "draft_id"}
        drafting_require(kind=self.kind, **beginning)
        return beginning if number is None else asked


class EvidenceDraftView(DraftView):
    """A view of drafts of evidence."""

    kind = DocumentKind.EVIDENCE

    def state(self, request: Request, number: int, status: int = 200) -> Response:
        """Answer with a draft's state; its ETag is its version."""
        found = evidence_draft(actor=actor(request), workspace=self.space, draft_id=number)
        value = state_value(found, self.links)
        headers = {"ETag": f'"v{found.draft.version}"', "Cache-Control": KEPT_IF_UNCHANGED}
        if found.waits:
            headers["Retry-After"] = "2"
        if status == 201:
            headers["Location"] = value["url"]
        return Response(shapes.EvidenceDraftState(value).data, status=status, headers=headers)


def seen_version(request: Request) -> int | None:
    """Return the version that the client builds on, from If-Match; None for whichever there is.

    Raises:
        ConflictError: it names something that no version of a draft is.
    """
    wanted = wanted_versions(request)
    if wanted is None:
        return None
    versions = [whole_number(tag[1:]) for tag in wanted if tag[:1] == "v"]
    if len(versions) != 1 or versions[0] is None:
        raise ConflictError(MOVED, moved=("draft",))
    return versions[0]


class EvidenceDrafts(EvidenceDraftView):
    """One's own drafts."""

    @extend_schema(operation_id="evidence_draft_list", responses={200: shapes.EvidenceDraftList, **refusals(*READING)})
    def get(self, request: Request, workspace: str) -> Response:
        """List one's own drafts, the last changed first."""
        read_query(request.GET, {})
        rows = drafts_of(actor=actor(request), workspace=self.space, kind=DocumentKind.EVIDENCE)
        value = {"drafts": [draft_row_value(row, self.links) for row in rows]}
        return Response(shapes.EvidenceDraftList(value).data)

    @extend_schema(
        operation_id="evidence_draft_begin",
        parameters=[KEY],
        request=body(
            (),
            contract={"type": "string", "format": "binary"},
            contract_sha256={"type": "string", "description": "file digest of a contract that the workspace has"},
            name={"type": "string", "maxLength": 200},
            hide_hosts={"type": "string", "enum": ["true", "false"], "description": "replace host names in files"},
        ),
        responses={
            201: OpenApiResponse(shapes.EvidenceDraftState, description="The draft; Location leads to it"),
            **refusals(*SENDING),
        },
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Begin a draft for a contract: the one that is sent, or a stored one."""
        asked = self.permitted(request)
        sent = sent_contract(request)
        draft = evidence_draft_begin(
            contract=sent.contract,
            contract_sha256=sent.contract_sha256,
            name=sent.name,
            hides_hosts=sent.hides_hosts,
            idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
            **asked,
        )
        return self.state(request, draft.pk, 201)


class EvidenceDraftDetail(EvidenceDraftView):
    """One draft."""

    @extend_schema(
        operation_id="evidence_draft_read",
        parameters=[IF_NONE_MATCH],
        responses={200: shapes.EvidenceDraftState, **NOT_MODIFIED, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int) -> Response | HttpResponse:
        """Return what a draft holds and lacks; poll it while a file is still to be read."""
        read_query(request.GET, {})
        answer = self.state(request, number)
        version = answer.headers["ETag"].strip('"')
        if version in known_versions(request) and "Retry-After" not in answer.headers:
            return unchanged(version, KEPT_IF_UNCHANGED)
        return answer

    @extend_schema(
        operation_id="evidence_draft_delete",
        parameters=[IF_MATCH],
        responses={204: OpenApiResponse(description="It is gone, with its files"), **refusals(*SENDING)},
    )
    def delete(self, request: Request, workspace: str, number: int) -> Response:
        """Delete a draft and its files for good; evidence that was made of it stays."""
        draft_delete(kind=DocumentKind.EVIDENCE, seen_version=seen_version(request), **self.asked(request, number))
        return Response(status=204)


class EvidenceDraftFiles(EvidenceDraftView):
    """The files of a draft."""

    @extend_schema(
        operation_id="evidence_draft_files_add",
        parameters=[IF_MATCH],
        request=body(("files",), files=FILES),
        responses={200: shapes.FileOutcomes, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Add files. Each is judged by itself; the same bytes again change nothing; large ones are read afterwards."""
        asked = self.permitted(request, number)
        files = sent_files(request)
        outcomes = files_add(files=files, seen_version=seen_version(request), **asked)
        found = evidence_draft(actor=actor(request), workspace=self.space, draft_id=number)
        value = {"version": found.draft.version, "files": [outcome_value(one) for one in outcomes]}
        return Response(shapes.FileOutcomes(value).data, headers={"ETag": f'"v{found.draft.version}"'})


class EvidenceDraftFile(EvidenceDraftView):
    """One file of a draft."""

    @extend_schema(operation_id="evidence_draft_file_remove", parameters=[IF_MATCH], responses=CHANGED)
    def delete(self, request: Request, workspace: str, number: int, sha256: str) -> Response:
        """Take a file out, with the places of its runs and what was decided about them."""
        file_remove(sha256=sha256, seen_version=seen_version(request), **self.asked(request, number))
        return self.state(request, number)


class EvidenceDraftChanges(EvidenceDraftView):
    """What is decided about a draft."""

    @extend_schema(
        operation_id="evidence_draft_change",
        parameters=[IF_MATCH],
        request=body(("changes",), changes=CHANGES),
        responses=CHANGED,
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Arrange, answer and settle: all changes are made, or none."""
        asked = self.permitted(request, number)
        evidence_draft_change(changes=changes_from(sent_changes(request)), seen_version=seen_version(request), **asked)
        return self.state(request, number)


class EvidenceDraftMade(EvidenceDraftView):
    """The document that a draft makes."""

    @extend_schema(
        operation_id="evidence_draft_finish",
        parameters=[IF_MATCH],
        request=None,
        responses={
            201: OpenApiResponse(shapes.MadeEvidence, description="The document; Location leads to its bytes"),
            **refusals(*SENDING),
        },
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Make the evidence document, and keep it with its files for good; 422 names everything that is open."""
        made = evidence_make(seen_version=seen_version(request), **self.asked(request, number))
        found = evidence_document(actor=actor(request), workspace=self.space, sha256=made.file_sha256)
        page = request.build_absolute_uri(reverse("evidence-detail", args=[self.space.slug, made.file_sha256]))
        value = made_value(found, self.links, page)
        return Response(shapes.MadeEvidence(value).data, status=201, headers={"Location": value["url"]})
