"""The lines of ``nvidia-smi topo``: which are headers, rows, rest of a wrapped line, legend.

Rules kept: a header is a line of device and NIC names, followed by the names of affinity columns or nothing; old
drivers name NICs by interface (``mlx5_0``), new ones by ``NIC0`` and a legend. Not handled: what a cell means
(``planner.hardware.nvidia_topo``).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from planner.errors import DocumentRefusedError, Problem
from planner.hardware.lines import MAX_PROBLEMS, Line, refuse
from planner.hardware.matrix import MAX_ALL_NAMES, MAX_NAMES, Matrix, Row, parted
from planner.shown import shown

__all__ = ["ACCESS", "AFFINITY", "CODE", "DEVICE", "Block", "blocks"]

DEVICE = re.compile(r"GPU[0-9]{1,4}")
CODE = re.compile(r"NV[0-9]{1,3}|X|PIX|PSB|PXB|PHB|NODE|SYS|SOC")
"""PSB (one bridge on a board) and SOC (now SYS) are from old drivers."""
ACCESS = re.compile(r"X|OK|CNS|GNS|TNS|NS|DR|U")
"""Cells of ``topo -p2p``, another matrix that pastes often hold beside the first."""
AFFINITY = re.compile(r"[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*,?|N/A")
"""What stands under affinity columns: a list of ranges, or that there is none."""

_CELL = re.compile(f"{CODE.pattern}|{ACCESS.pattern}")
_JOINED_NAMES = re.compile(r"(?:GPU|NIC)[0-9]{1,4}")
_NIC = re.compile(r"(?!NV[0-9]|GPU)(?=[^0-9]*[0-9])[A-Za-z][A-Za-z0-9_.+-]{0,63}")
_COLUMNS = (
    (re.compile(r"CPU(?: Aff\w*)?"), "cpus"),
    (re.compile(r"(?:NUMA|Memory)(?: Aff\w*)?"), "numa"),
    (re.compile(r"GPU(?: NUMA(?: ID)?)?"), "memory_numa"),
)
_LEGEND = re.compile(r"\s*(NIC[0-9]{1,4})\s*:\s*([A-Za-z0-9_.:@+-]{1,64})\s*")
_SLICE = re.compile(r"\s*MIG [0-9]+g\.[0-9]+gb\S*\s+Device\s+[0-9]+:")


@dataclass(slots=True)
class Block:
    """A matrix, and the interfaces that the legend below it gives to its NICs, with their lines."""

    matrix: Matrix
    legend: dict[str, str] = field(default_factory=dict)
    legend_lines: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Header:
    names: list[str]
    columns: tuple[str, ...] | None
    rest: str


def blocks(lines: Iterable[Line], problems: list[Problem]) -> tuple[list[Block], tuple[int, ...]]:
    """Return the matrices in their order, and the lines that list slices of devices (MIG).

    Raises:
        DocumentRefusedError: the text has more names, or a row more words, than any host; or too many problems.
    """
    reader = _Reader(problems)
    for line in lines:
        reader.take(line)
    return reader.done(), tuple(reader.slices)


class _Reader:
    """Takes line after line; at most one matrix is open, and ``_awaited`` has the rows that it still lacks."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.slices: list[int] = []
        self._blocks: list[Block] = []
        self._pending: tuple[Line, _Header] | None = None
        self._open: Matrix | None = None
        self._awaited: set[str] = set()
        self._seen: set[str] = set()
        self._names = 0
        self._wrapping = False

    def take(self, line: Line) -> None:
        words = line.text.split()
        if not words:
            # A paste may have a blank line after every line, so a blank one ends nothing but a wrapped row.
            self._wrapping = False
            return
        if not self._belongs(line, words):
            self._wrapping = False
            self._around(line)
        if len(self.problems) > MAX_PROBLEMS:
            raise DocumentRefusedError(tuple(self.problems))

    def done(self) -> list[Block]:
        self._drop_pending()
        return self._blocks

    def _belongs(self, line: Line, words: list[str]) -> bool:
        """Take the line as part of a matrix and say whether it is one."""
        header = _header(words, continues=self._is_header_open())
        if header is not None:
            self._take_header(line, header)
            return True
        if self._is_row(words):
            self._take_row(line, words)
            return True
        return self._wrapping and self._take_rest(line, words)

    def _is_header_open(self) -> bool:
        """Say whether a header ended with a name on the line before, so that more of it may follow."""
        return self._wrapping and self._pending is not None and self._pending[1].columns == ()

    def _take_header(self, line: Line, header: _Header) -> None:
        if self._pending is not None and self._is_header_open() and self._awaited.isdisjoint(header.names):
            first, before = self._pending
            self._pending = first, _Header(before.names + header.names, header.columns, header.rest)
        else:
            self._drop_pending()
            self._pending = line, header
            self._wrapping = True
            self._awaited = set()
        self._awaited.update(header.names)
        _check_size(len(self._pending[1].names), MAX_NAMES, "columns", line)

    def _is_row(self, words: Sequence[str]) -> bool:
        """Say whether a row starts here: by its cells, or by the name of a row that is still to come."""
        if len(words) > 1 and parted(words[1], CODE) is not None:
            nic = self._open is not None or self._pending is not None
            return DEVICE.fullmatch(words[0]) is not None or (nic and _NIC.fullmatch(words[0]) is not None)
        if self._wrapping and self._open is not None and self._open.headless and DEVICE.fullmatch(words[0]):
            return True
        return words[0] in self._awaited

    def _take_row(self, line: Line, words: list[str]) -> None:
        matrix = self._open
        if self._pending is not None or matrix is None or (matrix.headless and words[0] in self._seen):
            matrix = self._start()
        matrix.line = matrix.line or line.number
        matrix.rows.append(Row(line.number, words[0], words[1:]))
        self._seen.add(words[0])
        self._awaited.discard(words[0])
        self._wrapping = True
        self._names += matrix.headless
        _check_size(len(matrix.rows), 2 * MAX_NAMES, "rows", line)
        _check_size(self._names, MAX_ALL_NAMES, "devices and NICs", line)
        _check_size(len(words), 4 * MAX_NAMES, "words of a row", line)

    def _start(self) -> Matrix:
        """Open a matrix: below the header that waits, or without one."""
        matrix = Matrix(line=0, names=[], columns=None, headless=True)
        if self._pending is not None:
            line, header = self._pending
            self._pending = None
            if header.rest:
                expected = "names of devices and NICs, then CPU Affinity, NUMA Affinity, GPU NUMA ID"
                self._fault("hardware/header", expected, shown(header.rest), line)
            matrix = Matrix(line=line.number, names=header.names, columns=header.columns)
            self._names += len(header.names)
        self._open = matrix
        self._seen = set()
        self._blocks.append(Block(matrix))
        return matrix

    def _take_rest(self, line: Line, words: list[str]) -> bool:
        """Take what a terminal wrapped onto this line, and say whether it was that."""
        if self._pending is not None:
            first, header = self._pending
            columns = _columns(words)
            if columns is None or header.columns is None:
                return False
            self._pending = first, _Header(header.names, (*header.columns, *columns), header.rest)
            _check_size(len(columns) + len(header.columns), MAX_NAMES, "columns", line)
            return True
        if self._open is None or not all(parted(word, _CELL) or AFFINITY.fullmatch(word) for word in words):
            return False
        row = self._open.rows[-1]
        is_cell = parted(words[0], _CELL) is not None
        if is_cell and not self._open.headless and _has_all_cells(row, self._open):
            self._fault("hardware/row", "a row that starts with its name", f"{len(words)} cells without one", line)
        else:
            row.words += words
            _check_size(len(row.words), 4 * MAX_NAMES, "words of a row", line)
        return True

    def _fault(self, code: str, expected: str, found: str, line: Line) -> None:
        self.problems.append(Problem(code, "", expected, found, line.number))

    def _drop_pending(self) -> None:
        """Leave a header without rows: prose looks like one, a cut matrix is one."""
        if self._pending is None:
            return
        line, header = self._pending
        self._pending = None
        if header.columns or (len(header.names) > 1 and not header.rest):
            expected = f"a row of {header.names[0]} after the header"
            self._fault("hardware/missing_row", expected, "no row", line)

    def _around(self, line: Line) -> None:
        legend = _LEGEND.fullmatch(line.text)
        if legend is not None and self._blocks:
            name, interface = legend.groups()
            block = self._blocks[-1]
            if block.legend.setdefault(name, interface) != interface:
                found = f"{shown(interface)}, and {shown(block.legend[name])} in line {block.legend_lines[name]}"
                self._fault("hardware/repeated", f"one interface of {name}", found, line)
            block.legend_lines.setdefault(name, line.number)
        elif _SLICE.match(line.text):
            self.slices.append(line.number)


def _check_size(count: int, most: int, what: str, line: Line) -> None:
    if count > most:
        refuse("hardware/size", f"at most {most:,} {what}", f"{count:,}", line.number)


def _has_all_cells(row: Row, matrix: Matrix) -> bool:
    return sum(len(parted(word, _CELL) or ()) for word in row.words) >= len(matrix.names)


def _header(words: Sequence[str], *, continues: bool) -> _Header | None:
    """Return the names and columns of a header; one that continues another may begin with a NIC."""
    names: list[str] = []
    for word in words:
        pieces = parted(word, _JOINED_NAMES)
        if pieces is None and (_NIC.fullmatch(word) is None or not (names or continues)):
            break
        names += pieces or [word]
    if not names or not (continues or DEVICE.fullmatch(names[0])):
        return None
    rest = list(words[_words_of(names, words) :])
    if rest and parted(rest[0], _CELL) is not None:
        return None
    columns = _columns(rest)
    if columns is None and (continues or not any(DEVICE.fullmatch(name) for name in names[1:])):
        # One name and other words: a row whose cell is damaged, or prose.
        return None
    return _Header(names, columns, "" if columns is not None else " ".join(rest))


def _words_of(names: Sequence[str], words: Sequence[str]) -> int:
    """Return how many words the names were read from."""
    letters = sum(map(len, names))
    count = 0
    while letters > 0:
        letters -= len(words[count])
        count += 1
    return count


def _columns(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the affinity columns that the words name, the last one perhaps cut; None where they name others."""
    text = " ".join(words)
    found: list[str] = []
    while text:
        for pattern, name in _COLUMNS:
            match = pattern.match(text)
            if match is not None and (len(match.group()) == len(text) or text[match.end()] == " "):
                found.append(name)
                text = text[match.end() :].lstrip()
                break
        else:
            return None
    return tuple(found)
