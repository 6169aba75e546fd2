"""Read ``rocm-smi --showtopo`` as text: weights, hops, link types and NUMA nodes, each a table of its own.

Rules kept: the link type alone says which devices have peer links; weights and hops are kept as they stand. Every
table that is there is whole and symmetric, and all name the same devices, or the file is refused with the line. Not
handled: NICs, which the tool does not show.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from planner.errors import DocumentRefusedError, Problem
from planner.hardware.lines import MAX_PROBLEMS, Line, clean_lines
from planner.hardware.matrix import Matrix, Row, checked_cells
from planner.hardware.model import Note, SeenDevice, SeenNode, SeenPath
from planner.shown import shown

__all__ = ["KINDS", "SOURCE", "TITLE", "looks_like", "read_rocm_topo", "xgmi_path"]

SOURCE = "rocm-smi --showtopo"
KINDS = {"XGMI": "xgmi", "PCIE": "pcie"}

_TITLE = re.compile(r"=*\s*(Weight|Hops|Link Type|Link accessibility) between two GPUs\s*=*\s*", re.IGNORECASE)
_OTHER_TITLE = re.compile(r"\s*={3,}.*")
_NUMA = re.compile(r"\s*GPU\s?\[?([0-9]{1,4})\]?\s*:\s*\(Topology\) Numa (Node|Affinity)\s*:\s*(-?[0-9]{1,6}|N/A)\s*")
TITLE = r"(?i:\b(?:Weight|Hops|Link Type) between two GPUs\b|\(Topology\) Numa (?:Node|Affinity)\s*:)"
_SIGN = re.compile(TITLE)
_DEVICE = re.compile(r"GPU[0-9]{1,4}")
_CELLS: Mapping[str, re.Pattern[str]] = {
    "weight": re.compile(r"[0-9]{1,6}|X|N/A"),
    "hops": re.compile(r"[0-9]{1,6}|X|N/A"),
    "link type": re.compile(r"XGMI|PCIE|0|X|N/A|UNKNOWN"),
    "link accessibility": re.compile(r"True|False|0|X|N/A"),
}
_CELL = re.compile("|".join(pattern.pattern for pattern in _CELLS.values()))
Table = dict[str, tuple[list[str], list[str]]]


@dataclass(slots=True)
class _Found:
    """The tables by title, and the NUMA node of each device with its line."""

    tables: dict[str, list[Matrix]] = field(default_factory=dict)
    numa: dict[str, tuple[str, int]] = field(default_factory=dict)
    untitled: list[int] = field(default_factory=list)


def looks_like(text: str) -> bool:
    """Say whether a text has a title or a line of this tool."""
    small = text.lower()
    return ("between two gpus" in small or "(topology)" in small) and _SIGN.search(text) is not None


def read_rocm_topo(text: str) -> tuple[SeenNode, ...]:
    """Return the one node that the text shows.

    Raises:
        DocumentRefusedError: with every line that does not fit.
    """
    problems: list[Problem] = []
    scan = _Scan(problems)
    for line in clean_lines(text):
        scan.take(line)
        if len(problems) > MAX_PROBLEMS:
            raise DocumentRefusedError(tuple(problems))
    scan.close()
    found = scan.found
    tables = {title: _checked(title, matrices, problems) for title, matrices in found.tables.items()}
    names = _names(found, problems)
    if problems:
        raise DocumentRefusedError(tuple(problems))
    types = tables.get("link type")
    return (
        SeenNode(
            devices=tuple(SeenDevice(name=name, numa=_numa(found, name)) for name in names),
            paths=tuple(_paths(names, types, tables)) if types is not None else (),
            peers_seen=types is not None,
            notes=tuple(_notes(found, names)),
        ),
    )


def xgmi_path(a: str, b: str, kind: str, weight: str | None, hops: str | None) -> SeenPath:
    """Return the path that a link type with its weight and hops stands for; words are None where not known."""
    return SeenPath(a=a, b=b, code=kind, kind=KINDS.get(kind, "unknown"), weight=_number(weight), hops=_number(hops))


def _number(word: str | None) -> int | None:
    return int(word) if word is not None and word.isdecimal() else None


class _Scan:
    """Takes titles, rows below them and NUMA lines; whatever else a log has is left."""

    def __init__(self, problems: list[Problem]) -> None:
        self.found = _Found()
        self._problems = problems
        self._title: tuple[str, int] | None = None
        self._matrix: Matrix | None = None

    def take(self, line: Line) -> None:
        words = line.text.split()
        titled = _TITLE.fullmatch(line.text)
        if titled is not None:
            self.close()
            self._title = titled[1].lower(), line.number
        elif _OTHER_TITLE.fullmatch(line.text):
            self.close()
        elif words and all(map(_DEVICE.fullmatch, words)):
            self._take_header(line, words)
        elif not self._is_row(line, words):
            _take_numa(line, self.found, self._problems)

    def close(self) -> None:
        """End the table; a title needs one below it."""
        if self._title is not None:
            expected = "the names of the devices below the title"
            self._problems.append(Problem("hardware/header", "", expected, "none", self._title[1]))
        self._title, self._matrix = None, None

    def _take_header(self, line: Line, words: list[str]) -> None:
        if self._title is None:
            self.found.untitled.append(line.number)
            return
        self._matrix = Matrix(line=line.number, names=words)
        self.found.tables.setdefault(self._title[0], []).append(self._matrix)
        self._title = None

    def _is_row(self, line: Line, words: list[str]) -> bool:
        """Take a row, or what a terminal wrapped of it, and say whether it is one."""
        if self._matrix is None or not words:
            return False
        if _DEVICE.fullmatch(words[0]):
            self._matrix.rows.append(Row(line.number, words[0], words[1:]))
            return True
        if self._matrix.rows and all(map(_CELL.fullmatch, words)):
            self._matrix.rows[-1].words += words
            return True
        return False


def _take_numa(line: Line, found: _Found, problems: list[Problem]) -> None:
    match = _NUMA.fullmatch(line.text)
    if match is None or match[2] != "Node":
        return
    name, value = f"GPU{int(match[1])}", match[3]
    before, at = found.numa.setdefault(name, (value, line.number))
    if before != value:
        expected = f"one NUMA node of {name}, {before} as line {at} says"
        problems.append(Problem("hardware/repeated", "", expected, value, line.number))


def _checked(title: str, matrices: Sequence[Matrix], problems: list[Problem]) -> Table:
    matrix = matrices[0]
    for other in matrices[1:]:
        expected = f"one table of this title, as line {matrix.line} begins"
        problems.append(Problem("hardware/repeated", "", expected, "another one", other.line))
    own: Callable[[str], bool] = {"0", "X"}.__contains__
    before = len(problems)
    rows = checked_cells(matrix, _CELLS[title], own, problems)
    if len(problems) == before:
        last = max((row.line for row in matrix.rows), default=matrix.line)
        problems.extend(
            Problem("hardware/missing_row", "", f"a row of {name}, which line {matrix.line} names", "none", last)
            for name in matrix.names
            if name not in rows
        )
    return rows


def _names(found: _Found, problems: list[Problem]) -> tuple[str, ...]:
    """Return the devices; all tables have to name the same ones."""
    matrices = [tables[0] for tables in found.tables.values()]
    if not matrices:
        if not found.numa:
            expected = "tables of rows below the titles, or lines of NUMA nodes"
            problems.append(Problem("hardware/no_device", "", expected, "titles only"))
        return tuple(sorted(found.numa, key=lambda name: int(name[3:])))
    names = matrices[0].names
    for matrix in matrices[1:]:
        if matrix.names != names:
            expected = f"the devices of line {matrices[0].line}"
            problems.append(Problem("hardware/header", "", expected, shown(" ".join(matrix.names)), matrix.line))
    for name, (_, at) in found.numa.items():
        if name not in names:
            problems.append(Problem("hardware/row", "", f"a device of line {matrices[0].line}", shown(name), at))
    return tuple(names)


def _numa(found: _Found, name: str) -> str | None:
    value = found.numa.get(name, ("-1", 0))[0]
    return None if value.startswith("-") or value == "N/A" else value


def _paths(names: Sequence[str], types: Table, tables: Mapping[str, Table]) -> Iterator[SeenPath]:
    def cell(title: str, name: str, column: int) -> str | None:
        return tables[title][name][0][column] if title in tables else None

    for position, name in enumerate(names):
        for column in range(position + 1, len(names)):
            kind = types[name][0][column]
            yield xgmi_path(name, names[column], kind, cell("weight", name, column), cell("hops", name, column))


def _notes(found: _Found, names: Sequence[str]) -> Iterator[Note]:
    without = [name for name in names if name not in found.numa]
    if without:
        yield Note(sentence=f"{len(without)} of {len(names)} devices have no line of their NUMA node.")
    for line in found.untitled:
        yield Note(sentence="A table without a title that is known; not read.", line=line)
