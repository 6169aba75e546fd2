"""AIPerf ``profile_export.jsonl``: one JSON line a request, read in a stream.

Percentiles are nearest-rank over the requests of the phase that counts: no figure is made that no request had.
Requests with an error are failed; those of a warm-up are not counted.
"""

from array import array
from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, take_definitions, unix_time
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_EXPECTED = client_quantities("started_at")
_LATENCIES = {"request_latency": "e2e_ms", "time_to_first_token": "ttft_ms", "inter_token_latency": "tpot_ms"}
_UNITS = {"ms": "ms", "ns": "ns", "us": "us", "s": "s", "sec": "s"}
_PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
NS = 10**9


def _recognise(source: Source) -> Recognised | None:
    return Recognised() if _is_record(source.first) else None


def _is_record(tree: Any) -> bool:
    if not isinstance(tree, dict) or not isinstance(tree.get("metadata"), dict):
        return False
    return "metrics" in tree and "benchmark_phase" in tree["metadata"]


class _Totals:
    """What a stream of requests adds up to."""

    def __init__(self) -> None:
        self.completed = self.failed = self.cancelled = self.warm_up = self.other = 0
        self.tokens = {"input_sequence_length": 0, "output_sequence_length": 0}
        self.values = {name: array("d") for name in _LATENCIES}
        self.units: dict[str, set[str]] = {name: set() for name in _LATENCIES}
        self.start: int | float | None = None
        self.end: int | float | None = None

    def add(self, record: Any) -> None:
        """Count one record."""
        if not _is_record(record):
            self.other += 1
            return
        metadata, metrics = record["metadata"], record["metrics"]
        if metadata["benchmark_phase"] != "profiling":
            self.warm_up += 1
            return
        self._span(number_of(metadata.get("request_start_ns")), number_of(metadata.get("request_end_ns")))
        if metadata.get("was_cancelled") is True:
            self.cancelled += 1
        elif record.get("error") or not isinstance(metrics, dict):
            self.failed += 1
        else:
            self.completed += 1
            self._measure(metrics)

    def _span(self, start: int | float | None, end: int | float | None) -> None:
        if start is not None:
            self.start = start if self.start is None else min(self.start, start)
        if end is not None:
            self.end = end if self.end is None else max(self.end, end)

    def _measure(self, metrics: dict[str, Any]) -> None:
        for name, values in self.values.items():
            metric = metrics.get(name)
            value = number_of(metric.get("value")) if isinstance(metric, dict) else None
            if value is not None and isinstance(metric, dict):
                values.append(value)
                self.units[name].add(str(metric.get("unit")))
        for name in self.tokens:
            metric = metrics.get(name)
            count = number_of(metric.get("value")) if isinstance(metric, dict) else None
            self.tokens[name] += int(count or 0)


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    totals = _Totals()
    for document in source.documents():
        totals.add(document.tree)
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", "aiperf", sheet.place())
    _take(sheet, totals)
    check_client(sheet)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _take(sheet: Sheet, totals: _Totals) -> None:
    every = Place(pointer="/metadata/benchmark_phase")
    sheet.put("completed", totals.completed, every)
    sheet.put("failed", totals.failed, Place(pointer="/error"))
    sheet.put("cut_off", totals.cancelled, Place(pointer="/metadata/was_cancelled"))
    sheet.put("sent", totals.completed + totals.failed + totals.cancelled, every)
    _take_span(sheet, totals)
    if totals.completed:
        for name, key in (
            ("input_tokens_total", "input_sequence_length"),
            ("output_tokens_total", "output_sequence_length"),
        ):
            sheet.put(name, totals.tokens[key], Place(pointer=f"/metrics/{key}/value"))
    for name, values in totals.values.items():
        _take_latency(sheet, name, values, totals.units[name])
    take_definitions(sheet, tpot=PER_REQUEST_DECODE)
    sheet.put_text("quantile_method", "nearest_rank", sheet.place())
    if totals.other:
        sheet.remark("import/format", f"{totals.other} lines are no records of requests", effect="refused")
    if totals.warm_up:
        sheet.put("warmup_requests", totals.warm_up, every)


def _take_span(sheet: Sheet, totals: _Totals) -> None:
    if totals.start is None or totals.end is None or totals.end <= totals.start:
        return
    sheet.put("duration_s", totals.end - totals.start, Place(pointer="/metadata/request_end_ns"), unit="ns")
    for name, instant in (("started_at", totals.start), ("ended_at", totals.end)):
        if NS**2 < instant < 4 * NS**2:
            sheet.put_text(name, unix_time(instant // NS), Place(pointer="/metadata"), standing="measured")


def _take_latency(sheet: Sheet, name: str, values: "array[float]", units: set[str]) -> None:
    place = Place(pointer=f"/metrics/{name}/value")
    unit = _UNITS.get(next(iter(units))) if len(units) == 1 else None
    if not values:
        return
    if unit is None:
        sheet.remark("import/type", f"{name} is left out: its units are {', '.join(sorted(units))[:80]}", place)
        return
    family = _LATENCIES[name]
    ranked = sorted(values)
    sheet.put(f"{family}.n", len(ranked), place, unit="requests")
    sheet.put(f"{family}.mean", sum(ranked) / len(ranked), place, unit=unit)
    sheet.put(f"{family}.max", ranked[-1], place, unit=unit)
    for statistic, percent in _PERCENTILES.items():
        sheet.put(f"{family}.{statistic}", ranked[-(-percent * len(ranked) // 100) - 1], place, unit=unit)


IMPORTER = Importer(id="aiperf-records", title="AIPerf records of requests", recognise=_recognise, read=_read)
