"""Signs checkpoints over a workspace's log.

Rules kept: a checkpoint continues the last one or is not signed; a change of key is an entry of the log before the new
key signs; a log that has not grown is not signed again.
"""

import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max, OuterRef, Subquery
from django.db.models.functions import Coalesce

from reviews.audit import Act, append
from reviews.clock import database_now
from reviews.errors import TamperedError
from reviews.log_keys import log_signer
from reviews.log_tree import LogTree
from reviews.models import AuditEntry, Checkpoint, Workspace
from reviews.transparency.checkpoints import Checkpoint as Statement
from reviews.transparency.checkpoints import checkpoint_signed, continued
from reviews.transparency.merkle import consistency_proof, root_at
from reviews.transparency.notes import Signer
from reviews.whole_files import write_whole

logger = logging.getLogger(__name__)
LOCK_CLASS = 0x746F71  # another than that of the log's writers, who need not wait for a signature


def checkpoints_sign() -> int:
    """Sign every log that grew, or that another key signed last; return how many. One that cannot be stops no other."""
    return sum(_signed_or_named(workspace) for workspace in _unsigned())


def checkpoint_sign(workspace: Workspace) -> Checkpoint | None:
    """Sign the log as it is now; return the newest checkpoint, None where this process holds no key.

    Raises:
        TamperedError: the log does not continue its last checkpoint; nothing is signed or kept.
    """
    signer = log_signer(workspace)
    if signer is None:
        return None
    with transaction.atomic():
        _lock(workspace.pk)
        last = Checkpoint.objects.filter(workspace=workspace).order_by("size", "pk").last()
        _announce_key(workspace, signer, last)
        size = _size_of(workspace)
        if last is not None and last.size == size:
            return last
        made = _make(workspace, signer, last, size)
    _copy(workspace, made)
    return made


def _unsigned() -> list[Workspace]:
    entries = AuditEntry.objects.filter(workspace=OuterRef("pk")).order_by("-seq")
    last = Checkpoint.objects.filter(workspace=OuterRef("pk")).order_by("-size", "-pk")
    rows = Workspace.objects.annotate(
        held=Subquery(entries.values("seq")[:1]) + 1,
        signed=Coalesce(Subquery(last.values("size")[:1]), 0),
        signed_by=Subquery(last.values("key")[:1]),
    )
    held = rows.filter(held__isnull=False).order_by("pk")
    return [workspace for workspace in held if workspace.held != workspace.signed or _is_by_another_key(workspace)]


def _is_by_another_key(workspace: Any) -> bool:
    """Say whether the key was changed since the last checkpoint: a log where nothing happens is to learn of it, too."""
    signer = log_signer(workspace)
    return signer is not None and workspace.signed_by != str(signer.verifier)


def _signed_or_named(workspace: Workspace) -> bool:
    try:
        return checkpoint_sign(workspace) is not None
    except (TamperedError, OSError) as error:
        logger.error("the log of %s was not signed: %s", workspace.slug, error)
        return False


def _lock(workspace_id: int) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, workspace_id])


def _announce_key(workspace: Workspace, signer: Signer, last: Checkpoint | None) -> None:
    """Record a key that has not signed this log yet, so that the first checkpoint it signs covers the entry."""
    key = str(signer.verifier)
    if last is not None and last.key == key:
        return
    payload = {"key": key, "previous": last.key if last else None}
    append(workspace, Act(action="log.key_set", payload_type="topogate.log-key/v1", payload=payload))


def _size_of(workspace: Workspace) -> int:
    last = AuditEntry.objects.filter(workspace=workspace).aggregate(last=Max("seq"))["last"]
    return 0 if last is None else last + 1


def _make(workspace: Workspace, signer: Signer, last: Checkpoint | None, size: int) -> Checkpoint:
    tree = LogTree(workspace)
    old = None if last is None else Statement(workspace.log_origin, last.size, bytes(last.root))
    if old is not None and size < old.size:
        raise TamperedError(f"The log held {old.size} entries when it was last signed and holds {size}.")
    tree.grow(size)
    new = Statement(workspace.log_origin, size, root_at(tree, size))
    fault = continued(old, new, consistency_proof(tree, old.size, size) if old else [])
    if fault:
        raise TamperedError(f"No checkpoint is signed: {fault}.")
    return Checkpoint.objects.create(
        workspace=workspace,
        size=size,
        root=new.root,
        key=str(signer.verifier),
        note=checkpoint_signed(new, [signer]),
        signed_at=database_now(),
    )


def _copy(workspace: Workspace, checkpoint: Checkpoint) -> None:
    """Leave the note where other machines fetch it, if the installation has such a place."""
    if settings.CHECKPOINT_DIR:
        write_whole(Path(settings.CHECKPOINT_DIR) / f"{workspace.slug}.checkpoint", bytes(checkpoint.note))
