"""AIConfigurator and AISimulate: what a model predicts of configurations, as CSV or JSON rows, or as one report.

Every one is shown with its figures as predictions, without a field of our documents, and refused as evidence: a
prediction is no measurement, whoever made it. Latencies are milliseconds, memory is GiB, ``(p)`` and ``(d)`` are the
prefill and decode side of a split deployment.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from planner.importers.client import flat_latency
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source
from planner.pointers import joined

__all__ = ["IMPORTER"]

_FIGURES = frozenset({"ttft", "tpot"})
_RATES = frozenset({"tokens/s/gpu", "tokens/s/user", "seq/s", "tokens/s"})
_DEGREES = (frozenset({"tp", "pp"}), frozenset({"(p)tp", "(d)tp"}))
_LISTS = ("rows", "results", "predictions", "data", "configs")
_NUMBERS = {
    "ttft": ("ttft_ms.mean", "ms"),
    "tpot": ("tpot_ms.mean", "ms"),
    "request_latency": ("e2e_ms.mean", "ms"),
    "concurrency": ("concurrent_requests", "requests"),
    "request_rate": ("offered_requests_per_s", "requests/s"),
    "isl": ("prompt_tokens", "tokens"),
    "osl": ("output_tokens", "tokens"),
    "seq/s": ("completed_per_s", "requests/s"),
    "tokens/s": ("output_tokens_per_s", "tokens/s"),
    "tokens/s/gpu": ("output_tokens_per_s_per_device", "tokens/s"),
    "num_total_gpus": ("devices", "devices"),
}
_SIDED = {
    "tp": ("tp", "ranks"),
    "pp": ("pp", "ranks"),
    "dp": ("dp", "ranks"),
    "moe_ep": ("ep", "ranks"),
    "cp": ("cp", "ranks"),
    "bs": ("max_batch_size", "requests"),
    "workers": ("replicas", "instances"),
    "memory": ("device_used_bytes", "GiB"),
    "power_w": ("device_power_w", "W"),
}
_TEXTS = {
    "model": "model_name",
    "backend": "engine_name",
    "version": "engine_version",
    "system": "device_type",
    "gemm": "precision_weights",
    "kvcache": "precision_kv_cache",
}
_REPORT = {
    "num_requests": ("sent", "requests"),
    "completed_requests": ("completed", "requests"),
    "goodput_completed_requests": ("good", "requests"),
    "total_input_tokens": ("input_tokens_total", "tokens"),
    "total_output_tokens": ("output_tokens_total", "tokens"),
    "duration_ms": ("duration_s", "ms"),
    "request_throughput_rps": ("completed_per_s", "requests/s"),
    "output_throughput_tok_s": ("output_tokens_per_s", "tokens/s"),
}
"""The report of a replay (``prediction.json``); ``wall_time_ms`` is how long the simulator ran, and is not taken."""
_REPORT_SIGNS = frozenset({"completed_requests", "duration_ms", "wall_time_ms", "output_throughput_tok_s"})
_SIDES = {"": "", "(p)": "prefill", "(d)": "decode"}
_REFUSED = "a model predicted this: it is shown beside measurements, and is evidence of nothing"


def _is_row(row: Any) -> bool:
    if not isinstance(row, Mapping):
        return False
    keys = row.keys()
    return keys >= _FIGURES and bool(keys & _RATES) and any(keys >= degrees for degrees in _DEGREES)


def _is_report(tree: Any) -> bool:
    return isinstance(tree, Mapping) and len(_REPORT_SIGNS - tree.keys()) <= 1


def _listed(tree: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return where the rows of a JSON value stand, and the rows: the value itself, an array, or an array in it."""
    if isinstance(tree, list):
        return (), tree
    if isinstance(tree, Mapping) and not _is_row(tree):
        for key in _LISTS:
            if isinstance(tree.get(key), list):
                return (key,), tree[key]
    return (), [tree]


def _recognise(source: Source) -> Recognised | None:
    if source.first is not None:
        rows = _listed(source.first)[1]
        known = bool(rows) and (_is_row(rows[0]) or _is_report(rows[0]))
        return Recognised(version="JSON", confidence=92) if known else None
    return Recognised(version="CSV", confidence=92) if _is_row(dict.fromkeys(source.header)) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    rows = _csv_rows(source) if recognised.version == "CSV" else _json_rows(source)
    for number, (row, places, line) in enumerate(rows, start=1):
        sheet = Sheet(f"row-{number}", {}, line=line)
        if _is_row(row):
            _take(sheet, row, places)
            sheet.remark("import/prediction", _REFUSED, effect="refused")
        elif _is_report(row):
            _take_report(sheet, row, places)
            sheet.remark("import/prediction", _REFUSED, effect="refused")
        else:
            sheet.remark("import/format", "this value is no prediction", effect="refused")
        yield sheet.finish()


def _csv_rows(source: Source) -> Iterator[tuple[Any, dict[str, Place], int]]:
    header: list[str] = []
    for line, cells in source.rows():
        if not header:
            header = [cell.strip() for cell in cells]
        elif any(cells):
            row = dict(zip(header, cells, strict=False))
            yield row, {name: Place(line=line, column=name) for name in row}, line


def _json_rows(source: Source) -> Iterator[tuple[Any, dict[str, Place], int]]:
    for document in source.documents():
        base, rows = _listed(document.tree)
        for index, row in enumerate(rows):
            path: Path = (*base, index) if base or isinstance(document.tree, list) else ()
            names = row if isinstance(row, Mapping) else ()
            places = {name: Place(pointer=joined((*path, name)), line=document.line) for name in names}
            yield row, places, document.line


def _take(sheet: Sheet, row: Mapping[str, Any], places: Mapping[str, Place]) -> None:
    for key, (name, unit) in _NUMBERS.items():
        _number(sheet, name, row.get(key), places.get(key), unit, "")
    for prefix, side in _SIDES.items():
        for key, (name, unit) in _SIDED.items():
            _number(sheet, name, row.get(prefix + key), places.get(prefix + key), unit, side)
        for key, name in _TEXTS.items():
            value = row.get(prefix + key)
            if isinstance(value, str) and value.strip():
                text = last_part(value.strip()) if name == "model_name" else value
                sheet.put_text(name, text, places[prefix + key], of=side, standing="predicted")


def _take_report(sheet: Sheet, row: Mapping[str, Any], places: Mapping[str, Place]) -> None:
    for key, (name, unit) in _REPORT.items():
        _number(sheet, name, row.get(key), places.get(key), unit, "")
    for key in row:
        latency = flat_latency(key)
        family = latency[0].partition(".")[0].removesuffix("_ms") if latency else ""
        if latency and row.get(f"num_{family}_samples") != 0:  # A latency of no sample is a zero that means nothing.
            _number(sheet, latency[0], row[key], places[key], latency[1], "")


def _number(sheet: Sheet, name: str, raw: Any, place: Place | None, unit: str, of: str) -> None:
    value = number_of(raw)
    if value is not None and place is not None:
        sheet.put(name, value, place, unit=unit, of=of, standing="predicted")


IMPORTER = Importer(
    id="prediction", title="predictions of AIConfigurator or AISimulate", recognise=_recognise, read=_read
)
