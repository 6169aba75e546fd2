"""Contracts for tests of the benchmark matrix: a model on nodes of devices, with the limits that a test is about."""

from typing import Any

from planner.contract_view import ContractView
from planner.intake import ContractDocument, read_contract
from planner.matrix import benchmark_matrix
from planner.records.matrix import Matrix
from tests.planner.documents import Change, changed, raw

GIB = 2**30
BECAUSE = "A reason."
FLOOR = {"load_point": "saturated", "min_output_tokens_per_s": 1000, "because": BECAUSE}

DENSE_8B: dict[str, Any] = {
    "name": "example/dense-8b",
    "revision": "r1",
    "architecture": "dense",
    "layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "attention": "gqa",
    "attention_heads": 32,
    "kv_heads": 8,
    "head_dim": 128,
    "vocab_size": 128256,
    "tied_embeddings": False,
}
"""The shape of an 8-billion model: 14.96 GiB of weights in BF16."""

DENSE_70B: dict[str, Any] = {
    **DENSE_8B,
    "name": "example/dense-70b",
    "layers": 80,
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "attention_heads": 64,
}
"""The shape of a 70-billion model: 131.4 GiB of weights in BF16."""

LATENT_MOE: dict[str, Any] = {
    "name": "example/latent-moe-671b",
    "revision": "r1",
    "architecture": "moe",
    "layers": 61,
    "dense_layers": 3,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "attention": "mla",
    "attention_widths": {
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "rope_head_dim": 64,
        "nope_head_dim": 128,
        "value_head_dim": 128,
    },
    "attention_heads": 128,
    "kv_heads": 128,
    "vocab_size": 129280,
    "tied_embeddings": False,
    "experts": 256,
    "experts_per_token": 8,
    "shared_experts": 1,
    "expert_intermediate_size": 2048,
    "parameters": 671_026_419_200,
}
"""The published shape of DeepSeek-V3, whose experts are most of it."""


def hardware(nodes: int, devices: int, *, memory_gib: int = 80, kind: str = "accel") -> dict[str, Any]:
    """Return equal nodes ``n0``, ``n1``, ... of devices ``n0-g0``, ..., each node an island with a NIC a device."""
    names = [f"n{node}" for node in range(nodes)]
    seats = [(node, f"{node}-g{at}", at) for node in names for at in range(devices)]
    return {
        "nodes": {node: {} for node in names},
        "devices": {name: {"node": node, "type": kind, "memory_bytes": memory_gib * GIB} for node, name, _ in seats},
        "nics": {f"{node}-nic{at}": {"node": node, "use": "fabric"} for node, _, at in seats},
        "islands": {
            f"island-{node}": {
                "devices": [f"{node}-g{at}" for at in range(devices)],
                "bytes_per_s_one_way": 450_000_000_000,
            }
            for node in names
        },
        "links": {
            f"{node}-up{at}": {"class": "inter_node", "nic": f"{node}-nic{at}", "bytes_per_s_one_way": 50_000_000_000}
            for node, _, at in seats
        },
    }


def a_tree(
    *changes: Change,
    model: dict[str, Any] | None = None,
    engine: str = "vllm",
    nodes: int = 1,
    devices: int = 8,
    memory_gib: int = 80,
) -> Any:
    """Return the tree of a contract of a model on a fleet: fixed lengths, two load points, one floor."""
    tree = {
        "schema": "topogate.contract/v1",
        "slot": "demo/matrix",
        "owner": "serving",
        "identity": {
            "model": DENSE_8B if model is None else model,
            "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
            "workload": {
                "name": "chat",
                "prompt_tokens": {"fixed": 1024},
                "output_tokens": {"fixed": 256},
                "context_tokens": 8192,
                "prefix_cache": {"policy": "off"},
                "speculation": "none",
                "load_points": {
                    "single": {"arrival": "closed", "concurrent_requests": 1},
                    "saturated": {"arrival": "closed", "concurrent_requests": 64},
                },
            },
            "stack": {"engine": {"name": engine, "version": "1"}},
            "hardware": hardware(nodes, devices, memory_gib=memory_gib),
        },
        "fleet": {"usd_per_device_hour": {"accel": 3}},
        "gates": {"throughput": {"floor": FLOOR}},
        "selection": {"preset": "highest_throughput"},
    }
    return changed(tree, *changes)


def a_contract(*changes: Change, **fleet: Any) -> ContractDocument:
    """Return the contract through intake."""
    return read_contract(raw(a_tree(*changes, **fleet)))


def a_view(*changes: Change, **fleet: Any) -> ContractView:
    """Return its view."""
    document = a_contract(*changes, **fleet)
    return ContractView(contract=document.record, limits=document.limits)


def a_matrix(*changes: Change, **fleet: Any) -> Matrix:
    """Return its matrix."""
    return benchmark_matrix(a_contract(*changes, **fleet))
