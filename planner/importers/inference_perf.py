"""inference-perf: the lifecycle summary of a stage or run, YAML or JSON, latencies in seconds.

Figures of ``successes`` are taken; failures are counted apart. Time per output token is without the first token, the
normalised one is not. The file tells nothing of model, server or topology.
"""

from collections.abc import Iterator

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, answers_from_completed, take_definitions
from planner.importers.model import Importer, Recognised, Run
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_STARTS = ("successes", "load_summary", "failures", "benchmark_time_seconds")
_KEYS = {"successes", "failures", "load_summary"}
_LATENCIES = {
    "request_latency": "e2e_ms",
    "time_to_first_token": "ttft_ms",
    "time_per_output_token": "tpot_ms",
    "inter_token_latency": "itl_ms",
}
_STATISTICS = {
    **{name: name for name in ("mean", "min", "max", "p1", "p5", "p10", "p25", "p75", "p90", "p95", "p99")},
    "p50": "median",
    "p99_9": "p99.9",
}
_RATES = {
    "completed_per_s": "requests_per_sec",
    "input_tokens_per_s": "input_tokens_per_sec",
    "output_tokens_per_s": "output_tokens_per_sec",
    "total_tokens_per_s": "total_tokens_per_sec",
}
ACHIEVED = 0.9
"""The share of the rate asked for below which the load was another one."""


def _recognise(source: Source) -> Recognised | None:
    tree = source.report(*_STARTS)
    if not isinstance(tree, dict) or len(_KEYS & tree.keys()) < 2 or not isinstance(tree.get("successes"), dict):
        return None
    return Recognised(version="lifecycle summary") if "latency" in tree["successes"] else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", source.report(*_STARTS))
    sheet.put_text("tool_name", "inference-perf", sheet.place())
    sheet.number("completed", "successes", "count")
    sheet.number("failed", "failures", "count")
    sheet.number("sent", "load_summary", "count")
    sheet.number("duration_s", "benchmark_time_seconds")
    sheet.number("input_tokens_total", "successes", "prompt_tokens", "total")
    sheet.number("input_tokens_mean", "successes", "prompt_len", "mean")
    sheet.number("output_tokens_mean", "successes", "output_len", "mean")
    for name, key in _RATES.items():
        sheet.number(name, "successes", "throughput", key)
    for key, family in _LATENCIES.items():
        base: Path = ("successes", "latency", key)
        sheet.statistics(family, "s", {name: (*base, own) for name, own in _STATISTICS.items()})
    answers_from_completed(sheet, "ttft_ms", "e2e_ms")
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
    _take_load(sheet)
    check_client(sheet)
    check_name(sheet, source.name)
    yield sheet.finish(client_quantities("offered_requests_per_s"))


def _take_load(sheet: Sheet) -> None:
    asked = sheet.number("offered_requests_per_s", "load_summary", "requested_rate", standing="stated")
    if asked is not None:
        sheet.put_text("arrival", "open", sheet.place("load_summary", "requested_rate"))
    achieved = sheet.get("load_summary", "achieved_rate")
    if asked and isinstance(achieved, int | float) and achieved < ACHIEVED * asked:
        sentence = f"{asked:.6g} requests/s were asked for, {achieved:.6g} were sent"
        sheet.remark("import/other_workload", sentence, sheet.place("load_summary", "achieved_rate"))
    mismatches = sheet.get("successes", "token_count_mismatches")
    if mismatches:
        sentence = f"client and server count tokens differently in {mismatches} answers"
        sheet.remark("import/other_workload", sentence, sheet.place("successes", "token_count_mismatches"))


IMPORTER = Importer(id="inference-perf", title="inference-perf", recognise=_recognise, read=_read)
