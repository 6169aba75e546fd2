"""The rules of qualifying again, as data: kinds of change, what each makes stale, and what a metric says something of.

Rules kept: every key of the identity is of one kind; a kind makes aspects of what was measured stale; no table names
gates for a key of the identity, because a limit says by its ``asks`` which metrics it reads.
"""

from collections.abc import Mapping
from typing import Literal

from planner.pointers import joined, steps

__all__ = ["ASPECTS", "JUDGED", "KINDS", "SHAPED", "STALE", "Aspect", "aspects_of", "kind_of"]

Aspect = Literal["memory", "pace", "traffic", "routing", "answers", "faults", "soundness", "paths"]
"""What a measurement says something of: memory held, times and rates, bytes moved, experts chosen, quality of answers,
behaviour under faults, incidents, paths between ranks."""
ASPECTS: frozenset[Aspect] = frozenset(
    ("memory", "pace", "traffic", "routing", "answers", "faults", "soundness", "paths")
)
LOADED: frozenset[Aspect] = ASPECTS - {"answers", "paths"}
"""What is measured under load, with the requests of the workload."""
MACHINE: frozenset[Aspect] = ASPECTS - {"routing"}
"""What the machine has a part in: all but which experts are chosen, which is the model's and the requests' doing."""

STALE: Mapping[str, frozenset[Aspect]] = {
    "model": ASPECTS,
    "precision": ASPECTS,
    "engine": ASPECTS,
    "flags": ASPECTS,
    "kernel": ASPECTS,
    "runtime": MACHINE,
    "collective_library": MACHINE,
    "driver": MACHINE,
    "hardware": MACHINE,
    "link": MACHINE,
    "placement": MACHINE,
    "context": LOADED | {"answers"},
    "batching": LOADED | {"answers"},
    "scheduler": LOADED | {"answers"},
    "decoding": LOADED | {"answers"},
    "cache": LOADED | {"answers"},
    "workload": LOADED,
    "router": LOADED,
    "telemetry": ASPECTS,
    "age": ASPECTS,
}
"""Kind of change -> what it makes stale; in doubt it is stale (``docs/reference/requalification.md`` has the reasons).

A collector that is known by name makes stale what it brings.
"""

KINDS: Mapping[str, str] = {
    "/identity/model": "model",
    "/identity/precision": "precision",
    "/identity/workload": "workload",
    "/identity/workload/context_tokens": "context",
    "/identity/workload/batch": "batching",
    "/identity/workload/speculation": "decoding",
    "/identity/workload/sampling": "decoding",
    "/identity/stack": "engine",
    "/identity/stack/scheduler": "scheduler",
    "/identity/stack/kv": "cache",
    "/identity/stack/router": "router",
    "/identity/stack/flags": "flags",
    "/identity/stack/kernels_digest": "kernel",
    "/identity/stack/runtime": "runtime",
    "/identity/stack/driver": "driver",
    "/identity/stack/firmware_digest": "driver",
    "/identity/stack/collective_library": "collective_library",
    "/identity/hardware": "hardware",
    "/identity/hardware/nics": "link",
    "/identity/hardware/links": "link",
    "/identity/hardware/islands": "link",
    "/identity/telemetry": "telemetry",
    "/identity/placement": "placement",
}
"""Pointer -> kind; the longest that fits counts."""

JUDGED: Mapping[str, tuple[str, ...]] = {
    "/headroom/memory": ("memory_headroom",),
    "/headroom/bandwidth": ("link_utilization", "kv_handoff"),
    "/headroom/replica_capacity": ("failure_domain",),
    "/fleet/failure_domains": ("failure_domain", "group_span", "recovery"),
    "/fleet/spare_devices": ("cost",),
    "/fleet/charge": ("cost",),
    "/fleet/usd_per_device_hour": ("cost",),
    "/fleet/power_cap_watts": ("power",),
    "/needs/capacity": ("failure_domain",),
    "/comparison": ("equal_service", "consistency"),
    "/steady_state": ("steady_state",),
    "/recovery": ("recovery",),
    "/evidence_required": ("telemetry",),
    "/validity/max_evidence_age_s": ("freshness",),
}
"""Parts of a contract beside identity and limits -> gates that read them, as the reference of fields has it."""
SHAPED = frozenset(("model", "precision", "hardware", "link", "placement"))
"""Kinds that gates of the placement alone read."""

_MEMORY_FIELDS = frozenset(
    {
        *("per_rank.kv_capacity_tokens", "replicas.kv_capacity_tokens", "replicas.kv_max_concurrent_requests"),
        *("replicas.kv_measured_at_context_tokens", "load.kv_measured_at_context_tokens"),
        *("load.longest_sequence_tokens", "replicas.longest_sequence_tokens", "handoff.decode_kv_tokens"),
    }
)
_SECTIONS: Mapping[str, Aspect] = {
    "load": "pace",
    "replicas": "pace",
    "per_rank": "pace",
    "stages": "pace",
    "window": "pace",
    "handoff": "pace",
    "collectives": "traffic",
    "links": "traffic",
    "experts": "routing",
    "quality": "answers",
    "failures": "faults",
    "incidents": "soundness",
    "transport": "paths",
}


def kind_of(pointer: str) -> str:
    """Return the kind of a key of the contract."""
    path = steps(pointer)
    for length in range(len(path), 0, -1):
        kind = KINDS.get(joined(path[:length]))
        if kind is not None:
            return kind
    return "limit" if path[:1] == ("gates",) else "contract"


def aspects_of(metric: str) -> frozenset[Aspect]:
    """Return what a metric says something of. Times of collectives are of traffic as well as of pace."""
    section, _, name = metric.partition(".")
    if metric in _MEMORY_FIELDS or (section == "per_rank" and name.endswith("_bytes") and "link" not in name):
        return frozenset(("memory",))
    moved = section == "per_rank" and ("collective" in name or "link" in name or name == "arrival_lag_ms")
    return (
        frozenset((_SECTIONS[section], "traffic"))
        if moved or metric == "handoff.route_bytes_per_s"
        else frozenset((_SECTIONS[section],))
    )
