"""A matrix as Markdown: what a person reads before measuring, and pastes into a ticket."""

from collections.abc import Iterable, Iterator

from planner.figures import grouped, number
from planner.gates.wording import gib
from planner.matrix.clients import CLIENTS
from planner.records.matrix import Candidate, Cell, Matrix, Run
from planner.records.plan import Value
from planner.shown import printable

__all__ = ["ANSWERS", "STATES", "cost_text", "matrix_markdown"]

STATES = {"measured": "measured", "partly": "partly", "not_measured": "not measured"}
ANSWERS = {
    "brought": "brought",
    "partly": "partly by hand",
    "by_hand": "by hand",
    "nothing_known": "no tool known",
}
HIDDEN = "–"


def matrix_markdown(matrix: Matrix) -> str:
    """Return the matrix as Markdown, a line feed at the end."""
    parts = (_head(matrix), _answers(matrix), _candidates(matrix), _runs(matrix), _coverage(matrix), _excluded(matrix))
    return "\n".join(line for part in parts for line in part).replace("\n\n\n", "\n\n") + "\n"


def cost_text(hours: Value, usd: Value) -> str:
    """Write device-hours and US dollars, as far as they are known."""
    known_hours, known_usd = number(hours), number(usd)
    if known_hours is None:
        return "not reckoned"
    price = "" if known_usd is None else f", {grouped(known_usd, 2)} USD"
    return f"{grouped(known_hours, 2)} device-hours{price}"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(heads)
    yield f"| {' | '.join(names)} |"
    yield f"|{'|'.join('---' for _ in names)}|"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _head(matrix: Matrix) -> Iterator[str]:
    shared, fleet = matrix.shared, matrix.fleet
    yield f"# Benchmark matrix of {_cell(matrix.slot)}"
    yield ""
    yield "A plan of measurements, not evidence. Figures of memory and traffic are hypotheses."
    yield ""
    yield f"Contract `{matrix.contract.content_id}`, planner {matrix.planner_version}."
    yield ""
    yield f"- Engine: {_cell(matrix.engine.name)} {_cell(matrix.engine.version)} ({matrix.engine.title})"
    types = f"{_cell(', '.join(fleet.device_types))}, {gib(fleet.memory_bytes)} each"
    yield f"- Fleet: {fleet.devices} devices, {len(fleet.nodes)} node(s) of {fleet.devices_per_node}; {types}"
    yield f"- Prompts: {_cell(shared.prompt_tokens)}; outputs: {_cell(shared.output_tokens)}"
    yield f"- Batching: {_cell(shared.batching)}; affinity: {_cell(shared.affinity)}; {_cell(shared.cache)}"
    yield f"- Quality: {_cell(shared.quality)}; power: {_cell(shared.power)}"
    yield f"- Recovery: {_cell(shared.recovery)}"
    yield f"- Expiry: {_cell(' '.join(shared.expiry))}"
    yield f"- Required runs of advised candidates: {cost_text(matrix.device_hours, matrix.usd)}"
    for sentence in (*([matrix.engine.note] if matrix.engine.note else []), *fleet.left_out, *matrix.notes):
        yield f"- {_cell(sentence)}"
    yield ""


def _answers(matrix: Matrix) -> Iterator[str]:
    yield "## What the planned collection answers"
    yield ""
    yield from _table(
        ("read by", "collection", "tools", "what is missing"),
        (
            (f"{a.gate}.{a.limit_id}".rstrip("."), ANSWERS[a.verdict], ", ".join(a.tools) or HIDDEN, a.sentence)
            for a in matrix.answers
        ),
    )
    yield ""


def _candidates(matrix: Matrix) -> Iterator[str]:
    yield f"## Candidates ({len(matrix.candidates)} of {matrix.considered:,} considered)"
    yield ""
    rows = (_candidate_row(name, candidate) for name, candidate in matrix.candidates.items())
    yield from _table(("candidate", "worth", "ranks", "nodes", "price", "memory", "why"), rows)
    yield ""
    for name, candidate in matrix.candidates.items():
        if candidate.worth != "optional":
            yield from _launch(name, candidate)


def _candidate_row(name: str, candidate: Candidate) -> tuple[str, ...]:
    price = number(candidate.usd_per_hour)
    return (
        name,
        candidate.worth,
        str(candidate.ranks),
        str(len(candidate.seats)),
        "not declared" if price is None else f"{grouped(price, 2)} USD/h",
        candidate.residency.sentence,
        " ".join(candidate.because),
    )


def _launch(name: str, candidate: Candidate) -> Iterator[str]:
    if not candidate.launch.commands:
        return
    yield f"### {name}"
    yield ""
    yield "```sh"
    for command in candidate.launch.commands:
        if command.node is not None:
            yield f"# node {printable(command.node)}"
        yield command.shell
    yield "```"
    yield ""
    for sentence in candidate.launch.unsaid:
        yield f"- {_cell(sentence)}"
    yield ""


def _runs(matrix: Matrix) -> Iterator[str]:
    yield "## Runs"
    yield ""
    yield from _table(
        ("run", "kind", "required", "windows", "requests", "warm-up", "why"),
        (_run_row(name, run) for name, run in matrix.runs.items()),
    )
    yield ""
    yield f"### Loads by {CLIENTS[matrix.client].title}"
    yield ""
    for name, run in matrix.runs.items():
        if matrix.client in run.clients:
            yield f"{_cell(name)}:"
            yield ""
            yield "```sh"
            yield run.clients[matrix.client].shell
            yield "```"
            yield ""
            for sentence in run.unsaid.get(matrix.client, ()):
                yield f"- {_cell(sentence)}"
            yield ""
        if run.injection is not None:
            for sentence in (*run.injection.steps, *run.injection.unsaid, f"Recovered: {run.injection.criterion}"):
                yield f"- {_cell(sentence)}"
            yield ""


def _run_row(name: str, run: Run) -> tuple[str, ...]:
    required = "required" if run.required else "optional"
    return (
        name,
        run.kind,
        required,
        str(run.repeats),
        f"{run.requests:,}",
        f"{run.warmup_requests:,}",
        "; ".join(run.because),
    )


def _coverage(matrix: Matrix) -> Iterator[str]:
    found = matrix.coverage
    if found is None:
        return
    advised = found.advised
    total = advised.measured + advised.partly + advised.not_measured
    yield "## Coverage"
    yield ""
    yield (
        f"{advised.measured} of {total} required cells of advised candidates are measured, {advised.partly} partly; "
        f"evidence `{found.evidence.content_id}`."
    )
    yield ""
    yield from _table(
        ("candidate", "run", "state", "trials", "what lacks"),
        (_coverage_row(cell) for cell in matrix.cells if cell.state != "not_measured"),
    )
    yield ""
    for trial, sentence in found.unmatched.items():
        yield f"- Trial {_cell(trial)}: {_cell(sentence)}"
    yield ""


def _coverage_row(cell: Cell) -> tuple[str, ...]:
    return (
        cell.candidate,
        cell.run,
        STATES.get(cell.state or "", HIDDEN),
        ", ".join(cell.trials),
        "; ".join(cell.lacks) or HIDDEN,
    )


def _excluded(matrix: Matrix) -> Iterator[str]:
    yield "## Not listed"
    yield ""
    yield from _table(
        ("why", "how many", "for instance", "sentence"),
        (
            (
                group.reason,
                "without end" if group.count is None else f"{group.count:,}",
                ", ".join(group.examples) or HIDDEN,
                group.sentence,
            )
            for group in matrix.excluded
        ),
    )
