"""The text of NCCL RAS: tables of the job and of its communicators, and what is said of errors below them.

Column titles stand on several lines and rows of an uneven job in a second table. A snapshot begins with the version,
the summary of the job, or a table of communicators when one was read already.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from planner.importers.model import Place
from planner.importers.source import Source

__all__ = ["Group", "Snapshot", "snapshots"]

MAX_LINE = 4096
MAX_KEPT = 1000

_VERSION = re.compile(r"NCCL version ([0-9][0-9.]{1,15})")
_JOB = re.compile(r"Job summary$")
_GROUPS = re.compile(r"Group\s+Comms\s+Nodes\s+Ranks\b")
_CELL = r"([0-9]{1,9}(?:-[0-9]{1,9})?)"
_GROUP = re.compile(
    rf"([0-9]{{1,9}})\s+([0-9]{{1,9}})\s+{_CELL}\s+{_CELL}\s+{_CELL}\s+{_CELL}\s+([A-Z][A-Z,/]*)\s+([A-Z][A-Z,/]*)$"
)
_NUMBERS = re.compile(r"[0-9]{1,9}(?:\s+[0-9]{1,9}){2,4}$")
_TITLE = re.compile(r"(\(total\))?\s*per node\s+per process\s*(\(total\))?|\(total\)\s+\(total\)\s+\(total\)")
_MISSING = re.compile(r"Missing communicator data from ([0-9]{1,9}) ranks?$")
_MISMATCH = re.compile(r"(#[0-9]+-[0-9]+ \([0-9a-f]+\)) ((?:[A-Z]+,)*MISMATCH)")
_LAUNCHED = re.compile(r"[0-9]+ ranks? ha(?:ve|s) launched .*")
_ERROR = re.compile(r"(DEAD|TIMEOUT|INCOMPLETE)$")


@dataclass(frozen=True, slots=True)
class Group:
    """Communicators of the same kind; ``ranks_each`` is None where they differ."""

    number: int
    communicators: int
    ranks_each: int | None
    status: str
    errors: str
    place: Place


@dataclass(slots=True)
class Snapshot:
    """One answer of the tool."""

    line: int
    version: tuple[str, Place] | None = None
    totals: dict[str, tuple[int, Place]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    errors: dict[str, Place] = field(default_factory=dict)
    missing_ranks: list[tuple[int, Place]] = field(default_factory=list)
    mismatches: set[str] = field(default_factory=set)


def snapshots(source: Source) -> Iterator[Snapshot]:
    """Yield what every snapshot of a text says."""
    reader = _Reader(1)
    for number, line in source.console():
        text = line[:MAX_LINE].strip()
        if reader.ends_before(text):
            yield reader.snapshot
            reader = _Reader(number)
        reader.take(number, text)
    yield reader.snapshot


class _Reader:
    """Reads one snapshot line by line; ``table`` is what the last column titles announce."""

    def __init__(self, line: int) -> None:
        self.snapshot = Snapshot(line)
        self.table = ""
        self._job = False
        self._mismatch = ""

    def ends_before(self, text: str) -> bool:
        """Say whether a line begins another snapshot."""
        read = self.snapshot
        if _GROUPS.match(text):
            return bool(read.groups)
        if _VERSION.match(text):
            return bool(read.groups or read.totals or read.version)
        return _JOB.match(text) is not None and bool(read.groups or read.totals)

    def take(self, number: int, text: str) -> None:
        """Read one line."""
        version, title = _VERSION.match(text), _TITLE.match(text)
        if version:
            self.snapshot.version = (version[1].rstrip("."), Place(line=number))
        elif title:
            every = text.count("(total)")
            self.table = {0: "uneven", 3: "job" if title[1] else "totals"}.get(every, "")
        elif _GROUPS.match(text):
            self.table = "groups"
        elif self.table in ("job", "totals") and _NUMBERS.match(text):
            self._totals(number, [int(cell) for cell in text.split()])
        elif self.table == "groups" and _GROUP.match(text):
            self._group(number, text)
        else:
            self._note(number, text)

    def _totals(self, number: int, cells: list[int]) -> None:
        if len(cells) != (5 if self.table == "job" else 3):
            return
        nodes, processes, devices = cells[0], cells[-2], cells[-1]
        for name, value in (("nodes", nodes), ("processes", processes), ("devices", devices)):
            self.snapshot.totals[name] = (value, Place(line=number))

    def _group(self, number: int, text: str) -> None:
        row = _GROUP.match(text)
        if row is None or len(self.snapshot.groups) >= MAX_KEPT:
            return
        each = int(row[5]) if row[5].isdecimal() else None
        self.snapshot.groups.append(Group(int(row[1]), int(row[2]), each, row[7], row[8], Place(line=number)))

    def _note(self, number: int, text: str) -> None:
        place = Place(line=number)
        missing, mismatch, error = _MISSING.match(text), _MISMATCH.match(text), _ERROR.match(text)
        if error:
            self.snapshot.errors.setdefault(error[1], place)
        elif missing and len(self.snapshot.missing_ranks) < MAX_KEPT:
            self.snapshot.missing_ranks.append((int(missing[1]), place))
        if text.startswith("#"):
            self._mismatch = mismatch[1] if mismatch else ""
        elif self._mismatch and _LAUNCHED.match(text) and len(self.snapshot.mismatches) < MAX_KEPT:
            self.snapshot.mismatches.add(f"{self._mismatch} {text}")
