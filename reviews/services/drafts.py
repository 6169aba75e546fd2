"""Drafts: begun, changed, and deleted by the person whose they are.

Rules kept: who changes a draft names the version they saw, and is refused where it moved on; every change is an entry
of the audit log, by digests and counts, never with the content of what nobody has submitted. Not handled: what stands
in a body (the builder of its kind), and what becomes of a finished document (``reviews.services.submissions``).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from planner.canonical import file_sha256
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError, length_of
from reviews.facts import Authentication
from reviews.models import Draft, DraftFile, FileState, Person, Workspace
from reviews.selectors.people import standing_of
from reviews.services.submissions import require_key, require_submitting

NAME_LENGTH = 200
SLOT_LENGTH = 128
BODY_BYTES = 16 * 2**20
"""More than any contract that was written by a person or read from the files of a fleet."""
DRAFTS_PER_PERSON = 100
ARRIVING_FOR = timedelta(hours=2)
"""No upload takes longer: a file that has not joined its draft by then belongs to a request that ended."""
MOVED = (
    "This draft was changed in another tab or by another request. Nothing was overwritten: compare, then save again "
    "or take what is stored."
)


@dataclass(frozen=True, slots=True)
class Begun:
    """The key that a client gave to a request which begins a draft, None for none, and what was sent, as a digest."""

    key: str | None = None
    request_sha256: str = ""


NO_KEY = Begun()


@dataclass(slots=True)
class DraftChange:
    """A draft that is being changed: ``body``, ``name``, ``slot`` and ``payload`` are taken when the block ends."""

    draft: Draft
    body: bytes | None = None
    name: str | None = None
    slot: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    is_idle: bool = False

    def nothing(self) -> None:
        """Leave the draft as it is: the same request again makes no version and no entry."""
        self.is_idle = True


def draft_create(
    *,
    actor: Person,
    workspace: Workspace,
    kind: str,
    body: bytes,
    name: str = "",
    slot: str = "",
    payload: dict[str, Any] | None = None,
    begun: Begun = NO_KEY,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Draft:
    """Begin a draft of a kind; the same request under the same key again returns the draft that it began.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit, so a draft would lead nowhere.
        InvalidRequestError: name, slot, key or body is too long.
        ConflictError: the actor has as many drafts as one may have, or the key belongs to another request.
    """
    standing = standing_of(actor, workspace)
    attempt = _attempt(standing.token, kind, request_id, authentication)
    with refusals_recorded(workspace, attempt):
        require_submitting(standing)
        _require_fitting(body, name=name, slot=slot)
        require_key(begun.key)
        with workspace_write(workspace.pk):
            earlier = _earlier(actor, workspace, begun)
            if earlier is not None:
                return earlier
            if Draft.objects.filter(workspace=workspace, person=actor).count() >= DRAFTS_PER_PERSON:
                raise ConflictError(f"You have {DRAFTS_PER_PERSON} drafts here. Finish or delete one first.")
            now = database_now()
            draft = Draft.objects.create(
                workspace=workspace,
                person=actor,
                kind=kind,
                name=name,
                slot=slot,
                body=body,
                made_at=now,
                changed_at=now,
                expires_at=_expiry(now),
                begun_key=begun.key,
                begun_sha256=begun.request_sha256,
            )
            append(workspace, _recorded(attempt, "draft.created", draft, payload or {}))
    return draft


def drafting_require(
    *,
    actor: Person,
    workspace: Workspace,
    kind: str,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> None:
    """Refuse who may have no draft here, before anything is said of what they sent.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit; the log has an entry.
    """
    standing = standing_of(actor, workspace)
    with refusals_recorded(workspace, _attempt(standing.token, kind, request_id, authentication)):
        require_submitting(standing)


@contextmanager
def draft_changing(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    kind: str,
    seen_version: int | None,
    action: str = "draft.changed",
    request_id: str = "",
    authentication: Authentication | None = None,
) -> Iterator[DraftChange]:
    """Change a draft in one transaction with its entry of the log. ``seen_version`` None does not ask which it was.

    Raises:
        NotFoundError: the actor has no such draft of this kind in the workspace.
        NotAllowedError: the actor may not submit any more.
        InvalidRequestError: name, slot or body is too long.
        ConflictError: the draft moved on since ``seen_version``.
    """
    standing = standing_of(actor, workspace)
    attempt = _attempt(standing.token, kind, request_id, authentication)
    with refusals_recorded(workspace, attempt):
        require_submitting(standing)
        with workspace_write(workspace.pk):
            change = DraftChange(_own(actor, workspace, draft_id, kind))
            _require_seen(change.draft, seen_version)
            yield change
            if not change.is_idle:
                _store(change)
                append(workspace, _recorded(attempt, action, change.draft, change.payload))


def draft_delete(
    *,
    actor: Person,
    workspace: Workspace,
    draft_id: int,
    kind: str,
    seen_version: int | None = None,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> None:
    """Delete a draft for good.

    Raises:
        NotFoundError: the actor has no such draft of this kind in the workspace.
        ConflictError: the draft moved on since ``seen_version``.
    """
    standing = standing_of(actor, workspace)
    attempt = _attempt(standing.token, kind, request_id, authentication)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        draft = _own(actor, workspace, draft_id, kind)
        _require_seen(draft, seen_version)
        append(workspace, _recorded(attempt, "draft.deleted", draft, {}))
        draft.delete()


EXPIRED_AT_ONCE = 20
"""How many drafts one sweep deletes, so that it never holds a workspace for long."""


def drafts_expire() -> int:
    """Delete drafts that nobody touched for ``DRAFT_EXPIRY_DAYS``, and files that never arrived.

    Returns how many drafts. Each is an entry of the log, made by nobody. Safe to run from several processes at once.
    """
    DraftFile.objects.filter(state=FileState.ARRIVING, added_at__lt=database_now() - ARRIVING_FOR).delete()
    over = Draft.objects.filter(expires_at__lt=database_now()).order_by("expires_at", "pk")
    return sum(
        _expire(draft_id, workspace) for draft_id, workspace in over.values_list("pk", "workspace")[:EXPIRED_AT_ONCE]
    )


def _expire(draft_id: int, workspace_id: int) -> bool:
    with workspace_write(workspace_id):
        draft = Draft.objects.filter(pk=draft_id, expires_at__lt=database_now()).select_related("workspace").first()
        if draft is None:
            return False
        append(draft.workspace, _recorded(_attempt(None, draft.kind, "", None), "draft.expired", draft, {}))
        draft.delete()
    return True


def _earlier(actor: Person, workspace: Workspace, begun: Begun) -> Draft | None:
    """Return the draft that an earlier request with the same key began."""
    if begun.key is None:
        return None
    earlier = Draft.objects.filter(workspace=workspace, person=actor, begun_key=begun.key).first()
    if earlier is not None and earlier.begun_sha256 != begun.request_sha256:
        raise ConflictError("This idempotency key belongs to another request. Send a new key with new content.")
    return earlier


def _own(actor: Person, workspace: Workspace, draft_id: int, kind: str) -> Draft:
    draft = Draft.objects.filter(pk=draft_id, workspace=workspace, person=actor, kind=kind).first()
    if draft is None:
        raise NotFoundError("There is no such draft of yours here.")
    return draft


def _require_seen(draft: Draft, seen_version: int | None) -> None:
    if seen_version is not None and seen_version != draft.version:
        raise ConflictError(MOVED, moved=("draft",))


def _require_fitting(body: bytes, *, name: str, slot: str) -> None:
    findings = []
    for field_name, text, longest in (("name", name, NAME_LENGTH), ("slot", slot, SLOT_LENGTH)):
        if len(text) > longest or not text.isprintable():
            expected = f"at most {longest} printable characters"
            findings.append(Finding("request", f"request/{field_name}", field_name, expected, length_of(text)))
    if len(body) > BODY_BYTES:
        expected = f"at most {BODY_BYTES:,} bytes"
        findings.append(Finding("request", "request/file_size", "body", expected, f"{len(body):,} bytes"))
    if findings:
        raise InvalidRequestError(tuple(findings))


def _store(change: DraftChange) -> None:
    draft = change.draft
    for name in ("body", "name", "slot"):
        value = getattr(change, name)
        if value is not None:
            setattr(draft, name, value)
    _require_fitting(bytes(draft.body), name=draft.name, slot=draft.slot)
    draft.version += 1
    draft.changed_at = database_now()
    draft.expires_at = _expiry(draft.changed_at)
    draft.save(update_fields=["body", "name", "slot", "version", "changed_at", "expires_at"])


def _expiry(now: datetime) -> datetime:
    return now + timedelta(days=settings.DRAFT_EXPIRY_DAYS)


def _attempt(token: str | None, kind: str, request_id: str, authentication: Authentication | None) -> Act:
    return Act(
        action="draft.refused",
        actor=token,
        authentication=authentication,
        request_id=request_id,
        payload_type="topogate.draft/v1",
        payload={"kind": str(kind)},
    )


def _recorded(attempt: Act, action: str, draft: Draft, more: dict[str, Any]) -> Act:
    payload = {
        "kind": str(draft.kind),
        "draft": draft.pk,
        "version": draft.version,
        "slot": draft.slot,
        "body_sha256": file_sha256(bytes(draft.body)),
        **more,
    }
    return replace(attempt, action=action, payload=payload)
