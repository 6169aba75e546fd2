"""``/metrics`` of an SGLang server: KV capacity, queue, counters and histograms of every data parallel rank.

Every tensor and pipeline rank of one scheduler may report the same figures, which are not added: those of the first
rank count. ``token_usage`` is a share of 1, histograms are in seconds, counters run since the start: one scrape is
held, two make a window. Requests are counted when they end; how they ended is not, but for those that were aborted.
"""

import re
from collections.abc import Iterator, Mapping

from planner.importers.engine_metrics import EngineMetrics, ran_backwards, since, take_histograms
from planner.importers.model import Importer, Recognised, Run
from planner.importers.prometheus import Sample, Scrape, Series
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(r"^[ \t]*(?:# (?:HELP|TYPE) )?sglang:[a-z]", re.M)
_GAUGES = {
    "sglang:num_running_reqs": "running_requests",
    "sglang:num_queue_reqs": "waiting_requests",
    "sglang:token_usage": "kv_used_share",
    "sglang:spec_accept_length": "acceptance_length_mean",
}
_COUNTERS = {
    "sglang:prompt_tokens_total": "input_tokens_total",
    "sglang:generation_tokens_total": "output_tokens_total",
    "sglang:num_requests_total": "completed",
    "sglang:num_aborted_requests_total": "cancelled",
}
_HISTOGRAMS = {
    "sglang:time_to_first_token_seconds": "ttft_ms",
    "sglang:inter_token_latency_seconds": "itl_ms",
    "sglang:time_per_output_token_seconds": "tpot_ms",
    "sglang:e2e_request_latency_seconds": "e2e_ms",
    "sglang:queue_time_seconds": "queue_ms",
}
_OTHER_RANKS = ("tp_rank", "pp_rank", "moe_ep_rank")
_DEGREES = {"tp": "tp_rank", "pp": "pp_rank"}
_EXPECTED = ("kv_capacity_tokens", "kv_used_peak_share", "completed", "ttft_ms.p95", "model_name", "tp")


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=85) if source.shows(("sglang:",), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    yield _METRICS.run_of(source, also=_hint_degrees)


def _engine(sample: Sample) -> str | None:
    """Return the data parallel rank of a sample, None where another rank of the same scheduler says the same."""
    if any(sample.labels.get(name, "0") not in ("", "0") for name in _OTHER_RANKS):
        return None
    return sample.labels.get("dp_rank") or "0"


def _hint_degrees(sheet: Sheet, scrape: Scrape) -> None:
    """Take the number of ranks that report as a hint: unless all of them were asked to, only the first does."""
    for degree, label in _DEGREES.items():
        ranks = {sample.labels[label]: sample for sample in scrape.samples if sample.labels.get(label)}
        if len(ranks) > 1:
            sheet.put(degree, len(ranks), next(iter(ranks.values())).place, standing="hint")


def _take(sheet: Sheet, scrape: Scrape, before: Mapping[Series, Sample], of: str) -> bool:
    """Take capacity and what was counted, streams and others added; say whether anything was served."""
    for sample in scrape.named("sglang:max_total_num_tokens"):
        sheet.put("kv_capacity_tokens", sample.value, sample.place, of=of)
    grown = since(scrape.samples, before)
    if ran_backwards(sheet, grown):
        return False
    change = Scrape(grown)
    totals: dict[str, tuple[float, Sample]] = {}
    for sample in change.named(*_COUNTERS):
        so_far, at = totals.get(sample.name, (0.0, sample))
        totals[sample.name] = (so_far + sample.value, at)
    for name, (value, sample) in totals.items():
        sheet.put(_COUNTERS[name], value, sample.place, of=of)
    return take_histograms(sheet, change, _HISTOGRAMS, of) or any(value > 0 for value, _ in totals.values())


_METRICS = EngineMetrics(
    name="sglang",
    title="SGLang",
    prefix="sglang:",
    gauges=_GAUGES,
    engine_of=_engine,
    take=_take,
    expected=_EXPECTED,
)
IMPORTER = Importer(id="sglang-metrics", title="/metrics of an SGLang server", recognise=_recognise, read=_read)
