"""Reads of drafts of evidence: their files, and the builder's draft put together again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from planner import builder
from reviews.blobs import blob_read
from reviews.building import Body, Work, body_of, contract_of, reading_of, with_files
from reviews.models import DocumentKind, Draft, DraftFile, FileState, Person, StoredDocument, Workspace
from reviews.selectors.drafts import draft_of_owner
from reviews.selectors.people import standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file of a draft, as lists show it. ``removed`` has counts by kind and the first places."""

    id: int
    name: str
    sha256: str
    size_bytes: int
    uploaded_sha256: str
    removed: dict[str, Any]
    state: str
    bytes_done: int
    reading: builder.DraftFile | None
    added_at: datetime


@dataclass(frozen=True, slots=True)
class EvidenceDraft:
    """A draft of evidence as its owner sees it."""

    draft: Draft
    body: Body
    work: Work
    files: tuple[FileRow, ...]

    @property
    def waits(self) -> bool:
        """Whether a file is still to be read."""
        return any(file.state in (FileState.WAITING, FileState.READING) for file in self.files)


def work_of(draft: Draft) -> tuple[Work, Body]:
    """Put the builder's draft together from its row and those of its files.

    Raises:
        TamperedError: the stored contract is not what was stored.
    """
    body = body_of(bytes(draft.body))
    readings = DraftFile.objects.filter(draft=draft, state=FileState.READ).values_list("reading", flat=True)
    return Work(
        with_files(body, (reading_of(bytes(reading)) for reading in readings if reading is not None)),
        contract_of(contract_bytes(body)),
    ), body


def contract_bytes(body: Body) -> bytes:
    """Return the bytes of the contract that a draft is made for.

    Raises:
        TamperedError: the stored contract is not what was stored.
    """
    if body.contract_text is not None:
        return body.contract_text.encode()
    return blob_read(body.contract_sha256, "contract")


def evidence_draft(*, actor: Person, workspace: Workspace, draft_id: int) -> EvidenceDraft:
    """Return a draft of the actor with its files, in the order in which they came.

    Raises:
        NotFoundError: the actor is no member of the workspace, or has no such draft in it.
        TamperedError: the stored contract is not what was stored.
    """
    draft = draft_of_owner(actor=actor, workspace=workspace, draft_id=draft_id, kind=DocumentKind.EVIDENCE)
    body = body_of(bytes(draft.body))
    rows = DraftFile.objects.filter(draft=draft).exclude(state=FileState.ARRIVING).order_by("id")
    files = tuple(_row(row) for row in rows)
    known = [file.reading for file in files if file.reading is not None and file.state == FileState.READ]
    work = Work(with_files(body, known), contract_of(contract_bytes(body)))
    return EvidenceDraft(draft, body, work, files)


def _row(row: DraftFile) -> FileRow:
    return FileRow(
        id=row.pk,
        name=row.name,
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        uploaded_sha256=row.uploaded_sha256,
        removed=row.removed,
        state=row.state,
        bytes_done=row.bytes_done,
        reading=None if row.reading is None else reading_of(bytes(row.reading)),
        added_at=row.added_at,
    )


@dataclass(frozen=True, slots=True)
class ContractRow:
    """A stored contract that evidence can be built for."""

    sha256: str
    content_id: str
    slot: str
    stored_at: datetime


def contract_rows(*, actor: Person, workspace: Workspace, limit: int = 50) -> tuple[ContractRow, ...]:
    """Return the workspace's newest contracts, the same content once.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    rows = StoredDocument.objects.filter(workspace=workspace, kind=DocumentKind.CONTRACT).order_by("-id")
    newest: dict[str, ContractRow] = {}
    for row in rows.only("blob_id", "content_id", "slot", "stored_at")[: 2 * limit]:
        newest.setdefault(row.content_id, ContractRow(row.blob_id, row.content_id, row.slot, row.stored_at))
    return tuple(newest.values())[:limit]
