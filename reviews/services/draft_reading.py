"""Reads large files of drafts in a worker: claim, read outside any transaction, join the draft under the fence.

As with plan jobs, the row is the queue and a message only says "look at it now". A file is held by a lease that a
heartbeat renews, so a file that kills its worker is given up after a few attempts and says so.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import BinaryIO

import msgspec
from django.conf import settings
from django.db import transaction
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
from reviews.services.leases import Hold, Line, beating, claim, waiting_wake
from reviews.uploads import draft_file_open

FILES = Line(DraftFile.objects, FileState.WAITING, FileState.READING, queue.READ_TASK)


def files_wake_after_commit(file_ids: Sequence[int]) -> None:
    """Wake a worker for each file once the present transaction is committed."""
    for file_id in file_ids:
        transaction.on_commit(partial(queue.wake, file_id, queue.READ_TASK))


def draft_file_read(file_id: int) -> str | None:
    """Read a file and make it part of its draft; return the state that it is in then, None when it was not free."""
    hold = claim(FILES, file_id, most=settings.PLAN_MAX_ATTEMPTS, bytes_done=0)
    if hold is None:
        return None
    finished = False
    try:
        row = DraftFile.objects.get(pk=file_id)
        try:
            with draft_file_open(row) as handle, beating(hold, _place(handle)):
                reading = read_bytes(row.name, handle)
        except TamperedError as tampered:
            reading = _unread(row, Problem("file/unreadable", "", "the bytes that were stored", tampered.message))
        state = _finish(row, hold, reading)
        finished = True
        return state
    finally:
        if not finished:
            hold.end(FileState.WAITING, woken_at=Now())


def _place(handle: BinaryIO) -> Callable[[], dict[str, int]]:
    """Return what says how far a file is read.

    It is asked of the operating system: a reader that counts would be slower than the one that does not.
    """
    descriptor = handle.fileno()
    return lambda: {"bytes_done": os.lseek(descriptor, 0, os.SEEK_CUR)}


def _finish(row: DraftFile, hold: Hold, reading: builder.DraftFile) -> str | None:
    """Make a reading part of the draft; None where the file is gone or somebody else's by now."""
    draft_id = row.draft_id
    workspace_id = Draft.objects.filter(pk=draft_id).values_list("workspace_id", flat=True).first()
    if workspace_id is None:
        return None
    with workspace_write(workspace_id):
        draft = Draft.objects.filter(pk=draft_id).first()
        if draft is None or not hold.rows().exists():
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
        hold.end(state, reading=reading_bytes(reading), woken_at=None, bytes_done=row.size_bytes)
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
    return waiting_wake(FILES).unheard


def _give_up() -> None:
    for row in FILES.hopeless(settings.PLAN_MAX_ATTEMPTS):
        found = f"{row.attempts} attempts that ended without a result"
        reading = _unread(row, Problem("file/unreadable", "", "a file that can be read", found))
        FILES.hopeless(settings.PLAN_MAX_ATTEMPTS).filter(pk=row.pk).update(
            state=FileState.UNKNOWN, reading=reading_bytes(reading), lease_token=None, lease_until=None, woken_at=None
        )
