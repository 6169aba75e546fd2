"""InferenceX (InferenceMAX): rows of its aggregate as JSON, its CSV, and results of its experiments.

Latencies are in seconds everywhere, also in the CSV, whose header says ms: rate and load tell which it is. GPUs are
tp x pp x pcp; ep and dcp do not multiply; prefill and decode numbers add only where serving is disaggregated.
Throughput is per device: of input and output where it says so, of decode devices alone where disaggregated. No row
counts requests or failures, and there is no p95. Files of its load client are those of ``vllm_bench``.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, take_definitions, take_flat_latencies, take_load, take_model
from planner.importers.inferencex_rows import Row, csv_rows, is_csv, json_row, take_row
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["EXPERIMENT", "ROWS"]

_ROW_KEYS = {"hw", "conc", "framework", "precision", "isl", "osl", "tput_per_gpu", "infmax_model_prefix", "disagg"}
_LEAST = 6
_EXPERIMENT_KEYS = {"model_id", "num_prompts", "completed", "total_output_tokens", "duration", "request_throughput"}
_SECONDS = {"median_ttft", "median_tpot", "median_e2el", "p99_ttft", "p99_tpot"}
_ROW_EXPECTED = client_quantities("tp", "pp", "ep", "devices", "device_type", "engine_name", "precision_weights")


def _rows(source: Source) -> Recognised | None:
    if _is_row(example(source)):
        return Recognised(version="aggregate")
    return Recognised(version="CSV") if is_csv(source) else None


def _is_row(tree: Any) -> bool:
    return isinstance(tree, dict) and len(_ROW_KEYS & tree.keys()) >= _LEAST


def _read_rows(source: Source, recognised: Recognised) -> Iterator[Run]:
    rows = csv_rows(source) if recognised.version == "CSV" else _json_rows(source)
    for sheet, row in rows:
        if row is not None:
            take_row(sheet, row)
            check_client(sheet)
            check_name(sheet, source.name)
        yield sheet.finish(_ROW_EXPECTED)


def _json_rows(source: Source) -> Iterator[tuple[Sheet, Row | None]]:
    for sheet, is_row in json_runs(source, _is_row, "row of InferenceX"):
        yield sheet, json_row(sheet) if is_row else None


def _experiment(source: Source) -> Recognised | None:
    return Recognised(version="experiment") if _is_experiment(example(source)) else None


def _is_experiment(tree: Any) -> bool:
    return isinstance(tree, dict) and len(_EXPERIMENT_KEYS - tree.keys()) <= 1 and len(_SECONDS & tree.keys()) >= 2


def _read_experiment(source: Source, recognised: Recognised) -> Iterator[Run]:
    for sheet, is_run in json_runs(source, _is_experiment, "result of an experiment"):
        if is_run:
            _take_experiment(sheet)
            check_client(sheet)
            check_name(sheet, source.name)
        yield sheet.finish(client_quantities())


def _take_experiment(sheet: Sheet) -> None:
    for name, key in (
        ("sent", "num_prompts"),
        ("completed", "completed"),
        ("good", "good_completed"),
        ("duration_s", "duration"),
        ("input_tokens_total", "total_input_tokens"),
        ("output_tokens_total", "total_output_tokens"),
        ("completed_per_s", "request_throughput"),
        ("input_tokens_per_s", "input_throughput"),
        ("output_tokens_per_s", "output_throughput"),
    ):
        sheet.number(name, key)
    sheet.text("local_time", "date")
    take_model(sheet, "model_name", "model_id")
    take_model(sheet, "tokenizer_name", "tokenizer_id")
    take_load(sheet, ("request_rate",), ("max_concurrency",))
    take_flat_latencies(sheet, sheet.tree)
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
    sheet.put_text("tool_name", "inferencex", sheet.place())
    sheet.remark("import/failed_unknown", "the file does not count failed requests")


ROWS = Importer(id="inferencex", title="InferenceX rows", recognise=_rows, read=_read_rows)
EXPERIMENT = Importer(
    id="inferencex-experiment", title="InferenceX experiment", recognise=_experiment, read=_read_experiment
)
