"""Checkpoints of a log and proofs between them, and what witnesses fetch and bring without an account.

A log is public under its origin, which ends with 16 random hexadecimal digits: whoever has a checkpoint has it. What is
public says how many entries there are and hashes of them, and nothing of what they hold.
"""

from base64 import b64encode
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers_log
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import PAGING, READING, number, refusals
from reviews.api.queries import PAGING as PAGING_READERS
from reviews.api.queries import integer, read_query
from reviews.api.schemas import OpenView
from reviews.errors import Finding, InvalidRequestError
from reviews.models import Workspace
from reviews.selectors.checkpoints import (
    PAGE_SIZE,
    CheckpointRow,
    checkpoint_of_size,
    checkpoint_rows,
    log_named,
    proof_between,
)
from reviews.services.cosignatures import MAX_LINE_BYTES, cosignature_keep
from reviews.transparency.updates import update_of

MOST_ENTRIES = 999_999_999
SIZES = {"old": integer(0, MOST_ENTRIES), "size": integer(1, MOST_ENTRIES)}
OLD = number("old", "entries of the log as the asker knows it; none: 0", lowest=0, highest=MOST_ENTRIES)
ORIGIN = OpenApiParameter(
    "origin", {"type": "string"}, OpenApiParameter.PATH, description="first line of the log's checkpoints"
)
NOTE = "The signed note with the lines of witnesses (C2SP tlog-checkpoint)"


def checkpoint_value(row: CheckpointRow) -> dict[str, Any]:
    """Return a checkpoint."""
    return {
        "size": row.size,
        "root_hash": b64encode(row.root).decode(),
        "key": row.key,
        "signed_at": row.signed_at,
        "cosignatures": [{"name": one.name, "key": one.key, "seen_at": one.seen_at} for one in row.cosignatures],
        "note": row.note.decode(),
    }


def text_answer(description: str) -> dict[Any, Any]:
    """Describe an answer of plain text."""
    return {(200, "text/plain"): OpenApiResponse({"type": "string"}, description=description)}


def plain(data: bytes) -> HttpResponse:
    """Answer with text that is not to be guessed at."""
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    return HttpResponse(data, content_type="text/plain; charset=utf-8", headers=headers)


def proof_or_refusal(workspace: Workspace, old: int, size: int) -> list[bytes]:
    """Return the proof between two sizes; none is needed from an empty log.

    Raises:
        InvalidRequestError: the log was never so long.
    """
    if old > size:
        found = Finding("request", "request/query", "old", f"a whole number from 0 to {size}", str(old))
        raise InvalidRequestError((found,))
    return proof_between(workspace, old, size)


class Checkpoints(WorkspaceView):
    """The checkpoints of a workspace's log."""

    @extend_schema(
        operation_id="checkpoints_list",
        parameters=PAGING,
        responses={200: serializers_log.CheckpointPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List checkpoints, newest first."""
        query = read_query(request.GET, PAGING_READERS)
        found = checkpoint_rows(
            actor=actor(request),
            workspace=self.space,
            older_than=query.get("before"),
            page_size=query.get("limit", PAGE_SIZE),
        )
        value = {
            "checkpoints": [checkpoint_value(row) for row in found.rows],
            "keys": list(found.keys),
            "entries": found.entries,
            "next": self.links.older(found.older_than),
        }
        return Response(serializers_log.CheckpointPage(value).data)


class CheckpointDetail(WorkspaceView):
    """One checkpoint."""

    @extend_schema(
        operation_id="checkpoint_read",
        responses={200: serializers_log.CheckpointItem, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, size: int) -> Response:
        """Return the checkpoint over so many entries."""
        read_query(request.GET, {})
        row = checkpoint_of_size(self.space, size)
        return Response(serializers_log.CheckpointItem(checkpoint_value(row)).data)


class Consistency(WorkspaceView):
    """Whether a log only grew."""

    @extend_schema(
        operation_id="consistency_read",
        parameters=[OLD, number("size", "entries of a checkpoint; the newest", lowest=1, highest=MOST_ENTRIES)],
        responses={200: serializers_log.ConsistencyProof, **refusals(*READING, 409)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Prove that a checkpoint continues the log of ``old`` entries."""
        query = read_query(request.GET, SIZES)
        row = checkpoint_of_size(self.space, query.get("size"))
        old = query.get("old", 0)
        hashes = proof_or_refusal(self.space, old, row.size)
        value = {
            "old": old,
            "size": row.size,
            "root_hash": b64encode(row.root).decode(),
            "hashes": [b64encode(one).decode() for one in hashes],
        }
        return Response(serializers_log.ConsistencyProof(value).data)


class LogCheckpoint(OpenView):
    """The newest checkpoint of a log, for everybody."""

    @extend_schema(
        operation_id="log_checkpoint_read",
        parameters=[ORIGIN],
        responses={**text_answer(NOTE), **refusals(404, 422, 429)},
    )
    def get(self, request: Request, origin: str) -> HttpResponse:
        """Return the newest signed note."""
        read_query(request.GET, {})
        return plain(checkpoint_of_size(log_named(origin)).note)


class LogUpdate(OpenView):
    """What a witness asks for before it signs."""

    @extend_schema(
        operation_id="log_update_read",
        parameters=[ORIGIN, OLD],
        responses={
            **text_answer("Consistency proof and newest checkpoint, in the form of a request of C2SP tlog-witness"),
            **refusals(404, 409, 422, 429),
        },
    )
    def get(self, request: Request, origin: str) -> HttpResponse:
        """Return the proof that the newest checkpoint continues the log of ``old`` entries, and that checkpoint."""
        query = read_query(request.GET, {"old": SIZES["old"]})
        workspace, old = log_named(origin), query.get("old", 0)
        row = checkpoint_of_size(workspace)
        return plain(update_of(old, proof_or_refusal(workspace, old, row.size), row.note))


class PlainText(BaseParser):
    """Takes a short body as it is."""

    media_type = "text/plain"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, bytes]:
        """Return the bytes, one more than may be at most."""
        return {"line": stream.read(MAX_LINE_BYTES + 1)}


class LogWitnesses(OpenView):
    """What witnesses sign."""

    parser_classes = (PlainText,)

    @extend_schema(
        operation_id="log_cosignature_keep",
        parameters=[ORIGIN],
        request={"text/plain": {"type": "string", "maxLength": MAX_LINE_BYTES}},
        responses={
            200: OpenApiResponse(serializers_log.CosignatureKept, description="This witness signed it before"),
            201: serializers_log.CosignatureKept,
            **refusals(400, 404, 413, 415, 422, 429),
        },
    )
    def post(self, request: Request, origin: str, size: int) -> Response:
        """Keep a witness's signature line of the checkpoint over so many entries; the witness has to be named."""
        read_query(request.GET, {})
        sent = request.data
        # What has no body at all is never given to a parser.
        line = sent.get("line", b"") if isinstance(sent, dict) else b""
        kept = cosignature_keep(origin=origin, size=size, line=line)
        value = {"witness": kept.witness, "size": kept.size, "time": kept.time}
        return Response(serializers_log.CosignatureKept(value).data, status=201 if kept.is_new else 200)
