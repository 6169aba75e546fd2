"""Sorting uploaded files into contract and evidence, and the rows of what is wrong with them or in them. Pure.

Rules kept: a file is recognised by its ``schema`` alone, never by its name; every problem is listed, with the line
where it can be found; nothing that was given is thrown away on an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

import msgspec

from planner.documents import EvidenceDocument
from planner.errors import DocumentRefusedError
from planner.importers import IMPORTERS, Source
from planner.rankmap import derived_name
from reviews.errors import Finding
from reviews.web.document_links import DocumentLinks
from reviews.web.formats import count, listed
from reviews.web.rank_metrics import metrics_of
from reviews.web.source_lines import Excerpt, excerpt

SCHEMAS = {"topogate.contract/v1": "contract", "topogate.evidence/v1": "evidence"}
KEEP_UP_TO = 256 * 1024
"""Bytes of a refused file that are put back into its text field; larger ones are chosen again."""


class _Named(msgspec.Struct):
    """A document as far as recognising it needs."""

    schema: object = None


@dataclass(frozen=True, slots=True)
class Given:
    """A document as it was given: its bytes, and the file's name where it came as one."""

    data: bytes
    name: str


@dataclass(frozen=True, slots=True)
class Sorted:
    """What was given, sorted; ``problems`` speak of files that have no place, ``lacking`` of what was not given.

    ``tools`` are names and formats of files that benchmark tools wrote, of which evidence can be built.
    """

    contract: Given | None
    evidence: Given | None
    problems: tuple[Finding, ...]
    tools: tuple[tuple[str, str], ...] = ()
    lacking: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """One problem as the page lists it; ``href`` leads to its place in a document that was taken over."""

    title: str
    where: str
    href: str
    expected: str
    found: str
    code: str
    source: Excerpt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """One trial of the evidence before any gate has run."""

    trial: str
    topology: str
    layout: str
    ranks: int
    windows: str
    load_points: str
    metrics: str


def kind_of(data: bytes) -> str:
    """Return ``contract``, ``evidence``, or an empty text for anything else."""
    try:
        schema = msgspec.json.decode(data, type=_Named).schema
    except (msgspec.DecodeError, RecursionError):
        return ""
    return SCHEMAS.get(schema, "") if isinstance(schema, str) else ""


def tool_of(given: Given) -> str:
    """Return the title of the tool's format that a file is in; empty where no importer knows it, or it is ours."""
    if kind_of(given.data):
        return ""
    source = Source(given.name, BytesIO(given.data))
    try:
        source.check()
        known = [(importer.recognise(source), importer.title) for importer in IMPORTERS]
    except (DocumentRefusedError, RecursionError):
        return ""
    fitting = [(found.confidence, title) for found, title in known if found is not None]
    return max(fitting)[1] if fitting else ""


def request_problem(place: str, expected: str, found: str) -> Finding:
    """Make a problem of what was sent rather than of a document."""
    return Finding("request", "request/files", place, expected, found)


def recognised(files: Sequence[Given]) -> tuple[dict[str, Given], list[Given], list[Finding]]:
    """Return the files by kind, those of no known kind, and what is wrong with the choice."""
    places: dict[str, Given] = {}
    unknown, problems = [], []
    for given in files:
        kind = kind_of(given.data)
        if not kind:
            unknown.append(given)
        elif kind in places:
            problems.append(request_problem(given.name, f"one {kind}", f"a second one beside {places[kind].name}"))
        else:
            places[kind] = given
    return places, unknown, problems


def sort_files(
    files: Sequence[Given],
    contract: str,
    evidence: str,
    *,
    needs_both: bool = True,
    stored: Mapping[str, Given] | None = None,
) -> Sorted:
    """Sort files by their schema; pasted text stands where it was pasted and gives way to a file of its kind.

    ``stored`` documents stand where nothing else of their kind was given. Without ``needs_both`` one document is
    enough.

    A file that is no JSON, or has another schema, takes the place that is left, so that the planner's own intake
    says what is wrong with it.
    """
    places, unknown, problems = recognised(files)
    for kind, text in (("contract", contract), ("evidence", evidence)):
        if text.strip() and kind not in places:
            # A browser sends every line end of a form as CR LF; the file that was pasted from has its own.
            places[kind] = Given(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass"), "")
    places = {**(stored or {}), **places}
    tools = tuple((given.name, title) for given in unknown if given.name and (title := tool_of(given)))
    for given in (one for one in unknown if one.name not in dict(tools)):
        free = next((kind for kind in ("contract", "evidence") if kind not in places), None)
        if free:
            places[free] = given
        else:
            problems.append(request_problem(given.name, listed(tuple(SCHEMAS), "or"), "another schema, or no JSON"))
    missing = [kind for kind in ("contract", "evidence") if kind not in places]
    lacking: tuple[Finding, ...] = ()
    if not needs_both and len(missing) == 2:
        lacking = (request_problem("files", "a file or text with a contract, evidence, or both", "neither"),)
    elif needs_both:
        lacking = tuple(request_problem(kind, f"a file or text with the {kind}", "nothing") for kind in missing)
    return Sorted(places.get("contract"), places.get("evidence"), tuple(problems), tools, lacking)


def kept_text(given: Given | None) -> str:
    """Return what goes back into the text field: text as pasted, or a file that is small enough to be text."""
    if given is None or len(given.data) > KEEP_UP_TO:
        return ""
    return given.data.decode("utf-8", "replace")


def taken_over(given: Sorted, *, contract: str, evidence: str) -> tuple[tuple[str, str], ...]:
    """Return name and digest of each document that was not given and comes from an earlier revision."""
    named = (("Contract", given.contract, contract), ("Evidence", given.evidence, evidence))
    return tuple((name, digest) for name, own, digest in named if own is None)


def field_problems(problems: Sequence[Finding]) -> dict[str, str]:
    """Return what is wrong with a field of the form, by the field's name."""
    return {
        problem.pointer: f"Expected {problem.expected}. Found {problem.found}."
        for problem in problems
        if problem.document == "request"
    }


def problem_rows(
    problems: Sequence[Finding],
    contract: Given | None,
    evidence: Given | None,
    stored: DocumentLinks | None = None,
) -> tuple[ProblemRow, ...]:
    """Make a row for every problem; documents first, as the planner ordered them.

    ``stored`` are the documents of an earlier revision, which stand in for those that were not given.
    """
    sources = {"contract": contract, "evidence": evidence}
    rows = []
    for problem in problems:
        given = sources.get(problem.document)
        source = excerpt(given.data, problem.pointer, problem.line) if given else None
        line = problem.line or (source.line if source else None)
        name = f"{problem.document} {given.name}".strip() if given else problem.document
        where = " · ".join(part for part in (f"{name} line {line}" if line else name, problem.pointer or "/") if part)
        rows.append(
            ProblemRow(
                title=problem.code.partition("/")[2].replace("_", " ").capitalize() or "Refused",
                where=where,
                href=stored.to(problem.pointer) if stored and not given and problem.document in sources else "",
                expected=problem.expected,
                found=problem.found,
                code=problem.code,
                source=source,
            )
        )
    return tuple(rows)


def trial_rows(document: EvidenceDocument) -> tuple[TrialRow, ...]:
    """Make a row for every trial."""
    rows = []
    for trial_id, trial in sorted(document.record.trials.items()):
        counted = [window for window in trial.windows.values() if window.purpose == "counted"]
        rows.append(
            TrialRow(
                trial=trial_id,
                topology=derived_name(trial.topology),
                layout=trial.topology.layout,
                ranks=len(trial.rank_map),
                windows=f"{len(counted)} of {count(len(trial.windows), 'window')} counted",
                load_points=listed(tuple(sorted({window.load_point for window in counted}))) or "–",
                metrics=listed(tuple(metric.name.lower() for metric in metrics_of(trial))) or "none",
            )
        )
    return tuple(rows)
