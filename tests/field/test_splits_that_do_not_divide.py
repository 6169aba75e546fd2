"""Degrees that the model, the number format or the ranks do not allow (F-01, F-13, F-16)."""

from planner.records.plan import Plan
from tests.field.slot import (
    AT,
    ELIGIBLE,
    Tree,
    a_contract,
    a_limit,
    a_trial,
    decided,
    outcome,
    rejected,
    states,
    winner,
)


def itl(p99: float) -> Tree:
    return {"itl_ms": {"definition": "per_token", "n": 5000, "p99": p99}}


def six_devices() -> Plan:
    """F-01: six devices, 64 query heads, and an ITL that the impossible split meets best."""
    contract = a_contract(
        a_limit("itl", load_point=AT, statistic="p99", max_ms=60),
        devices=6,
        model={"layers": 80, "attention_heads": 64, "kv_heads": 8},
    )
    trials = {
        "a": a_trial(itl(41), layout="vllm", tp=6),
        "b": a_trial(itl(52), layout="vllm", instances=[{"tp": 2}] * 3),
        "c": a_trial(itl(180), layout="vllm", pp=6),
    }
    return decided(contract, trials)


def test_no_measured_number_rescues_heads_that_do_not_divide() -> None:
    plan = six_devices()
    assert states(plan) == {"a": rejected("model_divisibility"), "b": ELIGIBLE, "c": rejected("itl")}
    assert (plan.decision, winner(plan)) == ("SELECT_TOPOLOGY", "b")
    assert "64" in outcome(plan, "a", "model_divisibility").sentence
    assert outcome(plan, "a", "itl").outcome == "PASS"


def test_a_pipeline_that_divides_is_rejected_for_its_latency_alone() -> None:
    found = outcome(six_devices(), "c", "itl")
    assert (found.measured, found.limit, found.margin) == (180, 60, -120)


EXPERTS = {"enable_expert_parallel": True}


def four_devices() -> Plan:
    """F-13: experts spread over the ranks that the other degrees already gave."""
    contract = a_contract(
        a_limit("tensor_locality", rule="inside_node"),
        model={
            "architecture": "moe",
            "experts": 64,
            "experts_per_token": 8,
            "shared_experts": 0,
            "expert_intermediate_size": 1536,
        },
    )
    trials = {
        "a": a_trial(layout="vllm", tp=4, ep=4, engine_degrees=EXPERTS),
        "b": a_trial(layout="vllm", tp=4, ep=4, engine_degrees=EXPERTS, devices=["g0", "g1", "g1", "g3"]),
        "c": a_trial(layout="vllm", tp=4, ep=8, engine_degrees=EXPERTS),
    }
    return decided(contract, trials)


def test_expert_parallel_ranks_do_not_multiply_the_world() -> None:
    plan = four_devices()
    assert states(plan)["a"] == ELIGIBLE
    assert plan.candidates["a"].ranks == 4
    assert winner(plan) == "a"


def test_a_device_used_twice_is_named() -> None:
    plan = four_devices()
    assert plan.candidates["b"].failing == ("placement",)
    assert "g1" in outcome(plan, "b", "placement").sentence


def test_more_expert_ranks_than_ranks_is_no_split() -> None:
    plan = four_devices()
    assert plan.candidates["c"].state == "REJECTED"
    assert "rank_count" in plan.candidates["c"].failing
    assert "8" in outcome(plan, "c", "rank_count").sentence


def fp8() -> Plan:
    """F-16: experts 1,536 wide in blocks of 128, over eight and over four ranks, and once in another format."""
    contract = a_contract(
        a_limit("tensor_locality", rule="inside_node"),
        devices=8,
        model={
            "architecture": "moe",
            "experts": 64,
            "experts_per_token": 8,
            "shared_experts": 0,
            "expert_intermediate_size": 1536,
        },
        precision={"weights": "fp8", "quantisation_block": 128},
    )
    trials = {
        "a": a_trial(layout="vllm", tp=8),
        "b": a_trial(layout="vllm", tp=4),
        "c": a_trial(layout="vllm", tp=8, identity="bf16"),
    }
    return decided(contract, trials, {"bf16": [("/precision/weights", "bf16")]})


def test_blocks_of_the_number_format_must_stay_whole() -> None:
    plan = fp8()
    assert states(plan)["a"] == rejected("model_divisibility")
    assert "192" in outcome(plan, "a", "model_divisibility").sentence
    assert states(plan)["b"] == ELIGIBLE
    assert winner(plan) == "b"


def test_another_number_format_is_another_service() -> None:
    plan = fp8()
    assert plan.candidates["c"].state == "REJECTED"
    assert "equal_service" in plan.candidates["c"].failing
    found = outcome(plan, "c", "equal_service")
    assert found.sentence == '/precision/weights is "bf16"; the contract says "fp8".'
