"""What production says, by name: every metric with its unit, what a segment has to name for it, and which way is worse.

Rules kept: the unit stands in the name; a metric of a rank, group or link is never of more than one of them, because an
average over a cluster hides the rank that sets the pace; counts are increments, so that their sums add up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["METRICS", "Metric", "Of"]

Of = Literal["rank", "group", "link"]
Kind = Literal["level", "time", "count"]


@dataclass(frozen=True, slots=True)
class Metric:
    """``of`` is what a segment has to name. A level is sampled, times are of single things, counts add up."""

    of: Of
    kind: Kind
    title: str
    worse: Literal["more", "less", ""] = "more"


METRICS: Mapping[str, Metric] = {
    "device_used_bytes": Metric("rank", "level", "memory in use on the device"),
    "device_reserved_bytes": Metric("rank", "level", "memory that the engine reserved"),
    "kv_used_share": Metric("group", "level", "share of the KV cache in use"),
    "running_requests": Metric("group", "level", "requests running", ""),
    "waiting_requests": Metric("group", "level", "requests waiting"),
    "queue_ms": Metric("group", "time", "time in the queue"),
    "prefill_ms": Metric("group", "time", "time of prefill"),
    "ttft_ms": Metric("group", "time", "time to the first token"),
    "tpot_ms": Metric("group", "time", "time per output token"),
    "itl_ms": Metric("group", "time", "time between tokens"),
    "e2e_ms": Metric("group", "time", "time of the whole request"),
    "input_tokens": Metric("group", "count", "prompt tokens", ""),
    "output_tokens": Metric("group", "count", "output tokens", "less"),
    "requests_completed": Metric("group", "count", "requests completed", "less"),
    "requests_failed": Metric("group", "count", "requests failed"),
    "requests_retried": Metric("group", "count", "requests retried"),
    "requests_cancelled": Metric("group", "count", "requests cancelled"),
    "preemptions": Metric("group", "count", "requests preempted"),
    "recovery_s": Metric("group", "time", "time from a fault to service"),
    "step_ms": Metric("rank", "time", "time of a step"),
    "collective_ms": Metric("rank", "time", "time in collectives"),
    "all_to_all_ms": Metric("rank", "time", "time in all-to-all"),
    "arrival_lag_ms": Metric("rank", "time", "time by which a rank comes late to a collective"),
    "stage_idle_share": Metric("rank", "level", "share of a cycle in which the stage idles"),
    "expert_peak_to_mean": Metric("group", "level", "tokens of the hottest expert rank over their mean"),
    "power_watts": Metric("rank", "level", "power of the device"),
    "device_errors": Metric("rank", "count", "errors that the device reports"),
    "link_used_share": Metric("link", "level", "share of the link's rate in use"),
    "link_tx_bytes": Metric("link", "count", "bytes sent", ""),
    "link_rx_bytes": Metric("link", "count", "bytes received", ""),
}
