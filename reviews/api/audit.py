"""The audit log: entries with filters, one entry with its proof."""

from base64 import b64encode
from dataclasses import asdict
from datetime import date
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.times import parsed_day
from reviews.api import serializers, serializers_log
from reviews.api.authentication import actor
from reviews.api.base import KEPT_FOR_EVER, WorkspaceView, known_versions, raw_bytes, unchanged
from reviews.api.checkpoints import MOST_ENTRIES, SIZES, plain
from reviews.api.documentation import (
    IF_NONE_MATCH,
    NOT_MODIFIED,
    PAGING,
    RAW_JSON,
    READING,
    number,
    refusals,
    text,
)
from reviews.api.queries import BEFORE, digest, printable, read_query
from reviews.api.queries import PAGING as PAGING_READERS
from reviews.errors import NotFoundError
from reviews.selectors.checkpoints import Inclusion, inclusion_of
from reviews.selectors.log import PAGE_SIZE, audit_entry_bytes, audit_rows
from reviews.selectors.log_filters import EntryFilter
from reviews.transparency.merkle import leaf_hash
from reviews.transparency.proofs import proof_file


def day(given: str) -> date:
    """Take a day."""
    found = parsed_day(given)
    if found is None:
        raise ValueError("a day as YYYY-MM-DD")
    return found


FILTERS = {
    "decision": BEFORE,
    "revision": BEFORE,
    "action": printable,
    "actor": printable,
    "team": printable,
    "digest": digest,
    "since": day,
    "until": day,
    "text": printable,
}
DAY = {"format": "date", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
SIZE = number("size", "entries of the checkpoint to lead to; the newest", lowest=1, highest=MOST_ENTRIES)


class Audit(WorkspaceView):
    """The entries of a workspace's log."""

    @extend_schema(
        operation_id="audit_list",
        parameters=[
            *PAGING,
            number("decision", "a decision's number", lowest=0, highest=999_999_999),
            number("revision", "a revision's number", lowest=0, highest=999_999_999),
            text("action", "exact, a beginning with a full stop at its end as in `signoff.`, or `refused`"),
            text("actor", "a login, a part of a printed name, a token, or `system`"),
            text("team", "a team's name"),
            text("digest", "of a subject, a payload or an entry", pattern="^sha256:[0-9a-f]{64}$"),
            text("since", "first day, UTC", **DAY),
            text("until", "last day, UTC", **DAY),
            text("text", "in the entry, whatever its case; looked for in 50,000 entries, then `next` looks on"),
        ],
        responses={200: serializers.EntryPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List entries, newest first."""
        query = read_query(request.GET, {**PAGING_READERS, **FILTERS})
        found = audit_rows(
            actor=actor(request),
            workspace=self.space,
            wanted=EntryFilter(**{name: value for name, value in query.items() if name in FILTERS}),
            older_than=query.get("before"),
            page_size=query.get("limit", PAGE_SIZE),
        )
        value = {
            "audit": [asdict(row) for row in found.rows],
            "entries": found.entries,
            "next": self.links.older(found.older_than),
        }
        return Response(serializers.EntryPage(value).data)


def inclusion_value(found: Inclusion | None) -> dict[str, Any] | None:
    """Return the proof that an entry is in the log."""
    if found is None:
        return None
    return {
        "size": found.checkpoint.size,
        "root_hash": b64encode(found.checkpoint.root).decode(),
        "hashes": [b64encode(one).decode() for one in found.proof],
        "holds": found.holds,
        "fault": found.fault,
    }


class AuditEntryDetail(WorkspaceView):
    """One entry."""

    @extend_schema(
        operation_id="audit_entry_read",
        parameters=[SIZE],
        responses={200: serializers_log.EntryDetail, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, seq: int) -> Response:
        """Return an entry with its bytes and the proof that a checkpoint covers it."""
        query = read_query(request.GET, {"size": SIZES["size"]})
        row, data = audit_entry_bytes(actor=actor(request), workspace=self.space, seq=seq)
        value = {
            **asdict(row),
            "bytes": b64encode(data).decode(),
            "leaf": b64encode(leaf_hash(data)).decode(),
            "inclusion": inclusion_value(inclusion_of(self.space, seq, data, query.get("size"))),
        }
        return Response(serializers_log.EntryDetail(value).data)


class AuditEntryRaw(WorkspaceView):
    """The stored bytes of an entry."""

    @extend_schema(
        operation_id="audit_entry_raw",
        parameters=[IF_NONE_MATCH],
        responses={**RAW_JSON, **NOT_MODIFIED, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, seq: int) -> HttpResponse:
        """Return the bytes that are hashed, exactly."""
        read_query(request.GET, {})
        row, data = audit_entry_bytes(actor=actor(request), workspace=self.space, seq=seq)
        if row.sha256 in known_versions(request):
            return unchanged(row.sha256, KEPT_FOR_EVER)
        return raw_bytes(data, row.sha256, cache=KEPT_FOR_EVER)


class AuditEntryProof(WorkspaceView):
    """The proof that an entry is in the log, as a file."""

    @extend_schema(
        operation_id="audit_entry_proof",
        parameters=[SIZE],
        responses={
            (200, "text/plain"): OpenApiResponse({"type": "string"}, description="C2SP tlog-proof"),
            **refusals(*READING),
        },
    )
    def get(self, request: Request, workspace: str, seq: int) -> HttpResponse:
        """Return index, hashes and the checkpoint that they lead to; 404 where nothing proves the entry."""
        query = read_query(request.GET, {"size": SIZES["size"]})
        _, data = audit_entry_bytes(actor=actor(request), workspace=self.space, seq=seq)
        found = inclusion_of(self.space, seq, data, query.get("size"))
        if found is None or not found.holds:
            raise NotFoundError(f"Nothing proves entry {seq}: no checkpoint covers it, or the log was changed.")
        return plain(proof_file(found.index, found.proof, found.checkpoint.note))
