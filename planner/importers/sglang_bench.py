"""SGLang ``bench_serving``: one JSON line a run, latencies in milliseconds, with what the server said of itself.

``server_info`` holds degrees, number formats, version and KV capacity, so topology is stated by the engine. Behind a
router it lists prefill and decode servers, of every kind one, however many there are: their number is asked. The line
counts neither requests sent nor failed. Addresses, keys and paths in ``server_info`` are not taken.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import (
    PER_REQUEST_DECODE,
    answers_from_completed,
    take_definitions,
    take_flat_latencies,
    take_load,
    take_model,
)
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import found, last_part
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_ALWAYS = frozenset(
    {
        *("backend", "dataset_name", "request_rate", "max_concurrency", "duration", "completed"),
        *(
            "total_input_tokens",
            "total_output_tokens",
            "request_throughput",
            "output_throughput",
            "mean_e2e_latency_ms",
        ),
    }
)
_OWN = {"total_output_tokens_retokenized", "mean_e2e_latency_ms", "random_range_ratio", "sharegpt_output_len"}
_OLDEST = {
    "total_input": ("input_tokens_total", "tokens"),
    "total_output": ("output_tokens_total", "tokens"),
    "benchmark_duration": ("duration_s", "s"),
    "output_token_throughput": ("output_tokens_per_s", "tokens/s"),
    "mean_e2e_latency": ("e2e_ms.mean", "ms"),
    "median_e2e_latency": ("e2e_ms.p50", "ms"),
    "median_ttft": ("ttft_ms.p50", "ms"),
    "median_itl": ("itl_ms.p50", "ms"),
}
"""The keys of versions before 0.4: milliseconds that do not say so."""
_EXPECTED = client_quantities("tp", "pp", "ep", "dp", "engine_version", "precision_weights", "kv_capacity_tokens")
_ROLES = ("prefill", "decode")
_CONTENT = ("generated_texts", "errors", "input_lens", "output_lens", "ttfts", "itls")
_DEGREES = {"tp": "tp_size", "pp": "pp_size", "dp": "dp_size", "ep": "ep_size"}
RETOKENIZED_TOLERANCE = 0.01


def _recognise(source: Source) -> Recognised | None:
    first = example(source)
    if not _is_run(first):
        return None
    servers = list(_servers(first))
    versions = sorted({info["version"] for _, _, info in servers if isinstance(info.get("version"), str)})
    return Recognised(version=", ".join(versions), confidence=95)


def _is_run(tree: Any) -> bool:
    newer = isinstance(tree, dict) and len(_ALWAYS - tree.keys()) <= 1 and bool(_OWN & tree.keys())
    return newer or _is_oldest(tree)


def _is_oldest(tree: Any) -> bool:
    return isinstance(tree, dict) and len(_OLDEST.keys() - tree.keys()) <= 1


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    for sheet, is_run in json_runs(source, _is_run, "run of bench_serving"):
        if is_run:
            _take(sheet)
            check_client(sheet)
            check_name(sheet, source.name)
        yield sheet.finish(_EXPECTED)


def _take(sheet: Sheet) -> None:
    sheet.text("label", "tag")
    sheet.text("workload_name", "dataset_name")
    sheet.number("completed", "completed")
    sheet.number("duration_s", "duration")
    sheet.number("input_tokens_total", "total_input_tokens")
    sheet.number("output_tokens_total", "total_output_tokens")
    sheet.number("completed_per_s", "request_throughput")
    sheet.number("input_tokens_per_s", "input_throughput")
    sheet.number("output_tokens_per_s", "output_throughput")
    sheet.number("total_tokens_per_s", "total_throughput")
    sheet.number("in_flight_mean", "concurrency")
    sheet.number("acceptance_length_mean", "accept_length")
    sheet.put_text("tool_name", "sglang.bench_serving", sheet.place())
    take_load(sheet, ("request_rate",), ("max_concurrency",))
    if _is_oldest(sheet.tree):
        for key, (name, unit) in _OLDEST.items():
            sheet.number(name, key, unit=unit)
    else:
        take_flat_latencies(sheet, sheet.tree)
    answers_from_completed(sheet, "ttft_ms", "e2e_ms")
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
    _take_lengths(sheet)
    _take_servers(sheet)
    content = [key for key in _CONTENT if sheet.get(key)]
    if content:
        sheet.remark("import/content_dropped", f"per-request lists are not kept: {', '.join(content)}")
    sheet.remark("import/failed_unknown", "the line counts neither requests sent nor failed: failures cannot be known")


def _take_lengths(sheet: Sheet) -> None:
    if sheet.value("workload_name") in ("random", "random-ids"):
        # A ratio below 1 draws lengths from ratio x N to N, so N is the longest and no request's length is known.
        fixed = sheet.get("random_range_ratio") == 1
        for name, key in (("prompt_tokens", "random_input_len"), ("output_tokens", "random_output_len")):
            if fixed:
                sheet.number(name, key, standing="stated")
        if not fixed:
            asked = f"{sheet.get('random_input_len')} and {sheet.get('random_output_len')}"
            sentence = (
                f"lengths were drawn up to {asked} tokens with a range ratio of {sheet.get('random_range_ratio')}"
            )
            sheet.remark("import/other_workload", sentence, sheet.place("random_range_ratio"))
    again, total = sheet.get("total_output_tokens_retokenized"), sheet.value("output_tokens_total")
    if isinstance(again, int) and total and abs(again - total) > RETOKENIZED_TOLERANCE * total:
        sentence = f"the client counts {again} output tokens again, the server {total}: another tokenizer"
        sheet.remark("import/contradiction", sentence, sheet.place("total_output_tokens_retokenized"), "held")


def _servers(tree: Any) -> Iterator[tuple[str, tuple[str | int, ...], dict[str, Any]]]:
    """Yield role, path and settings of every server that a line tells of; the role is "" without a router."""
    info = tree.get("server_info") if isinstance(tree, dict) else None
    if not isinstance(info, dict):
        return
    if "tp_size" in info:
        yield "", ("server_info",), info
        return
    for role in _ROLES:
        listed = info.get(role)
        for index, server in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(server, dict):
                yield f"{role}-{index}", ("server_info", role, index), server


def _take_servers(sheet: Sheet) -> None:
    servers = list(_servers(sheet.tree))
    for of, path, info in servers:
        _take_server(sheet, of, path, info)
    if not servers:
        sheet.remark("import/no_server_info", "the line tells nothing of the server: topology has to be asked")
        return
    models = {last_part(str(info.get("model_path"))) for _, _, info in servers}
    take_model(sheet, "model_name", *servers[0][1], "model_path")
    if len(models) > 1:
        sheet.remark(
            "import/contradiction", f"servers name {len(models)} models: {', '.join(sorted(models))}", effect="held"
        )
    versions = sorted({str(info.get("version")) for _, _, info in servers})
    if len(versions) > 1:
        sheet.remark("import/mixed_versions", f"servers run different versions: {', '.join(versions)}", effect="held")
    if servers[0][0]:
        sheet.remark(
            "import/instances_unknown",
            "a router tells of one server of each role, however many there are; names and tags prove nothing",
            sheet.place("server_info"),
        )
        sheet.ask("replicas", "How many prefill and decode servers ran, on which nodes?")


def _take_server(sheet: Sheet, of: str, path: tuple[str | int, ...], info: dict[str, Any]) -> None:
    for name, key in _DEGREES.items():
        sheet.number(name, *path, key, of=of, standing="stated")
    sheet.number("nodes", *path, "nnodes", of=of, standing="stated")
    sheet.put_text("layout", "sglang", sheet.place(*path), of=of)
    if of:
        sheet.put_text("role", of.partition("-")[0], sheet.place(*path), of=of)
    if isinstance(info.get("enable_dp_attention"), bool):
        sheet.put_switch("attention_dp", info["enable_dp_attention"], sheet.place(*path, "enable_dp_attention"), of=of)
    if isinstance(info.get("disable_radix_cache"), bool):
        place = sheet.place(*path, "disable_radix_cache")
        sheet.put_switch("prefix_cache", not info["disable_radix_cache"], place, of=of)
    sheet.put_text("engine_name", "sglang", sheet.place(*path), of=of)
    sheet.text("engine_version", *path, "version", of=of)
    sheet.text("model_revision", *path, "revision", of=of)
    sheet.number("kv_capacity_tokens", *path, "max_total_num_tokens", of=of)
    sheet.number("context_tokens", *path, "context_length", of=of, standing="stated")
    weights = "quantization" if info.get("quantization") else "dtype"
    for name, key in (("precision_weights", weights), ("precision_kv_cache", "kv_cache_dtype")):
        if info.get(key) == "auto":
            sentence = f"{name} is left out: {key} is auto, which the server decided by the model"
            sheet.remark("import/auto", sentence, sheet.place(*path, key))
        else:
            sheet.text(name, *path, key, of=of)
    kept_back = [key for key in ("api_key", "admin_api_key", "hf_token") if info.get(key)]
    if kept_back:
        sentence = f"{', '.join(map(found, kept_back))} of the server is not kept: change it, the file holds it"
        sheet.remark("import/content_dropped", sentence, sheet.place(*path, kept_back[0]))


IMPORTER = Importer(id="sglang-bench-serving", title="SGLang bench_serving", recognise=_recognise, read=_read)
