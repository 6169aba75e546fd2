"""Metrics as GenAI-Perf and AIPerf write them: a name, a unit, and statistics of it; as JSON or as rows of a table.

Inter-token latency is the mean of a request without its first token, which is our TPOT; inter-chunk latency is the
gaps between chunks. Units stand in the file and are read there; very old exports have ns, and numbers as text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from planner.importers.client import PER_REQUEST_DECODE, take_definitions
from planner.importers.model import Place
from planner.importers.scrubbed import found
from planner.importers.sheet import Path, Sheet

__all__ = ["Figure", "Metric", "Metrics", "json_metrics", "label_metric", "number_of", "take_metrics"]

MAX_LABEL = 200
OUTPUT_TOLERANCE = 1.1
"""Answers this much longer than asked for are the known fault of GenAI-Perf 24.11 and 24.12, which counts twice."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the file and where it stands."""

    raw: int | float
    place: Place


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's unit and its statistics by name, as ``avg`` and ``p99``."""

    unit: str
    figures: Mapping[str, Figure]


Metrics = Mapping[str, Metric]

_LATENCIES = {
    "request_latency": "e2e_ms",
    "time_to_first_token": "ttft_ms",
    "inter_token_latency": "tpot_ms",
    "inter_chunk_latency": "itl_ms",
}
_STATISTICS = {
    **{name: name for name in ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max", "std")},
    "avg": "mean",
    "count": "n",
}
_TIMES = {"ms": "ms", "ns": "ns", "us": "us", "s": "s", "sec": "s", "seconds": "s"}
_SINGLES = {
    "request_throughput": "completed_per_s",
    "output_token_throughput": "output_tokens_per_s",
    "total_token_throughput": "total_tokens_per_s",
    "request_count": "completed",
    "error_request_count": "failed",
    "good_request_count": "good",
    "total_isl": "input_tokens_total",
    "total_osl": "output_tokens_total",
    "output_sequence_length": "output_tokens_mean",
    "input_sequence_length": "input_tokens_mean",
}
_LABELS = {
    "total_input_sequence_length": "total_isl",
    "total_output_sequence_length": "total_osl",
    "osl_mismatch": "osl_mismatch_count",
}
_NO_NAME = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")


def json_metrics(sheet: Sheet) -> Metrics:
    """Return the metrics of an object of metrics."""
    metrics = {}
    for name, body in sheet.tree.items():
        if isinstance(body, dict) and isinstance(body.get("unit"), str) and "avg" in body:
            figures = {key: _figure(sheet, (name, key)) for key in body if key != "unit"}
            metrics[name] = Metric(body["unit"], {key: figure for key, figure in figures.items() if figure})
    return metrics


def _figure(sheet: Sheet, path: Path) -> Figure | None:
    raw = sheet.get(*path)
    value = number_of(raw)
    if value is None:
        if raw is not None:
            what = f"{'.'.join(map(str, path))} is left out: expected a number, found {found(raw)}"
            sheet.remark("import/type", what, sheet.place(*path))
        return None
    return Figure(value, sheet.place(*path))


def number_of(raw: Any) -> int | float | None:
    """Return a number that may be written as text with thousands separators, None for anything else."""
    if isinstance(raw, str):
        text = raw.strip()
        if not _NUMBER.fullmatch(text):
            return None
        plain = text.replace(",", "")
        raw = float(plain) if len(plain) >= 20 or not plain.lstrip("+-").isdigit() else int(plain)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not isfinite(raw):
        return None
    return raw


def label_metric(label: str) -> tuple[str, str]:
    """Return name and unit of a row such as ``Time To First Token (ms)``."""
    text = label[:MAX_LABEL].strip()
    before, opened, unit = text.removesuffix(")").rpartition("(")
    if not (opened and text.endswith(")")):
        before, unit = text, ""
    name = _NO_NAME.sub("_", before.lower()).strip("_")
    return _LABELS.get(name, name), unit


def take_metrics(sheet: Sheet, metrics: Metrics, *, streaming: bool | None) -> None:
    """Take what we have names for. ``streaming`` False leaves first tokens out; None lets the figures tell."""
    _take_latencies(sheet, metrics, streaming=not _whole_answer_first(metrics) if streaming is None else streaming)
    for name, own in _SINGLES.items():
        figure = _average(metrics, name)
        if figure is not None:
            sheet.put(own, figure.raw, figure.place)
    duration = _average(metrics, "benchmark_duration")
    if duration is not None:
        unit = _TIMES.get(metrics["benchmark_duration"].unit, "s")
        sheet.put("duration_s", duration.raw, duration.place, unit=unit)
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
    mismatched = _average(metrics, "osl_mismatch_count")
    if mismatched is not None and mismatched.raw:
        sentence = f"{mismatched.raw:g} answers are not as long as was asked for"
        sheet.remark("import/other_workload", sentence, mismatched.place)
    _check_output(sheet)


def _take_latencies(sheet: Sheet, metrics: Metrics, *, streaming: bool) -> None:
    for name, family in _LATENCIES.items():
        metric = metrics.get(name)
        if metric is None:
            continue
        if family == "e2e_ms" or streaming:
            _take_latency(sheet, metric, family)
        else:
            place = next((figure.place for figure in metric.figures.values()), None)
            sheet.remark("import/not_streaming", f"{family} is missing: answers were not streamed", place)


def _take_latency(sheet: Sheet, metric: Metric, family: str) -> None:
    unit = _TIMES.get(metric.unit)
    if unit is None:
        sheet.remark("import/type", f"{family} is left out: its unit is {found(metric.unit)}, which is no time")
        return
    for key, figure in metric.figures.items():
        if key in _STATISTICS:
            statistic = _STATISTICS[key]
            own = "requests" if statistic == "n" else unit
            sheet.put(f"{family}.{statistic}", figure.raw, figure.place, unit=own)


def _average(metrics: Metrics, name: str) -> Figure | None:
    metric = metrics.get(name)
    return metric.figures.get("avg") if metric else None


def _whole_answer_first(metrics: Metrics) -> bool:
    """Say whether the first token came with the whole answer, as it does where nothing is streamed."""
    first, whole = _average(metrics, "time_to_first_token"), _average(metrics, "request_latency")
    same = first is not None and whole is not None and first.raw == whole.raw
    return same and "inter_token_latency" not in metrics


def _check_output(sheet: Sheet) -> None:
    asked = sheet.value("output_tokens") or sheet.value("output_tokens_asked_mean")
    real = sheet.value("output_tokens_mean")
    if asked and real and real > OUTPUT_TOLERANCE * asked:
        sentence = (
            f"{asked} output tokens were asked for, {real:.6g} counted: some versions count streamed tokens "
            "several times, which makes rates too high and token times too low"
        )
        sheet.remark("import/output_longer", sentence, sheet.place_of("output_tokens_mean"), "held")
