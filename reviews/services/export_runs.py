"""Writes exports in a worker: claim, write to a temporary file outside any transaction, keep the bytes under the fence.

An export that kills its worker is given up after a few attempts and says so. What expired is deleted with its bytes.
"""

import hashlib
import tempfile
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Now

from reviews import queue
from reviews.bundle.archive import TooLargeError
from reviews.bundle.assembly import Written
from reviews.errors import ConflictError
from reviews.models import AuditEntry, Export, ExportPiece, ExportState
from reviews.services.exports import write_bundle
from reviews.services.leases import Hold, Line, beating, claim, in_seconds, waiting_wake

PIECE_BYTES = 1 << 20
MOST_ATTEMPTS = 3
WRITING = 0.95
"""The share of the work that writing a bundle is; the rest is storing it."""
MOST_KEPT = 50
"""How many exports of a workspace are kept, as many as its list shows; who asks without end fills no disk."""


EXPORTS = Line(Export.objects, ExportState.QUEUED, ExportState.RUNNING, queue.EXPORT_TASK)


def export_run(export_id: int) -> ExportState | None:
    """Write an export, if it is free; return the state that it is in then, None when it was not free."""
    hold = claim(EXPORTS, export_id, most=MOST_ATTEMPTS, entries_done=0)
    if hold is None:
        return None
    finished = False
    try:
        export = Export.objects.select_related("workspace").get(pk=export_id)
        entries = AuditEntry.objects.filter(workspace=export.workspace).count()
        hold.rows().update(entries_total=entries)
        with tempfile.TemporaryFile() as file:
            try:
                with beating(hold, lambda: {"entries_done": hold.done}):
                    written = write_bundle(
                        export.workspace,
                        file,
                        decision=export.decision_number,
                        with_files=export.with_files,
                        progress=lambda share: hold.tell(int(WRITING * share * entries)),
                    )
            except ConflictError as error:
                state = _end(hold, ExportState.FAILED, error=error.message)
            except TooLargeError as error:
                state = _end(hold, ExportState.FAILED, error=str(error))
            else:
                state = _keep(export, hold, file, written)
        finished = True
        return state
    finally:
        if not finished:
            _end(hold, ExportState.QUEUED)


def _end(hold: Hold, state: ExportState, *, error: str = "") -> ExportState | None:
    ended = hold.end(
        state,
        error=error[:2000],
        finished_at=None if state == ExportState.QUEUED else Now(),
        expires_at=None if state == ExportState.QUEUED else in_seconds(settings.EXPORT_EXPIRY_DAYS * 86400),
        woken_at=Now(),
    )
    return state if ended else None


def _keep(export: Export, hold: Hold, file: BinaryIO, written: Written) -> ExportState | None:
    """Store the bytes of a bundle, and what it holds that does not hold; None where somebody else works on it."""
    faults = written.faults
    with transaction.atomic():
        ExportPiece.objects.filter(export=export).delete()
        file.seek(0)
        digest, size = hashlib.sha256(), 0
        for number, block in enumerate(iter(lambda: file.read(PIECE_BYTES), b"")):
            ExportPiece.objects.create(export=export, number=number, data=block)
            digest.update(block)
            size += len(block)
        kept = hold.end(
            ExportState.DONE,
            finished_at=Now(),
            expires_at=in_seconds(settings.EXPORT_EXPIRY_DAYS * 86400),
            entries_done=written.entries,
            entries_total=written.entries,
            checkpoint_size=written.entries,
            size_bytes=size,
            sha256=f"sha256:{digest.hexdigest()}",
            error=f"The log does not hold: {' '.join(faults)}"[:2000] if faults else "",
        )
        if not kept:
            transaction.set_rollback(True)
    return ExportState.DONE if kept else None


def exports_sweep() -> tuple[int, ...]:
    """Delete what expired, give up what failed too often, wake workers for what waits.

    Returns the exports of which the broker took no message. Safe to run from any number of processes at any time.
    """
    Export.objects.filter(expires_at__lt=Now()).delete()
    _thin_out()
    _give_up()
    return waiting_wake(EXPORTS).unheard


def _thin_out() -> None:
    kept = Export.objects.order_by("workspace").values_list("workspace").annotate(kept=Count("pk"))
    for workspace, _ in kept.filter(kept__gt=MOST_KEPT):
        own = Export.objects.filter(workspace=workspace)
        oldest = own.order_by("-pk").values_list("pk", flat=True)[MOST_KEPT - 1]
        own.filter(pk__lt=oldest, state__in=(ExportState.DONE, ExportState.FAILED)).delete()


def _give_up() -> None:
    EXPORTS.hopeless(MOST_ATTEMPTS).update(
        state=ExportState.FAILED,
        lease_token=None,
        lease_until=None,
        finished_at=Now(),
        expires_at=in_seconds(settings.EXPORT_EXPIRY_DAYS * 86400),
        error=f"Writing it ended {MOST_ATTEMPTS} times without a result.",
    )
