"""Writes the entries of a log and their payloads, each exactly as stored, in one pass over the database.

What is written is replayed by the verifier's own code at once: a log that it would not take is never signed for
anybody. Of an export of one decision the entries of other decisions are there as their leaf hashes, so that the root
can still be computed; what the rules need beside the decision (policy, roster, delegations, keys) is there in full.
"""

import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from planner.verifier.verify import Fault, Rules, replayed, root_of
from reviews.bundle.archive import Archive, fitting
from reviews.errors import TamperedError
from reviews.models import AuditEntry, Checkpoint
from reviews.transparency.merkle import leaf_hash

Progress = Callable[[int], None]
"""Called with how many entries are written."""
SHARED = ("delegation.", "log.", "policy.", "roster.", "workspace.")
"""Beginnings of actions that are about no one decision and that its rules need."""
RETRACTED = "evidence.retracted"
_ROWS = 500
_BLOCK = 1 << 20


@dataclass
class WrittenLog:
    """What was written: the rules as they stand after the last entry, and all leaf hashes in order."""

    rules: Rules
    leaves: list[bytes] = field(default_factory=list)


def is_shown(action: str, about: int | None, decision: int | None) -> bool:
    """Whether an entry is in the bundle in full; ``about`` is its own decision, ``decision`` the exported one."""
    if decision is None or action.startswith(SHARED) or action == RETRACTED:
        return True
    return about == decision


def write_log(archive: Archive, checkpoint: Checkpoint, decision: int | None, progress: Progress) -> WrittenLog:
    """Write the entries that a checkpoint covers.

    Raises:
        TamperedError: the log does not hold, or is not the one that was signed.
        TooLargeError: it does not fit.
    """
    leaves: list[bytes] = []
    queue: deque[bytes] = deque()
    with tempfile.TemporaryFile() as kept:
        with archive.writing("log/entries.jsonl") as entries:

            def lines() -> Iterator[bytes]:
                for seq, (line, payload) in enumerate(_rows(checkpoint, decision)):
                    entries.write(line + b"\n")
                    if payload is not None:
                        fitting(payload)
                        kept.write(payload + b"\n")
                        queue.append(payload)
                    progress(seq + 1)
                    yield line

            payloads: Iterator[bytes] = iter(lambda: queue.popleft() if queue else b"", b"")
            try:
                rules = replayed(lines(), payloads, checkpoint.workspace.log_origin, leaves)
            except Fault as fault:
                raise TamperedError(f"The log does not hold at entry {fault.args[1]}: {fault.args[0]}.") from fault
        kept.seek(0)
        archive.add("log/payloads.jsonl", iter(lambda: kept.read(_BLOCK), b""))
    if len(leaves) != checkpoint.size or root_of(leaves) != bytes(checkpoint.root):
        raise TamperedError(f"The log is not the one that was signed at {checkpoint.size} entries.")
    return WrittenLog(rules, leaves)


def _rows(checkpoint: Checkpoint, decision: int | None) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield every line of the log with its payload; of entries that are not shown the leaf hash in quotes."""
    entries = AuditEntry.objects.filter(workspace=checkpoint.workspace, seq__lt=checkpoint.size).order_by("seq")
    rows = entries.values_list("action", "decision_number", "data", "payload__data").iterator(chunk_size=_ROWS)
    for action, about, data, payload in rows:
        if is_shown(action, about, decision):
            yield bytes(data), _kept(payload)
        else:
            yield f'"{leaf_hash(bytes(data)).hex()}"'.encode(), None


def _kept(payload: bytes | memoryview | None) -> bytes | None:
    return None if payload is None else bytes(payload)
