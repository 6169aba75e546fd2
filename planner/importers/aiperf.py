"""AIPerf: ``profile_export_aiperf.json`` and ``.csv``, of the layout of 2025 and of schema 1.3.

Memory of devices is in decimal GB, sampled where the client runs; one device seen through two exporters is one.
Times of the run have no zone; those of the first request and last answer are in ns since 1970. Warm-up phases
(``exclude_from_results``) are not the load.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.aiperf_devices import take_export_devices, take_table_devices
from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import take_load, take_model, unix_time
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.perf_metrics import json_metrics, number_of, take_metrics
from planner.importers.perf_tables import csv_header, csv_metrics
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_EXPECTED = client_quantities("device_used_peak_bytes", "started_at")
NS = 10**9


def _recognise(source: Source) -> Recognised | None:
    first = example(source)
    if _is_json(first):
        version = first.get("aiperf_version")
        layout = "schema " + str(first["schema_version"]) if "schema_version" in first else "layout of 2025"
        return Recognised(version=version if isinstance(version, str) else layout)
    header = csv_header(source)
    return Recognised() if header and "sum" in header and "avg" in header else _recognise_old_csv(source, header)


def _recognise_old_csv(source: Source, header: tuple[str, ...] | None) -> Recognised | None:
    """Tell a CSV of AIPerf without sums by the metrics that only AIPerf has."""
    own = ("Inter Chunk Latency", "Benchmark Duration", "Prefill Throughput", "Time to First Output Token")
    known = header is not None and "avg" in header and any(label in source.head for label in own)
    return Recognised(confidence=95) if known else None


def _is_json(first: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(first.get("input_config"), dict):
        return False
    metrics = isinstance(first.get("request_latency"), dict) or isinstance(first.get("error_request_count"), dict)
    if "perf_analyzer" in first["input_config"]:
        return False  # the nested layout of GenAI-Perf, whose successor this tool is
    own = {"benchmark_duration", "aiperf_version", "telemetry_data", "was_cancelled"} & first.keys()
    return metrics and bool(own or isinstance(first["input_config"].get("loadgen"), dict))


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    if csv_header(source):
        sheet = Sheet("run-1", {})
        take_metrics(sheet, csv_metrics(source), streaming=None)
        take_table_devices(sheet, source)
        yield _finished(sheet, source)
        return
    for sheet, is_export in json_runs(source, _is_json, "export of AIPerf"):
        if is_export:
            _take(sheet)
        yield _finished(sheet, source)


def _finished(sheet: Sheet, source: Source) -> Run:
    sheet.put_text("tool_name", "aiperf", sheet.place())
    check_client(sheet)
    check_name(sheet, source.name)
    return sheet.finish(_EXPECTED)


def _take(sheet: Sheet) -> None:
    sheet.text("tool_version", "aiperf_version")
    _take_config(sheet)
    streaming = sheet.get("input_config", "endpoint", "streaming")
    take_metrics(sheet, json_metrics(sheet), streaming=streaming if isinstance(streaming, bool) else None)
    _take_errors(sheet)
    sheet.text("local_time", "start_time")
    for name, key in (("started_at", "min_request_timestamp"), ("ended_at", "max_response_timestamp")):
        instant = number_of(sheet.get(key, "avg"))
        if sheet.get(key, "unit") == "ns" and instant and NS**2 < instant < 4 * NS**2:
            sheet.put_text(name, unix_time(instant / NS), sheet.place(key, "avg"), standing="measured")
    if sheet.get("was_cancelled") is True:
        sheet.remark("import/cancelled", "the run was cancelled before its end", sheet.place("was_cancelled"), "held")
    take_export_devices(sheet)


def _take_errors(sheet: Sheet) -> None:
    """Count failures by the list of errors where the metric is null or absent: it then has none to count."""
    if sheet.value("failed") is not None:
        return
    errors = sheet.get("error_summary")
    if isinstance(errors, list):
        counts = [number_of(error.get("count")) if isinstance(error, dict) else None for error in errors]
        known = [count for count in counts if count is not None]
        if len(known) == len(counts):
            sheet.put("failed", sum(known), sheet.place("error_summary"))
    if sheet.value("completed") is None and sheet.value("failed"):
        sheet.put("completed", 0, sheet.place("error_summary"))


def _take_config(sheet: Sheet) -> None:
    endpoint: Path = ("input_config", "endpoint")
    names = sheet.get(*endpoint, "model_names")
    if isinstance(names, list) and len(names) == 1:
        take_model(sheet, "model_name", *endpoint, "model_names", 0)
    models = sheet.get("input_config", "models", "items")
    if isinstance(models, list) and len(models) == 1:
        take_model(sheet, "model_name", "input_config", "models", "items", 0, "name")
    if sheet.get(*endpoint, "api_key"):
        sheet.remark("import/content_dropped", "the key of the server is not kept: change it, the file holds it")
    load = _phase(sheet)
    if load:
        take_load(sheet, (*load, _key(sheet, load, "request_rate", "rate")), (*load, "concurrency"))
        sheet.number("sent", *load, _key(sheet, load, "request_count", "requests"), standing="stated")
        sheet.number("warmup_requests", *load, "warmup_request_count", standing="stated")
    prompt: Path = ("input_config", "input", "prompt")
    for name, spread_name, key in (
        ("prompt_tokens", "prompt_tokens_mean", "input_tokens"),
        ("output_tokens", "output_tokens_asked_mean", "output_tokens"),
    ):
        spread = bool(sheet.get(*prompt, key, "stddev"))
        sheet.number(spread_name if spread else name, *prompt, key, "mean", standing="stated")


def _phase(sheet: Sheet) -> Path | None:
    """Return the path of the load: ``loadgen``, or the one phase that counts."""
    if isinstance(sheet.get("input_config", "loadgen"), dict):
        return ("input_config", "loadgen")
    phases = sheet.get("input_config", "phases")
    if not isinstance(phases, list):
        return None
    counted = [
        index
        for index, phase in enumerate(phases)
        if isinstance(phase, dict) and phase.get("exclude_from_results") is not True
    ]
    if len(counted) == 1:
        return ("input_config", "phases", counted[0])
    sheet.remark("import/several_phases", f"{len(counted)} phases count: the load has to be asked", effect="held")
    return None


def _key(sheet: Sheet, path: Path, *keys: str) -> str:
    return next((key for key in keys if sheet.get(*path, key) is not None), keys[0])


IMPORTER = Importer(id="aiperf", title="AIPerf", recognise=_recognise, read=_read)
