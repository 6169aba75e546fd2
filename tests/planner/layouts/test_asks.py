"""Questions about groups, and their answers."""

import json
from typing import Any

import pytest

from planner.layouts.asks import answer
from tests.shared import ROOT

SAMPLES = ROOT / "tests" / "data" / "groups.jsonl"


def _samples() -> list[object]:
    lines = [json.loads(line) for line in SAMPLES.read_text().splitlines()]
    return [pytest.param(line["ask"], line["answer"], id=line["id"]) for line in lines]


@pytest.mark.parametrize(("ask", "expected"), _samples())
def test_a_question_gets_the_whole_answer(ask: dict[str, Any], expected: dict[str, Any]) -> None:
    assert json.loads(json.dumps(answer(ask))) == expected


@pytest.mark.parametrize(
    ("ask", "constraint", "error"),
    [
        pytest.param(
            {"engine": "vllm", "degrees": {"tp": 0}}, "degree", "tp is at least 1; found 0", id="degree of none"
        ),
        pytest.param(
            {"engine": "megatron", "degrees": {"pp": -1}}, "degree", "pp is at least 1; found -1", id="negative degree"
        ),
        pytest.param(
            {"engine": "sglang", "degrees": {"attn_dp": True}},
            "degree",
            "attn_dp is a whole number; found true",
            id="degree as a switch",
        ),
        pytest.param(
            {"engine": "trtllm", "degrees": {"tp_size": "8"}},
            "degree",
            'tp_size is a whole number; found "8"',
            id="degree as text",
        ),
        pytest.param(
            {"engine": "trtllm", "degrees": {"moe_tp_size": 0}},
            "degree",
            "moe_tp_size is at least 1; found 0",
            id="none where minus one means derived",
        ),
        pytest.param(
            {"engine": "closed", "degrees": {"tp": 1_000_000_000}},
            "degree",
            "tp is at most 65536; found 1000000000",
            id="a billion ranks",
        ),
        pytest.param(
            {"engine": "sglang", "degrees": {"dcp": 0}},
            "decode_context",
            "decode_context_parallel_size (0) must be at least 1",
            id="the engine's own words for none",
        ),
        pytest.param(
            {"engine": "vllm", "degrees": {"enable_eplb": "yes"}},
            "degree",
            'enable_eplb is true or false; found "yes"',
            id="switch as text",
        ),
        pytest.param(
            {"engine": "vllm", "degrees": {"model_kind": 3}},
            "degree",
            "model_kind is text; found 3",
            id="word as number",
        ),
        pytest.param(
            {"engine": "sglang", "degrees": {}, "orchestrator": 1},
            "degree",
            "orchestrator is text; found 1",
            id="orchestrator as number",
        ),
        pytest.param(
            {"engine": "vllm", "degrees": {"tpp": 3}}, "unknown_degree", 'vllm has no degree "tpp"', id="unknown degree"
        ),
        pytest.param(
            {"engine": "vllm", "degrees": [1]}, "degrees", "degrees is an object; found an array", id="no object"
        ),
        pytest.param(
            {"engine": "vllm"},
            "degrees",
            "degrees is missing (or num_layers, num_experts, heads)",
            id="nothing is asked",
        ),
        pytest.param(
            {"engine": "vllm", "degrees": {"tp": 2}, "nnodes": 0}, "degree", "nnodes is at least 1; found 0", id="nodes"
        ),
        pytest.param(
            {"degrees": {"tp": 2}},
            "engine",
            "engine is one of closed, vllm, sglang, megatron, trtllm; found null",
            id="no engine",
        ),
        pytest.param(
            {"engine": "vllm", "num_experts": 8, "ep": 2, "strategy": "best"},
            "strategy",
            'strategy is linear or round_robin; found "best"',
            id="strategy",
        ),
        pytest.param(
            {"engine": "vllm", "num_layers": 8, "pp": 2, "env_partition": [4, 4]},
            "layer_partition",
            "env_partition is text; found an array",
            id="partition as array",
        ),
    ],
)
def test_wrong_values_are_refused_by_name(ask: dict[str, Any], constraint: str, error: str) -> None:
    found = answer(ask)

    assert (found["valid"], found["constraint"], found["error"]) == (False, constraint, error)


@pytest.mark.parametrize(
    ("engine", "degrees", "more", "constraint"),
    [
        pytest.param("vllm", {"tp": 2, "pp": 3, "world": 8}, {"kind": "check"}, "world_size", id="vllm world"),
        pytest.param("vllm", {"heads": 30, "kv_heads": 6, "tp": 4}, {"kind": "check"}, "attention_heads", id="heads"),
        pytest.param(
            "vllm", {"heads": 24, "kv_heads": 2, "tp": 8, "dcp": 8}, {"kind": "check"}, "decode_context", id="wide dcp"
        ),
        pytest.param(
            "vllm", {"heads": 24, "kv_heads": 2, "tp": 8, "dcp": 8}, {}, "decode_context", id="wide dcp with groups"
        ),
        pytest.param("vllm", {"heads": 32, "tp": 4, "ep": True}, {"kind": "check"}, "experts", id="experts of none"),
        pytest.param(
            "vllm", {"num_experts": 6, "model": "mixture", "tp": 8}, {"kind": "check"}, "experts", id="too few experts"
        ),
        pytest.param(
            "vllm", {"num_experts": 60, "ep": 8, "enable_eplb": True}, {"kind": "check"}, "experts", id="balancer"
        ),
        pytest.param("vllm", {"tp": 4, "dp": 3, "nnodes": 2}, {"kind": "check"}, "nnodes", id="nodes"),
        pytest.param("vllm", {"tp": 4, "nnodes": 1, "gpus_on_node": 2}, {"kind": "check"}, "devices", id="devices"),
        pytest.param(
            "vllm",
            {"tp": 4, "nnodes": 2, "distributed_executor_backend": "ray"},
            {"kind": "check"},
            "orchestrator",
            id="nodes under ray",
        ),
        pytest.param(
            "vllm",
            {"num_experts": 60, "num_redundant_experts": 4, "ep": 8},
            {"kind": "check"},
            "redundant_experts",
            id="redundant experts without balancer",
        ),
        pytest.param("vllm", {"enable_eplb": True}, {"kind": "check"}, "eplb", id="balancer without experts"),
        pytest.param("vllm", {"heads": 48, "kv_heads": 6, "tp": 4}, {}, "kv_heads", id="heads that attention refuses"),
        pytest.param(
            "vllm", {"pp": 2, "supports_pp": False}, {"kind": "check"}, "pipeline", id="model without pipelines"
        ),
        pytest.param(
            "vllm",
            {"dp": 8, "enable_expert_parallel": True, "enable_eplb": True, "num_experts": 60},
            {},
            "experts",
            id="balancer over uneven experts",
        ),
        pytest.param("sglang", {"tp": 4, "attn_dp": 2, "dp_replicas": 2}, {}, "attn_dp", id="replicas and attention"),
        pytest.param("megatron", {"tp": 2, "tensor_model_parallel_size": 4}, {}, "contradiction", id="two values"),
        pytest.param("sglang", {"tp": 2, "nnodes": 2}, {"nnodes": 1}, "contradiction", id="two numbers of nodes"),
        pytest.param("sglang", {"tp": 4, "pp": 2}, {"world_size": 4}, "world_size", id="sglang world"),
        pytest.param("sglang", {"tp": 4, "moe_ep": 4, "num_experts": 6}, {}, "experts", id="sglang experts"),
        pytest.param("megatron", {"tp": 3}, {"world_size": 8}, "world_size", id="megatron world"),
        pytest.param(
            "megatron", {"num_attention_heads": 30, "tp": 4}, {"kind": "model_check"}, "attention_heads", id="m heads"
        ),
        pytest.param(
            "megatron",
            {"num_attention_heads": 24, "num_query_groups": 6, "tp": 4},
            {"kind": "model_check"},
            "kv_heads",
            id="megatron query groups",
        ),
        pytest.param("megatron", {"num_layers": 9, "pp": 2}, {"kind": "model_check"}, "layers", id="megatron layers"),
        pytest.param(
            "megatron", {"num_moe_experts": 9, "ep": 2}, {"kind": "model_check"}, "experts", id="megatron experts"
        ),
        pytest.param(
            "megatron", {"num_layers": 12, "pp": 4, "vpp": 2}, {"kind": "model_check"}, "virtual_stages", id="virtual"
        ),
        pytest.param("megatron", {"tp": 2, "dp": 2}, {"world_size": 8}, "world_size", id="megatron data ranks"),
        pytest.param("trtllm", {"tp_size": 4}, {"world_size": 8}, "world_size", id="trtllm world"),
        pytest.param("trtllm", {"tp_size": 4, "rank": 4}, {}, "rank", id="trtllm rank"),
    ],
)
def test_the_refusal_names_the_constraint(
    engine: str, degrees: dict[str, Any], more: dict[str, Any], constraint: str
) -> None:
    found = answer({"engine": engine, "degrees": degrees, **more})

    assert (found["valid"], found["constraint"]) == (False, constraint)


@pytest.mark.parametrize(
    ("engine", "degrees", "more"),
    [
        pytest.param("vllm", {"heads": 24, "kv_heads": 2, "tp": 8, "dcp": 4}, {"kind": "check"}, id="decode context"),
        pytest.param("vllm", {"heads": 24, "kv_heads": 8, "tp": 8, "dcp": 8, "mla": True}, {"kind": "check"}, id="mla"),
        pytest.param("vllm", {"tp": 8, "pp": 3, "nnodes": 2}, {"kind": "check"}, id="crowded nodes"),
        pytest.param(
            "vllm",
            {"num_experts": 60, "num_redundant_experts": 4, "ep": 8, "enable_eplb": True},
            {"kind": "check"},
            id="balancer",
        ),
        pytest.param("megatron", {"num_attention_heads": 24, "tp": 4}, {"kind": "model_check"}, id="heads"),
        pytest.param(
            "vllm",
            {"tp": 16, "nnodes": 1, "gpus_on_node": 8, "distributed_executor_backend": "mp"},
            {"kind": "check"},
            id="devices are counted only where the engine chooses the backend",
        ),
    ],
)
def test_a_check_that_passes_says_only_that(engine: str, degrees: dict[str, Any], more: dict[str, Any]) -> None:
    assert answer({"engine": engine, "degrees": degrees, **more}) == {"engine": engine, "valid": True}


def test_a_launch_that_never_completes_still_shows_groups_and_processes() -> None:
    found = answer({"engine": "sglang", "degrees": {"tp": 2, "pp": 3, "nnodes": 2}})

    assert (found["valid"], found["constraint"], len(found["placement"])) == (False, "launch", 4)
    assert len(found["groups"]["tp"]) == 3


def test_groups_that_the_engine_fails_to_make_are_shown_with_the_refusal() -> None:
    found = answer({"engine": "sglang", "degrees": {"tp": 5, "moe_ep": 2}})

    assert (found["valid"], found["constraint"]) == (False, "moe_ep")
    assert found["groups"]["moe_ep"] == ((0, 2), (1, 3))
    assert len(found["placement"]) == 5


def test_null_is_the_same_as_absent_and_minus_one_means_derived() -> None:
    assert answer({"engine": "megatron", "degrees": {"tp": 2, "etp": None}})["valid"] is True
    given = answer({"engine": "trtllm", "degrees": {"tp_size": 6, "moe_tp_size": 2, "moe_ep_size": -1}})
    assert given["sizes"]["moe_ep"] == 3
