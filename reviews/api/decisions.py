"""Decisions: list, one, and submitting a new one."""

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers
from reviews.api.authentication import actor, authentication, request_id
from reviews.api.base import WorkspaceView
from reviews.api.documentation import (
    AS_OF,
    CHECKING,
    DOCUMENT,
    IDEMPOTENCY_KEY,
    PAGING,
    READING,
    SENDING,
    STATE,
    TITLE,
    body,
    refusals,
    text,
)
from reviews.api.errors import finding_json
from reviews.api.queries import PAGING as PAGING_READERS
from reviews.api.queries import printable, read_query, state
from reviews.api.rows import decision_detail_value, decision_value, revision_value
from reviews.api.uploads import refusals_kept, uploaded_pair
from reviews.selectors.decision_page import decision_page
from reviews.selectors.decisions import PAGE_SIZE, DecisionFilter, decision_rows
from reviews.selectors.revisions import revision_row
from reviews.services.submissions import submission_check, submission_create

FILTERS = {**PAGING_READERS, "state": state, "slot": printable, "q": printable}


class Decisions(WorkspaceView):
    """The decisions of a workspace."""

    @extend_schema(
        operation_id="decision_list",
        parameters=[*PAGING, STATE, text("slot", "exact slot"), text("q", "found in title, slot or topology")],
        responses={200: serializers.DecisionPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List decisions, newest first."""
        query = read_query(request.GET, FILTERS)
        found = decision_rows(
            actor=actor(request),
            workspace=self.space,
            wanted=DecisionFilter(state=query.get("state", ""), slot=query.get("slot", ""), text=query.get("q", "")),
            older_than=query.get("before"),
            page_size=query.get("limit", PAGE_SIZE),
        )
        value = {
            "decisions": [decision_value(row, self.links) for row in found.rows],
            "next": self.links.older(found.older_than),
        }
        return Response(serializers.DecisionPage(value).data)

    @extend_schema(
        operation_id="decision_submit",
        parameters=[IDEMPOTENCY_KEY],
        request=body(("contract", "evidence", "title"), contract=DOCUMENT, evidence=DOCUMENT, title=TITLE, as_of=AS_OF),
        responses={
            201: OpenApiResponse(serializers.Revision, description="The revision; Location leads to it"),
            **refusals(*SENDING),
        },
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Submit a contract and evidence as a new decision; both are stored byte for byte."""
        with refusals_kept(request, self.space):
            upload = uploaded_pair(request, fields=("title", "as_of"))
        made = submission_create(
            actor=actor(request),
            workspace=self.space,
            contract=upload.contract,
            evidence=upload.evidence,
            title=upload.fields.get("title", ""),
            as_of=upload.fields.get("as_of"),
            idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
            request_id=request_id(),
            authentication=authentication(request),
        )
        value = revision_value(revision_row(made), made.decision.number, self.links)
        return Response(serializers.Revision(value).data, status=201, headers={"Location": value["url"]})


class DecisionDetail(WorkspaceView):
    """One decision."""

    @extend_schema(operation_id="decision_read", responses={200: serializers.DecisionDetail, **refusals(*READING)})
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """Return a decision with its newest revision, what each team owes, and its sign-offs."""
        read_query(request.GET, {})
        page = decision_page(actor=actor(request), workspace=self.space, number=number, read_plan=False)
        return Response(serializers.DecisionDetail(decision_detail_value(page, self.links)).data)


class Validate(WorkspaceView):
    """A dry run."""

    @extend_schema(
        operation_id="submission_check",
        request=body(("contract", "evidence"), contract=DOCUMENT, evidence=DOCUMENT),
        responses={200: serializers.Check, **refusals(*CHECKING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Say everything that is wrong with two documents; nothing is stored or recorded."""
        upload = uploaded_pair(request, fields=())
        problems = submission_check(
            actor=actor(request), workspace=self.space, contract=upload.contract, evidence=upload.evidence
        ).problems
        value = {"ok": not problems, "problems": [finding_json(problem) for problem in problems]}
        return Response(value)
