"""The stress matrix as rows: faults, trials beside one another, and what nothing sees. Pure."""

from dataclasses import dataclass

from planner.records.stress import StressCell, StressMatrix, StressResult
from reviews.web.formats import limit_text, percent, quantity
from reviews.web.words import STATES, Word

RESULTS: dict[StressResult, Word] = {
    "CAUGHT": Word("Caught", "pass", "pass"),
    "WITHIN_LIMIT": Word("Within limit", "pass-o", "plain"),
    "NOT_DECLARED": Word("Not declared", "nd", "fail"),
    "MASKED": Word("Masked", "unk", "unk"),
    "NOT_INJECTABLE": Word("Not injectable", "na", "na"),
}
ELSEWHERE = Word("Caught elsewhere", "pass-o", "unk")
"""Caught, but by no limit of a family that the fault is aimed at."""

MEANINGS: tuple[tuple[Word, str], ...] = (
    (RESULTS["CAUGHT"], "a limit that held fails, or is unknown"),
    (ELSEWHERE, "only by a limit of another family"),
    (RESULTS["WITHIN_LIMIT"], "moved, still passes"),
    (RESULTS["NOT_DECLARED"], "no limit reads it"),
    (RESULTS["MASKED"], "failed or unknown before"),
    (RESULTS["NOT_INJECTABLE"], "not recorded"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCell:
    """One fault in the trial ``name``; ``figures`` is the reading before and after beside its limit, if any."""

    name: str
    word: Word
    limit: str
    figures: str
    margin: str
    sentence: str
    state: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """One fault in every trial that is shown."""

    title: str
    fault: str
    families: str
    cells: tuple[FaultCell, ...]


@dataclass(frozen=True, slots=True)
class TrialHead:
    """The heading of a column."""

    trial: str
    topology: str
    word: Word


@dataclass(frozen=True, slots=True)
class HoleRow:
    """What nothing sees: in words, and in which trials where it is not all of them."""

    word: Word
    sentence: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StressTable:
    """The page's table, its holes and the sizes of the faults, each with a note where it is the default."""

    heads: tuple[TrialHead, ...]
    rows: tuple[FaultRow, ...]
    holes: tuple[HoleRow, ...]
    sizes: tuple[tuple[str, str, str], ...]


def stress_table(matrix: StressMatrix, trials: tuple[str, ...]) -> StressTable:
    """Return the table of a matrix with its trials in the order given."""
    return StressTable(
        heads=tuple(
            TrialHead(trial, matrix.trials[trial].topology, STATES[matrix.trials[trial].state]) for trial in trials
        ),
        rows=tuple(
            FaultRow(
                title=row.title,
                fault=row.fault,
                families=" or ".join(row.families),
                cells=tuple(
                    fault_cell(row.cells[trial], f"{matrix.trials[trial].topology} · {trial}") for trial in trials
                ),
            )
            for row in matrix.rows
        ),
        holes=tuple(
            HoleRow(
                RESULTS["NOT_DECLARED" if hole.kind == "not_declared" else "NOT_INJECTABLE"],
                hole.sentence,
                "" if len(hole.trials) == len(trials) else ", ".join(hole.trials),
            )
            for hole in matrix.holes
        ),
        sizes=tuple(
            (name, str(getattr(matrix.sizes, name)), "default" if name in matrix.defaults else "contract")
            for name in matrix.sizes.__struct_fields__
        ),
    )


def fault_cell(cell: StressCell, name: str) -> FaultCell:
    """Return a cell as text; what has no limit has no figures."""
    is_elsewhere = cell.result == "CAUGHT" and not cell.intended
    limit = cell.gate or ""
    if cell.gate and cell.limit_id != "always":
        limit = f"{cell.gate}.{cell.limit_id}"
    return FaultCell(
        name=name,
        word=ELSEWHERE if is_elsewhere else RESULTS[cell.result],
        limit=limit,
        figures=figures(cell),
        margin="" if cell.margin_share is None else percent(cell.margin_share),
        sentence=cell.sentence,
        state="" if cell.state is None else STATES[cell.state].text,
        changed=cell.changed,
    )


def figures(cell: StressCell) -> str:
    """Write before, after and limit, as far as they are there."""
    if cell.after is None:
        return ""
    before = "" if cell.before is None else f"{quantity(cell.before, cell.unit)} → "
    limit = "" if cell.limit is None else f", {limit_text(cell.comparator, cell.limit, cell.unit)}"
    return f"{before}{quantity(cell.after, cell.unit)}{limit}"
