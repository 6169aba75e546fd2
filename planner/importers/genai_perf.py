"""GenAI-Perf: ``profile_export_genai_perf.json``, its CSV, and the table of its console.

Without streaming the first token is the whole answer, and TTFT is missing. Versions 24.11 and 24.12 count streamed
tokens several times. There is no duration and no count of failed requests; the version is not in the files.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import take_load, take_model
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.perf_metrics import json_metrics, take_metrics
from planner.importers.perf_tables import console_header, console_metrics, csv_header, csv_metrics
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_EXPECTED = client_quantities()
_OWN_CONFIG = {
    *("model_selection_strategy", "synthetic_input_tokens_mean", "profile_export_file", "service_kind", "u"),
    *("perf_analyzer", "subcommand"),  # the nested layout of 2025
}


def _recognise(source: Source) -> Recognised | None:
    if _is_json(example(source)):
        return Recognised()
    header = csv_header(source)
    if header and "sum" not in header and {"avg", "p99"} <= set(header):
        head = source.head.lower()
        if "time to first token" in head or "request latency" in head:
            return Recognised()
    return Recognised(confidence=60) if console_header(source) else None


def _is_json(first: Any) -> bool:
    if not isinstance(first, dict) or not isinstance(first.get("request_latency"), dict):
        return False
    config = first.get("input_config")
    return isinstance(config, dict) and bool(_OWN_CONFIG & config.keys()) and "benchmark_duration" not in first


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    if not _is_json(example(source)):
        sheet = Sheet("run-1", {})
        take_metrics(sheet, csv_metrics(source) if csv_header(source) else console_metrics(source), streaming=None)
        yield _finished(sheet, source)
        return
    for sheet, is_export in json_runs(source, _is_json, "export of GenAI-Perf"):
        if is_export:
            _take_config(sheet)
            take_metrics(sheet, json_metrics(sheet), streaming=_streaming(sheet))
        yield _finished(sheet, source)


def _finished(sheet: Sheet, source: Source) -> Run:
    sheet.put_text("tool_name", "genai-perf", sheet.place())
    if sheet.value("failed") is None and not sheet.refused:
        sheet.remark("import/failed_unknown", "the file does not count failed requests")
    check_client(sheet)
    check_name(sheet, source.name)
    return sheet.finish(_EXPECTED)


def _streaming(sheet: Sheet) -> bool | None:
    for path in (("input_config", "streaming"), ("input_config", "endpoint", "streaming")):
        stated = sheet.get(*path)
        if isinstance(stated, bool):
            return stated
    return None


def _take_config(sheet: Sheet) -> None:
    config = Sheet("", sheet.get("input_config"), base=("input_config",))
    key = "model_names" if config.get("model_names") else "model"
    model = config.get(key)
    if isinstance(model, list) and len(model) > 1:
        sheet.remark("import/contradiction", f"{len(model)} models were asked", config.place(key), "held")
    elif isinstance(model, list):
        take_model(sheet, "model_name", "input_config", key, 0)
    else:
        take_model(sheet, "model_name", "input_config", key)
    if isinstance(config.get("tokenizer"), str):
        take_model(sheet, "tokenizer_name", "input_config", "tokenizer")
    load: Path = ("perf_analyzer", "stimulus") if config.get("perf_analyzer", "stimulus") else ()
    take_load(sheet, ("input_config", *load, "request_rate"), ("input_config", *load, "concurrency"))
    _take_lengths(sheet, config)
    count = config.get("request_count")
    if isinstance(count, int) and count > 0:
        sheet.put("sent", count, config.place("request_count"), standing="stated")
    warm_up = config.get("warmup_request_count")
    if isinstance(warm_up, int) and warm_up > 0:
        sheet.put("warmup_requests", warm_up, config.place("warmup_request_count"), standing="stated")


def _take_lengths(sheet: Sheet, config: Sheet) -> None:
    """Take the lengths asked for, of the flat layout and of the nested one."""
    for name, spread_name, flat, nested in (
        ("prompt_tokens", "prompt_tokens_mean", "synthetic_input_tokens", ("input", "synthetic_tokens")),
        ("output_tokens", "output_tokens_asked_mean", "output_tokens", ("input", "output_tokens")),
    ):
        paths: tuple[tuple[Path, Path], ...] = (
            ((f"{flat}_mean",), (f"{flat}_stddev",)),
            ((*nested, "mean"), (*nested, "stddev")),
        )
        for mean_path, spread_path in paths:
            mean = config.get(*mean_path)
            if isinstance(mean, int) and mean > 0:  # -1 is the tool's sign for not asked
                own = spread_name if config.get(*spread_path) else name
                sheet.put(own, mean, config.place(*mean_path), standing="stated")


IMPORTER = Importer(id="genai-perf", title="GenAI-Perf", recognise=_recognise, read=_read)
