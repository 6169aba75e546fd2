"""Records computed by the engines' own code: groups, placement, refusals, layers, experts and heads.

The records lie outside the project; every rule is also covered by the samples of the other tests here.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from planner.layouts.asks import answer
from tests.planner.layouts.samples import sets
from tests.shared import shared_path

ASKING = ("engine", "degrees", "gpus_per_node", "nnodes", "orchestrator", "kind")
PARTS = ("num_layers", "pp", "env_partition", "num_experts", "ep", "strategy", "heads", "kv_heads", "tp")
CONSTRAINTS = {
    "is not divisible by expert_tensor": "expert_grid",
    "invalid for input of size": "world_size",
    "is not divisible by": "world_size",
    "is not equal to": "world_size",
    "world_size must equal": "world_size",
    "moe_world_size": "moe_sizes",
    "launch never completes": "launch",
    "ranks in no group": "moe_ep",
    "attention heads": "attention_heads",
    "num_attention_heads": "attention_heads",
    "num_query_groups": "kv_heads",
    "num_layers": "layers",
}
"""Which constraint a refusal must name, by words of the engine's message; messages without words are not listed."""


def _records(name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(shared_path(f"cases/groups/{name}").read_text().splitlines(), start=1):
        yield number, json.loads(line)


def _ask(record: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}


def _compared(record: dict[str, Any], found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the record states and what the answer states of the same."""
    expected: dict[str, Any] = {"valid": record["valid"]}
    answered: dict[str, Any] = {"valid": found["valid"]}
    for key in ("groups", "groups_ray_device_mesh"):
        if key in record:
            expected[key], answered[key] = sets(record[key]), sets(found.get(key, {}))
    if "groups" in record:
        for key in ("world_size", "total_gpus", "placement"):
            if key in record:
                expected[key], answered[key] = record[key], found.get(key)
    return expected, answered


@pytest.mark.parametrize("engine", ["vllm", "sglang", "megatron", "trtllm"])
def test_groups_and_placement_are_those_of_the_engine(engine: str) -> None:
    keys = ASKING if engine == "vllm" else (*ASKING, "world_size")
    for number, record in _records(f"{engine}.jsonl"):
        found = json.loads(json.dumps(answer(_ask(record, keys))))
        expected, answered = _compared(record, found)
        assert answered == expected, f"{engine}.jsonl line {number}: {record['degrees']}"


@pytest.mark.parametrize("engine", ["vllm", "sglang", "megatron", "trtllm"])
def test_what_the_engine_refuses_is_refused_with_the_constraint_named(engine: str) -> None:
    for number, record in _records(f"{engine}.jsonl"):
        if record["valid"]:
            continue
        found = answer(_ask(record, (*ASKING, "world_size")))
        named = next((name for words, name in CONSTRAINTS.items() if words in record["error"]), found["constraint"])
        assert found["constraint"] == named, f"{engine}.jsonl line {number}: {found['error']}"
        assert found["error"]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        pytest.param("layer_partition.jsonl", ("ranges",), id="layers"),
        pytest.param("expert_placement.jsonl", ("counts", "experts_by_ep_rank", "divisible"), id="experts"),
    ],
)
def test_parts_are_split_as_the_engine_splits_them(name: str, keys: tuple[str, ...]) -> None:
    for number, record in _records(name):
        found = json.loads(json.dumps(answer(_ask(record, ("engine", *PARTS)))))
        assert found["valid"] == record.get("valid", True), f"{name} line {number}"
        assert {key: found.get(key) for key in keys} == {key: record.get(key) for key in keys}, f"{name} line {number}"
        assert found.get("experts_dropped", 0) == record.get("experts_dropped", 0)


def test_heads_are_split_as_the_engine_splits_them() -> None:
    keys = ("q_heads_per_rank", "kv_heads_per_rank", "kv_replication")
    for record in json.loads(shared_path("cases/groups/kv_heads.json").read_text()):
        found = answer(_ask(record, ("engine", *PARTS)))
        assert found["valid"] == record["valid"], record
        assert {key: found.get(key) for key in keys} == {key: record.get(key) for key in keys}, record
