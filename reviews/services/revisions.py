"""A further revision of a decision: new evidence, a new contract, or both."""

from collections.abc import Collection

from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.facts import Authentication
from reviews.models import Decision, Person, Revision, Workspace
from reviews.selectors.decision_page import decision_named
from reviews.selectors.people import standing_of
from reviews.services.submissions import Checked, submission_check, submission_create


def revision_create(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    contract: bytes | None,
    evidence: bytes | None,
    as_of: str | None,
    idempotency_key: str | None,
    reuse: int | None = None,
    seen_subjects: Collection[str] | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Revision:
    """Make the next revision; a document that is not given is the one of revision ``reuse``, byte for byte.

    ``reuse`` is the newest revision when None. Whoever has read which documents are taken over names the revision, so
    that a newer one does not change what is submitted. ``seen_subjects``: see ``require_newest``.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        DocumentsRefusedError: with every problem of both documents and of the request.
        ConflictError: the key was used for something else, or the decision moved or takes no new revision.
        TamperedError: a document that is taken over is not what was stored.
    """
    standing_of(actor, workspace)
    decision = decision_named(workspace, number)
    contract, evidence = _both(decision, contract, evidence, reuse)
    return submission_create(
        actor=actor,
        workspace=workspace,
        contract=contract,
        evidence=evidence,
        title=decision.title,
        as_of=as_of,
        idempotency_key=idempotency_key,
        decision=decision,
        seen_subjects=seen_subjects,
        request_id=request_id,
        authentication=authentication,
    )


def revision_check(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    contract: bytes | None,
    evidence: bytes | None,
    as_of: str | None = None,
    reuse: int | None = None,
) -> Checked:
    """Say what ``revision_create`` would refuse about documents and time; nothing is stored or recorded.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        TamperedError: a document that is taken over is not what was stored.
    """
    standing_of(actor, workspace)
    decision = decision_named(workspace, number)
    contract, evidence = _both(decision, contract, evidence, reuse)
    return submission_check(
        actor=actor, workspace=workspace, contract=contract, evidence=evidence, as_of=as_of, decision=decision
    )


def _both(decision: Decision, contract: bytes | None, evidence: bytes | None, reuse: int | None) -> tuple[bytes, bytes]:
    """Return both documents, those that were not given from the revision ``reuse``."""
    if contract is not None and evidence is not None:
        return contract, evidence
    revisions = Revision.objects.filter(decision=decision).select_related("contract", "evidence").order_by("-number")
    revision = (revisions if reuse is None else revisions.filter(number=reuse)).first()
    if revision is None:
        raise NotFoundError(f"{decision.label} has no revision {reuse}.")
    return (
        blob_read(revision.contract.blob_id, "contract") if contract is None else contract,
        blob_read(revision.evidence.blob_id, "evidence") if evidence is None else evidence,
    )
