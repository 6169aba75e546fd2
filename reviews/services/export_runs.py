"""Writes exports in a worker: claim, write to a temporary file outside any transaction, keep the bytes under the fence.

An export that kills its worker is given up after a few attempts and says so. What expired is deleted with its bytes.
"""

import hashlib
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, F, Q
from django.db.models.functions import Now

from reviews import queue
from reviews.bundle.archive import TooLargeError
from reviews.errors import ConflictError
from reviews.models import AuditEntry, Export, ExportPiece, ExportState
from reviews.services.exports import write_bundle
from reviews.services.leases import HEARTBEATS_PER_LEASE, in_seconds

PIECE_BYTES = 1 << 20
BEAT_SECONDS = 1.0
MOST_ATTEMPTS = 3
WAKE_AT_ONCE = 20
MOST_KEPT = 50
"""How many exports of a workspace are kept, as many as its list shows; who asks without end fills no disk."""


@dataclass(slots=True)
class _Hold:
    """The right to write an export; ``done`` counts the entries that are written."""

    export_id: int
    token: uuid.UUID
    done: int = field(default=0)

    def wrote(self, done: int) -> None:
        """Take note of how far the writing is; the heart beat tells it."""
        self.done = done

    def rows(self) -> Q:
        """Return what names the export while it is held by this one."""
        return Q(pk=self.export_id, state=ExportState.RUNNING, lease_token=self.token)


def export_run(export_id: int) -> ExportState | None:
    """Write an export, if it is free; return the state that it is in then, None when it was not free."""
    hold = _claim(export_id)
    if hold is None:
        return None
    finished = False
    try:
        export = Export.objects.select_related("workspace").get(pk=export_id)
        entries = AuditEntry.objects.filter(workspace=export.workspace).count()
        Export.objects.filter(hold.rows()).update(entries_total=entries)
        with tempfile.TemporaryFile() as file:
            try:
                with _beating(hold):
                    written = write_bundle(export.workspace, file, decision=export.decision_number, progress=hold.wrote)
            except ConflictError as error:
                state = _end(hold, ExportState.FAILED, error=error.message)
            except TooLargeError as error:
                state = _end(hold, ExportState.FAILED, error=str(error))
            else:
                state = _keep(export, hold, file, written.faults)
        finished = True
        return state
    finally:
        if not finished:
            _end(hold, ExportState.QUEUED)


def _claim(export_id: int) -> _Hold | None:
    token = uuid.uuid4()
    free = Q(state=ExportState.QUEUED) | Q(state=ExportState.RUNNING, lease_until__lt=Now())
    claimed = Export.objects.filter(free, pk=export_id, attempts__lt=MOST_ATTEMPTS).update(
        state=ExportState.RUNNING,
        lease_token=token,
        lease_until=in_seconds(settings.PLAN_LEASE_SECONDS),
        attempts=F("attempts") + 1,
        entries_done=0,
    )
    return _Hold(export_id, token) if claimed else None


def _end(hold: _Hold, state: ExportState, *, error: str = "") -> ExportState | None:
    ended = Export.objects.filter(hold.rows()).update(
        state=state,
        lease_token=None,
        lease_until=None,
        error=error[:2000],
        finished_at=None if state == ExportState.QUEUED else Now(),
        expires_at=None if state == ExportState.QUEUED else in_seconds(settings.EXPORT_EXPIRY_DAYS * 86400),
        woken_at=Now(),
    )
    return state if ended else None


def _keep(export: Export, hold: _Hold, file: BinaryIO, faults: tuple[str, ...]) -> ExportState | None:
    """Store the bytes of a bundle, and what it holds that does not hold; None where somebody else works on it."""
    with transaction.atomic():
        ExportPiece.objects.filter(export=export).delete()
        file.seek(0)
        digest, size = hashlib.sha256(), 0
        for number, block in enumerate(iter(lambda: file.read(PIECE_BYTES), b"")):
            ExportPiece.objects.create(export=export, number=number, data=block)
            digest.update(block)
            size += len(block)
        kept = Export.objects.filter(hold.rows()).update(
            state=ExportState.DONE,
            lease_token=None,
            lease_until=None,
            finished_at=Now(),
            expires_at=in_seconds(settings.EXPORT_EXPIRY_DAYS * 86400),
            entries_done=hold.done,
            entries_total=hold.done,
            checkpoint_size=hold.done,
            size_bytes=size,
            sha256=f"sha256:{digest.hexdigest()}",
            error=f"The log does not hold: {' '.join(faults)}"[:2000] if faults else "",
        )
        if not kept:
            transaction.set_rollback(True)
    return ExportState.DONE if kept else None


@contextmanager
def _beating(hold: _Hold) -> Iterator[None]:
    """Renew the lease and tell the progress from a thread of its own while the block writes."""
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(hold, stop), name="export-heartbeat", daemon=True)
    beat.start()
    try:
        yield
    finally:
        stop.set()
        beat.join()


def _beat(hold: _Hold, stop: threading.Event) -> None:
    pause = min(BEAT_SECONDS, settings.PLAN_LEASE_SECONDS / HEARTBEATS_PER_LEASE)
    try:
        while not stop.wait(pause):
            try:
                Export.objects.filter(hold.rows()).update(
                    lease_until=in_seconds(settings.PLAN_LEASE_SECONDS), entries_done=hold.done
                )
            except DatabaseError:
                # The next beat tries again; if the database stays away the lease runs out, as it should.
                connection.close()
    finally:
        connection.close()


def exports_sweep() -> tuple[int, ...]:
    """Delete what expired, give up what failed too often, wake workers for what waits.

    Returns the exports of which the broker took no message. Safe to run from any number of processes at any time.
    """
    Export.objects.filter(expires_at__lt=Now()).delete()
    _thin_out()
    _give_up()
    Export.objects.filter(state=ExportState.RUNNING, lease_until__lt=Now()).update(
        state=ExportState.QUEUED,
        lease_token=None,
        lease_until=None,
        woken_at=in_seconds(-settings.PLAN_REWAKE_SECONDS),
    )
    waiting = Export.objects.filter(
        state=ExportState.QUEUED, woken_at__lte=in_seconds(-settings.PLAN_REWAKE_SECONDS)
    ).order_by("woken_at", "pk")
    waiting_ids = list(waiting.values_list("pk", flat=True)[:WAKE_AT_ONCE])
    for number, export_id in enumerate(waiting_ids):
        if not queue.wake(export_id, queue.EXPORT_TASK):
            return tuple(waiting_ids[number:])
        Export.objects.filter(pk=export_id).update(woken_at=Now())
    return ()


def _thin_out() -> None:
    kept = Export.objects.order_by("workspace").values_list("workspace").annotate(kept=Count("pk"))
    for workspace, _ in kept.filter(kept__gt=MOST_KEPT):
        own = Export.objects.filter(workspace=workspace)
        oldest = own.order_by("-pk").values_list("pk", flat=True)[MOST_KEPT - 1]
        own.filter(pk__lt=oldest, state__in=(ExportState.DONE, ExportState.FAILED)).delete()


def _give_up() -> None:
    tried = Export.objects.filter(attempts__gte=MOST_ATTEMPTS)
    hopeless = tried.filter(Q(state=ExportState.QUEUED) | Q(state=ExportState.RUNNING, lease_until__lt=Now()))
    hopeless.update(
        state=ExportState.FAILED,
        lease_token=None,
        lease_until=None,
        finished_at=Now(),
        expires_at=in_seconds(settings.EXPORT_EXPIRY_DAYS * 86400),
        error=f"Writing it ended {MOST_ATTEMPTS} times without a result.",
    )
