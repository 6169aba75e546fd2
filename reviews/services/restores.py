"""Checks what a backup brought back, against checkpoints that were kept elsewhere, and records that it was restored.

Rules kept: every stored blob is hashed again; every log is checked in full; the root over its first entries is computed
from the entries' bytes, never from kept tiles; a checkpoint that was saved covers entries that are there, or the
restored log lost its tail. The entry ``log.restored`` is written only where nothing is at fault, and the entries that
follow continue the log that was brought back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.canonical import file_sha256
from reviews.audit import Act, append
from reviews.log_pages import log_rows
from reviews.models import AuditEntry, Blob, Workspace
from reviews.models import Checkpoint as StoredCheckpoint
from reviews.transparency.checkpoints import Checkpoint, checkpoint_opened
from reviews.transparency.merkle import Tree, leaf_hash
from reviews.transparency.notes import NoteError, Verifier
from reviews.verification import verify

BLOBS_AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredLog:
    """A log that was brought back: how many entries, the digest of the last, the sizes of saved checkpoints it covers.

    ``faults`` says in words what is wrong with it.
    """

    workspace: Workspace
    entries: int
    head: str
    covered: tuple[int, ...]
    faults: tuple[str, ...]


def blobs_check() -> tuple[int, tuple[str, ...]]:
    """Hash every stored blob again; return how many there are and the digests of those that are not what they were."""
    count, changed = 0, []
    for sha256, data in Blob.objects.values_list("sha256", "data").iterator(chunk_size=BLOBS_AT_ONCE):
        count += 1
        if file_sha256(bytes(data)) != sha256:
            changed.append(sha256)
    return count, tuple(changed)


def log_check(workspace: Workspace, notes: Sequence[bytes], keys: Sequence[Verifier] = ()) -> RestoredLog:
    """Check one log against those of the saved checkpoints that are of it.

    ``keys`` are trusted besides the keys of the checkpoints that the restored database holds itself.
    """
    own = StoredCheckpoint.objects.filter(workspace=workspace).values_list("key", flat=True).distinct()
    trusted = [*keys, *(Verifier.of(key) for key in own)]
    stated, faults = [], []
    for note in notes:
        if note.partition(b"\n")[0] == workspace.log_origin.encode():
            try:
                stated.append(_opened(note, trusted))
            except NoteError as error:
                faults.append(f"a saved checkpoint is none: {error}")
    found = verify(workspace)
    if not found.holds:
        faults.append(f"broken at seq {found.bad_seq}: {found.reason}")
    roots = _roots(workspace, {checkpoint.size for checkpoint in stated})
    for checkpoint in stated:
        if checkpoint.size not in roots:
            faults.append(f"the tail is lost: a saved checkpoint covers {checkpoint.size} entries")
        elif roots[checkpoint.size] != checkpoint.root:
            faults.append(f"the first {checkpoint.size} entries are not those of a saved checkpoint")
    return RestoredLog(
        workspace=workspace,
        entries=found.entries,
        head=found.head,
        covered=tuple(sorted(checkpoint.size for checkpoint in stated)),
        faults=tuple(faults),
    )


def log_restored(log: RestoredLog) -> AuditEntry:
    """Record that a log which is not at fault was brought back.

    Raises:
        ValueError: it is at fault.
    """
    if log.faults:
        raise ValueError(f"the log of {log.workspace.slug} is at fault: {log.faults[0]}")
    payload = {"entries": log.entries, "head": log.head, "checkpoint": max(log.covered, default=None)}
    return append(log.workspace, Act(action="log.restored", payload_type="topogate.restore/v1", payload=payload))


def _opened(note: bytes, trusted: Sequence[Verifier]) -> Checkpoint:
    """Return the statement of a note, signed by any of the keys.

    Raises:
        NoteError: it is no checkpoint, or none of the keys signed it.
    """
    problem = NoteError("no key is known; give the one that signed it with --key")
    for verifier in trusted:
        try:
            return checkpoint_opened(note, verifier)[0]
        except NoteError as error:
            problem = error
    raise problem


def _roots(workspace: Workspace, sizes: set[int]) -> dict[int, bytes]:
    """Return size -> root over so many first entries, for the sizes that the log has."""
    tree, roots = Tree(), {}
    for size, (data,) in enumerate(log_rows(AuditEntry.objects.filter(workspace=workspace), "data"), start=1):
        tree.append(leaf_hash(bytes(data)))
        if size in sizes:
            roots[size] = tree.root()
    return roots
