"""Reads large files of drafts in a worker: claim, read outside any transaction, join the draft under the fence.

As with plan jobs, the row is the queue and a message only says "look at it now". A file is held by a lease that a
heartbeat renews, so a file that kills its worker is given up after a few attempts and says so.
"""

import os
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import msgspec
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from planner import builder
from planner.builder.records import FileProblem
from planner.errors import DocumentRefusedError, Problem
from reviews import queue
from reviews.audit import workspace_write
from reviews.building import body_bytes, read_bytes, reading_bytes
from reviews.errors import TamperedError
from reviews.models import Draft, DraftFile, DraftPiece, FileState
from reviews.selectors.evidence_drafts import work_of
from reviews.services.leases import HEARTBEATS_PER_LEASE, in_seconds
from reviews.uploads import draft_file_open

WAKE_AT_ONCE = 20
PROGRESS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Hold:
    """The right to read a file."""

    file_id: int
    token: uuid.UUID

    def rows(self) -> Q:
        """Return what names the file while it is held by this one."""
        return Q(pk=self.file_id, state=FileState.READING, lease_token=self.token)


def files_wake_after_commit(file_ids: Sequence[int]) -> None:
    """Wake a worker for each file once the present transaction is committed."""
    for file_id in file_ids:
        transaction.on_commit(partial(queue.wake, file_id, queue.READ_TASK))


def draft_file_read(file_id: int) -> str | None:
    """Read a file and make it part of its draft; return the state that it is in then, None when it was not free."""
    hold = _claim(file_id)
    if hold is None:
        return None
    finished = False
    try:
        row = DraftFile.objects.get(pk=file_id)
        try:
            with draft_file_open(row) as handle, _beating(hold, handle):
                reading = read_bytes(row.name, handle)
        except TamperedError as tampered:
            reading = _unread(row, Problem("file/unreadable", "", "the bytes that were stored", tampered.message))
        state = _finish(row, hold, reading)
        finished = True
        return state
    finally:
        if not finished:
            _release(hold)


def _claim(file_id: int) -> Hold | None:
    token = uuid.uuid4()
    free = Q(state=FileState.WAITING) | Q(state=FileState.READING, lease_until__lt=Now())
    claimed = DraftFile.objects.filter(free, pk=file_id, attempts__lt=settings.PLAN_MAX_ATTEMPTS).update(
        state=FileState.READING,
        lease_token=token,
        lease_until=in_seconds(settings.PLAN_LEASE_SECONDS),
        attempts=F("attempts") + 1,
        bytes_done=0,
    )
    return Hold(file_id, token) if claimed else None


def _release(hold: Hold) -> None:
    DraftFile.objects.filter(hold.rows()).update(
        state=FileState.WAITING, lease_token=None, lease_until=None, woken_at=Now()
    )


@contextmanager
def _beating(hold: Hold, handle: BinaryIO) -> Iterator[None]:
    """Renew the lease and say how far the file is read, from a thread of its own, while the block reads.

    How far is asked of the operating system: a reader that counts would be slower than the one that does not.
    """
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(hold, handle.fileno(), stop), name="file-heartbeat", daemon=True)
    beat.start()
    try:
        yield
    finally:
        stop.set()
        beat.join()


def _beat(hold: Hold, descriptor: int, stop: threading.Event) -> None:
    pause = min(PROGRESS_SECONDS, settings.PLAN_LEASE_SECONDS / HEARTBEATS_PER_LEASE)
    try:
        while not stop.wait(pause):
            try:
                DraftFile.objects.filter(hold.rows()).update(
                    lease_until=in_seconds(settings.PLAN_LEASE_SECONDS),
                    bytes_done=os.lseek(descriptor, 0, os.SEEK_CUR),
                )
            except DatabaseError:
                # The next beat tries again; if the database stays away the lease runs out, as it should.
                connection.close()
    finally:
        connection.close()


def _finish(row: DraftFile, hold: Hold, reading: builder.DraftFile) -> str | None:
    """Make a reading part of the draft; None where the file is gone or somebody else's by now."""
    draft_id = row.draft_id
    workspace_id = Draft.objects.filter(pk=draft_id).values_list("workspace_id", flat=True).first()
    if workspace_id is None:
        return None
    with workspace_write(workspace_id):
        draft = Draft.objects.filter(pk=draft_id).first()
        if draft is None or not DraftFile.objects.filter(hold.rows()).exists():
            return None
        body = None
        if reading.recognised:
            work, kept = work_of(draft)
            try:
                body = body_bytes(kept, builder.add_files(work.draft, work.contract, [reading]).draft)
            except DocumentRefusedError as refused:
                reading = _unread(row, *refused.problems)
        state = FileState.READ if reading.recognised else FileState.UNKNOWN
        if body is not None:
            draft.body = body
        # The page that waits for the file shows the draft anew, so nobody's change is refused for this.
        draft.version += 1
        draft.save(update_fields=["body", "version"])
        if not reading.recognised:
            DraftPiece.objects.filter(file=row).delete()
        DraftFile.objects.filter(hold.rows()).update(
            state=state,
            reading=reading_bytes(reading),
            lease_token=None,
            lease_until=None,
            woken_at=None,
            bytes_done=row.size_bytes,
        )
    return state


def _unread(row: DraftFile, *problems: Problem) -> builder.DraftFile:
    return builder.DraftFile(
        name=row.name,
        sha256=row.sha256,
        bytes=row.size_bytes,
        recognised=False,
        problems=msgspec.convert(problems, tuple[FileProblem, ...], from_attributes=True),
    )


def draft_files_sweep() -> tuple[int, ...]:
    """Wake workers for files that wait, and give up on those that were tried too often.

    Returns the files of which the broker took no message. Safe to run from any number of processes at any time.
    """
    _give_up()
    DraftFile.objects.filter(state=FileState.READING, lease_until__lt=Now()).update(
        state=FileState.WAITING, lease_token=None, lease_until=None, woken_at=in_seconds(-settings.PLAN_REWAKE_SECONDS)
    )
    waiting = DraftFile.objects.filter(
        state=FileState.WAITING, woken_at__lte=in_seconds(-settings.PLAN_REWAKE_SECONDS)
    ).order_by("woken_at", "pk")
    waiting_ids = list(waiting.values_list("pk", flat=True)[:WAKE_AT_ONCE])
    for number, file_id in enumerate(waiting_ids):
        if not queue.wake(file_id, queue.READ_TASK):
            return tuple(waiting_ids[number:])
        DraftFile.objects.filter(pk=file_id).update(woken_at=Now())
    return ()


def _give_up() -> None:
    hopeless = DraftFile.objects.filter(attempts__gte=settings.PLAN_MAX_ATTEMPTS)
    for row in hopeless.filter(Q(state=FileState.WAITING) | Q(state=FileState.READING, lease_until__lt=Now())):
        found = f"{row.attempts} attempts that ended without a result"
        reading = _unread(row, Problem("file/unreadable", "", "a file that can be read", found))
        given_up = DraftFile.objects.filter(pk=row.pk, attempts__gte=settings.PLAN_MAX_ATTEMPTS).exclude(
            Q(state__in=(FileState.READ, FileState.UNKNOWN)) | Q(state=FileState.READING, lease_until__gte=Now())
        )
        given_up.update(
            state=FileState.UNKNOWN, reading=reading_bytes(reading), lease_token=None, lease_until=None, woken_at=None
        )
