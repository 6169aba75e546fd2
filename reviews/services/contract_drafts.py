"""Contracts in the making: a draft is saved against the version that was seen, and saved once."""

from collections.abc import Callable

from planner.canonical import file_sha256
from planner.contract_builder.draft import ContractDraft, draft_bytes, draft_from
from reviews.errors import ConflictError, printable
from reviews.facts import Authentication
from reviews.models import DocumentKind, Draft, Person, Workspace
from reviews.services.drafts import MOVED, NAME_LENGTH, SLOT_LENGTH, Begun, draft_changing, draft_create


def contract_draft_create(
    *,
    actor: Person,
    workspace: Workspace,
    draft: ContractDraft,
    idempotency_key: str | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Draft:
    """Begin a contract, empty or from what there is; the same under the same key again returns what it began.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
        InvalidRequestError: the contract is too large for a draft.
        ConflictError: the actor has as many drafts as one may have.
    """
    body = draft_bytes(draft)
    return draft_create(
        actor=actor,
        workspace=workspace,
        kind=DocumentKind.CONTRACT,
        body=body,
        name=printable(draft.model, NAME_LENGTH),
        slot=printable(draft.slot, SLOT_LENGTH),
        payload={"based_on": draft.based_on},
        begun=Begun(idempotency_key, file_sha256(body)),
        request_id=request_id,
        authentication=authentication,
    )


def contract_draft_save(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    seen_version: int,
    draft: ContractDraft,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> int:
    """Save a contract in the making and return its version; what is stored already is not stored again.

    Raises:
        NotFoundError: the actor has no such draft in the workspace.
        NotAllowedError: the actor may not submit any more.
        InvalidRequestError: the contract is too large for a draft.
        ConflictError: the draft moved on since ``seen_version``, and not to this content.
    """
    body = draft_bytes(draft)
    with draft_changing(
        actor=actor,
        workspace=workspace,
        draft_id=draft_id,
        kind=DocumentKind.CONTRACT,
        seen_version=None,
        request_id=request_id,
        authentication=authentication,
    ) as change:
        if bytes(change.draft.body) == body:
            change.nothing()
        elif change.draft.version != seen_version:
            raise ConflictError(MOVED, moved=("draft",))
        change.body = body
        change.name = printable(draft.model, NAME_LENGTH)
        change.slot = printable(draft.slot, SLOT_LENGTH)
    return change.draft.version


def contract_draft_change(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    seen_version: int | None,
    edit: Callable[[ContractDraft], ContractDraft],
    request_id: str = "",
    authentication: Authentication | None = None,
) -> int:
    """Change a contract in the making as it stands under the lock, and return its version.

    Raises:
        NotFoundError, NotAllowedError, ConflictError: see ``draft_changing``.
        InvalidRequestError: the contract is too large for a draft; what else ``edit`` raises goes on.
    """
    with draft_changing(
        actor=actor,
        workspace=workspace,
        draft_id=draft_id,
        kind=DocumentKind.CONTRACT,
        seen_version=seen_version,
        request_id=request_id,
        authentication=authentication,
    ) as change:
        edited = edit(draft_from(bytes(change.draft.body)))
        body = draft_bytes(edited)
        if bytes(change.draft.body) == body:
            change.nothing()
        change.body = body
        change.name = printable(edited.model, NAME_LENGTH)
        change.slot = printable(edited.slot, SLOT_LENGTH)
    return change.draft.version
