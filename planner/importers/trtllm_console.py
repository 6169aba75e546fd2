"""What ``trtllm-bench`` shows on a console: headed blocks of ``key: value`` lines in a log, tabs between.

A log that ends before its results is a failed run: refused as evidence, named. Lines of the KV cache come once a
rank; the smallest capacity counts.
"""

import re
from collections.abc import Iterator

from planner.importers.client import PER_REQUEST_DECODE, take_definitions
from planner.importers.model import Place
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["console_report", "is_console"]

_MARKS = ("TensorRT-LLM Version", "TensorRT LLM Version", "[TRT-LLM]", "[TensorRT-LLM]")
MAX_KEY = 100
_UNIT = re.compile(r"\((?:ms|tokens|tokens/sec|req/sec|tps/gpu|tps/user)\)$")
_SPREAD = re.compile(r"\s*\[(Latency|TTFT|TPOT)\]\s*(P50|P90|P95|P99|MINIMUM|MAXIMUM|AVERAGE)\s*:\s*([0-9.]+)\s*")
_CACHE = re.compile(r"Allocated ([0-9.]+) GiB for max tokens in paged KV cache \(([0-9]+)\)")
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?")
_NUMBERS = {
    "number of requests": ("completed", "requests"),
    "number of concurrent requests": ("in_flight_mean", "requests"),
    "average input length": ("input_tokens_mean", "tokens"),
    "average output length": ("output_tokens_mean", "tokens"),
    "token throughput": ("output_tokens_per_s", "tokens/s"),
    "total output throughput": ("output_tokens_per_s", "tokens/s"),
    "total token throughput": ("total_tokens_per_s", "tokens/s"),
    "request throughput": ("completed_per_s", "requests/s"),
    "per gpu output throughput": ("output_tokens_per_s_per_device", "tokens/s"),
    "total latency": ("duration_s", "ms"),
    "average request latency": ("e2e_ms.mean", "ms"),
    "average time-to-first-token [ttft]": ("ttft_ms.mean", "ms"),
    "average time-per-output-token [tpot]": ("tpot_ms.mean", "ms"),
    "tp size": ("tp", "ranks"),
    "pp size": ("pp", "ranks"),
    "ep size": ("ep", "ranks"),
    "max runtime batch size": ("max_batch_size", "requests"),
}
_TEXTS = {
    "tensorrt-llm version": "engine_version",
    "tensorrt llm version": "engine_version",
    "dtype": "precision_activations",
    "kv cache dtype": "precision_kv_cache",
    "quantization": "precision_weights",
    "revision": "model_revision",
}
_FAMILIES = {"Latency": "e2e_ms", "TTFT": "ttft_ms", "TPOT": "tpot_ms"}
_STATISTICS = {"MINIMUM": "min", "MAXIMUM": "max", "AVERAGE": "mean"}
AT_ONCE = 1e6


def is_console(head: str) -> bool:
    """Say whether a log is one of ``trtllm-bench``."""
    if "Preparing to run throughput benchmark" in head or "Preparing to run latency benchmark" in head:
        return any(mark in head for mark in _MARKS)
    if "PERFORMANCE OVERVIEW" in head and "Request Throughput (req/sec)" in head:
        return True
    return any(mark in head for mark in _MARKS[:2]) and ("TP Size" in head or "KV Cache Dtype" in head)


def console_report(source: Source) -> Iterator[Sheet]:
    """Yield the run of a log; a log holds one."""
    sheet = Sheet("run-1", {}, line=1)
    capacities: list[tuple[int, Place]] = []
    for number, line in source.console():
        place = Place(line=number)
        cache, spread = _CACHE.search(line), _SPREAD.fullmatch(line)
        if cache:
            capacities.append((int(cache[2][:18]), place))
        elif spread:
            statistic = _STATISTICS.get(spread[2], spread[2].lower())
            _number(sheet, f"{_FAMILIES[spread[1]]}.{statistic}", spread[3], "ms", place)
        elif not line.startswith("["):
            _take_line(sheet, line, place)
    if capacities:
        smallest, place = min(capacities, key=lambda capacity: capacity[0])
        sheet.put("kv_capacity_tokens", smallest, place)
    _finish(sheet)
    yield sheet


def _take_line(sheet: Sheet, line: str, place: Place) -> None:
    label, colon, text = line.partition(":")
    text = text.strip()
    if not colon or not text or len(label) > MAX_KEY:
        return
    key = _UNIT.sub("", label.strip().lower()).strip()
    if key in _NUMBERS and text != "None":
        name, unit = _NUMBERS[key]
        _number(sheet, name, text, unit, place)
    elif key in _TEXTS and text not in ("None", "N/A"):
        sheet.put_text(_TEXTS[key], text, place)
    elif key == "model":
        sheet.put_text("model_name", last_part(text), place)
    elif key == "issue rate" and _NUMBER.fullmatch(text):
        if float(text) < AT_ONCE:
            _number(sheet, "offered_requests_per_s", text, "requests/s", place)
        else:
            sheet.remark("import/all_at_once", "all requests were sent at once: no load point is like it", place)


def _number(sheet: Sheet, name: str, text: str, unit: str, place: Place) -> None:
    if _NUMBER.fullmatch(text):
        sheet.put(name, int(text) if text.isdigit() else float(text), place, unit=unit)
    else:
        sheet.remark("import/type", f"{name} is left out: its text is no number", place)


def _finish(sheet: Sheet) -> None:
    if sheet.value("precision_weights") is None and sheet.value("precision_activations"):
        place = sheet.place_of("precision_activations")
        sheet.put_text("precision_weights", sheet.value("precision_activations"), place)
    if sheet.value("tp") is not None:
        sheet.put_text("engine_name", "tensorrt-llm", sheet.place_of("tp"))
        sheet.put_text("layout", "trtllm", sheet.place_of("tp"))
    take_definitions(sheet, tpot=PER_REQUEST_DECODE)
    if sheet.value("output_tokens_per_s") is None and sheet.value("duration_s") is None:
        sheet.remark(
            "import/no_result",
            "the log ends without results: the run failed, or only a part of the log is here; it is no evidence",
            effect="refused",
        )
    elif sheet.value("ttft_ms.mean") is None:
        sheet.remark("import/not_streaming", "ttft_ms and tpot_ms are missing: the run was not a streaming one")
