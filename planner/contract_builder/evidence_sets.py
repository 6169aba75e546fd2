"""Three sets of required evidence to start from: core, fabric, resilience; each holds the one before it.

Rules kept: a set says why each metric is wanted and asks for it at the load points that the contract has; what stands
in the contract already is left alone. Injections and soaks are no metrics of a window: the third set adds the limits
that make them owed, each still without a value and a reason, because no service limit has a default.

What tools can deliver, and at which scope, is written in ``docs/documents/contract.md``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from planner.contract_builder.edits import merged
from planner.intake.parts import object_at, value_at

__all__ = ["SETS", "EvidenceSet", "with_set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One entry: where it is asked for, ``saturated`` alone or at every load point, and of which models."""

    metric: str
    scope: Literal["rank", "device", "nic", "replica", "deployment"]
    because: str
    level: Literal["required", "advisory"] = "required"
    is_everywhere: bool = False
    is_of_experts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSet:
    """A set by its name. ``limits`` are gates and limits that are added without a value."""

    id: str
    title: str
    purpose: str
    wanted: Mapping[str, _Wanted]
    limits: Mapping[str, Mapping[str, Mapping[str, Any]]]


_CORE: dict[str, _Wanted] = {
    "totals": _Wanted(
        metric="load.output_tokens_total",
        scope="deployment",
        because="Rates are made of tokens and time; a rate that a tool prints has no basis to check.",
        is_everywhere=True,
    ),
    "requests": _Wanted(
        metric="load.requests",
        scope="deployment",
        because="Tails of what completed say nothing of what was refused or cut off.",
        is_everywhere=True,
    ),
    "first_token": _Wanted(
        metric="load.ttft_ms",
        scope="deployment",
        because="The load client sees what users see, server logs do not.",
        is_everywhere=True,
    ),
    "last_token": _Wanted(
        metric="load.e2e_ms",
        scope="deployment",
        because="With the rate it shows how many requests really were in flight.",
        is_everywhere=True,
    ),
    "longest_sequence": _Wanted(
        metric="load.longest_sequence_tokens",
        scope="deployment",
        because="Memory counts only if the context of the contract was reached.",
    ),
    "device_memory": _Wanted(
        metric="per_rank.device_used_peak_bytes",
        scope="device",
        because="Every device has its own peak; the worst one decides.",
    ),
    "kv_capacity": _Wanted(
        metric="replicas.kv_capacity_tokens",
        scope="replica",
        because="Engines print it once at start; it bounds the requests that fit.",
        level="advisory",
    ),
}
_FABRIC: dict[str, _Wanted] = {
    "sent_by_link": _Wanted(
        metric="links.peak_tx_bytes",
        scope="nic",
        because="One busy rail hides in the mean over all NICs.",
    ),
    "received_by_link": _Wanted(
        metric="links.peak_rx_bytes",
        scope="nic",
        because="The two directions of a link fill apart.",
    ),
    "waiting": _Wanted(
        metric="per_rank.collective_wait_ms",
        scope="rank",
        because="A trace of one short window tells waiting from moving; no exporter does.",
        level="advisory",
    ),
    "arrival": _Wanted(
        metric="per_rank.arrival_lag_ms",
        scope="rank",
        because="In a synchronous group the slow rank is the one that arrives last, not the one that waits.",
        level="advisory",
    ),
    "expert_load": _Wanted(
        metric="experts.layers",
        scope="rank",
        because="The hottest expert of the hottest layer sets the step.",
        level="advisory",
        is_of_experts=True,
    ),
}
_RESILIENCE: dict[str, _Wanted] = {
    "by_replica": _Wanted(
        metric="replicas.output_tokens_total",
        scope="replica",
        because="What is left after a loss is known only where replicas are counted apart.",
    ),
}
_INJECTED: dict[str, dict[str, dict[str, Any]]] = {
    "recovery": {
        "slow_rank": {"injection": "slow_rank"},
        "rank_loss": {"injection": "rank_loss"},
        "node_loss": {"injection": "node_loss"},
    },
    "steady_state": {"soak": {"load_point": "saturated"}},
    "errors": {"hangs": {"load_point": "saturated"}},
}

SETS: tuple[EvidenceSet, ...] = (
    EvidenceSet(
        id="core",
        title="Core",
        purpose="Client file, server log, device memory and totals: what every benchmark run can deliver.",
        wanted=_CORE,
        limits={},
    ),
    EvidenceSet(
        id="fabric",
        title="Fabric",
        purpose="Core, link counters, and a short trace of every rank; for candidates that cross nodes.",
        wanted=_CORE | _FABRIC,
        limits={},
    ),
    EvidenceSet(
        id="resilience",
        title="Resilience",
        purpose="Fabric, replicas apart, and limits for injections, a soak and hangs, whose values you give.",
        wanted=_CORE | _FABRIC | _RESILIENCE,
        limits=_INJECTED,
    ),
)


def with_set(tree: Mapping[str, Any], chosen: EvidenceSet) -> dict[str, Any]:
    """Return the tree with the entries of a set that it does not have yet."""
    points = [*object_at(tree, "identity", "workload", "load_points")]
    held, gates = object_at(tree, "evidence_required"), object_at(tree, "gates")
    metrics = [value_at(entry, "metric") for entry in held.values()]
    is_moe = value_at(tree, "identity", "model", "architecture") == "moe"
    added = {
        name: _entry(wanted, points)
        for name, wanted in chosen.wanted.items()
        if name not in held and wanted.metric not in metrics and (is_moe or not wanted.is_of_experts)
    }
    limits = {
        gate: {name: _limit(limit, points) for name, limit in entries.items()}
        for gate, entries in chosen.limits.items()
        if gate not in gates
    }
    part: dict[str, Any] = {"evidence_required": added} if added else {}
    return merged(tree, part | ({"gates": limits} if limits else {}))


def _limit(limit: Mapping[str, Any], points: list[str]) -> dict[str, Any]:
    return {name: value for name, value in limit.items() if name != "load_point" or value in points}


def _entry(wanted: _Wanted, points: list[str]) -> dict[str, Any]:
    asked = points if wanted.is_everywhere or "saturated" not in points else ["saturated"]
    entry: dict[str, Any] = {"metric": wanted.metric, "scope_at_least": wanted.scope}
    if asked:
        entry["load_points"] = asked
    return entry | {"level": wanted.level, "because": wanted.because}
