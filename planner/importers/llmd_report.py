"""llm-d benchmark report, versions 0.1, 0.2 and 0.2.1, YAML or JSON.

Every statistic has its own ``units``, which are read, never assumed. A report is of one load stage. Topology is
stated for every component; what ``args`` say otherwise holds the run. ``envars``, users and addresses are not taken.
The project's own examples have invented figures that contradict themselves, and are held for it.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, take_definitions, take_instants
from planner.importers.llmd_stack import take_hosts, take_stack
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import found
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_STARTS = ("version", "scenario", "results", "metrics", "run")
_EXPECTED = client_quantities("tp", "pp", "ep", "dp", "devices", "device_type", "engine_version")
_LATENCIES = {
    "request_latency": "e2e_ms",
    "time_to_first_token": "ttft_ms",
    "time_per_output_token": "tpot_ms",
    "inter_token_latency": "itl_ms",
}
_STATISTICS = {
    **{name: name for name in ("mean", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")},
    "p99_9": "p99p9",
    "std": "stddev",
}
_TIMES = {"s": "s", "seconds": "s", "ms": "ms", "us": "us", "ns": "ns"}
_RATES = {
    "input_tokens_per_s": ("input_token_rate", "input_tokens_per_sec"),
    "output_tokens_per_s": ("output_token_rate", "output_tokens_per_sec"),
    "total_tokens_per_s": ("total_token_rate", "total_tokens_per_sec"),
    "completed_per_s": ("request_rate", "requests_per_sec"),
}
_RATE_UNITS = {"tokens/s", "queries/s", "requests/s"}
_DURATION = re.compile(r"PT(?:([0-9]{1,6})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,9}(?:\.[0-9]{1,18})?)S)?")
_DECODE_TOOLS = ("inference-perf", "vllm")
SPAN_TOLERANCE = 0.1


def _recognise(source: Source) -> Recognised | None:
    tree = source.report(*_STARTS)
    if not isinstance(tree, dict) or not isinstance(tree.get("scenario"), dict):
        return None
    version = str(tree.get("version", ""))
    if isinstance(tree.get("metrics"), dict) and isinstance(tree["metrics"].get("latency"), dict):
        return Recognised(version=version or "0.1")
    results = tree.get("results")
    return Recognised(version=version) if isinstance(results, dict) and "request_performance" in results else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", source.report(*_STARTS))
    if isinstance(sheet.get("metrics"), dict):
        _take_old(sheet)
    else:
        _take_new(sheet)
    check_client(sheet)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _take_old(sheet: Sheet) -> None:
    sheet.text("tool_name", "scenario", "load", "name")
    sheet.text("workload_name", "scenario", "load", "type")
    sheet.text("model_name", "scenario", "model", "name")
    sheet.text("precision_weights", "scenario", "model", "quantization")
    sheet.number("duration_s", "metrics", "time", "duration")
    start, stop = sheet.get("metrics", "time", "start"), sheet.get("metrics", "time", "stop")
    if isinstance(start, int | float) and isinstance(stop, int | float) and stop < start:
        sentence = f"the run stops {start - stop:.6g} s before it starts"
        sheet.remark("import/contradiction", sentence, sheet.place("metrics", "time", "stop"), "held")
    else:
        take_instants(sheet, ("metrics", "time", "start"), ("metrics", "time", "stop"))
    _take_performance(sheet, ("metrics",))
    take_hosts(sheet)


def _take_new(sheet: Sheet) -> None:
    load: Path = ("scenario", "load", "standardized")
    sheet.text("tool_name", *load, "tool")
    sheet.text("tool_version", *load, "tool_version")
    sheet.text("workload_name", *load, "source")
    if sheet.number("offered_requests_per_s", *load, "rate_qps", standing="stated") is not None:
        sheet.put_text("arrival", "open", sheet.place(*load, "rate_qps"))
    ceiling = sheet.get(*load, "concurrency")
    if ceiling != float("inf"):
        sheet.number("concurrent_requests", *load, "concurrency", standing="stated")
    for name, mean, key in (
        ("prompt_tokens", "prompt_tokens_mean", "input_seq_len"),
        ("output_tokens", "output_tokens_asked_mean", "output_seq_len"),
    ):
        fixed = sheet.get(*load, key, "distribution") == "fixed"
        sheet.number(name if fixed else mean, *load, key, "value", standing="stated")
    stage = sheet.get(*load, "stage")
    if stage is not None:
        sheet.remark("import/stage", f"the report is of stage {found(stage)} of a load", sheet.place(*load, "stage"))
    _take_span(sheet)
    _take_performance(sheet, ("results", "request_performance", "aggregate"))
    take_stack(sheet)


def _take_span(sheet: Sheet) -> None:
    """Take duration (ISO 8601), start and end; a duration of another length than the span is of the stage alone."""
    time: Path = ("run", "time")
    duration = _DURATION.fullmatch(str(sheet.get(*time, "duration")))
    seconds: float | None = None
    if duration and any(duration.groups()):
        seconds = int(duration[1] or 0) * 3600 + int(duration[2] or 0) * 60 + float(duration[3] or 0)
        sheet.put("duration_s", seconds, sheet.place(*time, "duration"))
    start, end = (_instant(sheet.get(*time, key)) for key in ("start", "end"))
    if start is None or end is None:
        return
    span = (end - start).total_seconds()
    for name, key, instant in (("started_at", "start", start), ("ended_at", "end", end)):
        sheet.put_text(name, instant.strftime("%Y-%m-%dT%H:%M:%SZ"), sheet.place(*time, key), standing="measured")
    if seconds is not None and abs(span - seconds) > SPAN_TOLERANCE * max(span, seconds):
        sentence = f"start and end are {span:.6g} s apart, the duration is {seconds:.6g} s: of the stage, perhaps"
        sheet.remark("import/stage", sentence, sheet.place(*time, "duration"))


def _instant(raw: Any) -> datetime | None:
    """Return a time that names UTC, None for any other."""
    if not isinstance(raw, str) or not raw.endswith("Z"):
        return None
    try:
        return datetime.fromisoformat(raw)
    except ValueError:
        return None


def _take_performance(sheet: Sheet, base: Path) -> None:
    _take_requests(sheet, (*base, "requests"))
    for kind in ("input", "output"):
        sheet.number(f"{kind}_tokens_mean", *base, "requests", f"{kind}_length", "mean")
    for key, family in _LATENCIES.items():
        metric: Path = (*base, "latency", key)
        if sheet.get(*metric) is None:
            continue
        unit = _TIMES.get(str(sheet.get(*metric, "units")).removesuffix("/token"))
        if unit is None:
            what = f"{family} is left out: its units are {found(sheet.get(*metric, 'units'))}, which are no time"
            sheet.remark("import/type", what, sheet.place(*metric, "units"))
        else:
            sheet.statistics(family, unit, {name: (*metric, own) for name, own in _STATISTICS.items()})
    tool = str(sheet.value("tool_name") or "")
    take_definitions(sheet, tpot=PER_REQUEST_DECODE if tool.startswith(_DECODE_TOOLS) else "", itl="per_chunk")
    for name, (new, old) in _RATES.items():
        rate: Path = (*base, "throughput", new)
        if isinstance(sheet.get(*rate), dict):
            if str(sheet.get(*rate, "units")) in _RATE_UNITS:
                sheet.number(name, *rate, "mean")
        else:
            sheet.number(name, *base, "throughput", old)


def _take_requests(sheet: Sheet, base: Path) -> None:
    sent = sheet.number("sent", *base, "total")
    failed = sheet.number("failed", *base, "failures")
    cut_off = sheet.number("cut_off", *base, "incomplete")
    if sent is None or failed is None:
        return
    if not failed and not cut_off:
        sheet.put("completed", sent, sheet.place(*base, "total"))
    elif failed >= sent:
        sheet.put("completed", 0, sheet.place(*base, "failures"))
    else:
        sheet.remark(
            "import/total_unknown",
            "whether the total counts what failed is not in the file",
            sheet.place(*base, "total"),
        )


IMPORTER = Importer(id="llm-d-report", title="llm-d benchmark report", recognise=_recognise, read=_read)
