"""TensorRT-LLM ``trtllm-bench``: the JSON of ``--report_json`` and what the console shows.

Offline and in one process: there is no HTTP, and what is sent at once waits in line, so latencies are held for a
person. The engine states degrees, version and number formats. TTFT and TPOT exist only with ``--streaming``. The
version 0.16 prints one token throughput, of output tokens. "GB" of the machine is GiB. Attention data parallelism is
in extra options only.
"""

import re
from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, take_definitions, take_model
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source
from planner.importers.trtllm_console import console_report, is_console

__all__ = ["IMPORTER"]

_EXPECTED = client_quantities("tp", "pp", "ep", "engine_version", "precision_weights", "kv_capacity_tokens")
_STATISTICS = {"mean": "average", "min": "minimum", "max": "maximum", **{p: p for p in ("p50", "p90", "p95", "p99")}}
_LATENCIES = (
    ("e2e_ms", "performance", "request_latency_percentiles_ms", "avg_request_latency_ms"),
    ("ttft_ms", "streaming_metrics", "ttft_percentiles", "avg_ttft_ms"),
    ("tpot_ms", "streaming_metrics", "tpot_percentiles", "avg_tpot_ms"),
)
AT_ONCE = 1e6
"""Requests a second beyond which the tool's issue rate says that all were there from the start."""


def _recognise(source: Source) -> Recognised | None:
    first = example(source)
    if _is_report(first):
        version = first["engine"].get("version")
        return Recognised(version=version if isinstance(version, str) else "")
    is_log = source.first is None and is_console(source.head)
    return Recognised(version=_console_version(source.head)) if is_log else None


def _is_report(first: Any) -> bool:
    parts = ("engine", "world_info", "request_info", "performance")
    return (
        isinstance(first, dict)
        and sum(isinstance(first.get(part), dict) for part in parts) >= len(parts) - 1
        and (isinstance(first.get("engine"), dict))
    )


def _console_version(head: str) -> str:
    found = re.search(r"TensorRT[- ]LLM version:\s*([0-9][^\s]{0,40})", head, re.IGNORECASE)
    return found[1] if found else ""


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    if not _is_report(example(source)):
        for sheet in console_report(source):
            yield _finished(sheet, source)
        return
    for sheet, is_report in json_runs(source, _is_report, "report of trtllm-bench"):
        if is_report:
            _take(sheet)
        yield _finished(sheet, source)


def _finished(sheet: Sheet, source: Source) -> Run:
    sheet.put_text("tool_name", "trtllm-bench", sheet.place())
    tp, pp, world = (sheet.value(name) for name in ("tp", "pp", "world_size"))
    if tp and pp and world and tp * pp != world:
        sheet.remark("import/contradiction", f"world size is {world}, but tp x pp is {tp * pp}", effect="held")
    batch, in_flight = sheet.value("max_batch_size"), sheet.value("in_flight_mean")
    if batch and in_flight and in_flight > batch:
        sentence = (
            f"{in_flight:.6g} requests were in flight with at most {batch} in a batch: latency is waiting in line"
        )
        sheet.remark("import/overloaded", sentence)
    if not sheet.refused:
        sentence = "offline, in one process: latencies are not those of a server, and failures are not counted"
        sheet.remark("import/offline", sentence, effect="held")
    check_client(sheet)
    check_name(sheet, source.name)
    return sheet.finish(_EXPECTED)


def _take(sheet: Sheet) -> None:
    _take_engine(sheet)
    for name, path in (
        ("completed", ("request_info", "num_requests")),
        ("in_flight_mean", ("request_info", "avg_num_concurrent_requests")),
        ("input_tokens_mean", ("request_info", "avg_input_length")),
        ("output_tokens_mean", ("request_info", "avg_output_length")),
        ("completed_per_s", ("performance", "request_throughput_req_s")),
        ("output_tokens_per_s", ("performance", "system_output_throughput_tok_s")),
        ("total_tokens_per_s", ("performance", "system_total_throughput_tok_s")),
    ):
        sheet.number(name, *path)
    sheet.number("duration_s", "performance", "total_latency_ms", unit="ms")
    for family, part, percentiles, average in _LATENCIES:
        known: dict[str, Path] = {name: (part, percentiles, key) for name, key in _STATISTICS.items()}
        if sheet.get(part, percentiles, "average") is None:
            known["mean"] = (part, average)
        sheet.statistics(family, "ms", known)
    take_definitions(sheet, tpot=PER_REQUEST_DECODE)
    if not isinstance(sheet.get("streaming_metrics"), dict):
        sheet.remark("import/not_streaming", "ttft_ms and tpot_ms are missing: the run was not a streaming one")
    _take_rate(sheet)
    per_device, world = sheet.get("performance", "output_throughput_per_gpu_tok_s"), sheet.value("world_size")
    total = sheet.value("output_tokens_per_s")
    if isinstance(per_device, int | float) and world and total and abs(per_device * world - total) > 0.01 * total:
        sentence = f"{per_device} output tokens/s per device on {world} devices are not {total}"
        sheet.remark("import/contradiction", sentence, effect="held")


def _take_engine(sheet: Sheet) -> None:
    take_model(sheet, "model_name", "engine", "model")
    sheet.put_text("engine_name", "tensorrt-llm", sheet.place("engine"))
    sheet.put_text("layout", "trtllm", sheet.place("world_info"))
    sheet.text("engine_version", "engine", "version")
    sheet.text("precision_weights", "engine", "quantization" if sheet.get("engine", "quantization") else "dtype")
    sheet.text("precision_activations", "engine", "dtype")
    sheet.text("precision_kv_cache", "engine", "kv_cache_dtype")
    for name, key in (("tp", "tp_size"), ("pp", "pp_size"), ("ep", "ep_size"), ("world_size", "world_size")):
        if sheet.get("world_info", key) != "None":
            sheet.number(name, "world_info", key, standing="stated")
    sheet.number("max_batch_size", "world_info", "max_batch_size", standing="stated")
    sheet.text("speculation", "decoding_stats", "mode")
    sheet.number("acceptance_length_mean", "decoding_stats", "acceptance_length_percentiles", "average")
    sheet.text("device_type", "machine", "name")
    sheet.number("device_memory_bytes", "machine", "memory.total", unit="GiB", standing="stated")


def _take_rate(sheet: Sheet) -> None:
    rate = sheet.get("world_info", "issue_rate")
    if isinstance(rate, int | float) and rate < AT_ONCE:
        sheet.number("offered_requests_per_s", "world_info", "issue_rate", standing="stated")
    elif rate is not None:
        place = sheet.place("world_info", "issue_rate")
        sheet.remark("import/all_at_once", "all requests were sent at once: no load point is like it", place)


IMPORTER = Importer(id="trtllm-bench", title="trtllm-bench", recognise=_recognise, read=_read)
