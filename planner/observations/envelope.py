"""The qualified envelope: for every rank, group, link and shape what was measured, and what the contract allows.

Rules kept: qualified values are those of the counted windows of the trial in force, the worst of them; limits are the
contract's own, with their pointers; a value that was not measured is absent, never a usual one. Traces count for times
of collectives, because only they show them. Latencies of the deployment hold for every group of it: each serves the
same requests.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from planner.documents import ContractDocument
from planner.gates.memory import ceiling
from planner.needs import reserved_bandwidth
from planner.numbers import exact
from planner.observations.envelope_parts import parts_of
from planner.observations.measured import Entry, Measured, entry_of
from planner.records.base import UnsetType, stated
from planner.records.evidence import Load, Trial, Window
from planner.records.figures import Statistics

__all__ = ["Entry", "envelope"]

LATENCIES = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms", "queue_ms")
GATES = {"ttft": "ttft_ms", "tpot": "tpot_ms", "itl": "itl_ms", "e2e": "e2e_ms"}
PER_RANK = {
    "device_used_bytes": ("device_used_peak_bytes", "max"),
    "power_watts": ("power_peak_watts", "max"),
    "step_ms": ("step_ms", "mean"),
    "collective_ms": ("collective_ms", "mean"),
    "arrival_lag_ms": ("arrival_lag_ms", "mean"),
}
"""Observed metric -> evidence's metric, and the statistic of production that is held against it."""
SHARES = {
    "max_failed_share": ("requests_failed", 1),
    "max_retried_share": ("requests_retried", 1),
    "max_preemptions_per_1000_requests": ("preemptions", 1000),
}
"""Limit -> what is counted, and by how many requests the limit counts."""


def envelope(contract: ContractDocument, trial_id: str, trial: Trial) -> tuple[Entry, ...]:
    """Return the envelope of a trial under its contract."""
    measured = Measured(trial_id, trial)
    return (
        *_ranks(contract, trial, measured),
        *_latencies(contract, measured),
        *_shares(contract, measured),
        *_links(contract, measured),
        *_rates(measured),
        *parts_of(contract, trial, measured),
    )


def _load(window: Window) -> Load:
    return Load() if isinstance(window.load, UnsetType) else window.load


def _ranks(contract: ContractDocument, trial: Trial, measured: Measured) -> Iterator[Entry]:
    limits = contract.limits.get("memory_headroom", {})
    watts = {
        name: limit.max_watts_per_rank
        for name, limit in contract.limits.get("power", {}).items()
        if not isinstance(limit.max_watts_per_rank, UnsetType)
    }
    devices = contract.record.identity.hardware.devices
    for rank, place in enumerate(trial.rank_map):
        bounds: dict[str, tuple[Fraction, str]] = {}
        device = devices.get(place.device)
        memory = 0 if device is None else device.memory_bytes
        for name, limit in limits.items() if memory else ():
            most = ceiling(contract.record, memory, limit.max_used_bytes)
            if "device_used_bytes" not in bounds or most < bounds["device_used_bytes"][0]:
                bounds["device_used_bytes"] = (most, f"/gates/memory_headroom/{name}")
        for name, most in watts.items():
            bounds["power_watts"] = (exact(most), f"/gates/power/{name}/max_watts_per_rank")
        for metric, (recorded, statistic) in PER_RANK.items():
            seen = measured.worst(_of_rank(recorded, rank), f"per_rank/{recorded}/values/{rank}", traced=True)
            bound = bounds.get(metric)
            if seen is not None or bound is not None:
                yield entry_of(metric, statistic, seen, bound, rank=rank)


def _of_rank(name: str, rank: int) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        metric = None if isinstance(window.per_rank, UnsetType) else window.per_rank.get(name)
        values: Sequence[Any] = () if metric is None else metric.values
        return values[rank] if rank < len(values) else None

    return read


def _latencies(contract: ContractDocument, measured: Measured) -> Iterator[Entry]:
    held: set[tuple[str, str]] = set()
    for gate, metric in GATES.items():
        for name, limit in contract.limits.get(gate, {}).items():
            held.add((metric, limit.statistic))
            read = _statistic(metric, limit.statistic)
            place = f"load/{metric}/{limit.statistic}"
            seen = measured.worst(read, place, load_point=limit.load_point)
            bound = (exact(limit.max_ms), f"/gates/{gate}/{name}/max_ms")
            yield entry_of(metric, limit.statistic, seen, bound, load=_requests(contract, limit.load_point))
    for name, limit in contract.limits.get("tails_by_shape", {}).items():
        bound = (exact(limit.max_ms), f"/gates/tails_by_shape/{name}/max_ms")
        seen = measured.worst(
            _of_shape(limit.shape, limit.latency, limit.statistic),
            f"load/shapes/{limit.shape}/{limit.latency}/{limit.statistic}",
            load_point=limit.load_point,
        )
        load = _requests(contract, limit.load_point)
        yield entry_of(limit.latency, limit.statistic, seen, bound, shape=limit.shape, load=load)
    for metric in LATENCIES:
        for statistic in ("mean", "p95", "p99"):
            if (metric, statistic) not in held:
                seen = measured.worst(_statistic(metric, statistic), f"load/{metric}/{statistic}")
                if seen is not None:
                    yield entry_of(metric, statistic, seen, None)


def _requests(contract: ContractDocument, load_point: str) -> int | None:
    point = contract.record.identity.workload.load_points.get(load_point)
    return None if point is None else stated(point.concurrent_requests)


def _statistic(metric: str, statistic: str) -> Callable[[Window], Any]:
    return lambda window: _of(getattr(_load(window), metric), statistic)


def _of_shape(shape: str, metric: str, statistic: str) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        found = (stated(_load(window).shapes) or {}).get(shape)
        return None if found is None else _of(getattr(found, metric), statistic)

    return read


def _of(found: Statistics | UnsetType, statistic: str) -> Any:
    return None if isinstance(found, UnsetType) else stated(getattr(found, statistic))


def _shares(contract: ContractDocument, measured: Measured) -> Iterator[Entry]:
    for name, limit in contract.limits.get("errors", {}).items():
        for member, (metric, per) in SHARES.items():
            most = getattr(limit, member)
            if not isinstance(most, UnsetType):
                counted = metric.removeprefix("requests_")
                seen = measured.worst(_share(counted), f"load/requests/{counted}", load_point=limit.load_point)
                yield entry_of(metric, "share", seen, (exact(most) / per, f"/gates/errors/{name}/{member}"))


def _share(counted: str) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        load = _load(window)
        requests = stated(load.requests)
        sent = None if requests is None else stated(requests.sent)
        found = stated(load.preemptions) if counted == "preemptions" else stated(getattr(requests, counted, None))
        return Fraction(found, sent) if found is not None and sent else None

    return read


def _links(contract: ContractDocument, measured: Measured) -> Iterator[Entry]:
    links = stated(contract.record.identity.hardware.links) or {}
    kept = 1 - reserved_bandwidth(contract.record)
    for name, link in links.items():
        bound = None
        for limit_id, limit in contract.limits.get("link_utilization", {}).items():
            if limit.link_class == link.link_class:
                most = exact(limit.max_utilization) * kept
                if bound is None or most < bound[0]:
                    bound = (most, f"/gates/link_utilization/{limit_id}/max_utilization")
        seen = measured.worst(_used(name, link.bytes_per_s_one_way), f"links/{name}")
        if bound is not None or seen is not None:
            yield entry_of("link_used_share", "max", seen, bound, link=name)


def _used(name: str, rate: int) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        found = []
        for counters in ((stated(window.links) or {}).get(name) or {}).values():
            peaks = [stated(counters.peak_tx_bytes), stated(counters.peak_rx_bytes)]
            known = [peak for peak in peaks if peak is not None]
            interval = stated(counters.sample_interval_s)
            if known and interval:
                found.append(Fraction(max(known)) / (exact(interval) * rate))
        return max(found, default=None)

    return read


def _rates(measured: Measured) -> Iterator[Entry]:
    def rate(window: Window) -> Any:
        load = _load(window)
        total, duration = stated(load.output_tokens_total), stated(load.duration_s)
        return Fraction(total) / exact(duration) if total is not None and duration else None

    seen = measured.worst(rate, "load/output_tokens_total")
    if seen is not None:
        yield entry_of("output_tokens", "rate", seen, None)
    share = measured.worst(lambda window: stated(_load(window).kv_used_peak_share), "load/kv_used_peak_share")
    if share is not None:
        yield entry_of("kv_used_share", "max", share, None)
