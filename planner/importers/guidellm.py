"""GuideLLM ``benchmarks.json`` and ``.yaml``: several benchmarks a file, one run each.

Only the figures of successful requests are taken. Request latency is in seconds, the rest in milliseconds. The tool's
time per output token is (e2e / n) or (e2e - ttft) / n by version; its inter-token latency is ours of TPOT, without
the first token, and is taken as such. Of rates only means count: their percentiles are of moments, not of requests.
Groups without a request hold zeros, which are missing. Layouts: 0.2 and 0.3 have no metadata, 0.4 to 0.6 version 1
of it, later ones version 2. Prompts and answers in ``requests`` are not taken.
"""

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, take_definitions, take_instants, take_model
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_EXPECTED = client_quantities("cut_off", "started_at")
_PERCENTILES = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99_9": "p999"}
_LATENCIES = (
    ("e2e_ms", "request_latency", "s"),
    ("ttft_ms", "time_to_first_token_ms", "ms"),
    ("tpot_ms", "inter_token_latency_ms", "ms"),
)
_RATES = {
    "completed_per_s": "requests_per_second",
    "output_tokens_per_s": "output_tokens_per_second",
    "in_flight_mean": "request_concurrency",
}
_REQUESTS_MADE: tuple[Path, ...] = (
    ("run_stats", "requests_made"),
    ("scheduler_metrics", "requests_made"),
    ("request_totals",),
    ("metrics", "request_totals"),
)
_LENGTH = re.compile(r"\s*(prompt_tokens|output_tokens|prompt_tokens_stdev|output_tokens_stdev)\s*=\s*([0-9]{1,9})\s*")


def _recognise(source: Source) -> Recognised | None:
    first = source.report("benchmarks")
    listed = first.get("benchmarks") if isinstance(first, dict) else None
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
        return None
    metrics = listed[0].get("metrics")
    if not isinstance(metrics, dict) or "request_latency" not in metrics:
        return None
    metadata = first.get("metadata")
    if not isinstance(metadata, dict):
        return Recognised(version="0.2 or 0.3")
    version = metadata.get("guidellm_version")
    return Recognised(version=version if isinstance(version, str) else f"metadata version {metadata.get('version')}")


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    for tree, line in _reports(source):
        benchmarks = tree.get("benchmarks") if isinstance(tree, dict) else None
        for index, benchmark in enumerate(benchmarks if isinstance(benchmarks, list) else []):
            sheet = Sheet(f"run-{index + 1}", benchmark, base=("benchmarks", index), line=line)
            if isinstance(benchmark, dict) and isinstance(benchmark.get("metrics"), dict):
                _take(sheet, tree)
                check_client(sheet)
                check_name(sheet, source.name)
            else:
                sheet.remark("import/format", "this value is no benchmark of GuideLLM", effect="refused")
            yield sheet.finish(_EXPECTED)


def _reports(source: Source) -> Iterator[tuple[Any, int]]:
    """Yield every report with its line: JSON values, or the one of a YAML file."""
    if source.first is None:
        yield source.yaml, 1
    else:
        yield from ((document.tree, document.line) for document in source.documents())


def _take(sheet: Sheet, report: dict[str, Any]) -> None:
    made = next((path for path in _REQUESTS_MADE if isinstance(sheet.get(*path, "successful"), int)), None)
    if made:
        _take_counts(sheet, made)
    sheet.number("duration_s", "duration")
    take_instants(sheet, ("start_time",), ("end_time",))
    streaming = _take_backend(sheet, report)
    for family, metric, unit in _LATENCIES:
        base: Path = ("metrics", metric, "successful")
        if not sheet.get(*base, "count"):
            continue
        if not streaming and family != "e2e_ms":
            sheet.remark("import/not_streaming", f"{family} is missing: answers were not streamed", sheet.place(*base))
            continue
        percentiles = {name: (*base, "percentiles", key) for name, key in _PERCENTILES.items()}
        simple: dict[str, Path] = {"n": (*base, "count"), "mean": (*base, "mean"), "std": (*base, "std_dev")}
        sheet.statistics(family, unit, {**simple, **percentiles, "min": (*base, "min"), "max": (*base, "max")})
    take_definitions(sheet, tpot=PER_REQUEST_DECODE)
    _note_weights(sheet)
    for name, metric in _RATES.items():
        if sheet.get("metrics", metric, "successful", "count"):
            sheet.number(name, "metrics", metric, "successful", "mean")
    _take_tokens(sheet)
    _take_strategy(sheet)
    _take_lengths(sheet, report)
    requests = sheet.get("requests")
    if isinstance(requests, dict) and any(requests.values()):
        sheet.remark("import/content_dropped", "prompts and answers of single requests are not kept")


def _take_counts(sheet: Sheet, made: Path) -> None:
    sheet.number("completed", *made, "successful")
    sheet.number("failed", *made, "errored")
    cut_off = sheet.number("cut_off", *made, "incomplete")
    if sheet.number("sent", *made, "total") is None:
        sheet.remark("import/total_unknown", "the total of requests is not in the file", sheet.place(*made, "total"))
    if cut_off:
        sentence = f"{cut_off} requests were cut off by the end of the run; they are neither completed nor failed"
        sheet.remark("import/cut_off", sentence, sheet.place(*made, "incomplete"))


def _note_weights(sheet: Sheet) -> None:
    samples, completed = sheet.value("tpot_ms.n"), sheet.value("completed")
    own = sheet.get("metrics", "time_per_output_token_ms", "successful", "mean")
    if samples is not None and isinstance(own, int | float):
        sentence = f"TPOT is the file's inter-token latency; its time per output token, {own:.6g} ms, is another figure"
        sheet.remark("import/definition", sentence, sheet.place("metrics", "time_per_output_token_ms"))
    if samples is not None and completed and samples > completed:
        sheet.drop("tpot_ms.n")
        sentence = f"TPOT has {samples} samples of {completed} requests: every request is weighted by its tokens"
        sheet.remark("import/weighted", sentence, sheet.place("metrics", "inter_token_latency_ms"))


def _take_tokens(sheet: Sheet) -> None:
    for kind, metric in (("input", "prompt_token_count"), ("output", "output_token_count")):
        base: Path = ("metrics", metric, "successful")
        if sheet.get(*base, "count"):
            total = sheet.get(*base, "total_sum")
            if isinstance(total, float) and isfinite(total):
                # The tool keeps sums of counts as doubles, a little off after many additions.
                sheet.put(f"{kind}_tokens_total", round(total), sheet.place(*base, "total_sum"))
            else:
                sheet.number(f"{kind}_tokens_total", *base, "total_sum")
            sheet.number(f"{kind}_tokens_mean", *base, "mean")


def _take_strategy(sheet: Sheet) -> None:
    base: Path = ("config", "strategy") if sheet.get("config", "strategy") else ("args", "strategy")
    kind = sheet.get(*base, "type_") or sheet.get(*base, "kind")
    if kind in ("constant", "poisson", "async"):
        if sheet.number("offered_requests_per_s", *base, "rate", standing="stated") is not None:
            sheet.put_text("arrival", "open", sheet.place(*base, "rate"))
    elif kind == "concurrent":
        key = next((key for key in ("streams", "max_concurrency") if sheet.get(*base, key) is not None), "streams")
        if sheet.number("concurrent_requests", *base, key, standing="stated") is not None:
            sheet.put_text("arrival", "closed", sheet.place(*base, key))
    elif kind == "synchronous":
        sheet.put("concurrent_requests", 1, sheet.place(*base), standing="stated")
        sheet.put_text("arrival", "closed", sheet.place(*base))
        sheet.remark("import/extreme", "one request at a time: the lower end of a sweep", sheet.place(*base))
    elif kind == "throughput":
        sheet.remark("import/all_at_once", "as many requests as possible: the upper end of a sweep", sheet.place(*base))


def _take_backend(sheet: Sheet, report: dict[str, Any]) -> bool:
    """Take model and tool; say whether answers were streamed, which they are unless the file denies it."""
    version = report.get("metadata", {}).get("guidellm_version") if isinstance(report.get("metadata"), dict) else None
    sheet.put_text("tool_name", "guidellm", sheet.place())
    if isinstance(version, str):
        outer = Sheet("", report)
        sheet.put_text("tool_version", version, outer.place("metadata", "guidellm_version"))
    if sheet.get("worker", "backend_model"):
        take_model(sheet, "model_name", "worker", "backend_model")
        return True
    backend: Path = ("config", "backend")
    if sheet.get(*backend, "model"):
        take_model(sheet, "model_name", *backend, "model")
    elif isinstance(report.get("args"), dict) and isinstance(report["args"].get("model"), str):
        sheet.put_text("model_name", last_part(report["args"]["model"]), Sheet("", report).place("args", "model"))
    if sheet.get(*backend, "api_key"):
        sheet.remark("import/content_dropped", "the key of the server is not kept: change it, the file holds it")
    return sheet.get(*backend, "stream") is not False


def _take_lengths(sheet: Sheet, report: dict[str, Any]) -> None:
    """Take the lengths asked for: text such as ``prompt_tokens=128,output_tokens=128``, JSON, or an object."""
    outer = Sheet("", report)
    places: tuple[tuple[Sheet, Path], ...] = (
        (sheet, ("request_loader", "data")),
        (outer, ("config", "spec", "data", 0)),
        (outer, ("args", "data", 0)),
        (outer, ("args", "data")),
    )
    for held, path in places:
        lengths = _lengths(held.get(*path))
        if lengths:
            for kind in ("prompt", "output"):
                if f"{kind}_tokens" in lengths:
                    name = _length_name(kind, spread=bool(lengths.get(f"{kind}_tokens_stdev")))
                    sheet.put(name, lengths[f"{kind}_tokens"], held.place(*path), standing="stated")
            return


def _length_name(kind: str, *, spread: bool) -> str:
    if not spread:
        return f"{kind}_tokens"
    return "prompt_tokens_mean" if kind == "prompt" else "output_tokens_asked_mean"


def _lengths(data: Any) -> dict[str, Any]:
    if isinstance(data, str) and data.lstrip().startswith("{"):
        try:
            data = json.loads(data[:4096])
        except (ValueError, RecursionError):
            return {}
    if isinstance(data, str):
        pairs = map(_LENGTH.fullmatch, data[:4096].split(","))
        return {pair[1]: int(pair[2]) for pair in pairs if pair}
    return data if isinstance(data, dict) and isinstance(data.get("prompt_tokens"), int) else {}


IMPORTER = Importer(id="guidellm", title="GuideLLM", recognise=_recognise, read=_read)
