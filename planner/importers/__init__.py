"""Files of benchmark tools, read into values of our documents with unit and place: suggestions, never documents.

An importer is one module with one ``Importer``, named in ``MODULES``. A format is told by content, never by a file's
name. Whatever the bytes are, ``import_file`` returns; what it cannot read it names.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from planner.errors import DocumentRefusedError, Problem
from planner.importers import (
    aiperf,
    aiperf_records,
    aiperf_telemetry,
    amd_smi,
    amd_smi_text,
    collective_csv,
    collective_trace,
    dcgm,
    genai_perf,
    gpu_stats,
    guidellm,
    hardware_files,
    hf_config,
    inference_perf,
    inferencex,
    llmd_report,
    mlperf,
    nccl_ras,
    nccl_tests,
    node_exporter,
    nvidia_dmon,
    nvidia_smi,
    predictions,
    serving_console,
    sglang_bench,
    sglang_log,
    sglang_metrics,
    sglang_one_batch,
    trtllm_bench,
    vllm_bench,
    vllm_log,
    vllm_metrics,
    vllm_offline,
    vllm_wrapper,
)
from planner.importers.model import Imported, Importer, Recognised, Remark, Run
from planner.importers.scrubbed import found
from planner.importers.source import Source
from planner.registry import collect

__all__ = ["IMPORTERS", "MODULES", "Imported", "Importer", "Source", "import_file"]

MODULES = (
    vllm_bench,
    vllm_wrapper,
    vllm_offline,
    sglang_bench,
    serving_console,
    sglang_one_batch,
    guidellm,
    genai_perf,
    aiperf,
    aiperf_records,
    aiperf_telemetry,
    trtllm_bench,
    mlperf,
    inferencex,
    llmd_report,
    inference_perf,
    hardware_files,
    hf_config,
    vllm_log,
    sglang_log,
    vllm_metrics,
    sglang_metrics,
    dcgm,
    node_exporter,
    gpu_stats,
    nvidia_smi,
    nvidia_dmon,
    amd_smi,
    amd_smi_text,
    nccl_tests,
    collective_csv,
    nccl_ras,
    collective_trace,
    predictions,
)
IMPORTERS = collect(MODULES, Importer)

MAX_RUNS = 1000
"""Runs that are read of one file: what has more is no file of results, or one to be cut."""


def import_file(source: Source, *, only: str | None = None) -> Imported:
    """Read one file by the importer that knows its content; ``only`` names the one that may."""
    try:
        source.check()
        importers = [importer for importer in IMPORTERS if only in (None, importer.id)]
        candidates = _candidates(source, importers)
        if not candidates and (below := source.after_text()):
            source, candidates = below, _candidates(below, importers)
    except (DocumentRefusedError, RecursionError) as error:
        return Imported(file=source.name, recognised=False, problems=_problems(error))
    if not candidates and any(problem.code == "import/size" for problem in source.refused):
        return Imported(file=source.name, recognised=False, problems=source.refused)
    if not candidates:
        problem = Problem("import/format", "", _expected(importers), _described(source))
        return Imported(file=source.name, recognised=False, problems=(problem,))
    importer, recognised = candidates[0]
    if len(candidates) > 1 and candidates[1][1].confidence == recognised.confidence:
        both = " and ".join(candidate.title for candidate, _ in candidates)
        problem = Problem("import/ambiguous", "", "the content of one format", both)
        return Imported(file=source.name, recognised=False, problems=(problem,))
    return _read(source, importer, recognised)


MOST_NAMED = 4
"""Kinds of files named where a file is none of them."""


def _expected(importers: Sequence[Importer]) -> str:
    """Name formats, the first few of many."""
    named = ", ".join(importer.title for importer in importers[:MOST_NAMED])
    if len(importers) == 1:
        return f"a file of {named}"
    return f"a file of one of {len(importers)} known kinds (topogate import --help names all), such as {named}"


def _candidates(source: Source, importers: Iterable[Importer]) -> list[tuple[Importer, Recognised]]:
    known = [(importer, importer.recognise(source)) for importer in importers]
    fitting = [(importer, recognised) for importer, recognised in known if recognised is not None]
    return sorted(fitting, key=lambda pair: -pair[1].confidence)


def _described(source: Source) -> str:
    """Say what a file of no known format is, as far as its beginning shows."""
    first = source.first
    if isinstance(first, dict) and {"$schema", "$defs"} & first.keys():
        return "a JSON Schema, which is no result"
    if isinstance(first, dict):
        return f"JSON with the keys {', '.join(map(found, list(first)[:5]))}" if first else "an empty object"
    line = next((line for line in source.head.splitlines() if line.strip()), "")
    return (
        f"a list in JSON of {len(first):,} values"
        if isinstance(first, list)
        else f"text that starts with {found(line)}"
    )


def _read(source: Source, importer: Importer, recognised: Recognised) -> Imported:
    runs: list[Run] = []
    problems: tuple[Problem, ...] = ()
    try:
        for run in importer.read(source, recognised):
            if len(runs) == MAX_RUNS:
                problems = (Problem("import/runs", "", f"at most {MAX_RUNS:,} runs in a file", "more"),)
                break
            runs.append(run)
    except (DocumentRefusedError, RecursionError) as error:
        problems = _problems(error)
    if not runs and not problems:
        problems = (Problem("import/no_run", "", "at least one run", "none"),)
    if source.skipped_lines and runs:
        runs, problems = _without_text(source, runs, problems)
    return Imported(
        file=source.name,
        recognised=True,
        format=importer.id,
        version=recognised.version,
        confidence=recognised.confidence,
        runs=tuple(runs),
        problems=problems,
    )


def _without_text(
    source: Source, runs: list[Run], problems: tuple[Problem, ...]
) -> tuple[list[Run], tuple[Problem, ...]]:
    """Name what a console showed around the values of a file; below them it is no damage, unless it looks like JSON."""
    below = [problem for problem in problems if problem.code == "import/syntax" and problem.column == 1]
    sentence = f"{source.skipped_lines} lines above the values are no JSON and are left out"
    if below:
        sentence += f", as are those from line {below[0].line} on"
    remark = Remark(code="import/line_skipped", effect="note", sentence=sentence)
    first = replace(runs[0], remarks=(*runs[0].remarks, remark))
    return [first, *runs[1:]], () if below else problems


def _problems(error: DocumentRefusedError | RecursionError) -> tuple[Problem, ...]:
    if isinstance(error, DocumentRefusedError):
        return error.problems
    return (Problem("import/depth", "", "nesting that can be read", "deeper nesting"),)
