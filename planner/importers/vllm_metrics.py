"""``/metrics`` of a vLLM server: KV capacity, queue, counters and histograms of every engine (data parallel rank).

Counters run since the start of the server. One scrape holds its run for a person; of several scrapes, in one file or
in two, the difference between first and last is taken, which is a window. Histograms are in seconds, and their buckets
bound a percentile from above. ``kv_cache_usage_perc`` is a share of 1 in spite of its name; what waits by reason is
part of what waits. ``_created`` samples are times.
"""

import re
from collections.abc import Iterator, Mapping

from planner.importers.engine_metrics import EngineMetrics, ran_backwards, since, take_histograms
from planner.importers.log_lines import number_in
from planner.importers.model import Importer, Recognised, Run
from planner.importers.prometheus import Sample, Scrape, Series
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(r"^[ \t]*(?:# (?:HELP|TYPE) )?vllm:[a-z]", re.M)
_GAUGES = {
    "vllm:num_requests_running": "running_requests",
    "vllm:num_requests_waiting": "waiting_requests",
    "vllm:kv_cache_usage_perc": "kv_used_share",
    "vllm:gpu_cache_usage_perc": "kv_used_share",
}
_COUNTERS = {
    "vllm:num_preemptions_total": "preemptions",
    "vllm:prompt_tokens_total": "input_tokens_total",
    "vllm:generation_tokens_total": "output_tokens_total",
}
_FINISHED = {
    "stop": "completed",
    "length": "completed",
    "repetition": "completed",
    "error": "failed",
    "abort": "cancelled",
}
_HITS, _QUERIES = (
    ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
    ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
)
_HISTOGRAMS = {
    "vllm:time_to_first_token_seconds": "ttft_ms",
    "vllm:inter_token_latency_seconds": "itl_ms",
    "vllm:time_per_output_token_seconds": "itl_ms",
    "vllm:request_time_per_output_token_seconds": "tpot_ms",
    "vllm:e2e_request_latency_seconds": "e2e_ms",
    "vllm:request_queue_time_seconds": "queue_ms",
}
_EXPECTED = ("kv_capacity_tokens", "kv_used_peak_share", "preemptions", "completed", "ttft_ms.p95", "model_name", "tp")


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=85) if source.shows(("vllm:",), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    yield _METRICS.run_of(source)


def _engine(sample: Sample) -> str:
    return sample.labels.get("engine", "0")


def _take(sheet: Sheet, scrape: Scrape, before: Mapping[Series, Sample], of: str) -> bool:
    _take_config(sheet, scrape, of)
    return _take_counters(sheet, scrape, before, of)


def _take_config(sheet: Sheet, scrape: Scrape, of: str) -> None:
    for sample in scrape.named("vllm:cache_config_info"):
        labels, place = sample.labels, sample.place
        blocks, size, tokens, most = (
            number_in(labels.get(name, ""))
            for name in ("num_gpu_blocks", "block_size", "kv_cache_size_tokens", "kv_cache_max_concurrency")
        )
        by_blocks = blocks * size if blocks is not None and size is not None else None
        capacity = tokens if tokens is not None else by_blocks
        if capacity is not None:
            sheet.put("kv_capacity_tokens", capacity, place, of=of)
            if by_blocks is not None and by_blocks != capacity:
                sentence = f"blocks make {by_blocks} tokens, the engine says {capacity}: its own figure is taken"
                sheet.remark("import/definition", sentence, place)
        if most is not None:
            sheet.put("kv_max_concurrent_requests", most, place, of=of)
        _take_settings(sheet, sample, of)


def _take_settings(sheet: Sheet, sample: Sample, of: str) -> None:
    labels, place = sample.labels, sample.place
    budget = number_in(labels.get("gpu_memory_utilization", ""))
    if budget is not None:
        sheet.put("memory_budget_share", budget, place, of=of, standing="stated")
    if labels.get("cache_dtype") == "auto":
        sheet.remark("import/auto", "the number format of the KV cache was left to the engine", place)
    elif labels.get("cache_dtype"):
        sheet.put_text("precision_kv_cache", labels["cache_dtype"], place, of=of)
    if labels.get("enable_prefix_caching") in ("True", "False"):
        on = labels["enable_prefix_caching"] == "True"
        sheet.put_text("prefix_cache", "on" if on else "off", place, of=of)


def _take_counters(sheet: Sheet, scrape: Scrape, before: Mapping[Series, Sample], of: str) -> bool:
    """Take what was counted; say whether anything was served."""
    grown = since(scrape.samples, before)
    if ran_backwards(sheet, grown):
        return False
    change = Scrape(grown)
    finished: dict[str, tuple[float, Sample]] = {}
    for sample in change.named("vllm:request_success_total"):
        name = _FINISHED.get(sample.labels.get("finished_reason", ""))
        if name:
            so_far, at = finished.get(name, (0.0, sample))
            finished[name] = (so_far + sample.value, at)
    for name, (value, sample) in finished.items():
        sheet.put(name, value, sample.place, of=of)
    for sample in change.named(*_COUNTERS):
        sheet.put(_COUNTERS[sample.name], sample.value, sample.place, of=of)
    hits, queries = (next(change.named(*names), None) for names in (_HITS, _QUERIES))
    if hits and queries and queries.value > 0:
        sheet.put("cache_hit_share", hits.value / queries.value, hits.place, of=of)
    has_figures = take_histograms(sheet, change, _HISTOGRAMS, of)
    return has_figures or any(value > 0 for value, _ in finished.values())


_METRICS = EngineMetrics(
    name="vllm",
    title="vLLM",
    prefix="vllm:",
    gauges=_GAUGES,
    engine_of=_engine,
    take=_take,
    expected=_EXPECTED,
)
IMPORTER = Importer(id="vllm-metrics", title="/metrics of a vLLM server", recognise=_recognise, read=_read)
