"""What tools bring of the fields that gates read, as a registry, and which limits a planned collection cannot answer.

Rules kept: a tool brings a field where its importer reads a quantity into it (``planner.importers``); everything else
is brought by a person, with the reason why, or by nothing that is known. Said before a measurement, so that nobody
finds out after it. What a tool writes in one version more is not promised.

Not handled: whether a tool runs on the fleet.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.matrix.runs import Reads
from planner.records.matrix import Answer, Brought

__all__ = ["BY_HAND", "CLIENT_FIELDS", "ENGINE_TOOLS", "TOOLS", "answers_of"]

CLIENT_FIELDS: Mapping[str, Mapping[str, str]] = {
    "vllm-bench-serve": {
        "load.duration_s": "duration_s",
        "load.output_tokens_total": "output_tokens_total",
        "load.input_tokens_total": "input_tokens_total",
        "load.requests": "sent",
        "load.ttft_ms": "ttft_ms",
        "load.tpot_ms": "tpot_ms",
        "load.itl_ms": "itl_ms",
        "load.e2e_ms": "e2e_ms",
    },
    "sglang-bench-serving": {
        "load.duration_s": "duration_s",
        "load.output_tokens_total": "output_tokens_total",
        "load.input_tokens_total": "input_tokens_total",
        "load.requests": "completed",
        "load.ttft_ms": "ttft_ms",
        "load.tpot_ms": "tpot_ms",
        "load.itl_ms": "itl_ms",
        "load.e2e_ms": "e2e_ms",
        "load.in_flight_mean": "in_flight_mean",
        "load.acceptance_length_mean": "acceptance_length_mean",
    },
    "guidellm": {
        "load.duration_s": "duration_s",
        "load.requests": "sent",
        "load.ttft_ms": "ttft_ms",
        "load.tpot_ms": "tpot_ms",
        "load.e2e_ms": "e2e_ms",
        "load.in_flight_mean": "in_flight_mean",
    },
    "aiperf": {
        "load.duration_s": "duration_s",
        "load.output_tokens_total": "output_tokens_total",
        "load.input_tokens_total": "input_tokens_total",
        "load.requests": "sent",
        "load.ttft_ms": "ttft_ms",
        "load.tpot_ms": "tpot_ms",
        "load.e2e_ms": "e2e_ms",
        "per_rank.device_used_peak_bytes": "device_used_peak_bytes",
    },
}
"""What the file of each client holds, with the quantity that its importer reads."""

CLIENT_LACKS: Mapping[str, Mapping[str, str]] = {
    "sglang-bench-serving": {
        "load.requests": "it does not say how many were sent or failed",
        "load.ttft_ms": "of the tails only p99",
        "load.tpot_ms": "of the tails only p99",
        "load.e2e_ms": "of the tails only p99",
        "load.itl_ms": "per chunk",
    },
    "vllm-bench-serve": {"load.itl_ms": "per chunk"},
}
"""Where a client brings a field in part."""
PARTS_OF_TAILS = ("of the tails only p99",)

TOOLS: Mapping[str, Mapping[str, str]] = {
    "vllm-log": {
        "per_rank.weights_bytes": "weights_bytes",
        "per_rank.kv_cache_bytes": "kv_cache_bytes",
        "per_rank.activations_bytes": "activations_bytes",
        "replicas.kv_capacity_tokens": "kv_capacity_tokens",
        "replicas.kv_max_concurrent_requests": "kv_max_concurrent_requests",
        "replicas.kv_measured_at_context_tokens": "kv_measured_at_context_tokens",
        "load.queued_requests_max": "queued_requests_max",
        "incidents.collective_timeouts": "collective_timeouts",
    },
    "vllm-metrics": {
        "load.preemptions": "preemptions",
        "load.cache_hit_share": "cache_hit_share",
        "load.queued_requests_max": "queued_requests_max",
        "replicas.kv_capacity_tokens": "kv_capacity_tokens",
        "replicas.kv_max_concurrent_requests": "kv_max_concurrent_requests",
    },
    "sglang-log": {
        "per_rank.weights_bytes": "weights_bytes",
        "per_rank.kv_cache_bytes": "kv_cache_bytes",
        "replicas.kv_capacity_tokens": "kv_capacity_tokens",
        "load.queued_requests_max": "queued_requests_max",
    },
    "sglang-metrics": {
        "load.queued_requests_max": "queued_requests_max",
        "replicas.kv_capacity_tokens": "kv_capacity_tokens",
    },
    "dcgm": {"per_rank.device_used_peak_bytes": "device_used_peak_bytes"},
    "gpu-stats": {"per_rank.device_used_peak_bytes": "device_used_peak_bytes"},
    "node-exporter": {"links.tx_bytes_total": "link_tx_bytes_total", "links.rx_bytes_total": "link_rx_bytes_total"},
    "nccl-tests": {"collectives.bus_bytes_per_s": "bus_bytes_per_s"},
    "collective-csv": {"collectives.bus_bytes_per_s": "bus_bytes_per_s", "collectives.time_ms": "collective_ms"},
    "collective-trace": {
        "collectives.time_ms": "collective_ms",
        "per_rank.arrival_lag_ms": "arrival_lag_ms",
    },
}
"""Beside the client: importer -> metric -> quantity."""

ENGINE_TOOLS: Mapping[str, tuple[str, ...]] = {
    "vllm": ("vllm-log", "vllm-metrics"),
    "sglang": ("sglang-log", "sglang-metrics"),
}
COMMON_TOOLS = ("dcgm", "gpu-stats", "node-exporter", "nccl-tests", "collective-csv", "collective-trace")

_TRACE = "a trace of every rank (torch profiler, Nsight Systems), reduced by hand"
_FORM = "a person's record of what was done and what happened"
BY_HAND: Mapping[str, str] = {
    "window.compile_events": "the engine's log, counted by hand",
    "window.concurrent_runs": "a person who knows what else ran",
    "load.longest_sequence_tokens": "the client's records of requests, their longest",
    "load.acceptance_length_mean": "the engine's counters of speculation",
    "load.backlog_first_third_mean": "the client's records of requests, over thirds of the window",
    "load.backlog_last_third_mean": "the client's records of requests, over thirds of the window",
    "load.good_if": "the client's count of requests within ceilings, and the ceilings",
    "load.shapes": "the client's records of requests, by prompt length",
    "load.itl_ms": "gaps between tokens, where a chunk is one token",
    "load.output_tokens_total": "totals of the client",
    "load.input_tokens_total": "totals of the client",
    "load.preemptions": "the engine's counters",
    "load.cache_hit_share": "the engine's counters of cached prompt tokens",
    "load.queued_requests_max": "the engine's counters, sampled",
    "load.queued_requests_mean": "the engine's counters, sampled",
    "load.kv_measured_at_context_tokens": "the engine's start-up log",
    "replicas.longest_sequence_tokens": "the client's records of requests, by replica",
    "replicas.output_tokens_total": "the engine's counters of each replica",
    "replicas.completed": "the engine's counters of each replica",
    "replicas.queued_requests_mean": "the engine's counters of each replica, sampled",
    "replicas.kv_used_mean_share": "the engine's counters of each replica, sampled",
    "replicas.kv_capacity_tokens": "the engine's start-up log",
    "replicas.kv_max_concurrent_requests": "the engine's start-up log",
    "replicas.kv_measured_at_context_tokens": "the engine's start-up log",
    "per_rank.kv_capacity_tokens": "the start-up log of every rank",
    "per_rank.kv_cache_bytes": "the start-up log of every rank",
    "per_rank.weights_bytes": "the start-up log of every rank",
    "per_rank.power_peak_watts": "DCGM's power usage, its highest sample",
    "per_rank.energy_joules": "DCGM's energy counter, before and after the window",
    "per_rank.peer_link_tx_bytes": "DCGM's NVLink counters, before and after the window",
    "per_rank.step_ms": _TRACE,
    "per_rank.collective_ms": _TRACE,
    "per_rank.collective_wait_ms": _TRACE,
    "per_rank.collective_move_ms": _TRACE,
    "per_rank.collective_exposed_ms": _TRACE,
    "per_rank.slowest_sample_share": _TRACE,
    "stages.busy_ms": _TRACE,
    "stages.cycle_ms": _TRACE,
    "experts.layers": "the engine's dump of the expert distribution",
    "experts.balancedness": "the engine's log of the expert balancer",
    "collectives.bus_bytes_per_s_by_rank": "pairwise runs of nccl-tests, one for every rank",
    "links.peak_tx_bytes": "counters of the NIC, sampled at the contract's interval",
    "links.peak_rx_bytes": "counters of the NIC, sampled at the contract's interval",
    "links.sample_interval_s": "the interval of those samples",
    "transport.path": "the library's own log (NCCL_DEBUG=INFO)",
    "quality.score": "your own evaluation harness, on this topology",
    "failures.kind": _FORM,
    "failures.output_tokens_per_s": _FORM,
    "failures.recovered_output_tokens_per_s": _FORM,
    "incidents.hangs": _FORM,
    "incidents.restarts": _FORM,
    "incidents.corrupted_outputs": _FORM,
    "incidents.collective_timeouts": "the engine's log",
    "incidents.device_errors": "the driver's log (XID, ECC)",
    "incidents.throttling": "the device's reasons for lower clocks, sampled",
    **dict.fromkeys(
        (
            "handoff.decode_kv_tokens",
            "handoff.decode_requests_per_s",
            "handoff.decode_running_max",
            "handoff.peak_requests_per_s",
            "handoff.prefill_requests_per_s",
            "handoff.route_bytes_per_s",
            "handoff.tokens_sent_total",
            "handoff.tpot_ms",
            "handoff.transfers",
            "handoff.ttft_ms",
        ),
        "the counters of both pools' engines and of the transfer library",
    ),
}
"""Fields that no file of a tool fills as they are, and what does."""


@dataclass(frozen=True, slots=True)
class _Source:
    """How one field is brought: by which tool, or by hand; ``lacks`` says what a tool leaves out."""

    verdict: Brought
    tool: str = ""
    text: str = ""


def answers_of(layout: str, client: str, reads: tuple[Reads, ...]) -> tuple[Answer, ...]:
    """Return for every limit, key and entry of evidence whether the planned collection answers it, worst first."""
    tools = (*ENGINE_TOOLS.get(layout, ()), *COMMON_TOOLS)
    by_origin: dict[str, list[Reads]] = {}
    for read in reads:
        by_origin.setdefault(read.origin, []).append(read)
    answers = [_answer(found, client, tools) for found in by_origin.values()]
    order: tuple[Brought, ...] = ("nothing_known", "by_hand", "partly", "brought")
    return tuple(sorted(answers, key=lambda answer: order.index(answer.verdict)))


def _answer(reads: list[Reads], client: str, tools: tuple[str, ...]) -> Answer:
    metrics = tuple(dict.fromkeys(read.metric for read in reads))
    sources = {metric: _source(metric, client, tools, _statistics(reads, metric)) for metric in metrics}
    verdicts = {source.verdict for source in sources.values()}
    brought = "brought" in verdicts or "partly" in verdicts
    worst: Brought = "brought"
    if "nothing_known" in verdicts:
        worst = "nothing_known"
    elif "by_hand" in verdicts:
        worst = "partly" if brought else "by_hand"
    elif "partly" in verdicts:
        worst = "partly"
    return Answer(
        gate=reads[0].gate,
        limit_id=reads[0].limit_id,
        verdict=worst,
        fields=metrics,
        tools=tuple(dict.fromkeys(source.tool for source in sources.values() if source.tool)),
        sentence=" ".join(_sentences(sources)) or "Every field is in a file of the planned tools.",
    )


def _statistics(reads: list[Reads], metric: str) -> tuple[str, ...]:
    return tuple(field for read in reads if read.metric == metric for field in read.fields)


def _source(metric: str, client: str, tools: tuple[str, ...], statistics: tuple[str, ...]) -> _Source:
    if metric in CLIENT_FIELDS[client]:
        lacks = CLIENT_LACKS.get(client, {}).get(metric, "")
        if lacks in PARTS_OF_TAILS and not set(statistics) & {"p90", "p95", "p99_9"}:
            lacks = ""
        return _Source(
            "partly" if lacks else "brought", client, f"{metric}: {client} brings it, {lacks}." if lacks else ""
        )
    tool = next((name for name in tools if metric in TOOLS[name]), None)
    if tool is not None:
        return _Source("brought", tool)
    by_hand = BY_HAND.get(metric)
    if by_hand is not None:
        return _Source("by_hand", "", f"{metric}: by hand, from {by_hand}.")
    return _Source("nothing_known", "", f"{metric}: no tool is known that brings it.")


def _sentences(sources: Mapping[str, _Source]) -> Iterator[str]:
    for source in sources.values():
        if source.text:
            yield source.text
