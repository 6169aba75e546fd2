"""Checkpoints of a log with what proves them: cosignatures, inclusion of an entry, consistency of two sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Min, Prefetch, QuerySet

from reviews.errors import NotFoundError, TamperedError, is_storable
from reviews.log_tree import LogTree
from reviews.models import Checkpoint, Cosignature, Person, Workspace
from reviews.selectors.log import log_head
from reviews.selectors.people import standing_of
from reviews.transparency.merkle import (
    consistency_holds,
    consistency_proof,
    inclusion_holds,
    inclusion_proof,
    leaf_hash,
)
from reviews.transparency.notes import Verifier

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class CosignatureRow:
    """What a witness signed: under which name and key, and when it saw the checkpoint."""

    name: str
    key: str
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """A checkpoint. ``note`` has the log's signature and those of the witnesses; ``root`` is 32 bytes."""

    size: int
    root: bytes
    key: str
    note: bytes
    signed_at: datetime
    cosignatures: tuple[CosignatureRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointList:
    """One page of checkpoints, newest first, and every key that signed the log, the first one first.

    ``older_than`` is the size to ask for the next page with, or None; ``entries`` is how many the log holds.
    """

    rows: tuple[CheckpointRow, ...]
    older_than: int | None
    keys: tuple[str, ...]
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """The proof that the first ``old`` entries of a log of ``size`` are those of the log of ``old``.

    ``holds`` compares it with the roots of both signed checkpoints. ``fault`` says why there is no proof.
    """

    old: int
    size: int
    proof: tuple[bytes, ...]
    holds: bool
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """The proof that an entry's stored bytes are in the log of a checkpoint; see ``Consistency`` for the last two."""

    index: int
    leaf: bytes
    checkpoint: CheckpointRow
    proof: tuple[bytes, ...]
    holds: bool
    fault: str = ""


def checkpoint_rows(
    *, actor: Person, workspace: Workspace, older_than: int | None = None, page_size: int = PAGE_SIZE
) -> CheckpointList:
    """Return checkpoints of fewer than ``older_than`` entries, newest first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    signed = _signed(workspace)
    keys = keys_of(workspace)
    wanted = signed if older_than is None else signed.filter(size__lt=older_than)
    found = list(wanted[: page_size + 1])
    shown = found[:page_size]
    head = log_head(workspace)
    return CheckpointList(
        rows=tuple(map(_row, shown)),
        older_than=shown[-1].size if len(found) > page_size else None,
        keys=keys,
        entries=0 if head is None else head + 1,
    )


def keys_of(workspace: Workspace) -> tuple[str, ...]:
    """Return every key that signed a log, in the order in which they first did."""
    first = Checkpoint.objects.filter(workspace=workspace).values("key").annotate(first=Min("pk")).order_by("first")
    return tuple(first.values_list("key", flat=True))


def newest_key(workspace: Workspace) -> str:
    """Return the key that signed a log last, an empty text where none did."""
    keys = Checkpoint.objects.filter(workspace=workspace).order_by("-size", "-pk").values_list("key", flat=True)
    return keys.first() or ""


def checkpoint_of_size(workspace: Workspace, size: int | None = None) -> CheckpointRow:
    """Return the checkpoint over so many entries, the newest where None.

    Raises:
        NotFoundError: none was signed.
    """
    signed = _signed(workspace)
    found = (signed if size is None else signed.filter(size=size)).first()
    if found is None:
        over = "" if size is None else f" over {size} entries"
        raise NotFoundError(f"No checkpoint{over} was signed for the log of {workspace.slug}.")
    return _row(found)


def checkpoint_before(workspace: Workspace, size: int) -> CheckpointRow | None:
    """Return the last checkpoint over fewer entries."""
    found = _signed(workspace).filter(size__lt=size).first()
    return None if found is None else _row(found)


def consistency_of(workspace: Workspace, old: CheckpointRow, new: CheckpointRow) -> Consistency:
    """Prove that a checkpoint continues an earlier one, from what is stored of the log."""
    try:
        proof = tuple(consistency_proof(LogTree(workspace), old.size, new.size))
    except TamperedError as tampered:
        return Consistency(old=old.size, size=new.size, proof=(), holds=False, fault=tampered.message)
    holds = consistency_holds(old.size, new.size, proof, old.root, new.root)
    return Consistency(old=old.size, size=new.size, proof=proof, holds=holds)


def log_named(origin: str) -> Workspace:
    """Return the workspace whose log has this origin, to everybody who knows it.

    Raises:
        NotFoundError: there is none.
    """
    workspace = Workspace.objects.filter(log_origin=origin).first() if is_storable(origin) else None
    if workspace is None:
        raise NotFoundError("There is no log of this origin.")
    return workspace


def proof_between(workspace: Workspace, old: int, size: int) -> list[bytes]:
    """Return the consistency proof from a log of ``old`` entries, at most ``size``; none from an empty one.

    Raises:
        TamperedError: an entry that the proof needs is not the one that was stored.
    """
    return consistency_proof(LogTree(workspace), old, size) if old else []


def inclusion_of(workspace: Workspace, seq: int, data: bytes, size: int | None = None) -> Inclusion | None:
    """Prove that an entry is in the log of a checkpoint: the newest, or the one over ``size`` entries.

    None where no checkpoint covers the entry yet.

    Raises:
        NotFoundError: there is no checkpoint over ``size`` entries that covers it.
    """
    covering = _signed(workspace).filter(size__gt=seq)
    found = (covering if size is None else covering.filter(size=size)).first()
    if found is None:
        if size is not None:
            raise NotFoundError(f"No checkpoint over {size} entries covers entry {seq} of {workspace.slug}.")
        return None
    checkpoint, leaf = _row(found), leaf_hash(data)
    try:
        proof = tuple(inclusion_proof(LogTree(workspace), seq, checkpoint.size))
    except TamperedError as tampered:
        return Inclusion(index=seq, leaf=leaf, checkpoint=checkpoint, proof=(), holds=False, fault=tampered.message)
    holds = inclusion_holds(leaf, seq, checkpoint.size, proof, checkpoint.root)
    return Inclusion(index=seq, leaf=leaf, checkpoint=checkpoint, proof=proof, holds=holds)


def _signed(workspace: Workspace) -> QuerySet[Checkpoint]:
    cosigned = Prefetch("cosignatures", Cosignature.objects.order_by("pk"))
    return Checkpoint.objects.filter(workspace=workspace).order_by("-size", "-pk").prefetch_related(cosigned)


def _row(found: Checkpoint) -> CheckpointRow:
    cosigned: Sequence[Cosignature] = list(found.cosignatures.all())
    return CheckpointRow(
        size=found.size,
        root=bytes(found.root),
        key=found.key,
        note=bytes(found.note) + "".join(one.line for one in cosigned).encode(),
        signed_at=found.signed_at,
        cosignatures=tuple(
            CosignatureRow(Verifier.of(one.key).name, one.key, datetime.fromtimestamp(one.time, UTC))
            for one in cosigned
        ),
    )
