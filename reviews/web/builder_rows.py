"""Rows of the evidence builder's pages: files, trials with their runs, and the meter beside them. Pure.

Rules kept: what is missing is named and never drawn as zero; a run is shown with the figures that tell it from its
neighbours; a page has at most ``RUNS_A_PAGE`` runs, whatever a draft holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from planner.builder import Draft, DraftFile, DraftState, file_of, run_of
from planner.builder.records import ReadRun, ReadValue
from planner.importers import IMPORTERS
from reviews.selectors.evidence_drafts import EvidenceDraft, FileRow
from reviews.web.byte_text import bytes_text
from reviews.web.formats import count, grouped, listed, quantity
from reviews.web.words import Word

RUNS_A_PAGE = 50
FILES_A_PAGE = 25
TITLES = {importer.id: importer.title for importer in IMPORTERS}
RUN_WORDS = {
    "usable": Word("Usable", "pass", "pass"),
    "held": Word("Held", "unk", "unk"),
    "refused": Word("No evidence", "fail", "fail"),
}
FILE_WORDS = {
    "waiting": Word("Waits to be read", "wait", "unk"),
    "reading": Word("Being read", "wait", "unk"),
    "read": Word("Recognised", "pass", "pass"),
    "unknown": Word("Not recognised", "fail-o", "fail"),
}
REMOVED_WORDS = {
    "credential": ("credential", "credentials"),
    "account": ("account name", "account names"),
    "prompt": ("prompt or answer", "prompts and answers"),
    "host": ("host name", "host names"),
}
FIGURES = (
    ("concurrent_requests", "{} in flight"),
    ("request_rate_per_s", "{} requests/s"),
    ("output_tokens_per_s", "{} output tok/s"),
    ("ttft_ms.p50", "TTFT p50 {} ms"),
    ("ttft_ms.mean", "TTFT mean {} ms"),
    ("tp", "tp {}"),
    ("started_at", "{}"),
)
"""Quantities that tell runs apart, in the order in which they are shown."""
MOST_FIGURES = 4
MOST_NOTES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """A file of the draft as text."""

    name: str
    sha256: str
    uploaded_sha256: str
    size: str
    word: Word
    title: str
    version: str
    runs: str
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    removed: str
    places: str
    values_id: str
    done_width: int | None
    done_text: str


def file_line(row: FileRow) -> FileLine:
    """Make a line of a file."""
    reading = row.reading
    known = reading is not None and reading.recognised
    is_busy = row.state in ("waiting", "reading")
    share = 100 * row.bytes_done // row.size_bytes if row.size_bytes else 0
    return FileLine(
        name=row.name,
        sha256=row.sha256,
        uploaded_sha256="" if row.uploaded_sha256 == row.sha256 else row.uploaded_sha256,
        size=bytes_text(row.size_bytes),
        word=FILE_WORDS[row.state],
        title=TITLES.get(reading.format, reading.format) if reading and known else "",
        version=reading.version if reading and known else "",
        runs=runs_text(reading) if reading and known else "",
        notes=tuple(_notes(reading))[:MOST_NOTES] if reading else (),
        problems=tuple(_problems(reading)) if reading else (),
        removed=removed_text(row.removed),
        places=places_text(row.removed),
        values_id=row.sha256.removeprefix("sha256:")[:16] if known else "",
        done_width=share if is_busy else None,
        done_text=f"{bytes_text(row.bytes_done)} of {bytes_text(row.size_bytes)}" if is_busy else "",
    )


def runs_text(reading: DraftFile) -> str:
    """Count the runs of a file by what they are good for."""
    states = [(len(list(runs)), status) for status, runs in groupby(sorted(run.status for run in reading.runs))]
    words = {"usable": "usable", "held": "held for you", "refused": "no evidence"}
    return listed([f"{count(number, 'run')} {words[status]}" for number, status in states]) or "no run"


def _notes(reading: DraftFile) -> Iterator[str]:
    yield from dict.fromkeys(remark.sentence for run in reading.runs for remark in run.remarks)


def _problems(reading: DraftFile) -> Iterator[str]:
    for problem in reading.problems:
        if problem.code == "import/format":
            # The expectation is the list of everything that is known, which helps nobody at one file.
            yield f"No tool that is known writes this: found {problem.found}."
            continue
        where = f", line {problem.line}" if problem.line else ""
        yield f"Expected {problem.expected}; found {problem.found}{where}."


def removed_text(removed: dict[str, Any]) -> str:
    """Say what was taken out of a file before it was kept; empty where nothing was."""
    counts: dict[str, int] = removed.get("counts", {})
    return listed([count(number, *REMOVED_WORDS[kind]) for kind, number in sorted(counts.items())])


def places_text(removed: dict[str, Any]) -> str:
    """Name the lines in which something was taken out, the first few."""
    lines = list(dict.fromkeys(place["line"] for place in removed.get("places", ())))
    more = ", …" if len(lines) > 8 else ""
    return f"line{'' if len(lines) == 1 else 's'} {', '.join(f'{line:,}' for line in lines[:8])}{more}" if lines else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run as text; ``note`` says why it stands where it does, or why it does not."""

    id: str
    file: str
    file_id: str
    format: str
    figures: tuple[str, ...]
    word: Word
    note: str = ""


def run_line(draft: Draft, run_id: str, note: str = "") -> RunLine:
    """Make a line of a run."""
    run, file = run_of(draft, run_id), file_of(draft, run_id)
    several = f" · run {run_id.partition('.')[2]}" if len(file.runs) > 1 else ""
    return RunLine(
        id=run_id,
        file=f"{file.name}{several}",
        file_id=run_id.partition(".")[0],
        format=TITLES.get(file.format, file.format),
        figures=tuple(figures_of(run)),
        word=RUN_WORDS[run.status],
        note=note,
    )


def figures_of(run: ReadRun) -> Iterator[str]:
    """Yield what tells a run from its neighbours, at most four figures."""
    values = {value.name: value for value in run.values if not value.of}
    shown = [text.format(value_text(values[name])) for name, text in FIGURES if name in values]
    yield from shown[:MOST_FIGURES]


def value_text(value: ReadValue) -> str:
    """Write a value without its unit."""
    if isinstance(value.value, bool):
        return "yes" if value.value else "no"
    if isinstance(value.value, str):
        return value.value
    return quantity(value.value) if abs(value.value) < 10**15 else grouped(str(int(value.value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBlock:
    """A window of a trial with its runs on this page; ``key`` is ``trial/window``, "" for the trial as a whole."""

    key: str
    name: str
    load_point: str
    why: str
    runs: tuple[RunLine, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialBlock:
    """A trial and what of it is on this page."""

    name: str
    topology: str
    why: str
    windows: tuple[WindowBlock, ...]
    others: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class TrialsPage:
    """One page of the arrangement: trials with windows and runs, then the runs in none."""

    trials: tuple[TrialBlock, ...]
    unused: tuple[RunLine, ...]
    page: int
    pages: int


def trials_page(found: EvidenceDraft, state: DraftState, page: int) -> TrialsPage:
    """Cut one page out of a draft's arrangement; the order is that of the names."""
    draft = found.work.draft
    slots = [
        (trial, window, run)
        for trial, held in sorted(draft.trials.items())
        for window, runs in (("", held.runs), *((name, one.runs) for name, one in sorted(held.windows.items())))
        # An empty place is shown as well: something may be put into it.
        for run in (runs or ("",))
        if window or runs or not held.windows
    ]
    slots += [("", "", note.run) for note in (*state.unused, *state.repeated)]
    pages = max(1, -(-len(slots) // RUNS_A_PAGE))
    page = min(max(page, 1), pages)
    shown = slots[(page - 1) * RUNS_A_PAGE : page * RUNS_A_PAGE]
    notes = {note.run: note.sentence for note in (*state.unused, *state.repeated)}
    names = tuple(sorted(draft.trials))
    topologies = {row.trial: row.topology for row in state.coverage}
    trials = tuple(
        _trial_block(draft, trial, list(rows), names, topologies.get(trial, ""))
        for trial, rows in groupby((slot for slot in shown if slot[0]), key=lambda slot: slot[0])
    )
    unused = tuple(run_line(draft, run, notes.get(run, "")) for trial, _, run in shown if not trial)
    return TrialsPage(trials, unused, page, pages)


def _trial_block(
    draft: Draft, trial: str, rows: Sequence[tuple[str, str, str]], names: tuple[str, ...], topology: str
) -> TrialBlock:
    held = draft.trials[trial]
    windows = tuple(
        _window_block(draft, trial, window, [run for _, _, run in runs if run])
        for window, runs in groupby(rows, key=lambda slot: slot[1])
    )
    runs = len(held.runs) + sum(len(window.runs) for window in held.windows.values())
    return TrialBlock(
        name=trial,
        topology=topology,
        why=held.why,
        windows=windows,
        others=tuple(name for name in names if name != trial),
        summary=f"{count(len(held.windows), 'window')}, {count(runs, 'run')}",
    )


def _window_block(draft: Draft, trial: str, window: str, runs: list[str]) -> WindowBlock:
    held = draft.trials[trial].windows.get(window)
    return WindowBlock(
        key=f"{trial}/{window}" if window else "",
        name=window,
        load_point=(held.load_point or "") if held else "",
        why=held.why if held else "",
        runs=tuple(run_line(draft, run) for run in runs),
        total=len(held.runs) if held else len(draft.trials[trial].runs),
    )


def places_of(draft: Draft) -> tuple[tuple[str, str], ...]:
    """Return the places that a run can be moved to, with their names: trials as a whole, and their windows."""
    return tuple(
        place
        for trial, held in sorted(draft.trials.items())
        for place in (
            (trial, f"{trial}, whole trial"),
            *((f"{trial}/{window}", f"{trial} · {window}") for window in sorted(held.windows)),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """The state of a draft in short, beside every page."""

    files: str
    trials: str
    answered: int
    declared: int
    width: int
    label: str
    questions: int
    for_gates: int
    conflicts: int
    held: int
    unused: int
    breaches: int
    open: int
    is_complete: bool
    waits: str
    reasons: tuple[str, ...] = field(default=())

    @property
    def lacking(self) -> str:
        """How many outcomes the plan would call unknown, in words; empty where every gate has what it reads."""
        count_lacking = self.declared - self.answered
        return count(count_lacking, "gate outcome", "gate outcomes") if count_lacking else ""


def meter_of(found: EvidenceDraft, state: DraftState) -> Meter:
    """Count what a draft has and lacks."""
    draft = found.work.draft
    answered = sum(trial.answered for trial in state.coverage)
    declared = sum(trial.declared for trial in state.coverage)
    waiting = sum(file.state in ("waiting", "reading") for file in found.files)
    questions = sum(question.needed and question.answered is None for question in state.questions)
    for_gates = sum(not question.needed and bool(question.gates) for question in state.questions)
    conflicts = sum(not conflict.settled for conflict in state.conflicts)
    held = sum(run.decided is None for run in state.held)
    windows = sum(len(trial.windows) for trial in draft.trials.values())
    blocked = [
        (waiting, count(waiting, "file is", "files are") + " still to be read."),
        (len(state.open), f"{count(len(state.open), 'point is', 'points are')} open."),
    ]
    return Meter(
        files=count(len(found.files), "file"),
        trials=f"{count(len(draft.trials), 'trial')}, {count(windows, 'window')}",
        answered=answered,
        declared=declared,
        width=100 * answered // declared if declared else 0,
        label=f"{answered:,} of {declared:,} answered" if declared else "No trial yet",
        questions=questions,
        for_gates=for_gates,
        conflicts=conflicts,
        held=held,
        unused=len(state.unused),
        breaches=sum(not breach.holds for breach in state.checks),
        open=len(state.open),
        is_complete=state.complete and not waiting,
        waits=count(waiting, "file") if waiting else "",
        reasons=tuple(text for number, text in blocked if number),
    )
