"""Prometheus texts of production as segments: vLLM, SGLang, DCGM and node exporter.

Rules kept: counters and histograms are the difference between the first and the last scrape, so one scrape gives none
of them; gauges are every scrape. What a series is of (which engine, device or port) is said by the caller
(``Places``); a series whose place was not said is told and left out, never put anywhere else. A counter that ran
backwards is left out and told.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf, isfinite

from planner.importers.prometheus import NO_VALUE, Sample, Scrape, Window, window
from planner.importers.source import Source
from planner.records.base import UNSET
from planner.records.observations import Histogram, Observed, Segment

__all__ = ["Converted", "Places", "segments_of"]

MIB = 2**20
PREFIXES = ("vllm:", "sglang:", "DCGM_FI_", "node_infiniband_")
GAUGES: Mapping[str, tuple[str, float]] = {
    "vllm:kv_cache_usage_perc": ("kv_used_share", 1),
    "vllm:gpu_cache_usage_perc": ("kv_used_share", 1),
    "vllm:num_requests_running": ("running_requests", 1),
    "vllm:num_requests_waiting": ("waiting_requests", 1),
    "sglang:token_usage": ("kv_used_share", 1),
    "sglang:num_running_reqs": ("running_requests", 1),
    "sglang:num_queue_reqs": ("waiting_requests", 1),
    "DCGM_FI_DEV_FB_USED": ("device_used_bytes", MIB),
    "DCGM_FI_DEV_FB_RESERVED": ("device_reserved_bytes", MIB),
    "DCGM_FI_DEV_POWER_USAGE": ("power_watts", 1),
}
"""Metric of the exporter -> ours, and what it is multiplied by."""
COUNTERS: Mapping[str, str] = {
    "vllm:prompt_tokens_total": "input_tokens",
    "vllm:generation_tokens_total": "output_tokens",
    "vllm:num_preemptions_total": "preemptions",
    "sglang:prompt_tokens_total": "input_tokens",
    "sglang:generation_tokens_total": "output_tokens",
    "sglang:num_requests_total": "requests_completed",
    "sglang:num_aborted_requests_total": "requests_cancelled",
    "node_infiniband_port_data_transmitted_bytes_total": "link_tx_bytes",
    "node_infiniband_port_data_received_bytes_total": "link_rx_bytes",
}
FINISHED = {
    "stop": "completed",
    "length": "completed",
    "repetition": "completed",
    "error": "failed",
    "abort": "cancelled",
}
HISTOGRAMS: Mapping[str, str] = {
    "vllm:time_to_first_token_seconds": "ttft_ms",
    "vllm:inter_token_latency_seconds": "itl_ms",
    "vllm:request_time_per_output_token_seconds": "tpot_ms",
    "vllm:e2e_request_latency_seconds": "e2e_ms",
    "vllm:request_queue_time_seconds": "queue_ms",
    "vllm:request_prefill_time_seconds": "prefill_ms",
    "sglang:time_to_first_token_seconds": "ttft_ms",
    "sglang:inter_token_latency_seconds": "itl_ms",
    "sglang:e2e_request_latency_seconds": "e2e_ms",
    "sglang:queue_time_seconds": "queue_ms",
}
MOST_NOTES = 200
RATE = "node_infiniband_rate_bytes_per_second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where series belong: engine label -> group, device (``HOST/NUMBER`` or ``NUMBER``) -> rank, port -> link.

    Ports are ``DEVICE-PORT`` as the node exporter writes both. ``seconds`` is how long the scrapes lie apart, for the
    use of links; without it there is none.
    """

    groups: Mapping[str, int] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """Segments, and what could not be put into one."""

    segments: tuple[Segment, ...]
    notes: tuple[str, ...]


Place = tuple[str, int | str]


@dataclass(slots=True)
class _Gathered:
    places: Places
    gauges: dict[tuple[Place, str], list[float]] = field(default_factory=dict)
    metrics: dict[Place, dict[str, Observed]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def place_of(self, sample: Sample) -> Place | None:
        """Return what a series is of, or tell that it was not said."""
        if sample.name.startswith("DCGM_"):
            host = sample.labels.get("Hostname") or sample.labels.get("hostname") or ""
            device = sample.labels.get("gpu", "")
            names = (f"{host}/{device}", device) if host else (device,)
            return self._found("rank", self.places.ranks, "device", *names)
        if sample.name.startswith("node_"):
            name = f"{sample.labels.get('device')}-{sample.labels.get('port')}"
            return self._found("link", self.places.links, "port", name)
        engine = sample.labels.get("engine", sample.labels.get("dp_rank", "0"))
        return self._found("group", self.places.groups, "engine", engine)

    def _found(self, kind: str, known: Mapping[str, int] | Mapping[str, str], what: str, *names: str) -> Place | None:
        """Return what stands under the first of names that is known; the last is told, which names no host."""
        for name in names:
            if name in known:
                return kind, known[name]
        name = names[-1][:80]
        self.notes[f"{what} {name}: which {kind} it is was not said (--{kind} {name}={kind.upper()})"] = None
        return None


def segments_of(source: Source, places: Places) -> Converted:
    """Return what a file of scrapes says, or two files of one exporter (``Source.before``).

    Raises:
        DocumentRefusedError: it is no text, or packed in a way that is not read.
    """
    found = _Gathered(places)
    scraped = window(source, *PREFIXES, each=partial(_keep_gauges, found))
    _take_gauges(found)
    if scraped.count > 1:
        _take_change(found, scraped)
    elif any(sample.name in COUNTERS or sample.name.endswith("_bucket") for sample in scraped.last.samples):
        found.notes["one scrape: counters and histograms need two"] = None
    if scraped.skipped:
        found.notes[f"{len(scraped.skipped)} lines could not be read"] = None
    segments = tuple(_segment(place, metrics) for place, metrics in sorted(found.metrics.items(), key=str))
    return Converted(segments=segments, notes=_told(found.notes))


def _told(notes: Collection[str]) -> tuple[str, ...]:
    """Return the first notes, and how many there are besides: an exporter may have any number of engines."""
    rest = len(notes) - MOST_NOTES
    return (*islice(notes, MOST_NOTES), *([f"and {rest:,} more"] if rest > 0 else []))


def _segment(place: Place, metrics: dict[str, Observed]) -> Segment:
    kind, value = place
    return Segment(
        rank=value if kind == "rank" and isinstance(value, int) else UNSET,
        group=value if kind == "group" and isinstance(value, int) else UNSET,
        link=value if kind == "link" and isinstance(value, str) else UNSET,
        metrics=metrics,
    )


def _keep_gauges(found: _Gathered, scrape: Scrape) -> None:
    for sample in scrape.named(*GAUGES):
        if not 0 <= sample.value < NO_VALUE or sample.labels.get("GPU_I_ID"):
            continue
        place = found.place_of(sample)
        if place is not None:
            metric, unit = GAUGES[sample.name]
            found.gauges.setdefault((place, metric), []).append(sample.value * unit)


def _take_gauges(found: _Gathered) -> None:
    for (place, metric), values in found.gauges.items():
        found.metrics.setdefault(place, {})[metric] = Observed(
            count=len(values), sum=_plain(sum(values)), min=_plain(min(values)), max=_plain(max(values))
        )


@dataclass(slots=True)
class _Change:
    """What grew between two scrapes, by place and metric: counts, the sums of histograms, and their buckets by edge."""

    counts: dict[tuple[Place, str], float] = field(default_factory=dict)
    sums: dict[tuple[Place, str], float] = field(default_factory=dict)
    buckets: dict[tuple[Place, str], dict[float, float]] = field(default_factory=dict)

    def add(self, place: Place, target: tuple[str, str], sample: Sample, change: float) -> None:
        """Add the growth of one series; engines of one group add up."""
        metric, part = target
        if part == "bucket":
            held = self.buckets.setdefault((place, metric), {})
            edge = _edge(sample.labels.get("le", ""))
            held[edge] = held.get(edge, 0) + change
        else:
            held_sums = self.sums if part == "sum" else self.counts
            held_sums[place, metric] = held_sums.get((place, metric), 0) + change


def _take_change(found: _Gathered, scraped: Window) -> None:
    before = scraped.first.counters()
    change = _Change()
    for sample in scraped.last.counters().values():
        target, earlier = _target(sample), before.get(sample.series)
        place = found.place_of(sample) if target is not None and earlier is not None else None
        if target is None or earlier is None or place is None or not isfinite(sample.value):
            continue
        grown = sample.value - earlier.value
        if grown < 0:
            found.notes[f"{sample.name} ran backwards: it started anew between the scrapes"] = None
        else:
            change.add(place, target, sample, grown)
    for (place, metric), value in change.counts.items():
        found.metrics.setdefault(place, {})[metric] = Observed(count=1, sum=_plain(value))
    for (place, metric), held in change.buckets.items():
        observed = _histogram(held, change.sums.get((place, metric)))
        if observed is not None:
            found.metrics.setdefault(place, {})[metric] = observed
    _take_use(found, scraped, change.counts)


def _target(sample: Sample) -> tuple[str, str] | None:
    """Return our metric and the part of it that a series is."""
    if sample.name in COUNTERS:
        return COUNTERS[sample.name], "count"
    if sample.name == "vllm:request_success_total":
        reason = FINISHED.get(sample.labels.get("finished_reason", ""))
        return None if reason is None else (f"requests_{reason}", "count")
    base, _, part = sample.name.rpartition("_")
    return (HISTOGRAMS[base], part) if base in HISTOGRAMS and part in ("bucket", "sum") else None


def _edge(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return inf


def _histogram(held: Mapping[float, float], total: float | None) -> Observed | None:
    """Return a histogram in ms of cumulative counts by seconds; None where nothing was counted, or it is none."""
    edges = sorted(edge for edge in held if isfinite(edge))
    whole = held.get(inf)
    if whole is None or not edges or whole < 1 or total is None:
        return None
    counts, below = [], 0.0
    for edge in edges:
        counts.append(held[edge] - below)
        below = held[edge]
    counts.append(whole - below)
    if any(count < 0 for count in counts):
        return None
    return Observed(
        count=int(whole),
        sum=_plain(total * 1000),
        histogram=Histogram(edges=tuple(_plain(edge * 1000) for edge in edges), counts=tuple(map(int, counts))),
    )


def _take_use(found: _Gathered, scraped: Window, grown: Mapping[tuple[Place, str], float]) -> None:
    """Take the use of links over the whole span, which is less than their peak."""
    if found.places.seconds is None:
        return
    for sample in scraped.last.named(RATE):
        place = found.place_of(sample)
        if place is None or sample.value <= 0:
            continue
        moved = [grown[place, name] for name in ("link_tx_bytes", "link_rx_bytes") if (place, name) in grown]
        if moved:
            share = max(moved) / (sample.value * found.places.seconds)
            found.metrics[place]["link_used_share"] = Observed(count=1, sum=_plain(share))


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) and abs(value) < 2**53 else value
