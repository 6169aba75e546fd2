"""The audit log: entries are appended inside the act's own transaction.

Entries are RFC 8785 bytes of flat objects of strings, integers, booleans and null with ASCII keys. The chain and all
digests are over these stored bytes, never over something rebuilt from columns. Order is ``seq``, never time. What an
act was about in full is the payload: canonical JSON kept beside the entry and named in it by digest.

Not handled: somebody who owns the database can rewrite the whole log; only a digest of its head that was kept
elsewhere shows that.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import F, Q, Value

from planner.canonical import canonical_bytes, file_sha256
from reviews.blobs import blob_keep
from reviews.clock import database_now, utc_text
from reviews.errors import NotFoundError, ReviewError, printable
from reviews.facts import Authentication
from reviews.models import AuditEntry, Person, Workspace
from reviews.models.fields import NO_DIGEST
from reviews.models.people import token_label

ENTRY_VERSION = 1
LOCK_CLASS = 0x746F70  # any number that nothing else in the database uses as a first advisory key
_WRITING = Lock()
LOCK = "SELECT pg_advisory_xact_lock(%s, %s)"
HEAD = "SELECT seq, sha256, clock_timestamp() FROM reviews_auditentry WHERE workspace_id = %s ORDER BY seq DESC LIMIT 1"
LOCK_AND_HEAD = f"{LOCK}; {HEAD}"
INSERTED = [field.attname for field in AuditEntry._meta.concrete_fields if not field.primary_key]
INSERT = (
    f"INSERT INTO reviews_auditentry ({', '.join(INSERTED)}) "  # noqa: S608 # our own columns, named as their attributes
    f"VALUES ({', '.join(['%s'] * len(INSERTED))}) RETURNING id"
)
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
    with _turn(), transaction.atomic():
        _lock(workspace_id)
        yield


@contextmanager
def rows_write() -> Iterator[None]:
    """Run a block that appends no entry in one transaction, beside the writers of its workspace and not among them."""
    with _turn(), transaction.atomic():
        yield


@contextmanager
def _turn() -> Iterator[None]:
    """Let the threads of this process begin to write one after another on SQLite.

    SQLite hands its lock to whoever happens to ask at the right moment and fails whoever was unlucky for too long; with
    dozens of threads that never pause, somebody is. Inside a transaction there is nothing left to wait for.
    """
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with _WRITING:
            yield
    else:
        yield


@contextmanager
def workspaces_write(workspace_ids: Iterable[int]) -> Iterator[None]:
    """Run a block as the only writer of several workspaces; locks are taken in one order, so that none waits in a ring.

    Inside ``workspace_write`` only a block of that same workspace may follow.
    """
    with _turn(), transaction.atomic():
        for workspace_id in sorted(workspace_ids):
            _lock(workspace_id)
        yield


def _lock(workspace_id: int) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [LOCK_CLASS, workspace_id])


def append(workspace: Workspace, act: Act) -> AuditEntry:
    """Append one entry. Call it inside the act's transaction, so that both are kept or neither."""
    # Without a savepoint: an act whose entry cannot be written is rolled back in full. By hand, without what the ORM
    # does besides: every other writer of the workspace waits for it.
    with _turn(), transaction.atomic(savepoint=False), connection.cursor() as cursor:
        head = _locked_head(cursor, workspace.pk)
        payload = blob_keep(canonical_bytes(act.payload)) if act.payload is not None else None
        fields = _entry_fields(act, workspace.log_origin, head, payload.sha256 if payload else None)
        data = canonical_bytes(fields)
        columns = {column: fields[field] for field, column in COLUMNS.items()}
        for text in ("subject", "actor_token", "team"):
            columns[text] = columns[text] or ""
        row = {**columns, "workspace_id": workspace.pk, "sha256": file_sha256(data), "data": data}
        values = [row[column] for column in INSERTED]
        cursor.execute(INSERT, values)
        return AuditEntry.from_db(connection.alias, ("id", *INSERTED), (cursor.fetchone()[0], *values))


@dataclass(frozen=True, slots=True)
class _Head:
    """What the next entry follows: its seq, the digest of the last entry, and the time, taken under the lock."""

    seq: int
    prev: str
    now: datetime


def _locked_head(cursor: CursorWrapper, workspace_id: int) -> _Head:
    if connection.vendor == "postgresql":
        # One message of two statements; each sees what was committed when it began, the second thus the head.
        cursor.execute(LOCK_AND_HEAD, [LOCK_CLASS, workspace_id, workspace_id])
        cursor.nextset()
        row = cursor.fetchone()
    else:
        entries = AuditEntry.objects.filter(workspace_id=workspace_id).order_by("-seq").values_list("seq", "sha256")
        row = next(((*entry, database_now()) for entry in entries[:1]), None)
    return _Head(row[0] + 1, row[1], row[2]) if row else _Head(0, NO_DIGEST, database_now())


def _entry_fields(act: Act, origin: str, head: _Head, payload_sha256: str | None) -> dict[str, str | int | bool | None]:
    return {
        "v": ENTRY_VERSION,
        "origin": origin,
        "seq": head.seq,
        "prev": head.prev,
        "at": utc_text(head.now),
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

    ``act`` describes the attempt; its reason becomes the refusal's message, with nobody's name in it. What somebody
    may not even know of is not recorded: strangers do not write in a workspace's log.
    """
    try:
        yield
    except NotFoundError:
        raise
    except ReviewError as error:
        append(workspace, replace(act, reason=without_names(error.message)[:2000]))
        raise


_NO_PERSON = "".join(f"(?<!{words} )" for words in ("role", "role is", "member of", "members of", "lead of"))
"""What never stands before a person in a message of the product: a login may be the word of a role or a team."""


def without_names(text: str) -> str:
    """Return a message of the product with labels made of tokens in the place of people's logins and names."""
    said = Q(said__contains=F("login")) | Q(said__contains=F("display_name"))
    named = Person.objects.alias(said=Value(text)).filter(said).values_list("login", "display_name", "token")
    labels = {name: token_label(token) for *names, token in named for name in names if name}
    # The longest first, so that a name goes as a whole where another is part of it.
    for name in sorted(labels, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){_NO_PERSON}{re.escape(name)}(?!\w)", labels[name], text)
    return text


def differing_columns(entry: AuditEntry, fields: dict[str, Any]) -> Iterator[str]:
    """Yield the columns that do not repeat what the entry's bytes say; text columns hold "" where these say null."""
    for field, column in COLUMNS.items():
        said, repeated = ("" if value is None else value for value in (fields.get(field), getattr(entry, column)))
        if said != repeated:
            yield column
