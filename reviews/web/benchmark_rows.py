"""The benchmark matrix as rows: candidates, runs with a cell for every candidate, answers, what is not listed. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from planner.figures import grouped
from planner.figures import number as figure
from planner.matrix.clients import CLIENTS
from planner.matrix.markdown import cost_text
from planner.records.matrix import (
    Answer,
    BoundaryBytes,
    Brought,
    Candidate,
    Cell,
    Command,
    GroupReach,
    Launched,
    Matrix,
    Meter,
    Run,
    Seats,
    State,
    Worth,
)
from reviews.web.byte_text import bytes_text
from reviews.web.formats import count, digests_shortened, listed, ranks_text
from reviews.web.words import Word

__all__ = ["PAGE_SIZE", "BenchmarkTable", "benchmark_table", "meter_of"]

PAGE_SIZE = 8
"""Candidates beside one another."""
MOST_SEATS = 8
"""Nodes of a rank map that are shown; the others are counted."""

STATES: dict[State, Word] = {
    "measured": Word("Measured", "pass", "pass"),
    "partly": Word("Partly measured", "unk", "unk"),
    "not_measured": Word("Not measured", "nd", "nd"),
}
PLANNED = Word("To measure", "wait", "plain")
"""Where no evidence is compared."""
WORTH: dict[Worth, Word] = {
    "baseline": Word("Baseline", "pass-o", "plain"),
    "needed": Word("Needed", "turn", "plain"),
    "optional": Word("Optional", "na", "na"),
}
ANSWERS: dict[Brought, Word] = {
    "nothing_known": Word("No tool known", "fail", "fail"),
    "by_hand": Word("By hand", "unk", "unk"),
    "partly": Word("Partly by hand", "unk", "unk"),
    "brought": Word("Brought", "pass", "pass"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRow:
    """The ranks of a node and where they sit."""

    node: str
    ranks: str
    devices: str
    nics: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """A candidate; ``done`` counts its required runs by state, empty where no evidence is compared."""

    name: str
    worth: Word
    ranks: str
    price: str
    because: tuple[str, ...]
    compared: tuple[str, ...]
    memory: str
    seats: tuple[SeatRow, ...]
    more_nodes: int
    groups: tuple[str, ...]
    boundaries: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    launch: Launched
    done: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """A run on a candidate."""

    candidate: str
    word: Word
    trials: str
    lacks: tuple[str, ...]
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run with its cells in the order of the candidates shown; None where a candidate has no such cell."""

    id: str
    kind: str
    needed: str
    size: str
    because: tuple[str, ...]
    cells: tuple[CellRow | None, ...]
    commands: tuple[tuple[str, Command, tuple[str, ...]], ...]
    steps: tuple[str, ...]
    by_hand: tuple[str, ...]
    criterion: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Whether the planned collection answers one limit."""

    limit: str
    word: Word
    tools: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ExcludedRow:
    """Decompositions that are not listed for one reason."""

    many: str
    sentence: str
    examples: str


@dataclass(frozen=True, slots=True)
class MeterRow:
    """Required cells of advised candidates that are measured, as a bar of 100."""

    text: str
    width: float
    partly: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkTable:
    """What the page shows of a matrix; ``covered`` are candidates with trials, and the page that each is on."""

    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    candidates: tuple[CandidateRow, ...]
    runs: tuple[RunRow, ...]
    answers: tuple[AnswerRow, ...]
    unanswered: int
    excluded: tuple[ExcludedRow, ...]
    meter: MeterRow | None
    covered: tuple[tuple[str, int], ...]
    unmatched: tuple[tuple[str, str], ...]
    client: str
    variables: tuple[tuple[str, str], ...]


def benchmark_table(matrix: Matrix, shown: tuple[str, ...]) -> BenchmarkTable:
    """Return the rows of a matrix; of candidates those named, in that order."""
    cells = {(cell.candidate, cell.run): cell for cell in matrix.cells}
    coverage = matrix.coverage
    return BenchmarkTable(
        facts=tuple(_facts(matrix)),
        notes=(*((matrix.engine.note,) if matrix.engine.note else ()), *matrix.fleet.left_out, *matrix.notes),
        candidates=tuple(_candidate(matrix, name) for name in shown),
        runs=tuple(_run(matrix, name, run, shown, cells) for name, run in matrix.runs.items()),
        answers=tuple(_answer(answer) for answer in matrix.answers),
        unanswered=sum(answer.verdict == "nothing_known" for answer in matrix.answers),
        excluded=tuple(
            ExcludedRow(
                "without end" if group.count is None else f"{group.count:,}", group.sentence, ", ".join(group.examples)
            )
            for group in matrix.excluded
        ),
        meter=None if coverage is None else meter_of(coverage.advised),
        covered=tuple(_covered(matrix)),
        unmatched=() if coverage is None else tuple(coverage.unmatched.items()),
        client=CLIENTS[matrix.client].title,
        variables=tuple(matrix.variables.items()),
    )


def meter_of(meter: Meter) -> MeterRow:
    """Return the bar of a meter; nothing to measure is all of it."""
    total = meter.measured + meter.partly + meter.not_measured
    text = f"{meter.measured:,} of {total:,} required cells measured, {meter.partly:,} partly"
    if not total:
        return MeterRow(text, 100, 0)
    return MeterRow(text, round(100 * meter.measured / total, 1), round(100 * meter.partly / total, 1))


def _covered(matrix: Matrix) -> Iterator[tuple[str, int]]:
    measured = {cell.candidate for cell in matrix.cells if cell.trials}
    for place, name in enumerate(matrix.candidates):
        if name in measured:
            yield name, place // PAGE_SIZE + 1


def _facts(matrix: Matrix) -> Iterator[tuple[str, str]]:
    shared, fleet = matrix.shared, matrix.fleet
    yield "Engine", f"{matrix.engine.name} {matrix.engine.version}, {matrix.engine.title}"
    nodes = count(len(fleet.nodes), "node")
    yield (
        "Fleet",
        f"{nodes} of {count(fleet.devices_per_node, 'device')}, {', '.join(fleet.device_types)}, "
        f"{bytes_text(fleet.memory_bytes)} each",
    )
    yield "Lengths", f"prompts {shared.prompt_tokens}; outputs {shared.output_tokens}"
    yield "Batching", shared.batching
    yield "Affinity", digests_shortened(shared.affinity)
    yield "Prefix cache", shared.cache
    yield "Quality parity", shared.quality
    yield "Power", shared.power
    yield "Recovered", shared.recovery.replace("_", " ")
    yield "Expires", " ".join(shared.expiry)
    yield "Cost of required runs", cost_text(matrix.device_hours, matrix.usd)


def _candidate(matrix: Matrix, name: str) -> CandidateRow:
    candidate = matrix.candidates[name]
    price = figure(candidate.usd_per_hour)
    return CandidateRow(
        name=name,
        worth=WORTH[candidate.worth],
        ranks=f"{count(candidate.ranks, 'rank')}, {count(len(candidate.seats), 'node')}",
        price="price not declared" if price is None else f"{grouped(price, 2)} USD/h",
        because=candidate.because,
        compared=tuple(
            f"{step.axis}: beside {step.candidate}" if step.candidate else f"{step.axis}: no candidate has less of it"
            for step in candidate.compared
        ),
        memory=candidate.residency.sentence,
        seats=tuple(_seat(seat) for seat in candidate.seats[:MOST_SEATS]),
        more_nodes=max(0, len(candidate.seats) - MOST_SEATS),
        groups=tuple(_group(group) for group in candidate.groups),
        boundaries=tuple(_boundary(entry) for entry in candidate.boundaries),
        notices=candidate.notices,
        launch=candidate.launch,
        done=_done(matrix, candidate, name),
    )


def _done(matrix: Matrix, candidate: Candidate, name: str) -> str:
    if matrix.coverage is None:
        return ""
    found = Counter(
        cell.state for cell in matrix.cells if cell.candidate == name and matrix.runs[cell.run].required and cell.state
    )
    return f"{found['measured']} of {found.total()} required runs measured"


def _seat(seat: Seats) -> SeatRow:
    return SeatRow(
        node=seat.node,
        ranks=ranks_text(seat.ranks),
        devices=_ends(seat.devices),
        nics=_ends(tuple(dict.fromkeys(seat.nics))),
    )


def _ends(names: tuple[str, ...]) -> str:
    """Write a few names, of many the first and the last."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, …, {names[-1]}"


def _group(group: GroupReach) -> str:
    sizes = listed([str(size) for size in group.sizes])
    widest = "" if group.widest is None else f", reaching across a {group.widest}"
    link = "" if group.link is None else f", slowest link {group.link}"
    if group.link_bytes_per_s is not None:
        link += f" at {bytes_text(group.link_bytes_per_s)}/s"
    return f"{count(group.groups, 'group')} {group.kind} of {sizes}{widest}{link}"


def _boundary(entry: BoundaryBytes) -> tuple[str, str]:
    title = f"{entry.kind}, {entry.phase}"
    if entry.bytes is None:
        return title, f"not counted: {', '.join(entry.missing) or 'facts are missing'}"
    times = "" if entry.times is None else f", {entry.times:,} times a step"
    return title, f"{bytes_text(entry.bytes)}{times}"


def _run(matrix: Matrix, name: str, run: Run, shown: tuple[str, ...], cells: dict[tuple[str, str], Cell]) -> RunRow:
    steps = run.injection
    ordered = sorted(run.clients, key=lambda client: (client != matrix.client, client))
    return RunRow(
        id=name,
        kind=run.kind,
        needed="required" if run.required else "optional",
        size=_size(run),
        because=run.because,
        cells=tuple(_cell(cells.get((candidate, name)), candidate) for candidate in shown),
        commands=tuple((CLIENTS[client].title, run.clients[client], run.unsaid.get(client, ())) for client in ordered),
        steps=() if steps is None else steps.steps,
        by_hand=() if steps is None else (*steps.commands, *steps.unsaid),
        criterion="" if steps is None else steps.criterion,
    )


def _size(run: Run) -> str:
    if run.kind == "quality":
        return f"{run.quality} on this topology"
    least = figure(run.min_s)
    lasting = "" if least is None else f", at least {grouped(least, 0)} s each"
    warm = f", after {run.warmup_requests:,} to warm up" if run.warmup_requests else ""
    return f"{count(run.repeats, 'window')} of {run.requests:,} requests{lasting}{warm}"


def _cell(cell: Cell | None, candidate: str) -> CellRow | None:
    if cell is None:
        return None
    return CellRow(
        candidate=candidate,
        word=PLANNED if cell.state is None else STATES[cell.state],
        trials=", ".join(cell.trials),
        lacks=cell.lacks,
        cost=cost_text(cell.device_hours, cell.usd),
    )


def _answer(answer: Answer) -> AnswerRow:
    limit = f"{answer.gate}.{answer.limit_id}".rstrip(".")
    return AnswerRow(limit, ANSWERS[answer.verdict], ", ".join(answer.tools), answer.sentence)
