"""``vllm bench serve`` and the older ``benchmark_serving.py``: one flat object a run, latencies in milliseconds.

Forks keep the key ``request_goodput:`` with its colon and have no ``failed``; runs appended to one file are several
objects; a sweep adds its parameters and ``run_number``, its summary is an array of the runs. What ``--metadata``
adds is text of free vocabulary: a hint. Percentiles are those of the file: there is no p95 unless it was asked for.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import (
    PER_REQUEST_DECODE,
    answers_from_completed,
    flat_latency,
    take_definitions,
    take_flat_latencies,
    take_instants,
    take_load,
    take_model,
)
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import found, names_secret
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_ALWAYS = {"model_id", "num_prompts", "completed", "total_input_tokens", "total_output_tokens", "request_throughput"}
_CONTENT = ("generated_texts", "errors", "input_lens", "output_lens", "start_times", "ttfts", "itls")
_DEGREES = {"tensor_parallel_size": "tp", "pipeline_parallel_size": "pp", "data_parallel_size": "dp"}
_KNOWN = frozenset(
    {
        *_ALWAYS,
        *("date", "endpoint_type", "backend", "label", "tokenizer_id", "best_of", "request_rate", "burstiness"),
        *("max_concurrency", "duration", "failed", "request_goodput", "request_goodput:", "output_throughput"),
        *("total_token_throughput", "max_output_tokens_per_s", "max_concurrent_requests", "rtfx", "run_number"),
        *("benchmark_start_time_unix", "benchmark_end_time_unix", "input_throughput", "use_vllm_token_counts"),
        *_CONTENT,
    }
)
_FIGURES = "spec_decode_"
"""How further figures of the tool begin, which are no parameters."""
_EXPECTED = client_quantities("started_at")


def _recognise(source: Source) -> Recognised | None:
    run = example(source)
    return Recognised(version=_version(run)) if _is_run(run) else None


def _is_run(tree: Any) -> bool:
    """Say whether a value is a run; one of its keys may be lost."""
    return isinstance(tree, dict) and len(_ALWAYS - tree.keys()) <= 1 and any(map(_is_latency, tree))


def _is_latency(key: str) -> bool:
    return key.endswith("_ms") and flat_latency(key) is not None


def _version(run: dict[str, Any]) -> str:
    """Return what the keys say of the version; no file states it."""
    if "benchmark_start_time_unix" in run:
        return "fork of benchmark_serving"
    if "failed" in run:
        return "after 0.9"
    return "0.9 or earlier, or a fork" if "request_goodput:" in run else ""


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    for sheet, is_run in json_runs(source, _is_run, "run of vllm bench serve"):
        if is_run:
            _take(sheet)
            check_client(sheet)
            check_name(sheet, source.name)
        yield sheet.finish(_EXPECTED)


def _take(sheet: Sheet) -> None:
    sheet.number("sent", "num_prompts")
    sheet.number("completed", "completed")
    sheet.number("failed", "failed")
    sheet.number("duration_s", "duration")
    sheet.number("input_tokens_total", "total_input_tokens")
    sheet.number("output_tokens_total", "total_output_tokens")
    sheet.number("output_tokens_per_s", "output_throughput")
    sheet.number("input_tokens_per_s", "input_throughput")
    sheet.number("total_tokens_per_s", "total_token_throughput")
    sheet.number("completed_per_s", "request_throughput")
    sheet.number("repeat", "run_number", standing="stated")
    sheet.number("acceptance_length_mean", "spec_decode_acceptance_length")
    sheet.text("local_time", "date")
    sheet.text("label", "label")
    take_load(sheet, ("request_rate",), ("max_concurrency",))
    take_model(sheet, "model_name", "model_id")
    take_model(sheet, "tokenizer_name", "tokenizer_id")
    sheet.put_text("tool_name", "vllm bench serve", sheet.place())
    take_instants(sheet, ("benchmark_start_time_unix",), ("benchmark_end_time_unix",))
    take_flat_latencies(sheet, sheet.tree)
    _note_others(sheet)
    answers_from_completed(sheet, "ttft_ms", "e2e_ms")
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")


def _note_others(sheet: Sheet) -> None:
    """Name what was not taken: content of users, parameters of a sweep, and free text of ``--metadata``."""
    content = [key for key in _CONTENT if sheet.get(key)]
    if content:
        sheet.remark("import/content_dropped", f"per-request lists are not kept: {', '.join(content)}")
    if "failed" not in sheet.tree:
        unfinished = (sheet.value("sent") or 0) - (sheet.value("completed") or 0)
        sentence = "this version does not count failed requests"
        if unfinished > 0:
            sentence += f"; {unfinished} of those sent did not complete"
        sheet.remark("import/failed_unknown", sentence, sheet.place("num_prompts"))
    if sheet.value("repeat") == 0:
        sentence = "the first repeat: nothing tells whether the server was warm"
        sheet.remark("import/first_repeat", sentence, sheet.place("run_number"))
    _note_parameters(sheet)


def _note_parameters(sheet: Sheet) -> None:
    swept = "run_number" in sheet.tree
    for key, raw in sheet.tree.items():
        if key in _KNOWN or _is_latency(key) or not isinstance(raw, str | int | float):
            continue
        if names_secret(key):
            sentence = f"{found(key)} is not kept: change it, the file holds it"
            sheet.remark("import/content_dropped", sentence, sheet.place(key))
        elif swept and key in _DEGREES:
            sheet.number(_DEGREES[key], key, standing="stated")
        elif swept and not isinstance(raw, str) and not key.startswith(_FIGURES):
            sheet.remark("import/swept", f"the sweep set {found(key)} to {found(raw)}", sheet.place(key))
        elif isinstance(raw, str):
            sentence = f"{found(key)} is {found(raw)}: free text of the person who ran it, a hint only"
            sheet.remark("import/metadata", sentence, sheet.place(key))


IMPORTER = Importer(
    id="vllm-bench-serve", title="vllm bench serve, benchmark_serving.py", recognise=_recognise, read=_read
)
