"""The qualified envelope: for every rank, group, link and shape what was measured, and what the contract allows.

Rules kept: qualified values are those of the counted windows of the trial in force, the worst of them; limits are the
contract's own, with their pointers; a value that was not measured is absent, never a usual one. Traces count for times
of collectives, because only they show them. Latencies of the deployment hold for every group of it: each serves the
same requests.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from planner.documents import ContractDocument
from planner.gates.memory import ceiling
from planner.needs import reserved_bandwidth
from planner.numbers import exact
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
SHARES = {"max_failed_share": "requests_failed", "max_retried_share": "requests_retried"}
TRACED = ("counted", "instrumented")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One bound. ``statistic`` is max, mean, a percentile (p95), ``share`` (of requests) or ``rate`` (a second).

    ``rank``, ``link`` and ``shape`` say of what it is, None of every one; ``limit`` may not be exceeded, ``qualified``
    is the worst that was measured. Pointers are of contract and evidence.
    """

    metric: str
    statistic: str
    rank: int | None = None
    link: str | None = None
    shape: str | None = None
    limit: Fraction | None = None
    limit_at: str = ""
    qualified: Fraction | None = None
    qualified_at: str = ""


@dataclass(frozen=True, slots=True)
class _Seen:
    value: Fraction
    at: str


def envelope(contract: ContractDocument, trial_id: str, trial: Trial) -> tuple[Entry, ...]:
    """Return the envelope of a trial under its contract."""
    measured = _Measured(trial_id, trial)
    return (
        *_ranks(contract, trial, measured),
        *_latencies(contract, measured),
        *_shares(contract, measured),
        *_links(contract, measured),
        *_rates(measured),
    )


class _Measured:
    """The windows of the trial, with their pointers."""

    def __init__(self, trial_id: str, trial: Trial) -> None:
        self.windows = [(f"/trials/{trial_id}/windows/{name}", window) for name, window in trial.windows.items()]

    def worst(
        self, read: Callable[[Window], Any], place: str, *, load_point: str | None = None, traced: bool = False
    ) -> _Seen | None:
        """Return the largest value that ``read`` gives in a counted window, None where none gives one."""
        purposes = TRACED if traced else ("counted",)
        found = []
        for at, window in self.windows:
            if window.purpose in purposes and load_point in (None, window.load_point):
                value = read(window)
                if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
                    found.append(_Seen(exact(value), f"{at}/{place}"))
        return max(found, key=lambda seen: seen.value, default=None)


def _load(window: Window) -> Load:
    return Load() if isinstance(window.load, UnsetType) else window.load


def _ranks(contract: ContractDocument, trial: Trial, measured: _Measured) -> Iterator[Entry]:
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
                yield _entry(metric, statistic, seen, bound, rank=rank)


def _of_rank(name: str, rank: int) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        metric = None if isinstance(window.per_rank, UnsetType) else window.per_rank.get(name)
        values: Sequence[Any] = () if metric is None else metric.values
        return values[rank] if rank < len(values) else None

    return read


def _latencies(contract: ContractDocument, measured: _Measured) -> Iterator[Entry]:
    held: set[tuple[str, str]] = set()
    for gate, metric in GATES.items():
        for name, limit in contract.limits.get(gate, {}).items():
            held.add((metric, limit.statistic))
            read = _statistic(metric, limit.statistic)
            place = f"load/{metric}/{limit.statistic}"
            seen = measured.worst(read, place, load_point=limit.load_point)
            yield _entry(metric, limit.statistic, seen, (exact(limit.max_ms), f"/gates/{gate}/{name}/max_ms"))
    for name, limit in contract.limits.get("tails_by_shape", {}).items():
        bound = (exact(limit.max_ms), f"/gates/tails_by_shape/{name}/max_ms")
        seen = measured.worst(
            _of_shape(limit.shape, limit.latency, limit.statistic),
            f"load/shapes/{limit.shape}/{limit.latency}/{limit.statistic}",
            load_point=limit.load_point,
        )
        yield _entry(limit.latency, limit.statistic, seen, bound, shape=limit.shape)
    for metric in LATENCIES:
        for statistic in ("mean", "p95", "p99"):
            if (metric, statistic) not in held:
                seen = measured.worst(_statistic(metric, statistic), f"load/{metric}/{statistic}")
                if seen is not None:
                    yield _entry(metric, statistic, seen, None)


def _statistic(metric: str, statistic: str) -> Callable[[Window], Any]:
    return lambda window: _of(getattr(_load(window), metric), statistic)


def _of_shape(shape: str, metric: str, statistic: str) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        found = (stated(_load(window).shapes) or {}).get(shape)
        return None if found is None else _of(getattr(found, metric), statistic)

    return read


def _of(found: Statistics | UnsetType, statistic: str) -> Any:
    return None if isinstance(found, UnsetType) else stated(getattr(found, statistic))


def _shares(contract: ContractDocument, measured: _Measured) -> Iterator[Entry]:
    for name, limit in contract.limits.get("errors", {}).items():
        for member, metric in SHARES.items():
            most = getattr(limit, member)
            if not isinstance(most, UnsetType):
                counted = metric.removeprefix("requests_")
                seen = measured.worst(_share(counted), f"load/requests/{counted}", load_point=limit.load_point)
                yield _entry(metric, "share", seen, (exact(most), f"/gates/errors/{name}/{member}"))


def _share(counted: str) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        requests = stated(_load(window).requests)
        found = None if requests is None else stated(getattr(requests, counted))
        sent = None if requests is None else stated(requests.sent)
        return Fraction(found, sent) if found is not None and sent else None

    return read


def _links(contract: ContractDocument, measured: _Measured) -> Iterator[Entry]:
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
            yield _entry("link_used_share", "max", seen, bound, link=name)


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


def _rates(measured: _Measured) -> Iterator[Entry]:
    def rate(window: Window) -> Any:
        load = _load(window)
        total, duration = stated(load.output_tokens_total), stated(load.duration_s)
        return Fraction(total) / exact(duration) if total is not None and duration else None

    seen = measured.worst(rate, "load/output_tokens_total")
    if seen is not None:
        yield _entry("output_tokens", "rate", seen, None)
    share = measured.worst(lambda window: stated(_load(window).kv_used_peak_share), "load/kv_used_peak_share")
    if share is not None:
        yield _entry("kv_used_share", "max", share, None)


def _entry(metric: str, statistic: str, seen: _Seen | None, bound: tuple[Fraction, str] | None, **of: Any) -> Entry:
    return Entry(
        metric=metric,
        statistic=statistic,
        limit=None if bound is None else bound[0],
        limit_at="" if bound is None else bound[1],
        qualified=None if seen is None else seen.value,
        qualified_at="" if seen is None else seen.at,
        **of,
    )
