"""Evidence documents by their digest, and the files that they were made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.models import Attachment, Decision, DocumentKind, Person, Revision, StoredDocument, Workspace
from reviews.models.fields import asked_digest
from reviews.selectors.people import standing_of
from reviews.uploads import attachment_blocks

MOST_DECISIONS = 20


@dataclass(frozen=True, slots=True)
class AttachmentRow:
    """A file behind evidence. ``uploaded_sha256`` differs from ``sha256`` where something was taken out."""

    id: int
    name: str
    sha256: str
    size_bytes: int
    uploaded_sha256: str
    removed: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """A stored evidence document, with the contract it belongs to and what it can become part of."""

    file_sha256: str
    content_id: str
    slot: str
    stored_at: datetime
    stored_by: str
    raw: bytes
    contract_sha256: str
    attachments: tuple[AttachmentRow, ...]
    decisions: tuple[tuple[int, str], ...]
    used_in: tuple[tuple[int, int], ...]


def evidence_document(*, actor: Person, workspace: Workspace, sha256: str) -> EvidenceRow:
    """Return a stored evidence document. ``decisions`` are those of its slot, ``used_in`` decision and revision.

    Raises:
        NotFoundError: the workspace has no such evidence, or the actor is no member of it.
        TamperedError: the stored bytes are not the ones that were stored.
    """
    standing_of(actor, workspace)
    stored = (
        StoredDocument.objects.filter(workspace=workspace, kind=DocumentKind.EVIDENCE, blob_id=asked_digest(sha256))
        .select_related("stored_by")
        .first()
    )
    if stored is None:
        raise NotFoundError("There is no such evidence in this workspace.")
    contracts = StoredDocument.objects.filter(workspace=workspace, kind=DocumentKind.CONTRACT, slot=stored.slot)
    raw = blob_read(sha256, "evidence")
    decisions = Decision.objects.filter(workspace=workspace, slot=stored.slot).order_by("-number")
    used = Revision.objects.filter(evidence=stored).order_by("-pk").values_list("decision__number", "number")
    return EvidenceRow(
        file_sha256=stored.blob_id,
        content_id=stored.content_id,
        slot=stored.slot,
        stored_at=stored.stored_at,
        stored_by=stored.stored_by.display_name,
        raw=raw,
        contract_sha256=_contract_of(raw, dict(contracts.order_by("id").values_list("content_id", "blob_id"))),
        attachments=tuple(_row(one) for one in stored.attachments.order_by("name", "id")),
        decisions=tuple(decisions.values_list("number", "title")[:MOST_DECISIONS]),
        used_in=tuple(used[:MOST_DECISIONS]),
    )


def _contract_of(evidence: bytes, contracts: dict[str, str]) -> str:
    """Return the digest of the stored contract that evidence names; empty where it is not here."""
    return next((sha256 for content, sha256 in contracts.items() if content.encode() in evidence), "")


def attachment_of(*, actor: Person, workspace: Workspace, sha256: str) -> AttachmentRow:
    """Return a file of the workspace's evidence by its digest.

    Raises:
        NotFoundError: the workspace has none, or the actor is no member of it.
    """
    standing_of(actor, workspace)
    found = Attachment.objects.filter(document__workspace=workspace, sha256=asked_digest(sha256)).order_by("id").first()
    if found is None:
        raise NotFoundError("There is no such file behind the evidence of this workspace.")
    return _row(found)


def attachment_bytes(row: AttachmentRow) -> Iterator[bytes]:
    """Yield the bytes of a file that ``attachment_of`` gave, a piece at a time.

    Raises:
        TamperedError: a piece is not the one that was stored.
    """
    return attachment_blocks(row.id, row.name)


def attached_files(*, actor: Person, workspace: Workspace, evidence_sha256: str) -> dict[str, AttachmentRow]:
    """Return the files behind an evidence document by their digest; empty where it was not made here.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = Attachment.objects.filter(document__workspace=workspace, document__blob_id=evidence_sha256)
    return {row.sha256: _row(row) for row in rows}


def _row(one: Attachment) -> AttachmentRow:
    return AttachmentRow(one.pk, one.name, one.sha256, one.size_bytes, one.uploaded_sha256, one.removed)
