"""The audit log: entries are appended inside the act's own transaction.

Entries are RFC 8785 bytes of flat objects of strings, integers, booleans and null with ASCII keys. The chain and all
digests are over these stored bytes, never over something rebuilt from columns. Order is ``seq``, never time. What an
act was about in full is the payload: canonical JSON kept beside the entry and named in it by digest.

Not handled: somebody who owns the database can rewrite the whole log; only a digest of its head that was kept
elsewhere shows that.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection, transaction

from planner.canonical import canonical_bytes, file_sha256
from reviews.blobs import blob_keep
from reviews.clock import database_now, utc_text
from reviews.errors import NotFoundError, ReviewError, printable
from reviews.facts import Authentication
from reviews.models import AuditEntry, Workspace
from reviews.models.fields import NO_DIGEST

ENTRY_VERSION = 1
LOCK_CLASS = 0x746F70  # any number that nothing else in the database uses as a first advisory key
COLUMNS = {
    "seq": "seq",
    "prev": "prev",
    "at": "at",
    "action": "action",
    "decision": "decision_number",
    "revision": "revision_number",
    "subject": "subject",
    "actor": "actor_token",
    "team": "team",
    "payload_sha256": "payload_id",
}
"""Entry field -> column that repeats it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What happened. ``actor`` is a person's token, None for the system; ``payload`` is any JSON value."""

    action: str
    actor: str | None = None
    decision: int | None = None
    revision: int | None = None
    subject: str | None = None
    team: str | None = None
    meaning: str | None = None
    reason: str | None = None
    authentication: Authentication | None = None
    request_id: str | None = None
    payload_type: str | None = None
    payload: dict[str, Any] | None = None


@contextmanager
def workspace_write(workspace_id: int) -> Iterator[None]:
    """Run a block as the only writer of the workspace, in one transaction.

    The lock is taken first and held to the end, so everything the block reads is what it writes against: numbers are
    gapless, no sign-off races a new revision, the chain never forks. On SQLite the transaction itself is that lock
    (BEGIN IMMEDIATE).
    """
    with transaction.atomic():
        _lock(workspace_id)
        yield


def _lock(workspace_id: int) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, workspace_id])


def append(workspace: Workspace, act: Act) -> AuditEntry:
    """Append one entry. Call it inside the act's transaction, so that both are kept or neither."""
    with transaction.atomic():
        _lock(workspace.pk)
        head = AuditEntry.objects.filter(workspace=workspace).order_by("-seq").values("seq", "sha256").first()
        payload = blob_keep(canonical_bytes(act.payload)) if act.payload is not None else None
        fields = _entry_fields(
            act,
            origin=workspace.log_origin,
            seq=head["seq"] + 1 if head else 0,
            prev=head["sha256"] if head else NO_DIGEST,
            payload_sha256=payload.sha256 if payload else None,
        )
        data = canonical_bytes(fields)
        columns = {column: fields[field] for field, column in COLUMNS.items()}
        for text in ("subject", "actor_token", "team"):
            columns[text] = columns[text] or ""
        return AuditEntry.objects.create(workspace=workspace, sha256=file_sha256(data), data=data, **columns)


def _entry_fields(
    act: Act, *, origin: str, seq: int, prev: str, payload_sha256: str | None
) -> dict[str, str | int | bool | None]:
    return {
        "v": ENTRY_VERSION,
        "origin": origin,
        "seq": seq,
        "prev": prev,
        "at": utc_text(database_now()),
        "action": act.action,
        "decision": act.decision,
        "revision": act.revision,
        "subject": act.subject,
        "actor": act.actor,
        "team": act.team,
        "meaning": act.meaning,
        "reason": act.reason,
        "auth_method": act.authentication.method if act.authentication else None,
        "auth_age_s": act.authentication.age_s if act.authentication else None,
        "request_id": printable(act.request_id, 128) if act.request_id else None,
        "payload_type": act.payload_type,
        "payload_sha256": payload_sha256,
    }


@contextmanager
def refusals_recorded(workspace: Workspace, act: Act) -> Iterator[None]:
    """Record a refusal raised by the block as an entry of its own, after the block's transaction was rolled back.

    ``act`` describes the attempt; its reason becomes the refusal's message. What somebody may not even know of is
    not recorded: strangers do not write in a workspace's log.
    """
    try:
        yield
    except NotFoundError:
        raise
    except ReviewError as error:
        append(workspace, replace(act, reason=error.message[:2000]))
        raise


def differing_columns(entry: AuditEntry, fields: dict[str, Any]) -> Iterator[str]:
    """Yield the columns that do not repeat what the entry's bytes say; text columns hold "" where these say null."""
    for field, column in COLUMNS.items():
        said, repeated = ("" if value is None else value for value in (fields.get(field), getattr(entry, column)))
        if said != repeated:
            yield column
