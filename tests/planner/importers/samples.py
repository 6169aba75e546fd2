"""Own small files of every format, as text, and what reading them gives in short."""

import json
from io import BytesIO
from typing import Any

from planner.importers import Imported, Source, import_file
from planner.importers.model import Effect, Place, Run

Tree = dict[str, Any]


def imported(content: str | bytes | Tree | list[Any], name: str = "result", *, only: str | None = None) -> Imported:
    """Import text, bytes, or a tree written as JSON (Python writes Infinity and NaN as tools do)."""
    if isinstance(content, dict | list):
        content = json.dumps(content)
    raw = content.encode() if isinstance(content, str) else content
    return import_file(Source(name, BytesIO(raw)), only=only)


def only_run(content: str | bytes | Tree | list[Any], name: str = "result") -> Run:
    """Import a file that holds one run."""
    read = imported(content, name)
    assert read.problems == ()
    (run,) = read.runs
    return run


def values(run: Run, of: str = "") -> dict[str, Any]:
    """Return the values of a run by name, those of one thing in it."""
    return {value.name: value.value for value in run.values if value.of == of}


def place(run: Run, name: str) -> Place:
    """Return where a value stands."""
    return next(value.place for value in run.values if value.name == name)


def codes(run: Run, effect: Effect | None = None) -> list[str]:
    """Return the codes of a run's remarks."""
    return [remark.code for remark in run.remarks if effect in (None, remark.effect)]


def refusals(read: Imported) -> list[tuple[str, int | None, int | None]]:
    """Return code, line and column of the problems of a file."""
    return [(problem.code, problem.line, problem.column) for problem in read.problems]


def vllm_run(**changed: Any) -> Tree:
    """A run of the new ``vllm bench serve``: 20 requests of 100 tokens in and 50 out in 10 s, 4 in flight."""
    run = {
        "date": "20260301-101500",
        "endpoint_type": "vllm",
        "backend": "vllm",
        "label": None,
        "model_id": "example/model-8b",
        "tokenizer_id": "example/model-8b",
        "num_prompts": 20,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 4,
        "duration": 10.0,
        "completed": 20,
        "failed": 0,
        "total_input_tokens": 2000,
        "total_output_tokens": 1000,
        "request_throughput": 2.0,
        "request_goodput": None,
        "output_throughput": 100.0,
        "total_token_throughput": 300.0,
        "max_output_tokens_per_s": 160.0,
        "max_concurrent_requests": 7,
        "mean_ttft_ms": 80.5,
        "median_ttft_ms": 70.25,
        "std_ttft_ms": 9.0,
        "p99_ttft_ms": 120.0,
        "mean_tpot_ms": 30.0,
        "median_tpot_ms": 29.5,
        "std_tpot_ms": 1.0,
        "p99_tpot_ms": 34.0,
        "mean_itl_ms": 30.1,
        "median_itl_ms": 28.0,
        "std_itl_ms": 5.0,
        "p99_itl_ms": 60.0,
    }
    return {**run, **changed}


def old_vllm_run(**changed: Any) -> Tree:
    """A run of ``benchmark_serving.py`` and its forks: the odd key of goodput, no count of failed requests."""
    run = vllm_run(best_of=1, **{"request_goodput:": None})
    for name in ("failed", "request_goodput", "endpoint_type", "label", "max_concurrent_requests"):
        del run[name]
    return {**run, **changed}
