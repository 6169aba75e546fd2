"""The audit log and a decision's history as rows. Order is ``seq``, never time."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db.models import Exists, QuerySet

from planner.canonical import file_sha256
from reviews.asked_once import once
from reviews.audit import differing_columns
from reviews.errors import NotFoundError
from reviews.models import AuditEntry, Person, Proposal, SignOff, Workspace
from reviews.selectors.log_filters import REFUSED, EntryFilter
from reviews.selectors.people import standing_of

PAGE_SIZE = 50
LOOKED_AT = 50_000
"""How many entries one page looks through for a text, which no index finds."""
ERASED = "erased person"
CHANGED = "What is stored of this entry was changed. Verify the log."


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry. ``who`` is the printed name, the token where the name was erased, "system" for nobody.

    ``about`` is the person that an entry of the roster is about, or who proposed an act of two persons; else empty.

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
        return self.action.endswith(REFUSED)


def log_head(workspace: Workspace) -> int | None:
    """Return the seq of the last entry; None where the log is empty."""
    return log_now(workspace)[0]


@once
def log_now(workspace: Workspace) -> tuple[int | None, bool]:
    """Return the head of the log, and whether anything waits for a second person, in the one query of every page."""
    waiting = Exists(Proposal.objects.still_open().filter(workspace=workspace))
    rows = AuditEntry.objects.filter(workspace=workspace).annotate(is_waiting=waiting)
    return rows.order_by("-seq").values_list("seq", "is_waiting").first() or (None, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryList:
    """One page of entries, newest first.

    ``older_than`` and ``newer_than`` are the seq to ask for the page after and before it with, None where there is
    none. ``looked_from`` is the oldest entry that was looked at for a text, None where all were.
    """

    rows: tuple[EntryRow, ...]
    older_than: int | None
    newer_than: int | None
    entries: int
    looked_from: int | None = None


def audit_rows(
    *,
    actor: Person,
    workspace: Workspace,
    wanted: EntryFilter | None = None,
    older_than: int | None = None,
    newer_than: int | None = None,
    page_size: int = PAGE_SIZE,
    look_at: int | None = LOOKED_AT,
) -> EntryList:
    """Return entries newest first: those just below ``older_than``, or just above ``newer_than``.

    ``look_at`` bounds how many entries are looked through for a text; None looks through all.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    wanted = wanted or EntryFilter()
    log = AuditEntry.objects.filter(workspace=workspace)
    head = log_head(workspace)
    held = 0 if head is None else head + 1
    entries = wanted.of(log)
    if newer_than is not None:
        return _newer(entries, newer_than, page_size, held, look_at if wanted.text else None)
    top = held if older_than is None else older_than
    bottom = max(top - look_at, 0) if wanted.text and look_at is not None else 0
    entries = entries.filter(seq__lt=top, seq__gte=bottom)
    found = list(entries.select_related("payload").order_by("-seq")[: page_size + 1])
    shown = found[:page_size]
    is_full = len(found) > page_size
    return EntryList(
        rows=_rows(shown),
        older_than=shown[-1].seq if is_full else bottom or None,
        newer_than=top - 1 if older_than is not None and top < held else None,
        entries=held,
        looked_from=bottom if bottom and not is_full else None,
    )


def _newer(entries: QuerySet[AuditEntry], newer_than: int, page_size: int, held: int, look_at: int | None) -> EntryList:
    top = held if look_at is None else min(newer_than + 1 + look_at, held)
    entries = entries.filter(seq__gt=newer_than, seq__lt=top)
    found = list(entries.select_related("payload").order_by("seq")[: page_size + 1])
    shown = found[:page_size]
    next_up = shown[-1].seq if len(found) > page_size else top - 1
    return EntryList(
        rows=_rows(shown[::-1]),
        older_than=newer_than + 1,
        newer_than=next_up if next_up + 1 < held else None,
        entries=held,
        looked_from=newer_than + 1 if look_at is not None and top < held else None,
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


def is_last_entry(workspace: Workspace, seq: int) -> bool:
    """Say whether no entry follows."""
    return not AuditEntry.objects.filter(workspace=workspace, seq__gt=seq).exists()


def signoff_entry(*, actor: Person, workspace: Workspace, signoff_id: int) -> int:
    """Return the seq of the entry that recorded a sign-off.

    Raises:
        NotFoundError: there is no such sign-off or entry, or the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    given = SignOff.objects.filter(pk=signoff_id, revision__decision__workspace=workspace)
    row = given.select_related("revision__decision", "person", "team").first()
    if row is None:
        raise NotFoundError("There is no such sign-off in this workspace.")
    of_them = {"revision": row.revision_id, "person": row.person_id, "team": row.team_id}
    earlier = SignOff.objects.filter(**of_them, turn__lt=row.turn).count()
    entries = AuditEntry.objects.filter(
        workspace=workspace,
        decision_number=row.revision.decision.number,
        revision_number=row.revision.number,
        action="signoff.given",
        actor_token=row.person.token,
        team=row.team.slug,
    )
    seqs = list(entries.order_by("seq").values_list("seq", flat=True)[: earlier + 1])
    if len(seqs) <= earlier:
        raise NotFoundError("No entry of the log records this sign-off. Verify the log.")
    return seqs[-1]


def _rows(entries: list[AuditEntry]) -> tuple[EntryRow, ...]:
    stored = [_stored(entry) for entry in entries]
    tokens = {entry.actor_token for entry in entries if entry.actor_token}
    tokens |= {about for _, payload in stored if (about := _person_of(payload))}
    names = dict(Person.objects.filter(token__in=tokens).values_list("token", "display_name"))
    return tuple(_row(entry, found, names) for entry, found in zip(entries, stored, strict=True))


def _person_of(payload: dict[str, Any] | None) -> str:
    """Return the token of the person whom an entry of the roster is about, or who proposed what was carried out."""
    told = payload or {}
    token = told.get("person", told.get("proposed_by"))
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
