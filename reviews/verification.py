"""Checks a workspace's audit log: bytes, chain, columns, payloads, and what is stored beside it.

Stops at the first fault and says at which entry it is. Beside the log stand the documents and plans that entries name
by digest, the sign-offs, the comments, every other fact (``reviews.recorded``), and the signed checkpoints.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec

from planner.canonical import canonical_bytes, file_sha256
from reviews.audit import differing_columns
from reviews.blobs import blob_read
from reviews.errors import TamperedError
from reviews.log_pages import log_entries
from reviews.models import AuditEntry, Comment, SignOff, Workspace
from reviews.models.fields import NO_DIGEST
from reviews.recorded.comparison import RecordedFacts
from reviews.recorded.signed_tree import SignedTree
from reviews.services.signoffs import signoff_payload

PROGRESS_ENTRIES = 500


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


def verify(workspace: Workspace, progress: Callable[[int], None] | None = None) -> Verification:
    """Check every entry of a workspace's log in order and stop at the first fault.

    A log whose tail was cut off together with its checkpoints is consistent in itself: compare ``head`` with one that
    was kept elsewhere. ``progress`` is told now and then how many entries hold.
    """
    prev, count = NO_DIGEST, 0
    facts = Facts(workspace)
    for entry in log_entries(AuditEntry.objects.filter(workspace=workspace)):
        faults = chain(_faults(entry, origin=workspace.log_origin, seq=count, prev=prev), facts.faults(entry))
        for fault in faults:
            return Verification(count, prev, count, fault)
        prev, count = entry.sha256, count + 1
        if progress is not None and count % PROGRESS_ENTRIES == 0:
            progress(count)
    for fault in facts.unrecorded():
        return Verification(count, prev, count, fault)
    return Verification(count, prev)


class Facts:
    """What is stored beside the log, compared with the entries that recorded it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.hashed: set[str] = set()
        self.recorded = RecordedFacts(workspace)
        self.tree = SignedTree(workspace)
        self.signoffs: set[int] = set()
        self.comments: set[int] = set()

    def faults(self, entry: AuditEntry) -> Iterator[str]:
        """Yield what no longer is as the entry says; entry and payload hold in themselves."""
        payload = {} if entry.payload is None else msgspec.json.decode(bytes(entry.payload.data))
        fields = msgspec.json.decode(bytes(entry.data))
        for field, what in STORED.get(entry.action, ()):
            # An entry that was written before there were receipts names none.
            if field in payload:
                yield from self._blob(payload[field], what)
        if entry.action == "signoff.given":
            yield from self._signoff(entry, payload)
        if entry.action == "comments.published":
            yield from self._published(entry, payload["comments"])
        yield from self.recorded.faults(fields, payload)
        yield from self.tree.faults(fields, payload, bytes(entry.data))

    def unrecorded(self) -> Iterator[str]:
        """Yield what is stored and no entry recorded."""
        extra = SignOff.objects.filter(revision__decision__workspace=self.workspace).exclude(pk__in=self.signoffs)
        yield from (f"no entry records the stored sign-off {signoff.pk}" for signoff in extra.order_by("pk"))
        said = Comment.objects.filter(thread__decision__workspace=self.workspace).exclude(pk__in=self.comments)
        yield from (f"no entry records the stored comment {comment.pk}" for comment in said.order_by("pk"))
        yield from self.recorded.unrecorded()
        yield from self.tree.unrecorded()

    def _blob(self, sha256: str, what: str) -> Iterator[str]:
        if sha256 in self.hashed:
            return
        self.hashed.add(sha256)
        try:
            blob_read(sha256, what)
        except TamperedError as tampered:
            yield tampered.message

    def _signoff(self, entry: AuditEntry, payload: dict[str, Any]) -> Iterator[str]:
        given = SignOff.objects.filter(
            revision__decision__workspace=self.workspace,
            revision__decision__number=entry.decision_number or 0,
            revision__number=entry.revision_number or 0,
            person__token=entry.actor_token,
        ).select_related("team", "person")
        kept = [signoff for signoff in given if signoff_payload(signoff) == payload]
        self.signoffs.update(signoff.pk for signoff in kept)
        if not kept:
            yield "no stored sign-off says what the entry recorded"

    def _published(self, entry: AuditEntry, said: list[dict[str, Any]]) -> Iterator[str]:
        stored = Comment.objects.filter(
            thread__decision__workspace=self.workspace,
            thread__decision__number=entry.decision_number or 0,
            entry=entry.seq,
            person__token=entry.actor_token,
        )
        rows = {(thread, number): (pk, text) for pk, thread, number, text in stored.values_list(*COMMENT)}
        self.comments.update(pk for pk, _ in rows.values())
        recorded = {(one["thread"], one["comment"]): one["text"] for one in said}
        if {place: text for place, (_, text) in rows.items()} != recorded:
            yield "the stored comments do not say what the entry recorded"
        for opened in (one["opens"] for one in said if "opens" in one):
            yield from self._blob(opened["item"], "item of a thread")


COMMENT = ("pk", "thread__number", "number", "text")
"""What of a stored comment is compared with its entry."""

STORED = {
    "revision.created": (
        ("contract_file_sha256", "contract"),
        ("evidence_file_sha256", "evidence"),
        ("evidence_receipt_sha256", "intake receipt"),
    ),
    "revision.planned": (("plan_sha256", "plan"),),
    "signoff.given": (("opened", "list of what was opened"),),
    "identity.reported": (("identity", "reported identity"),),
    "identity.differs": (("identity", "reported identity"),),
    "diagnosis.made": (("diagnosis", "diagnosis"),),
}
"""Action -> (field of its payload, what is stored under that digest)."""


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
    for column in differing_columns(entry, fields):
        yield f"the column {column} differs from the stored bytes"
    if entry.payload is not None and file_sha256(bytes(entry.payload.data)) != entry.payload_id:
        yield "the payload's bytes do not hash to its digest"


def _canonical_fields(data: bytes) -> dict[str, Any] | None:
    try:
        fields = msgspec.json.decode(data)
        canonical = canonical_bytes(fields)
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, ValueError):
        return None
    return fields if canonical == data and isinstance(fields, dict) else None
