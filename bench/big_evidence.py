"""A big pair of documents for measuring: 500 trials of 64 ranks with 20 metrics per rank, about 13 MB.

Rules kept: the same bytes on every machine (arithmetic on indices, no randomness, no clock); every document is valid
and keeps the consistency identities, so the planner has to judge all of it; values have the digits that real
telemetry has. Not handled: link counters, so the contract declares no link limit.

``python -m bench.big_evidence FOLDER`` writes both documents.
"""

import json
import sys
from pathlib import Path
from typing import Any

from planner.canonical import content_id

Tree = dict[str, Any]

TRIALS = 500
RANKS = 64
NODES = 8
CONCURRENT_REQUESTS = 256
REQUESTS = 6_400
OUTPUT_TOKENS = 256
TPOT_MS = 60.5
DURATION_S = 600
DEVICE_BYTES = 85_899_345_920
CONTEXT_TOKENS = 16_384
NICS = RANKS // 2

SHAPES = tuple(
    (tp, pp, ep, RANKS // (tp * pp * ep)) for tp in (1, 2, 4, 8) for pp in (1, 2, 4) for ep in (1, 2) for _ in range(2)
)
"""(tp, pp, ep, dp) of 64 ranks; each twice in a row, so that equal degrees with another rank map are common."""

PARTS = {
    "weights_bytes": 30_000_000_000,
    "kv_cache_bytes": 24_000_000_000,
    "activations_bytes": 5_000_000_000,
    "communication_buffers_bytes": 1_500_000_000,
    "graph_and_kernel_workspaces_bytes": 1_200_000_000,
    "allocator_reserve_bytes": 2_000_000_000,
}
TIMES_MS = (
    "step_time_ms",
    "compute_ms",
    "collective_wait_ms",
    "collective_move_ms",
    "routing_ms",
    "padding_ms",
    "arrival_lag_ms",
    "stage_idle_ms",
    "kernel_time_ms",
)
FACTORS = {"energy_joules": 1_009, "peer_link_tx_bytes": 65_536, "retransmits": 1}
METRICS = ("device_used_peak_bytes", *PARTS, *TIMES_MS, *FACTORS, "longest_sequence_tokens")


def big_contract() -> bytes:
    """Return the contract as JSON bytes."""
    return _bytes(_contract())


def big_evidence(trials: int = TRIALS) -> bytes:
    """Return evidence for ``big_contract`` as JSON bytes; every trial has another body."""
    contract = _contract()
    return _bytes(
        {
            "schema": "topogate.evidence/v1",
            "contract_content_id": content_id(contract),
            "scope": contract["slot"],
            "provenance": {
                "collected_by": "generated",
                "collected_at": "2026-09-20T12:00:00Z",
                "tool": {"name": "bench.big_evidence", "version": "1"},
            },
            "identities": {"lab": contract["identity"]},
            "trials": {f"t-{index:04d}": _trial(index) for index in range(trials)},
        }
    )


def _bytes(tree: Tree) -> bytes:
    return json.dumps(tree).encode()


def _contract() -> Tree:
    return {
        "schema": "topogate.contract/v1",
        "slot": "bench/big",
        "owner": "bench",
        "illustrative": True,
        "identity": _identity(),
        "fleet": {"usd_per_device_hour": {"accel-80g": 3}},
        "needs": {"capacity": {"output_tokens_per_s": 2000, "peak_factor": 1, "because": "A figure to divide by."}},
        "gates": _gates(),
        "headroom": {"memory": {"reserved_share": 0.1, "because": "Uneven shards."}},
        "selection": {"preset": "highest_throughput"},
    }


def _identity() -> Tree:
    return {
        "model": {
            "name": "example/synthetic-moe-64b",
            "revision": "r7",
            "architecture": "moe",
            "layers": 48,
            "attention_heads": 40,
            "kv_heads": 8,
            "experts": 16,
            "experts_per_token": 2,
            "shared_experts": 0,
            "expert_intermediate_size": 5120,
        },
        "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
        "workload": {
            "name": "bench",
            "context_tokens": CONTEXT_TOKENS,
            "load_points": {"saturated": {"arrival": "closed", "concurrent_requests": CONCURRENT_REQUESTS}},
        },
        "stack": {"engine": {"name": "closed-demo-engine", "version": "1.4.2"}},
        "hardware": {
            "nodes": {_node(node): {"sockets": 2} for node in range(NODES)},
            "devices": {
                _device(slot): {"node": _node(slot // 8), "type": "accel-80g", "memory_bytes": DEVICE_BYTES}
                for slot in range(RANKS)
            },
            "nics": {f"nic-{nic}": {"node": _node(nic // 4), "use": "fabric"} for nic in range(NICS)},
            "islands": {
                f"island-{node}": {"devices": [_device(node * 8 + place) for place in range(8)]}
                for node in range(NODES)
            },
        },
    }


def _gates() -> Tree:
    at = {"load_point": "saturated", "because": "A limit to judge by."}
    return {
        "tensor_locality": {"tensor": {"rule": "inside_island", "because": "A rule to judge by."}},
        "memory_headroom": {"worst_rank": at},
        "ttft": {"p95": {**at, "statistic": "p95", "max_ms": 700}, "p50": {**at, "statistic": "p50", "max_ms": 300}},
        "throughput": {"floor": {**at, "min_output_tokens_per_s": 2500}},
        "failure_domain": {
            "node": {
                "domain": "node",
                "horizon": "immediate",
                "max_capacity_share_lost": 0.5,
                "because": "Half must survive.",
            }
        },
        "cost": {"saturated": {**at, "max_usd_per_million_output_tokens": 25}},
    }


def _trial(index: int) -> Tree:
    tp, pp, ep, dp = SHAPES[index % len(SHAPES)]
    return {
        "topology": {
            "layout": "closed",
            "instances": [{"tp": tp, "pp": pp, "ep": ep, "dp": dp, "world_size": RANKS}],
        },
        "rank_map": _rank_map(index),
        "identity_id": "lab",
        "windows": {"w-1": _window(index, dp)},
    }


def _rank_map(index: int) -> list[Tree]:
    """Ranks in order on whole nodes, or, every second trial, dealt over the nodes like cards."""
    return [
        {"rank": rank, "node": _node(slot // 8), "device": _device(slot), "nic": f"nic-{slot // 2}"}
        for rank, slot in enumerate(
            (rank * 8 + rank // 8) % RANKS if index % 2 else (rank + 8 * (index % 8)) % RANKS for rank in range(RANKS)
        )
    ]


def _window(index: int, groups: int) -> Tree:
    hour, minute = divmod(index, 6)
    day, hour = divmod(hour, 24)
    start = f"2026-09-{10 + day:02d}T{hour:02d}:{minute * 10:02d}:00Z"
    hour, minute = divmod(index + 1, 6)
    day, hour = divmod(hour, 24)
    end = f"2026-09-{10 + day:02d}T{hour:02d}:{minute * 10:02d}:00Z"
    return {
        "purpose": "counted",
        "load_point": "saturated",
        "start": start,
        "end": end,
        "load": _load(index),
        "per_rank": {name: {"scope": "rank", "values": _values(name, index)} for name in METRICS},
        "replicas": _replicas(index, groups),
    }


def _load(index: int) -> Tree:
    completed = _completed(index)
    ttft = 200 + index % 97
    return {
        "duration_s": DURATION_S,
        "requests": {"sent": completed, "completed": completed, "failed": 0, "cut_off": 0},
        "output_tokens_total": completed * OUTPUT_TOKENS,
        "output_tokens_mean": OUTPUT_TOKENS,
        "longest_sequence_tokens": CONTEXT_TOKENS,
        "ttft_ms": {
            "n": completed,
            "mean": ttft + 0.125,
            "p50": ttft,
            "p90": ttft * 2,
            "p95": ttft * 2 + 40.5,
            "p99": ttft * 4,
            "max": ttft * 6,
        },
        "tpot_ms": {"n": completed, "mean": TPOT_MS},
        "e2e_ms": {"n": completed, "mean": ttft + 0.125 + TPOT_MS * (OUTPUT_TOKENS - 1)},
    }


def _completed(index: int) -> int:
    return REQUESTS - 1_280 * (index % 3 == 0) + index


def _replicas(index: int, groups: int) -> Tree:
    """One entry per serving group; the last takes what does not divide."""
    completed, size = _completed(index), RANKS // groups
    share = completed // groups
    counts = [share] * (groups - 1) + [completed - share * (groups - 1)]
    return {
        f"r-{group:02d}": {
            "ranks": list(range(group * size, (group + 1) * size)),
            "completed": count,
            "output_tokens_total": count * OUTPUT_TOKENS,
            "longest_sequence_tokens": CONTEXT_TOKENS,
        }
        for group, count in enumerate(counts)
    }


def _values(name: str, index: int) -> list[int | float]:
    return [_value(name, index, rank) for rank in range(RANKS)]


def _value(name: str, index: int, rank: int) -> int | float:
    """A value with the size and the digits of the metric; a rank's parts add up to a little more than its peak."""
    if name == "device_used_peak_bytes":
        return sum(int(_value(part, index, rank)) for part in PARTS) - rank * 2**20
    spread = (index * 7_919 + rank * 104_729 + len(name) * 1_299_709) % 1_000_003
    if name in PARTS:
        return PARTS[name] + spread * 2**10 + (index % 50) * 40_000_000
    if name in TIMES_MS:
        return round(0.5 + spread / 31_337, 12)
    return CONTEXT_TOKENS if name == "longest_sequence_tokens" else spread * FACTORS[name]


def _node(node: int) -> str:
    return f"node-{node}"


def _device(slot: int) -> str:
    return f"n{slot // 8}-d{slot % 8}"


def write(folder: Path) -> None:
    """Write ``contract.json`` and ``evidence.json`` into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "contract.json").write_bytes(big_contract())
    (folder / "evidence.json").write_bytes(big_evidence())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
