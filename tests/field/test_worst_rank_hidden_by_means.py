"""A rank, a stage, an expert or a map that the mean hides (F-02, F-04, F-08, F-12)."""

from planner.records.plan import Plan
from tests.field.slot import (
    AT,
    ELIGIBLE,
    GIB,
    Tree,
    a_contract,
    a_limit,
    a_trial,
    decided,
    outcome,
    rejected,
    served,
    states,
    winner,
)

RATE = ({"key": "output_tokens_per_s", "load_point": AT},)


def islands() -> Plan:
    """F-02: two islands that are not neighbours by index, and two maps of equal degrees."""
    contract = a_contract(
        a_limit("tensor_locality", rule="inside_island"),
        hardware={"islands": {"i0": {"devices": ["g0", "g2"]}, "i1": {"devices": ["g1", "g3"]}}},
        keys=RATE,
    )
    trials = {
        "a": a_trial(served(410), tp=2, dp=2),
        "b": a_trial(served(560), tp=2, dp=2, devices=["g0", "g2", "g1", "g3"]),
        "c": a_trial(served(470), tp=4),
    }
    return decided(contract, trials)


def test_equal_degrees_on_another_map_are_another_topology() -> None:
    plan = islands()
    assert states(plan) == {"a": rejected("tensor_locality"), "b": ELIGIBLE, "c": rejected("tensor_locality")}
    assert (plan.decision, winner(plan)) == ("SELECT_TOPOLOGY", "b")
    assert plan.candidates["a"].topology == plan.candidates["b"].topology
    assert plan.candidates["a"].rank_map_digest != plan.candidates["b"].rank_map_digest


def test_tensor_groups_that_leave_their_island_are_counted() -> None:
    found = outcome(islands(), "a", "tensor_locality")
    assert found.measured == 2
    assert found.worst == {"group": "tp 0, 1"}


def peaks(*gib: float) -> Tree:
    return {
        "load": {"longest_sequence_tokens": 4096},
        "per_rank": {"device_used_peak_bytes": {"values": [round(value * GIB) for value in gib]}},
    }


def test_the_fullest_rank_fails_although_the_mean_fits() -> None:
    """F-04."""
    contract = a_contract(
        a_limit("memory_headroom", load_point=AT),
        workload={"context_tokens": 4096},
        headroom={"memory": {"reserved_share": 0.1}},
    )
    plan = decided(contract, {"a": a_trial(tp=4, window=peaks(74.1, 64.0, 64.0, 63.8))})
    found = outcome(plan, "a", "memory_headroom")
    assert states(plan) == {"a": rejected("memory_headroom")}
    assert plan.decision == "NO_ELIGIBLE_TOPOLOGY"
    assert found.sentence == "Rank 0 on n0 uses 74.1 GiB of 72.0 GiB."
    assert found.worst["rank"] == "0"


def experts(tokens: list[int], kv_tokens: int, rate: float) -> Tree:
    replica = {"ranks": list(range(8)), "kv_capacity_tokens": kv_tokens, "kv_measured_at_context_tokens": 8192}
    return {
        "load": served(rate),
        "experts": {"run": {"layers": {"worst": {"tokens_by_rank": tokens}}}},
        "replicas": {"r0": replica},
    }


def hot_expert() -> Plan:
    """F-08: the cure of a hot expert costs KV room."""
    contract = a_contract(
        a_limit("expert_balance", load_point=AT, max_rank_over_mean=1.3),
        a_limit("kv_capacity", min_tokens=400_000),
        devices=8,
        model={
            "architecture": "moe",
            "experts": 64,
            "experts_per_token": 8,
            "shared_experts": 0,
            "expert_intermediate_size": 1536,
        },
        workload={"context_tokens": 8192},
        keys=RATE,
    )
    measured = {
        "a": experts([1200, 900, 950, 1000, 980, 2400, 870, 900], 450_000, 6500),
        "b": experts([1150, 1100, 1120, 1180, 1288, 1130, 1112, 1120], 410_000, 8000),
        "c": experts([1150, 1140, 1160, 1150, 1207, 1140, 1123, 1130], 380_000, 8400),
    }
    return decided(contract, {name: a_trial(ep=8, window=window) for name, window in measured.items()})


def test_a_hot_expert_rank_is_named_with_its_heat() -> None:
    found = outcome(hot_expert(), "a", "expert_balance")
    assert found.worst["rank"] == "5"
    assert found.sentence == (
        "Rank 5 takes 2.087 × the mean tokens in layer worst in window w1; at most 1.300. "
        "Rank 5: 2,400 tokens, mean 1,150."
    )


def test_the_fastest_and_best_balanced_trial_loses_for_its_kv_room() -> None:
    plan = hot_expert()
    assert states(plan) == {"a": rejected("expert_balance"), "b": ELIGIBLE, "c": rejected("kv_capacity")}
    assert winner(plan) == "b"
    assert outcome(plan, "c", "kv_capacity").margin == -20_000


def pipeline() -> Plan:
    """F-12: one more layer on the last stage, and layers moved off it."""
    contract = a_contract(a_limit("stage_balance", load_point=AT, min_balance=0.85), model={"layers": 61})
    trials = {
        "a": a_trial(layout="vllm", pp=4, window={"stages": {"run": {"busy_ms": [9.0, 9.0, 9.6, 12.0]}}}),
        "b": a_trial(layout="vllm", pp=4, window={"stages": {"run": {"busy_ms": [10.2, 9.7, 9.7, 10.4]}}}),
    }
    return decided(contract, trials)


def test_the_slowest_stage_is_named_with_its_balance() -> None:
    plan = pipeline()
    found = outcome(plan, "a", "stage_balance")
    assert states(plan) == {"a": rejected("stage_balance"), "b": ELIGIBLE}
    assert found.measured == 0.825
    assert found.sentence == (
        "Stage 3 is slowest with 12 ms, mean 9.9 ms: balance 0.825 in window w1; at least 0.850. Stage 0 idles 0.250."
    )


def test_moving_layers_off_the_last_stage_makes_it_eligible() -> None:
    plan = pipeline()
    assert winner(plan) == "b"
    assert "balance 0.962" in outcome(plan, "b", "stage_balance").sentence
