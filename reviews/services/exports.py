"""Exports: bundles of a decision or a whole workspace, written by a worker and kept in the database until they expire.

Rules kept: every member may export what they may read; asking for one and fetching one are entries of the log; the
same export again, while one waits, is that one; only so many wait at once. As with plan jobs, the row is the queue and
a lease says who works on it. The key that signs is the log's, which web processes do not have.
"""

import base64
import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from reviews import queue
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.bundle.assembly import Wanted, Written, bundle_write
from reviews.bundle.work import Progress
from reviews.clock import database_now
from reviews.errors import ConflictError, TamperedError
from reviews.log_keys import log_signer
from reviews.models import Checkpoint, Cosignature, Export, ExportPiece, ExportState, Person, Workspace
from reviews.selectors.decision_page import decision_named
from reviews.selectors.exports import ExportRow, export_named, export_row
from reviews.selectors.people import standing_of
from reviews.services.checkpoints import checkpoint_sign
from reviews.services.people import UNTRACED, Trace
from reviews.transparency.notes import Signer

OPEN = (ExportState.QUEUED, ExportState.RUNNING)
MOST_OPEN = 5
"""How many exports of a workspace wait or run at once."""


def write_bundle(
    workspace: Workspace,
    file: BinaryIO,
    *,
    decision: int | None = None,
    with_files: bool = False,
    progress: Progress = lambda share: None,
) -> Written:
    """Sign the log as it is now and write its bundle into an open file that is empty.

    A log that does not hold is written too, and all of it, with the last checkpoint that could be signed.

    Raises:
        ConflictError: this process holds no key to sign with.
        TooLargeError: it does not fit into one bundle.
    """
    signer = log_signer(workspace)
    if signer is None:
        raise ConflictError("There is no key that signs the log, so nothing can be exported.")
    checkpoint, unsigned = _signed(workspace, signer)
    wanted = Wanted(
        checkpoint=checkpoint,
        signer=signer,
        decision=decision,
        with_files=with_files,
        most_bytes=settings.EXPORT_BYTES,
        notes=_notes(checkpoint),
        unsigned=unsigned,
    )
    return bundle_write(file, wanted, progress)


def _signed(workspace: Workspace, signer: Signer) -> tuple[Checkpoint, str]:
    """Return the newest checkpoint, and why the log as it is now is not signed; a log that never was has an empty one.

    Raises:
        ConflictError: this process holds no key.
    """
    try:
        checkpoint = checkpoint_sign(workspace)
    except TamperedError as tampered:
        newest = Checkpoint.objects.filter(workspace=workspace).order_by("size", "pk").last()
        return newest or _nothing_signed(workspace, signer), tampered.message
    if checkpoint is None:
        raise ConflictError("There is no key that signs the log, so nothing can be exported.")
    return checkpoint, ""


def _nothing_signed(workspace: Workspace, signer: Signer) -> Checkpoint:
    root = hashlib.sha256().digest()
    note = f"{workspace.log_origin}\n0\n{base64.b64encode(root).decode()}\n\n".encode()
    return Checkpoint(workspace=workspace, size=0, root=root, key=str(signer.verifier), note=note)


def _notes(checkpoint: Checkpoint) -> dict[str, bytes]:
    """Return the newest checkpoint as a file, and beside it the newest one that a witness has cosigned, if any."""
    notes = {"log/newest.checkpoint": _note(checkpoint)}
    cosigned = Checkpoint.objects.filter(workspace=checkpoint.workspace, cosignatures__isnull=False)
    newest = cosigned.order_by("size", "pk").last()
    return notes if newest is None else notes | {"log/cosigned.checkpoint": _note(newest)}


def _note(checkpoint: Checkpoint) -> bytes:
    lines = Cosignature.objects.filter(checkpoint_id=checkpoint.pk).order_by("pk").values_list("line", flat=True)
    return bytes(checkpoint.note) + "".join(lines).encode()


def export_request(
    *,
    actor: Person,
    workspace: Workspace,
    decision: int | None = None,
    with_files: bool = False,
    trace: Trace = UNTRACED,
) -> Export:
    """Ask for a bundle of one decision, or of the whole workspace; the same again while one waits is that one.

    ``with_files`` asks for the files behind evidence and diagnoses as well.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        ConflictError: too many exports of the workspace wait already.
    """
    standing = standing_of(actor, workspace)
    attempt = _act("export.refused", standing.token, decision, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        if decision is not None:
            decision_named(workspace, decision)
        waiting = Export.objects.filter(workspace=workspace, state__in=OPEN)
        wanted = {"person_id": standing.person_id, "decision_number": decision, "with_files": with_files}
        same = waiting.filter(**wanted).first()
        if same is not None:
            return same
        if waiting.count() >= MOST_OPEN:
            raise ConflictError(f"{MOST_OPEN} exports wait already. Ask again when one of them is ready.")
        now = database_now()
        export = Export.objects.create(workspace=workspace, asked_at=now, woken_at=now, **wanted)
        said = {"export": export.pk, **({"files": True} if with_files else {})}
        append(workspace, _act("export.requested", standing.token, decision, trace, said))
        transaction.on_commit(partial(queue.wake, export.pk, queue.EXPORT_TASK))
    return export


def export_fetch(
    *, actor: Person, workspace: Workspace, export_id: int, trace: Trace = UNTRACED
) -> tuple[ExportRow, Iterator[bytes]]:
    """Return a bundle that is ready and its bytes, a piece at a time; that it is fetched is an entry.

    Raises:
        NotFoundError: no such export, or it expired, or the actor is no member of the workspace.
        ConflictError: it is not ready.
    """
    standing = standing_of(actor, workspace)
    with workspace_write(workspace.pk):
        export = export_named(workspace, export_id)
        if export.state != ExportState.DONE:
            raise ConflictError(f"This export is not ready: {ExportState(export.state).label.lower()}.")
        said = {"export": export.pk, "sha256": export.sha256}
        append(workspace, _act("export.downloaded", standing.token, export.decision_number, trace, said))
    pieces = ExportPiece.objects.filter(export=export).order_by("number").values_list("data", flat=True)
    return export_row(export), (bytes(data) for data in pieces.iterator(chunk_size=4))


def _act(action: str, actor: str, decision: int | None, trace: Trace, said: dict[str, Any] | None = None) -> Act:
    return trace.act(
        action,
        actor,
        decision=decision,
        payload_type="topogate.export/v1",
        payload={"scope": "workspace" if decision is None else "decision", **(said or {})},
    )
