"""Stored bytes, for download and for pages that draw from them."""

from dataclasses import dataclass

from django.db.models import Q

from planner.documents import EvidenceDocument
from planner.intake.stored import decoded_evidence
from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.models import (
    AuditEntry,
    Person,
    Plan,
    Policy,
    Revision,
    StoredDocument,
    Thread,
    Workspace,
)
from reviews.selectors.people import standing_of
from reviews.selectors.rows import RevisionRow


@dataclass(frozen=True, slots=True)
class RevisionBytes:
    """A revision's documents as uploaded, and its plan's canonical bytes (None until planned)."""

    contract: bytes
    evidence: bytes
    plan: bytes | None


def revision_bytes(*, actor: Person, workspace: Workspace, revision_id: int) -> RevisionBytes:
    """Return the bytes behind a revision of the workspace.

    Raises:
        NotFoundError: no such revision here, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    standing_of(actor, workspace)
    revision = (
        Revision.objects.filter(pk=revision_id, decision__workspace=workspace)
        .select_related("contract", "evidence", "planned__plan")
        .first()
    )
    if revision is None:
        raise NotFoundError("There is no such revision in this workspace.")
    planned = getattr(revision, "planned", None)
    return RevisionBytes(
        contract=blob_read(revision.contract.blob_id, "contract"),
        evidence=blob_read(revision.evidence.blob_id, "evidence"),
        plan=blob_read(planned.plan.blob_id, "plan") if planned else None,
    )


def evidence_by_name(row: RevisionRow, raw: RevisionBytes) -> EvidenceDocument:
    """Decode a revision's evidence, which intake accepted, for a reader that tells trials by their names.

    The ids of their contents, which plans are made of, are empty.
    """
    record = decoded_evidence(raw.evidence)
    return EvidenceDocument(record, row.evidence, row.evidence_file_sha256, dict.fromkeys(record.trials, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestUse:
    """One thing that a digest names. ``decision`` and ``revision`` are given where it belongs to one."""

    what: str
    decision: int | None = None
    revision: int | None = None
    seq: int | None = None


def digest_uses(*, actor: Person, workspace: Workspace, digest: str, limit: int = 50) -> tuple[DigestUse, ...]:
    """Return what a digest names in the workspace, at most ``limit`` of each kind; empty when nothing.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    is_policy = Policy.objects.filter(Q(content_id=digest) | Q(blob_id=digest), workspace=workspace).exists()
    policy = [DigestUse(what="policy version")] if is_policy else []
    threads = _thread_uses(workspace, digest, limit)
    return (*_revision_uses(workspace, digest, limit), *policy, *threads, *_entry_uses(workspace, digest, limit))


REVISION_PARTS = {
    "contract": "contract__content_id",
    "contract file": "contract__blob_id",
    "evidence": "evidence__content_id",
    "evidence file": "evidence__blob_id",
    "identity": "identity",
    "policy": "policy__content_id",
    "plan": "planned__plan__plan_id",
    "plan file": "planned__plan__blob_id",
    "subject": "planned__subject",
}


def _revision_uses(workspace: Workspace, digest: str, limit: int) -> list[DigestUse]:
    named = Q()
    for path in REVISION_PARTS.values():
        named |= Q(**{path: digest})
    rows = (
        Revision.objects.filter(named, decision__workspace=workspace)
        .order_by("-pk")
        .values_list("decision__number", "number", *REVISION_PARTS.values())[:limit]
    )
    return [
        DigestUse(what=what, decision=decision, revision=number)
        for decision, number, *digests in rows
        for what, found in zip(REVISION_PARTS, digests, strict=True)
        if found == digest
    ]


def _thread_uses(workspace: Workspace, digest: str, limit: int) -> list[DigestUse]:
    threads = Thread.objects.filter(decision__workspace=workspace, item_id=digest)
    rows = threads.order_by("-pk").values_list("decision__number", "revision__number")[:limit]
    return [DigestUse(what="item of a thread", decision=decision, revision=revision) for decision, revision in rows]


def _entry_uses(workspace: Workspace, digest: str, limit: int) -> list[DigestUse]:
    entries = AuditEntry.objects.filter(Q(sha256=digest) | Q(payload_id=digest), workspace=workspace)
    rows = entries.order_by("-seq").values_list("seq", "sha256", "decision_number", "revision_number")[:limit]
    return [
        DigestUse(
            what="audit entry" if sha256 == digest else "audit payload", decision=decision, revision=revision, seq=seq
        )
        for seq, sha256, decision, revision in rows
    ]


def blob_of_workspace(*, actor: Person, workspace: Workspace, sha256: str) -> bytes:
    """Return stored bytes by their digest, if the workspace has a document, plan, policy, entry or thread with them.

    Raises:
        NotFoundError: the workspace has none, or the actor is no member of it.
        TamperedError: the stored bytes are not the ones that were stored.
    """
    standing_of(actor, workspace)
    belongs = (
        StoredDocument.objects.filter(workspace=workspace, blob_id=sha256).exists()
        or Plan.objects.filter(job__workspace=workspace, blob_id=sha256).exists()
        or Policy.objects.filter(workspace=workspace, blob_id=sha256).exists()
        or AuditEntry.objects.filter(workspace=workspace, payload_id=sha256).exists()
        or Thread.objects.filter(decision__workspace=workspace, item_id=sha256).exists()
    )
    if not belongs:
        raise NotFoundError("There are no such bytes in this workspace.")
    return blob_read(sha256, "document")
