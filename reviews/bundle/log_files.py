"""Writes the entries of a log and their payloads, each exactly as stored, in one pass over the database.

What is written is replayed by the verifier's own code at once. Where that finds a fault the rest is written all the
same, since a log that breaks a rule is what an auditor has to see; only what holds is stated and told of then. What is
read are the bytes: a column that somebody changed hides no entry. Of an export of one decision the entries of other
decisions are there as their leaf hashes, so that the root can still be computed; what the rules need beside the
decision (policy, roster, delegations, keys) is there in full.
"""

import tempfile
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec
from django.db.models import QuerySet

from planner.canonical import file_sha256
from planner.verifier.verify import Fault, Rules, replay
from reviews.bundle.archive import MOST_LINE_BYTES, Archive, fitting
from reviews.bundle.work import ENTRY, Work
from reviews.log_pages import log_rows
from reviews.models import AuditEntry
from reviews.transparency.merkle import leaf_hash

SHARED = ("delegation.", "log.", "policy.", "roster.", "workspace.")
"""Beginnings of actions that are about no one decision and that its rules need."""
RETRACTED = "evidence.retracted"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as it is written: its key in the database, what its bytes say, its line and its payload."""

    pk: int
    fields: dict[str, Any]
    line: bytes
    payload: bytes | None

    @property
    def decision(self) -> int | None:
        """The decision that it is about, if it is shown and about one."""
        number = self.fields.get("decision")
        return number if type(number) is int and self.line[:1] != b'"' else None


@dataclass
class WrittenLog:
    """The log as far as it holds: the rules after it, all leaf hashes, and which rows are about which decision.

    ``fault`` is the first one, with its entry where it is one's; ``lines`` counts what was written, fault or not.
    """

    rules: Rules = field(default_factory=Rules)
    leaves: list[bytes] = field(default_factory=list)
    own: "dict[int, array[int]]" = field(default_factory=dict)
    fault: Fault | None = None
    lines: int = 0
    hidden: int = 0

    @property
    def bad_seq(self) -> int:
        """How many entries hold."""
        return self.lines if self.fault is None or self.fault.args[1] is None else int(self.fault.args[1])


def fields_of(data: bytes | memoryview | None) -> dict[str, Any]:
    """Return what stored bytes say, nothing where they are no JSON object."""
    try:
        tree = msgspec.json.decode(bytes(data or b""))
    except (ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}


def is_shown(fields: dict[str, Any], decision: int | None) -> bool:
    """Whether an entry is in the bundle in full; what cannot be read is."""
    action = fields.get("action")
    if decision is None or not isinstance(action, str) or action.startswith(SHARED) or action == RETRACTED:
        return True
    return bool(fields.get("decision") == decision)


def write_log(
    archive: Archive, entries: QuerySet[AuditEntry], origin: str, decision: int | None, work: Work
) -> WrittenLog:
    """Write entries, whether they hold or not.

    Raises:
        TooLargeError: they do not fit.
    """
    with tempfile.TemporaryFile() as kept:
        with archive.writing("log/entries.jsonl") as handle:

            def taken(rows: Iterable[Row]) -> Iterator[Row]:
                for row in work.over(rows, ENTRY):
                    handle.write(row.line + b"\n")
                    if row.payload is not None:
                        kept.write(row.payload + b"\n")
                    yield row

            written = _replayed(taken(_rows(entries, decision)), origin)
        kept.seek(0)
        archive.add("log/payloads.jsonl", iter(lambda: kept.read(_BLOCK), b""))
    if written.fault is not None:  # what is wrong may be applied already: once more, up to it
        held = _replayed(islice(_rows(entries, decision), written.bad_seq), origin)
        written.rules, written.own = held.rules, held.own
    return written


def _replayed(rows: Iterator[Row], origin: str) -> WrittenLog:
    """Replay rows and take them all, those after a fault too."""
    found, queue = WrittenLog(), deque[bytes]()

    def lines() -> Iterator[bytes]:
        for row in rows:
            found.lines += 1
            found.hidden += row.line[:1] == b'"'
            if row.payload is not None:
                queue.append(row.payload)
            if row.decision is not None:
                found.own.setdefault(row.decision, array("q")).append(row.pk)
            yield row.line

    all_lines = lines()
    payloads: Iterator[bytes] = iter(lambda: queue.popleft() if queue else None, None)
    try:
        replay(found.rules, all_lines, payloads, origin, found.leaves)
    except Fault as fault:
        found.fault = fault
        deque(all_lines, maxlen=0)
    return found


def _rows(entries: QuerySet[AuditEntry], decision: int | None) -> Iterator[Row]:
    """Yield every line of the log with its payload; of entries that are not shown the leaf hash in quotes."""
    for pk, data, payload in log_rows(entries, "pk", "data", "payload__data"):
        line = bytes(data)
        fields = fields_of(line)
        if is_shown(fields, decision):
            yield Row(pk, fields, line[: MOST_LINE_BYTES - 1], _payload(fields.get("payload_sha256"), payload))
        else:
            yield Row(pk, fields, f'"{leaf_hash(line).hex()}"'.encode(), None)


def _payload(named: object, payload: bytes | memoryview | None) -> bytes | None:
    """Return the payload of an entry that names one: an empty line where it is gone, and cut where it is none.

    Raises:
        TooLargeError: it is longer than the verifier takes, and is the one that was stored.
    """
    if not named:
        return None
    raw = bytes(payload or b"")
    return raw if len(raw) < MOST_LINE_BYTES else fitting(raw) if file_sha256(raw) == named else raw[:_BLOCK]
