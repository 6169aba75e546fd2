"""A stress matrix as text: a table of faults and trials, then the holes.

Rules kept: the first line says that nothing here was measured or can be signed; a cell names the limit that decided;
wide matrices are cut into tables of a few trials, so that a line stays readable.
"""

from collections.abc import Iterator, Sequence

from planner.figures import number, percent
from planner.records.stress import Hole, StressCell, StressMatrix, StressRow
from planner.shown import printable

__all__ = ["RESULTS", "cell_text", "stress_text"]

BESIDE = 4
"""Trials in one table."""

RESULTS = {
    "CAUGHT": "caught",
    "WITHIN_LIMIT": "within",
    "NOT_DECLARED": "NOT DECLARED",
    "MASKED": "masked",
    "NOT_INJECTABLE": "not injectable",
}
HOLES = {"not_declared": "no limit", "not_injectable": "not tried"}


def stress_text(matrix: StressMatrix) -> str:
    """Return the matrix as lines, a line feed after each."""
    return "".join(f"{line}\n" for line in _lines(matrix))


def _lines(matrix: StressMatrix) -> Iterator[str]:
    yield "injected faults in copies of the evidence: nothing here was measured, no plan, never to be signed"
    yield f"slot={printable(matrix.slot)};as_of={matrix.as_of};planner={matrix.planner_version}"
    names = sorted(matrix.trials)
    for at in range(0, len(names), BESIDE):
        yield ""
        yield from _table(matrix, names[at : at + BESIDE])
    yield ""
    yield f"sizes: {', '.join(_sizes(matrix))}"
    for hole in matrix.holes:
        yield _hole_line(hole, len(names))
    yield from _outside(matrix)


def _table(matrix: StressMatrix, names: Sequence[str]) -> Iterator[str]:
    header = ["fault", *(f"{name} ({matrix.trials[name].state.lower()})" for name in names)]
    rows = [[row.title, *(cell_text(row.cells[name]) for name in names)] for row in matrix.rows]
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header))]
    for line in (header, *rows):
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def cell_text(cell: StressCell) -> str:
    """Write a cell in a few words: the result, the limit that decided, and the room that is left within it."""
    word = RESULTS[cell.result]
    if cell.gate is None:
        return word
    limit = cell.gate if cell.limit_id == "always" else f"{cell.gate}.{cell.limit_id}"
    share = number(cell.margin_share) if cell.result == "WITHIN_LIMIT" else None
    room = "" if share is None else f" {percent(share)}"
    outside = "*" if cell.result == "CAUGHT" and not cell.intended else ""
    return f"{word} {limit}{outside}{room}"


def _sizes(matrix: StressMatrix) -> Iterator[str]:
    for name in matrix.sizes.__struct_fields__:
        note = " (default)" if name in matrix.defaults else ""
        yield f"{name} {getattr(matrix.sizes, name)}{note}"


def _hole_line(hole: Hole, trials: int) -> str:
    where = "" if len(hole.trials) == trials else f" [{', '.join(hole.trials)}]"
    return f"hole, {HOLES[hole.kind]}: {hole.sentence}{where}"


def _outside(matrix: StressMatrix) -> Iterator[str]:
    rows: list[StressRow] = [
        row for row in matrix.rows if any(cell.result == "CAUGHT" and not cell.intended for cell in row.cells.values())
    ]
    if rows:
        yield f"* caught, but by no limit of its family: {', '.join(row.title for row in rows)}"
