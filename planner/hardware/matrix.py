"""A matrix of names against names as it stands in a text: its lines put together, its cells checked.

Rules kept: the header names the columns, each row starts with its name; cells are divided by any blanks, so tabs,
runs of spaces and hand-made columns are the same; what a terminal wrapped onto the next line belongs to the row above;
codes that ran together are parted where only one reading exists. Every row has a cell for every column, the cell of a
name with itself is ``own``, both cells of a pair are equal. Whatever is not so is a problem with its line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from planner.errors import Problem
from planner.shown import shown

__all__ = ["MAX_ALL_NAMES", "MAX_NAMES", "Matrix", "Row", "checked_cells", "parted"]

MAX_NAMES = 256
"""Devices and NICs of one host; none has so many. Bounds the square of it."""
MAX_ALL_NAMES = 2048
"""Devices and NICs of one file; racks have a few hundred."""


@dataclass(slots=True)
class Row:
    """A row as found: its line, its name, and the words after it."""

    line: int
    name: str
    words: list[str]


@dataclass(slots=True)
class Matrix:
    """A matrix while it is read: names of the header, words of the header after them, rows in the order found."""

    line: int
    names: list[str]
    columns: tuple[str, ...] | None = ()
    rows: list[Row] = field(default_factory=list)
    headless: bool = False

    def named(self) -> Mapping[str, Row]:
        """Return the first row of each name."""
        return {row.name: row for row in reversed(self.rows)}


def parted(word: str, code: re.Pattern[str]) -> list[str] | None:
    """Return the codes of a word, more than one where they ran together; None where it is not made of codes."""
    if code.fullmatch(word):
        return [word]
    pieces = code.findall(word)
    return pieces if len(pieces) > 1 and "".join(pieces) == word else None


def checked_cells(
    matrix: Matrix, code: re.Pattern[str], own: Callable[[str], bool], problems: list[Problem]
) -> dict[str, tuple[list[str], list[str]]]:
    """Return for each row its cells and the words after them; rows at fault are left out and become problems."""
    before = len(problems)
    problems.extend(_names_at_fault(matrix))
    found: dict[str, tuple[list[str], list[str]]] = {}
    for row in matrix.rows:
        if row.name in found:
            problems.append(_problem("hardware/repeated", f"one row of {row.name}", "another one", row.line))
            continue
        cells, rest, fault = _cells(row, len(matrix.names), code)
        if fault is not None:
            problems.append(fault)
            continue
        problems.extend(_diagonal_at_fault(matrix, row, cells, own))
        found[row.name] = (cells, rest)
    if len(problems) == before:
        problems.extend(_asymmetries(matrix, {name: cells for name, (cells, _) in found.items()}))
    return found


def _names_at_fault(matrix: Matrix) -> Iterator[Problem]:
    for name in sorted({name for name in matrix.names if matrix.names.count(name) > 1}):
        yield _problem("hardware/repeated", f"one column of {name}", f"{matrix.names.count(name)}", matrix.line)
    known = set(matrix.names)
    for row in matrix.rows:
        if row.name not in known:
            yield _problem("hardware/row", "a row named as a column is", shown(row.name), row.line)


def _cells(row: Row, count: int, code: re.Pattern[str]) -> tuple[list[str], list[str], Problem | None]:
    cells: list[str] = []
    for position, word in enumerate(row.words):
        pieces = parted(word, code)
        if pieces is None:
            if len(cells) < count:
                expected = f"{count} cells in the row of {row.name}"
                found = f"{len(cells)}, then {shown(word)}"
                return [], [], _problem("hardware/cell", expected, found, row.line)
            return cells, row.words[position:], None
        cells += pieces
        if len(cells) > count:
            found = f"at least {len(cells)}"
            return [], [], _problem("hardware/cell", f"{count} cells in the row of {row.name}", found, row.line)
    if len(cells) < count:
        expected = f"{count} cells in the row of {row.name}"
        return [], [], _problem("hardware/cell", expected, f"{len(cells)}", row.line)
    return cells, [], None


def _diagonal_at_fault(matrix: Matrix, row: Row, cells: Sequence[str], own: Callable[[str], bool]) -> Iterator[Problem]:
    for name, cell in zip(matrix.names, cells, strict=True):
        if own(cell) != (name == row.name):
            expected = f"the sign of a name with itself where {row.name} meets {row.name}, and only there"
            yield _problem("hardware/diagonal", expected, f"{shown(cell)} in the column of {name}", row.line)
            return


def _asymmetries(matrix: Matrix, cells: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    column = {name: position for position, name in enumerate(matrix.names)}
    rows = matrix.named()
    for name, own_cells in cells.items():
        for other in matrix.names[: column[name]]:
            if other not in cells:
                continue
            there, here = cells[other][column[name]], own_cells[column[other]]
            if here != there:
                expected = f"{there} between {name} and {other}, as line {rows[other].line} says"
                yield _problem("hardware/symmetry", expected, here, rows[name].line)


def _problem(code: str, expected: str, found: str, line: int) -> Problem:
    return Problem(code, "", expected, found, line)
