"""A fleet of 1,024 ranks as two documents: 16 racks of eight nodes of eight devices, each with a NIC and a link.

Rules kept: the same bytes every time. Trial ``t-near`` fills nodes in order, ``t-far`` deals the ranks of each tensor
group over two neighbouring nodes, and ``t-pools`` has half of the engines prefill for the other half.
"""

import json
from typing import Any

from planner.canonical import content_id
from tests.reviews.factories import Pair

RANKS = 1024
PER_NODE = 8
NODES_PER_RACK = 8
GIB = 2**30
ENGINE = {"tp": 8, "pp": 2, "ep": 128, "dp": 16, "world_size": 256}


def node(slot: int) -> str:
    """The node of a device, counted over the fleet."""
    return f"n{slot // PER_NODE:03}"


def device(slot: int) -> str:
    """The id of a device."""
    return f"{node(slot)}-d{slot % PER_NODE}"


def hardware() -> dict[str, Any]:
    """Nodes, devices, NICs, islands and links."""
    nodes: dict[str, Any] = {node(slot): {} for slot in range(0, RANKS, PER_NODE)}
    return {
        "nodes": nodes,
        "devices": {
            device(slot): {"node": node(slot), "type": "accel", "memory_bytes": 80 * GIB} for slot in range(RANKS)
        },
        "nics": {f"{device(slot)}-nic": {"node": node(slot), "use": "fabric"} for slot in range(RANKS)},
        "islands": {
            f"{name}-island": {
                "devices": [f"{name}-d{at}" for at in range(PER_NODE)],
                "bytes_per_s_one_way": 450 * 10**9,
            }
            for name in nodes
        },
        "links": {
            f"{device(slot)}-up": {
                "class": "inter_node",
                "nic": f"{device(slot)}-nic",
                "bytes_per_s_one_way": 50 * 10**9,
                "contention_domain": f"rail-{slot % PER_NODE}",
            }
            for slot in range(RANKS)
        },
    }


def contract() -> dict[str, Any]:
    """The contract's tree."""
    racks: dict[str, list[str]] = {}
    for at in range(RANKS // PER_NODE):
        racks.setdefault(f"rack-{at // NODES_PER_RACK:02}", []).append(f"n{at:03}")
    return {
        "schema": "topogate.contract/v1",
        "slot": "own/fleet",
        "owner": "serving",
        "identity": {
            "model": {
                "name": "own/moe-640b",
                "revision": "r1",
                "architecture": "moe",
                "layers": 60,
                "attention_heads": 64,
                "kv_heads": 8,
                "experts": 256,
                "experts_per_token": 8,
                "shared_experts": 1,
                "expert_intermediate_size": 2048,
            },
            "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
            "workload": {
                "name": "chat",
                "load_points": {"saturated": {"arrival": "closed", "concurrent_requests": 4096}},
            },
            "stack": {"engine": {"name": "vllm", "version": "1.0.0"}},
            "hardware": hardware(),
        },
        "fleet": {"usd_per_device_hour": {"accel": 3}, "failure_domains": {"rack": racks}},
        "needs": {"capacity": {"output_tokens_per_s": 200_000, "peak_factor": 1.1, "because": "Demand of the pilot."}},
        "gates": {
            "throughput": {
                "floor": {"load_point": "saturated", "min_output_tokens_per_s": 200_000, "because": "Demand."}
            }
        },
        "selection": {"preset": "highest_throughput"},
    }


def slots(order: str) -> list[int]:
    """The device of every rank: ``near`` in order, ``far`` dealt over pairs of neighbouring nodes."""
    if order == "near":
        return list(range(RANKS))
    return [16 * (rank // 16) + rank % 2 * 8 + rank % 16 // 2 for rank in range(RANKS)]


def trial(order: str, tokens: int, roles: tuple[str, ...] = ()) -> dict[str, Any]:
    """The tree of a trial of four engines with values for every rank."""
    placed = slots(order)
    peaks = [(60 * GIB) + (slot * 104_729 % 1_000_003) * 8_192 for slot in placed]
    times = [round(20 + (slot * 7_919 % 10_007) / 2_003, 3) for slot in placed]
    window: dict[str, Any] = {
        "purpose": "counted",
        "load_point": "saturated",
        "start": "2026-09-20T09:40:00Z",
        "end": "2026-09-20T09:45:00Z",
        "load": {"duration_s": 300, "requests": {"completed": tokens // 256}, "output_tokens_total": tokens},
        "per_rank": {
            "device_used_peak_bytes": {"scope": "device", "values": peaks},
            "weights_bytes": {"scope": "device", "values": [30 * GIB] * RANKS},
            "kv_cache_bytes": {"scope": "device", "values": [peak - 34 * GIB for peak in peaks]},
            "step_time_ms": {"scope": "rank", "values": times},
            "collective_wait_ms": {"scope": "rank", "values": [round(value / 7, 3) for value in times]},
        },
    }
    engines = [{**ENGINE, **({"role": roles[at]} if roles else {})} for at in range(RANKS // ENGINE["world_size"])]
    if roles:
        window["handoff"] = {
            "bytes_total": 9 * 10**13,
            "tokens_sent_total": 10**9,
            "peak_requests_per_s": 900,
            "route_bytes_per_s": 400 * 10**9,
        }
    return {
        "topology": {"layout": "vllm", "instances": engines},
        "rank_map": [
            {"rank": rank, "node": node(slot), "device": device(slot), "nic": f"{device(slot)}-nic"}
            for rank, slot in enumerate(placed)
        ],
        "identity_id": "lab",
        "windows": {"w1": window},
    }


def fleet_pair() -> Pair:
    """Both documents as they would be uploaded."""
    tree = contract()
    pools = ("prefill", "prefill", "decode", "decode")
    evidence = {
        "schema": "topogate.evidence/v1",
        "contract_content_id": content_id(tree),
        "scope": tree["slot"],
        "provenance": {
            "collected_by": "pilot",
            "collected_at": "2026-09-20T10:00:00Z",
            "tool": {"name": "own-bench", "version": "1"},
        },
        "identities": {"lab": tree["identity"]},
        "trials": {
            "t-near": trial("near", 90_000_000),
            "t-far": trial("far", 70_000_000),
            "t-pools": trial("near", 80_000_000, pools),
        },
    }
    return Pair(json.dumps(tree).encode(), json.dumps(evidence).encode())
