"""A contract's identity and topologies in small, as records."""

from typing import Any

import msgspec

from planner.hypotheses.expectation import Expectation, PartName, expectation
from planner.records.contract import Identity
from planner.records.evidence import Topology
from tests.planner.factories import IDENTITY, SATURATED

DENSE: dict[str, Any] = {
    "name": "dense",
    "revision": "r1",
    "architecture": "dense",
    "layers": 6,
    "hidden_size": 64,
    "intermediate_size": 256,
    "attention_heads": 8,
    "kv_heads": 2,
    "head_dim": 16,
    "vocab_size": 100,
    "tied_embeddings": False,
}
MOE: dict[str, Any] = {
    **{name: value for name, value in DENSE.items() if name != "intermediate_size"},
    "architecture": "moe",
    "experts": 6,
    "experts_per_token": 2,
    "shared_experts": 1,
    "expert_intermediate_size": 48,
    "dense_layers": 0,
}
WORKLOAD: dict[str, Any] = {
    "name": "chat",
    "prompt_tokens": {"fixed": 1000},
    "context_tokens": 4096,
    "load_points": {SATURATED: {"arrival": "closed", "concurrent_requests": 10}},
}


def identity(model: dict[str, Any], precision: dict[str, Any] | None = None, **workload: Any) -> Identity:
    """Return an identity with this model; keys of the workload that are None are left out."""
    stated = {name: value for name, value in {**WORKLOAD, **workload}.items() if value is not None}
    precision = precision or {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"}
    return msgspec.convert({**IDENTITY, "model": model, "precision": precision, "workload": stated}, Identity)


def topology(layout: str, *instances: dict[str, Any]) -> Topology:
    """Return a topology; degrees that an instance leaves out are 1."""
    whole = [{"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": 1, **instance} for instance in instances]
    return msgspec.convert({"layout": layout, "instances": whole}, Topology)


def expected_of(model: dict[str, Any], layout: str, *instances: dict[str, Any], **workload: Any) -> Expectation:
    """Return the hypotheses for a model on instances under the saturated load."""
    return expectation(identity(model, **workload), topology(layout, *instances), SATURATED)


def part_bytes(found: Expectation, part: PartName) -> list[int | None]:
    """Return the bytes of one part for every group of ranks that hold the same."""
    return [share.parts[part].bytes for share in found.shares]
