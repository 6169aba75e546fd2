"""Contracts that the workspace has already, to begin another from."""

from dataclasses import dataclass
from datetime import datetime

from planner.contract_builder.draft import draft_from
from planner.contract_builder.rendered import rendered
from planner.decision_numbers import revision_label
from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.models import DocumentKind, Person, Policy, Revision, StoredDocument, Workspace
from reviews.policies.document import PolicyDocument, read_policy
from reviews.selectors.drafts import draft_of_owner
from reviews.selectors.people import standing_of

MOST_LISTED = 200
MOST_READ = 2_000
"""Revisions that are looked through; many share a contract."""


@dataclass(frozen=True, slots=True)
class ContractRow:
    """A stored contract; ``decision`` and ``revision`` are the newest that were made of it."""

    file_sha256: str
    content_id: str
    slot: str
    stored_at: datetime
    decision: int
    title: str
    revision: int

    @property
    def label(self) -> str:
        """The decision and revision as people write them."""
        return revision_label(self.decision, self.revision)


def contracts_of_workspace(*, actor: Person, workspace: Workspace) -> tuple[ContractRow, ...]:
    """Return the stored contracts, the newest first, each once; the first 200.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    revisions = (
        Revision.objects.filter(decision__workspace=workspace)
        .select_related("contract", "decision")
        .order_by("-pk")[:MOST_READ]
    )
    rows: dict[str, ContractRow] = {}
    for revision in revisions:
        document = revision.contract
        rows.setdefault(
            document.content_id,
            ContractRow(
                file_sha256=document.file_sha256,
                content_id=document.content_id,
                slot=document.slot,
                stored_at=document.stored_at,
                decision=revision.decision.number,
                title=revision.decision.title,
                revision=revision.number,
            ),
        )
    return tuple(rows.values())[:MOST_LISTED]


def contract_of_workspace(*, actor: Person, workspace: Workspace, file_sha256: str) -> bytes:
    """Return the bytes of a stored contract.

    Raises:
        NotFoundError: the workspace has none of this digest, or the actor is no member of it.
        TamperedError: stored bytes are not the ones that were stored.
    """
    standing_of(actor, workspace)
    named = StoredDocument.objects.filter(workspace=workspace, kind=DocumentKind.CONTRACT, blob_id=file_sha256)
    if not named.exists():
        raise NotFoundError("There is no such contract in this workspace.")
    return blob_read(file_sha256, "contract")


def contract_of_draft(*, actor: Person, workspace: Workspace, draft_id: int) -> bytes:
    """Return the bytes of a contract that the actor is writing, as they would be stored.

    Raises:
        NotFoundError: the actor is no member of the workspace, or has no such draft in it.
    """
    draft = draft_of_owner(actor=actor, workspace=workspace, draft_id=draft_id, kind=DocumentKind.CONTRACT)
    return rendered(draft_from(bytes(draft.body)).tree)


def policy_of_workspace(*, actor: Person, workspace: Workspace) -> PolicyDocument | None:
    """Return the policy in force, None where no admin has set one.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    policy = Policy.objects.filter(workspace=workspace).order_by("-version").first()
    return None if policy is None else read_policy(blob_read(policy.blob_id, "policy"))
