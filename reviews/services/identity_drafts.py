"""Begins a contract as the revision that a slot which differs asks for."""

from typing import Any

from reviews.models import DocumentKind, Draft, Person, Workspace
from reviews.selectors.identity_drafts import drafted_revision
from reviews.services.contract_drafts import contract_draft_create
from reviews.services.drafts import drafting_require
from reviews.services.people import UNTRACED, Trace


def identity_draft_create(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    idempotency_key: str | None = None,
    trace: Trace = UNTRACED,
) -> Draft:
    """Begin a contract from what was decided, with what hosts report otherwise; each such value says who reported it.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        ConflictError: nothing differs, or the actor has as many drafts as one may have.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    asked: dict[str, Any] = {"request_id": trace.request_id or "", "authentication": trace.authentication}
    drafting_require(actor=actor, workspace=workspace, kind=DocumentKind.CONTRACT, **asked)
    return contract_draft_create(
        actor=actor,
        workspace=workspace,
        draft=drafted_revision(actor=actor, workspace=workspace, number=number),
        idempotency_key=idempotency_key,
        **asked,
    )
