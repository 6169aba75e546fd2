"""Rows of what a draft of evidence answers: gates by trials, identities of consistency, values. Pure.

Rules kept: what is missing names the field and the files that would bring it; a gate that waits for another's gap is
not one that lacks something.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planner.builder import DraftState
from planner.builder.records import ReadValue
from planner.builder.state import GateCoverage, Lack, TrialCoverage
from planner.pointers import steps
from reviews.web.builder_rows import TITLES, value_text
from reviews.web.builder_texts import place_text
from reviews.web.formats import count, listed
from reviews.web.words import Word

TRIALS_A_PAGE = 8
MOST_BREACHES = 50
MOST_FIELDS = 12
MOST_NAMED = 4
WORDS = {
    "answered": Word("Answered", "pass", "pass"),
    "waits": Word("Waits", "wait", "na"),
    "lacks": Word("Lacks", "unk", "unk"),
}


@dataclass(frozen=True, slots=True)
class GateCell:
    """What one gate has of one trial."""

    word: Word
    lacks: str


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate over the trials of the page."""

    gate: str
    title: str
    cells: tuple[GateCell, ...]
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialHead:
    """A trial above its column."""

    name: str
    topology: str
    text: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LackRow:
    """Fields that gates miss and that the same files would bring, over all trials that miss them."""

    brought_by: str
    is_asked: bool
    fields: tuple[str, ...]
    more: int
    gates: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveragePage:
    """Coverage of the trials of one page."""

    heads: tuple[TrialHead, ...]
    rows: tuple[GateRow, ...]
    lacks: tuple[LackRow, ...]
    required: tuple[LackRow, ...]
    page: int
    pages: int


def coverage_page(state: DraftState, page: int) -> CoveragePage:
    """Cut one page out of the coverage: at most eight trials, gates that lack something first."""
    pages = max(1, -(-len(state.coverage) // TRIALS_A_PAGE))
    page = min(max(page, 1), pages)
    trials = state.coverage[(page - 1) * TRIALS_A_PAGE : page * TRIALS_A_PAGE]
    return CoveragePage(
        heads=tuple(_head(trial) for trial in trials),
        rows=tuple(sorted(_gate_rows(trials), key=lambda row: not row.is_open)),
        lacks=tuple(_lack_rows((gate.title, lack) for trial in trials for gate in trial.gates for lack in gate.lacks)),
        required=tuple(
            _lack_rows(
                (f"{one.id} ({one.level})", lack) for trial in trials for one in trial.required for lack in one.lacks
            )
        ),
        page=page,
        pages=pages,
    )


def _head(trial: TrialCoverage) -> TrialHead:
    return TrialHead(
        name=trial.trial,
        topology=trial.topology,
        text=f"{trial.answered} of {trial.declared} answered",
        problem=trial.problem,
    )


def _gate_rows(trials: tuple[TrialCoverage, ...]) -> Iterator[GateRow]:
    gates = {gate.gate: gate.title for trial in trials for gate in trial.gates}
    by_trial = [{gate.gate: gate for gate in trial.gates} for trial in trials]
    for gate, title in gates.items():
        cells = tuple(_cell(held.get(gate)) for held in by_trial)
        yield GateRow(gate, title, cells, any(cell.word is not WORDS["answered"] for cell in cells))


def _cell(gate: GateCoverage | None) -> GateCell:
    if gate is None:
        return GateCell(Word("Not asked", "nd", "nd"), "")
    if gate.state == "lacks":
        return GateCell(WORDS["lacks"], count(len(gate.lacks), "field") if gate.lacks else "")
    return GateCell(WORDS[gate.state], "")


def _lack_rows(lacks: Iterable[tuple[str, Lack]]) -> Iterator[LackRow]:
    """Yield what to add, by what brings it: what a person says first, then what most fields wait for."""
    found: dict[tuple[bool, tuple[str, ...]], tuple[dict[str, None], dict[str, None]]] = {}
    for gate, lack in lacks:
        fields, gates = found.setdefault((lack.asked, lack.brought_by), ({}, {}))
        fields[lacking_field(lack.field)] = None
        gates[gate] = None
    for (is_asked, brought_by), (fields, gates) in sorted(
        found.items(), key=lambda item: (not item[0][0], -len(item[1][0]), item[0][1])
    ):
        yield LackRow(
            brought_by=listed([TITLES.get(name, name) for name in brought_by[:MOST_NAMED]], "or"),
            is_asked=is_asked,
            fields=tuple(fields)[:MOST_FIELDS],
            more=max(0, len(fields) - MOST_FIELDS),
            gates=shortened(tuple(gates)),
        )


def lacking_field(field: str) -> str:
    """Name a field without the trial and window that lack it: the same is lacking of many."""
    parts = list(steps(field))
    if parts[:1] in (["trials"], ["identities"]):
        parts = parts[2:]
    if parts[:1] == ["windows"] and len(parts) > 2:
        parts = parts[2:]
    return ".".join(parts) or field


def shortened(words: tuple[str, ...]) -> str:
    """Join the first few words, and say how many more there are."""
    more = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BreachRow:
    """An identity of consistency of one window."""

    where: str
    id: str
    word: Word
    sentence: str


def breach_rows(state: DraftState) -> tuple[tuple[BreachRow, ...], str]:
    """Make rows of the identities that do not hold, and a sentence about those that do."""
    broken = [breach for breach in state.checks if not breach.holds]
    holding = len(state.checks) - len(broken)
    rows = tuple(
        BreachRow(
            where=f"{breach.trial} · {breach.window}",
            id=breach.id,
            word=Word("Does not hold", "fail", "fail"),
            sentence=breach.sentence,
        )
        for breach in broken[:MOST_BREACHES]
    )
    more = f" {len(broken) - len(rows):,} more do not." if len(broken) > len(rows) else ""
    return rows, f"{count(holding, 'identity holds', 'identities hold')}.{more}" if state.checks else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """A value of a run, with where it came from and what it fills."""

    run: str
    name: str
    value: str
    raw: str
    where: str
    field: str
    note: str


def value_row(run: str, value: ReadValue, note: str = "") -> ValueRow:
    """Make a row of a value."""
    of = f" of {value.of}" if value.of else ""
    same = value.raw == value.value and value.raw_unit == value.unit
    return ValueRow(
        run=run,
        name=f"{value.name}{of}",
        value=f"{value_text(value)} {value.unit}".strip(),
        raw="" if same else f"{value.raw} {value.raw_unit}".strip(),
        where=place_text(value.place),
        field=f"{value.document} {value.field}" if value.field else "",
        note=note or ("" if value.standing == "measured" else value.standing),
    )


def prediction_rows(state: DraftState) -> tuple[ValueRow, ...]:
    """Make rows of what a model predicted; it fills no field."""
    return tuple(
        value_row(one.file, one.value, "predicted, never evidence") for one in state.predictions[:MOST_BREACHES]
    )
