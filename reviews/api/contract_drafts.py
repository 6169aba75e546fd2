"""Drafts of contracts: the contract builder for programs. Begin, change fields, send files, read what is still wrong.

A draft holds any tree, however unfinished: its problems are named with their pointers, and its document is what would
be stored. Versions, ``If-Match`` and the idempotency key are as for drafts of evidence.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.contract_builder.draft import ContractDraft, continued, draft_from
from planner.contract_builder.hardware import HardwareRefusedError
from planner.contract_builder.rendered import rendered
from planner.contract_builder.taking import with_hardware_files, with_model_files
from planner.errors import DocumentRefusedError, Problem
from planner.hypotheses.config import ConfigRefusedError
from reviews.api import serializers_drafts as shapes
from reviews.api.base import KEPT_IF_UNCHANGED, known_versions, raw_bytes, unchanged
from reviews.api.contract_draft_values import contract_row_value, contract_state_value
from reviews.api.documentation import (
    IF_MATCH,
    IF_NONE_MATCH,
    NOT_MODIFIED,
    RAW_JSON,
    READING,
    SENDING,
    body,
    refusals,
)
from reviews.api.draft_parts import SentHardware, sent_changes, sent_document, sent_hardware
from reviews.api.drafts import KEY, DraftView, seen_version
from reviews.api.parts import BINARY
from reviews.api.queries import read_query
from reviews.contract_changes import apply, changes_from
from reviews.errors import Finding, InvalidRequestError
from reviews.models import DocumentKind
from reviews.selectors.contracts import contract_of_workspace
from reviews.selectors.drafts import draft_of_owner, drafts_of
from reviews.services.contract_drafts import contract_draft_change, contract_draft_create
from reviews.services.drafts import draft_delete

CHANGED = {200: shapes.ContractDraftState, **refusals(*SENDING)}
CHANGES = {
    **BINARY,
    "contentMediaType": "application/json",
    "description": '`{"changes": [{"do": "set", "at": "/slot", "value": "chat/eu"}, ...]}`; each `do` is a change of '
    "the author guide",
}
FILES = {"type": "array", "items": BINARY}


class ContractDraftView(DraftView):
    """A view of drafts of contracts."""

    kind = DocumentKind.CONTRACT

    def state(self, request: Request, number: int, status: int = 200) -> Response:
        """Answer with a draft's state; its ETag is its version."""
        asked = self.asked(request, number)
        stored = draft_of_owner(actor=asked["actor"], workspace=self.space, draft_id=number, kind=self.kind)
        value = contract_state_value(stored, draft_from(bytes(stored.body)), self.links)
        headers = {"ETag": f'"v{stored.version}"', "Cache-Control": KEPT_IF_UNCHANGED}
        if status == 201:
            headers["Location"] = value["url"]
        return Response(shapes.ContractDraftState(value).data, status=status, headers=headers)

    def change(
        self, request: Request, number: int, asked: dict[str, Any], edit: Callable[[ContractDraft], ContractDraft]
    ) -> Response:
        """Change a draft and answer with its state."""
        contract_draft_change(edit=edit, seen_version=seen_version(request), **asked)
        return self.state(request, number)


class ContractDrafts(ContractDraftView):
    """One's own drafts of contracts."""

    @extend_schema(operation_id="contract_draft_list", responses={200: shapes.ContractDraftList, **refusals(*READING)})
    def get(self, request: Request, workspace: str) -> Response:
        """List one's own drafts, the last changed first."""
        read_query(request.GET, {})
        rows = drafts_of(actor=self.asked(request, 0)["actor"], workspace=self.space, kind=self.kind)
        value = {"drafts": [contract_row_value(row, self.links) for row in rows]}
        return Response(shapes.ContractDraftList(value).data)

    @extend_schema(
        operation_id="contract_draft_begin",
        parameters=[KEY],
        request=body(
            (),
            document={**BINARY, "description": "a contract to go on from, finished or not"},
            contract_sha256={"type": "string", "description": "file digest of a contract of the workspace to clone"},
        ),
        responses={
            201: OpenApiResponse(shapes.ContractDraftState, description="The draft; Location leads to it"),
            **refusals(*SENDING),
        },
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Begin a contract: with nothing, from a file, or as a stored one, whose differences its page then shows."""
        asked = self.permitted(request)
        sent = sent_document(request)
        stored = contract_draft_create(
            draft=self.begun(asked["actor"], sent.document, sent.contract_sha256),
            idempotency_key=request.META.get("HTTP_IDEMPOTENCY_KEY"),
            **asked,
        )
        return self.state(request, stored.pk, 201)

    def begun(self, actor: Any, document: bytes | None, stored: str) -> ContractDraft:
        """Return what a draft begins as.

        Raises:
            InvalidRequestError: what was sent is no contract to go on from.
            NotFoundError: the workspace has no contract of this digest.
        """
        if stored:
            raw = contract_of_workspace(actor=actor, workspace=self.space, file_sha256=stored)
            return continued(raw, based_on=stored)
        try:
            return ContractDraft() if document is None else continued(document)
        except DocumentRefusedError as refused:
            raise refusal(refused.problems) from refused


class ContractDraftDetail(ContractDraftView):
    """One draft of a contract."""

    @extend_schema(
        operation_id="contract_draft_read",
        parameters=[IF_NONE_MATCH],
        responses={200: shapes.ContractDraftState, **NOT_MODIFIED, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int) -> Response | HttpResponse:
        """Return the contract as far as it is written, what is wrong or missing, and what is to be asked."""
        read_query(request.GET, {})
        answer = self.state(request, number)
        version = answer.headers["ETag"].strip('"')
        return unchanged(version, KEPT_IF_UNCHANGED) if version in known_versions(request) else answer

    @extend_schema(
        operation_id="contract_draft_delete",
        parameters=[IF_MATCH],
        responses={204: OpenApiResponse(description="It is gone"), **refusals(*SENDING)},
    )
    def delete(self, request: Request, workspace: str, number: int) -> Response:
        """Delete a draft for good; contracts that were submitted stay."""
        draft_delete(kind=self.kind, seen_version=seen_version(request), **self.asked(request, number))
        return Response(status=204)


class ContractDraftChanges(ContractDraftView):
    """What is written in a draft."""

    @extend_schema(
        operation_id="contract_draft_change",
        parameters=[IF_MATCH],
        request=body(("changes",), changes=CHANGES),
        responses=CHANGED,
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Set and remove fields, take a known model or a set of evidence: all changes are made, or none."""
        asked = self.permitted(request, number)
        changes = changes_from(sent_changes(request))
        return self.change(request, number, asked, lambda draft: apply(draft, changes))


class ContractDraftFiles(ContractDraftView):
    """Files that fill a draft in."""

    @extend_schema(
        operation_id="contract_draft_files",
        parameters=[IF_MATCH],
        request=body(
            (),
            config={**FILES, "description": "config.json of the model, and hf_quant_config.json beside it"},
            topology={
                **FILES,
                "description": "nvidia-smi topo -m, rocm-smi --showtopo, NCCL topology",
            },
            copies={"type": "string", "pattern": "^[0-9]{1,4}$", "description": "equal nodes of each topology; 1"},
            node_names={"type": "string", "description": "ids of the nodes, parted by blanks or commas"},
        ),
        responses=CHANGED,
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Take the model's shape from its files, and add nodes from topologies; all of it or nothing."""
        asked = self.permitted(request, number)
        sent = sent_hardware(request)
        return self.change(request, number, asked, lambda draft: taken(draft, sent))


class ContractDraftDocument(ContractDraftView):
    """The document of a draft."""

    @extend_schema(
        operation_id="contract_draft_document",
        responses={**RAW_JSON, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int) -> HttpResponse:
        """Return the contract as it would be stored, byte for byte, complete or not."""
        read_query(request.GET, {})
        actor = self.asked(request, number)["actor"]
        stored = draft_of_owner(actor=actor, workspace=self.space, draft_id=number, kind=self.kind)
        raw = rendered(draft_from(bytes(stored.body)).tree)
        return raw_bytes(raw, f"v{stored.version}", cache=KEPT_IF_UNCHANGED, file_name="contract.json")


def taken(draft: ContractDraft, sent: SentHardware) -> ContractDraft:
    """Return the draft with what files say.

    Raises:
        InvalidRequestError: with every problem of every file.
    """
    try:
        if sent.config:
            draft = with_model_files(draft, sent.config)
        if sent.topology:
            draft = with_hardware_files(draft, sent.topology, names=sent.names, copies=sent.copies)
    except (ConfigRefusedError, HardwareRefusedError) as refused:
        named = (
            Finding.of(problem, "request", pointer=" ".join(part for part in (name, problem.pointer) if part))
            for name, problems in refused.by_file.items()
            for problem in problems
        )
        raise InvalidRequestError(tuple(named)) from refused
    return draft


def refusal(problems: tuple[Problem, ...]) -> InvalidRequestError:
    """Return the problems of a document as those of the request that sent it."""
    return InvalidRequestError(tuple(Finding.of(problem, "contract") for problem in problems))
