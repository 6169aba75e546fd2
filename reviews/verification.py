"""Checks a workspace's audit log: bytes, chain, columns, payloads; stops at the first fault and says where it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.canonical import canonical_bytes, file_sha256
from reviews.audit import COLUMNS
from reviews.models import AuditEntry, Workspace
from reviews.models.fields import NO_DIGEST


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking the chain found. ``bad_seq`` is the first entry at fault, None when all hold together.

    ``entries`` and ``head`` are the count and the digest of the last entry that hold.
    """

    entries: int
    head: str
    bad_seq: int | None = None
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether no entry is at fault."""
        return self.bad_seq is None


def verify(workspace: Workspace) -> Verification:
    """Check every entry of a workspace's log in order and stop at the first fault.

    A log whose tail was cut off is consistent in itself: compare ``head`` with one that was kept elsewhere.
    """
    prev, count = NO_DIGEST, 0
    rows = AuditEntry.objects.filter(workspace=workspace).select_related("payload").order_by("seq")
    for entry in rows.iterator(chunk_size=500):
        for fault in _faults(entry, origin=workspace.log_origin, seq=count, prev=prev):
            return Verification(count, prev, count, fault)
        prev, count = entry.sha256, count + 1
    return Verification(count, prev)


def _faults(entry: AuditEntry, *, origin: str, seq: int, prev: str) -> Iterator[str]:
    """Yield what is wrong with the entry that should be number ``seq`` after ``prev``, the plainest first."""
    data = bytes(entry.data)
    if entry.seq != seq:
        yield f"entry {seq} is missing; the next one is {entry.seq}"
    if file_sha256(data) != entry.sha256:
        yield "the stored bytes do not hash to the stored digest"
    fields = _canonical_fields(data)
    if fields is None:
        yield "the stored bytes are not a JSON object in its canonical form"
        return
    for field, expected, fault in (
        ("origin", origin, "the entry belongs to another log"),
        ("prev", prev, "the entry does not follow the one before it"),
    ):
        if fields.get(field) != expected:
            yield fault
    for column in _differing_columns(entry, fields):
        yield f"the column {column} differs from the stored bytes"
    if entry.payload is not None and file_sha256(bytes(entry.payload.data)) != entry.payload_id:
        yield "the payload's bytes do not hash to its digest"


def _differing_columns(entry: AuditEntry, fields: dict[str, Any]) -> Iterator[str]:
    for field, column in COLUMNS.items():
        if _empty_as_text(fields.get(field)) != _empty_as_text(getattr(entry, column)):
            yield column


def _canonical_fields(data: bytes) -> dict[str, Any] | None:
    try:
        fields = msgspec.json.decode(data)
        canonical = canonical_bytes(fields)
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, ValueError):
        return None
    return fields if canonical == data and isinstance(fields, dict) else None


def _empty_as_text(value: Any) -> Any:
    """Text columns hold "" where the entry says null."""
    return "" if value is None else value
