"""Drafts of evidence: begun for a contract, changed by what people decide, and made into a document.

Rules kept: the contract never changes under a draft; changes are applied whole or not at all, against the version that
was seen; the document is made from what the draft holds under the lock, and passes the planner's own intake. What was
made only grows: contract, document and the files behind it are stored for good, and the draft goes on, for what is
made of it later is another document.
"""

import secrets
from collections.abc import Sequence

from django.db import connection
from msgspec.structs import replace

from planner import builder
from planner.builder.state import OpenPoint
from planner.canonical import content_id
from reviews.blobs import blob_keep, blob_read
from reviews.building import Work, body_bytes, contract_of, new_body
from reviews.draft_changes import Change, apply
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError
from reviews.facts import Authentication
from reviews.models import (
    Attachment,
    AttachmentPiece,
    DocumentKind,
    Draft,
    DraftFile,
    FileState,
    Person,
    StoredDocument,
    Workspace,
)
from reviews.models.people import token_label
from reviews.selectors.evidence_drafts import contract_bytes, work_of
from reviews.services.drafts import Begun, draft_changing, draft_create, drafting_require

SALT_BYTES = 16


def label_of(person: Person) -> str:
    """Return what stands for a person in a draft and in the document made of it: part of their token, never a name."""
    return token_label(person.token)


def evidence_draft_begin(
    *,
    actor: Person,
    workspace: Workspace,
    contract: bytes | None = None,
    contract_sha256: str = "",
    name: str = "",
    hides_hosts: bool = False,
    idempotency_key: str | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Draft:
    """Begin a draft for a contract: the bytes given, or the stored document of the workspace with this digest.

    ``hides_hosts`` asks to replace host names and addresses in every file before it is stored. With an idempotency key
    the same request again returns the draft that it began.

    Raises:
        NotFoundError: the workspace has no such contract, or the actor is no member of it.
        NotAllowedError: the actor may not submit.
        DocumentsRefusedError: the contract given is none, with every problem.
        InvalidRequestError, ConflictError: see ``draft_create``.
    """
    drafting_require(
        actor=actor,
        workspace=workspace,
        kind=DocumentKind.EVIDENCE,
        request_id=request_id,
        authentication=authentication,
    )
    if contract is None:
        stored = StoredDocument.objects.filter(
            workspace=workspace, kind=DocumentKind.CONTRACT, blob_id=contract_sha256
        ).first()
        if stored is None:
            raise NotFoundError("There is no such contract in this workspace.")
    raw = blob_read(contract_sha256, "contract") if contract is None else contract
    read = contract_of(raw)
    body = new_body(read, own=contract, hosts_salt=secrets.token_hex(SALT_BYTES) if hides_hosts else "")
    return draft_create(
        actor=actor,
        workspace=workspace,
        kind=DocumentKind.EVIDENCE,
        body=body_bytes(body),
        name=name,
        slot=read.record.slot,
        payload={"contract": read.content_id, "contract_file_sha256": read.file_sha256},
        begun=Begun(
            idempotency_key,
            content_id({"contract": read.file_sha256, "name": name, "hides_hosts": hides_hosts, "kind": "evidence"}),
        ),
        request_id=request_id,
        authentication=authentication,
    )


def evidence_draft_change(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    changes: Sequence[Change],
    seen_version: int | None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Draft:
    """Apply what a person decided, all of it or nothing.

    Raises:
        NotFoundError, NotAllowedError, ConflictError: see ``draft_changing``.
        InvalidRequestError: one of the changes cannot be made.
    """
    with draft_changing(
        actor=actor,
        workspace=workspace,
        draft_id=draft_id,
        kind=DocumentKind.EVIDENCE,
        seen_version=seen_version,
        request_id=request_id,
        authentication=authentication,
    ) as change:
        work, body = work_of(change.draft)
        after = apply(work, changes, by=label_of(actor))
        # The builder counts changes on its own account; what counts here is what the draft says.
        if replace(after, revision=work.draft.revision) == work.draft:
            change.nothing()
        else:
            change.body = body_bytes(body, after)
            change.payload = {"changes": [type(one).__struct_config__.tag for one in changes]}
    return change.draft


def evidence_make(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    seen_version: int | None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> StoredDocument:
    """Make the evidence document of a draft and keep it, its contract and its files for good.

    The same draft again makes the same document, which is stored once.

    Raises:
        NotFoundError, NotAllowedError, ConflictError: see ``draft_changing``; a file is still to be read.
        InvalidRequestError: with everything that is still open.
    """
    with draft_changing(
        actor=actor,
        workspace=workspace,
        draft_id=draft_id,
        kind=DocumentKind.EVIDENCE,
        seen_version=seen_version,
        action="draft.finished",
        request_id=request_id,
        authentication=authentication,
    ) as change:
        _require_read(change.draft)
        work, body = work_of(change.draft)
        assembly = builder.assemble(work.draft, work.contract)
        if assembly.open:
            raise InvalidRequestError(tuple(_open_finding(point) for point in assembly.open))
        _stored(actor, workspace, DocumentKind.CONTRACT, contract_bytes(body), work.contract.content_id, work)
        made = _stored(actor, workspace, DocumentKind.EVIDENCE, assembly.document, str(assembly.content_id), work)
        attached = _attach(change.draft, made, assembly.files)
        change.payload = {
            "evidence": made.content_id,
            "evidence_file_sha256": made.file_sha256,
            "contract": work.contract.content_id,
            "files": attached,
        }
    return made


def _require_read(draft: Draft) -> None:
    unread = DraftFile.objects.filter(draft=draft, state__in=(FileState.WAITING, FileState.READING)).count()
    if unread:
        raise ConflictError(f"{unread} file{'' if unread == 1 else 's'} of this draft are still to be read.")


def _open_finding(point: OpenPoint) -> Finding:
    return Finding("request", point.code, point.field, point.sentence, "nothing yet")


def _stored(
    actor: Person, workspace: Workspace, kind: DocumentKind, raw: bytes, content_id: str, work: Work
) -> StoredDocument:
    stored, _ = StoredDocument.objects.get_or_create(
        workspace=workspace,
        kind=kind,
        blob_id=blob_keep(raw).sha256,
        defaults={"content_id": content_id, "slot": work.contract.record.slot, "stored_by": actor},
    )
    return stored


def _attach(draft: Draft, document: StoredDocument, file_ids: Sequence[str]) -> list[str]:
    """Attach the files that a document names; return their digests in order."""
    rows = [
        row
        for row in DraftFile.objects.filter(draft=draft, state=FileState.READ).defer("reading").order_by("sha256")
        if builder.file_id(row.sha256) in file_ids
    ]
    present = set(Attachment.objects.filter(document=document).values_list("sha256", flat=True))
    for row in rows:
        if row.sha256 not in present:
            _attach_one(row, document)
    return [row.sha256 for row in rows]


def _attach_one(row: DraftFile, document: StoredDocument) -> None:
    attachment = Attachment.objects.create(
        document=document,
        name=row.name,
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        uploaded_sha256=row.uploaded_sha256,
        uploaded_bytes=row.uploaded_bytes,
        removed=row.removed,
    )
    with connection.cursor() as cursor:
        # The database copies the pieces by itself: files of 256 MiB need not pass through this process again.
        cursor.execute(
            "INSERT INTO reviews_blob (sha256, size_bytes, data) "
            "SELECT sha256, length(data), data FROM reviews_draftpiece WHERE file_id = %s ORDER BY number "
            "ON CONFLICT DO NOTHING",
            [row.pk],
        )
    pieces = row.pieces.order_by("number").values_list("number", "sha256")
    AttachmentPiece.objects.bulk_create(
        AttachmentPiece(attachment=attachment, number=number, blob_id=sha256) for number, sha256 in pieces
    )
