"""A further revision of a decision: new evidence, a new contract, or both."""

from typing import Literal

from reviews.facts import Authentication
from reviews.models import Decision, Person, Revision, Workspace
from reviews.selectors.decision_page import decision_named
from reviews.selectors.people import standing_of
from reviews.services.submissions import submission_create


def revision_create(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    contract: bytes | None,
    evidence: bytes | None,
    as_of: str | None,
    idempotency_key: str | None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Revision:
    """Make the next revision; a document that is not given is the newest revision's, byte for byte.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        DocumentsRefusedError: with every problem of both documents and of the request.
        ConflictError: the key was used for something else, or the decision's state takes no new revision.
    """
    standing_of(actor, workspace)
    decision = decision_named(workspace, number)
    contract = _newest(decision, "contract") if contract is None else contract
    evidence = _newest(decision, "evidence") if evidence is None else evidence
    return submission_create(
        actor=actor,
        workspace=workspace,
        contract=contract,
        evidence=evidence,
        title=decision.title,
        as_of=as_of,
        idempotency_key=idempotency_key,
        decision=decision,
        request_id=request_id,
        authentication=authentication,
    )


def _newest(decision: Decision, kind: Literal["contract", "evidence"]) -> bytes:
    """Return the bytes of the newest revision's document; a decision has at least one revision."""
    revisions = Revision.objects.filter(decision=decision).order_by("-number")
    return bytes(revisions.values_list(f"{kind}__blob__data", flat=True)[0])
