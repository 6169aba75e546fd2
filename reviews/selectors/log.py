"""The audit log and a decision's history as rows. Order is ``seq``, never time."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db.models import QuerySet

from planner.canonical import file_sha256
from reviews.audit import differing_columns
from reviews.errors import NotFoundError, is_storable
from reviews.models import AuditEntry, Person, Workspace
from reviews.selectors.people import standing_of

PAGE_SIZE = 50
ERASED = "erased person"
CHANGED = "What is stored of this entry was changed. Verify the log."


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry. ``who`` is the printed name, the token where the name was erased, "system" for nobody.

    ``about`` is the person that an entry of the roster is about, empty elsewhere.

    ``payload`` is the entry's payload as JSON values, None where it has none. Of an entry whose stored bytes were
    changed, ``reason`` says so, and what only the bytes tell is left out.
    """

    seq: int
    at: datetime
    action: str
    decision: int | None
    revision: int | None
    who: str
    about: str
    team: str
    meaning: str
    reason: str
    subject: str
    sha256: str
    prev: str
    payload_sha256: str
    payload: dict[str, Any] | None
    is_changed: bool = False

    @property
    def is_refusal(self) -> bool:
        """Whether the entry records something that was not done."""
        return self.action.endswith("refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryList:
    """One page of entries, newest first. ``older_than`` is the seq to ask for the next page with, or None."""

    rows: tuple[EntryRow, ...]
    older_than: int | None
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """What to list; ``action`` is exact or, with a full stop at its end, a prefix (``signoff.``)."""

    decision: int | None = None
    action: str = ""
    team: str = ""
    digest: str = ""


def audit_rows(
    *,
    actor: Person,
    workspace: Workspace,
    wanted: EntryFilter | None = None,
    older_than: int | None = None,
    page_size: int = PAGE_SIZE,
) -> EntryList:
    """Return entries with a seq below ``older_than``, newest first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    log = AuditEntry.objects.filter(workspace=workspace)
    head = log.order_by("-seq").values_list("seq", flat=True).first()
    entries = _wanted(log, wanted or EntryFilter())
    if older_than is not None:
        entries = entries.filter(seq__lt=older_than)
    found = list(entries.select_related("payload").order_by("-seq")[: page_size + 1])
    shown = found[:page_size]
    return EntryList(
        rows=_rows(shown),
        older_than=shown[-1].seq if len(found) > page_size else None,
        entries=0 if head is None else head + 1,
    )


def history_rows(*, actor: Person, workspace: Workspace, number: int, page_size: int = 200) -> tuple[EntryRow, ...]:
    """Return what happened to a decision, newest first, at most ``page_size`` entries.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    return audit_rows(actor=actor, workspace=workspace, wanted=EntryFilter(decision=number), page_size=page_size).rows


def audit_entry_bytes(*, actor: Person, workspace: Workspace, seq: int) -> tuple[EntryRow, bytes]:
    """Return one entry and the exact bytes that the chain is computed over.

    Raises:
        NotFoundError: no such entry, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    entry = AuditEntry.objects.filter(workspace=workspace, seq=seq).select_related("payload").first()
    if entry is None:
        raise NotFoundError(f"There is no entry {seq} in the log of {workspace.slug}.")
    return _rows([entry])[0], bytes(entry.data)


def _wanted(entries: QuerySet[AuditEntry], wanted: EntryFilter) -> QuerySet[AuditEntry]:
    if not all(map(is_storable, (wanted.action, wanted.team, wanted.digest))):
        return entries.none()  # no stored text holds it, and PostgreSQL would not even take the question
    if wanted.decision is not None:
        entries = entries.filter(decision_number=wanted.decision)
    if wanted.action.endswith("."):
        entries = entries.filter(action__startswith=wanted.action)
    elif wanted.action:
        entries = entries.filter(action=wanted.action)
    if wanted.team:
        entries = entries.filter(team=wanted.team)
    if wanted.digest:
        entries = entries.filter(subject=wanted.digest) | entries.filter(sha256=wanted.digest)
    return entries


def _rows(entries: list[AuditEntry]) -> tuple[EntryRow, ...]:
    stored = [_stored(entry) for entry in entries]
    tokens = {entry.actor_token for entry in entries if entry.actor_token}
    tokens |= {about for _, payload in stored if (about := _person_of(payload))}
    names = dict(Person.objects.filter(token__in=tokens).values_list("token", "display_name"))
    return tuple(_row(entry, found, names) for entry, found in zip(entries, stored, strict=True))


def _person_of(payload: dict[str, Any] | None) -> str:
    """Return the token of the person whom an entry of the roster is about."""
    token = (payload or {}).get("person")
    return token if isinstance(token, str) else ""


def _row(
    entry: AuditEntry, stored: tuple[dict[str, Any] | None, dict[str, Any] | None], names: dict[str, str]
) -> EntryRow:
    fields, payload = stored
    about = _person_of(payload)
    return EntryRow(
        seq=entry.seq,
        at=_time(entry.at),
        action=entry.action,
        decision=entry.decision_number,
        revision=entry.revision_number,
        who=(names.get(entry.actor_token) or entry.actor_token) if entry.actor_token else "system",
        about=names.get(about, ERASED) if about else "",
        team=entry.team,
        meaning=(fields or {}).get("meaning") or "",
        reason=CHANGED if fields is None else fields["reason"] or "",
        subject=entry.subject,
        sha256=entry.sha256,
        prev=entry.prev,
        payload_sha256=entry.payload_id or "",
        payload=payload,
        is_changed=fields is None,
    )


def _stored(entry: AuditEntry) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return what an entry and its payload say; no fields and no payload where something stored of it was changed."""
    data, kept = bytes(entry.data), bytes(entry.payload.data) if entry.payload else None
    if file_sha256(data) != entry.sha256 or (kept is not None and file_sha256(kept) != entry.payload_id):
        return None, None
    try:
        fields: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
        payload = None if kept is None else msgspec.json.decode(kept, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None, None
    if "reason" not in fields or any(differing_columns(entry, fields)):
        return None, None
    return fields, payload


def _time(text: str) -> datetime:
    """Return an entry's time; the beginning of time where the stored text is none any more."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
