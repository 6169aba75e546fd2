"""Every decomposition is listed or has a reason; what is listed is valid by the layouts' and gates' own tests."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.contract_view import ContractView
from planner.evaluate import judge
from planner.layouts import LAYOUTS
from planner.matrix.axes import decompositions, named
from planner.matrix.engines import engine_of
from planner.matrix.places import ground_of
from planner.matrix.search import Search, grouped_exclusions, search, worlds
from planner.order import order_expand
from planner.records.base import stated
from tests.planner.matrix.contracts import BECAUSE, DENSE_8B, DENSE_70B, LATENT_MOE, a_view

INSIDE_ISLAND = {"rule": "inside_island", "because": BECAUSE}


def searched(view: ContractView) -> Search:
    engine = engine_of(view.contract.identity.stack.engine)
    return search(view, engine.layout, ground_of(view.site))


def reasons(result: Search) -> Counter[str]:
    return Counter(turned.reason for turned in result.turned)


def turned(result: Search, name: str) -> tuple[str, str]:
    return next((each.reason, each.sentence) for each in result.turned if each.name == name)


@settings(max_examples=25, deadline=None)
@given(
    engine=st.sampled_from(["vllm", "sglang", "tensorrt-llm", "megatron", "own engine"]),
    devices=st.integers(1, 4),
    nodes=st.integers(1, 2),
    heads=st.sampled_from([6, 8, 12, 40]),
    kv_heads=st.sampled_from([1, 2, 8]),
    layers=st.integers(1, 9),
    experts=st.sampled_from([None, 4, 6]),
    memory_gib=st.sampled_from([1, 80]),
)
def test_every_decomposition_of_a_small_fleet_is_listed_or_has_a_reason(
    engine: str,
    devices: int,
    nodes: int,
    heads: int,
    kv_heads: int,
    layers: int,
    experts: int | None,
    memory_gib: int,
) -> None:
    model: dict[str, Any] = {**DENSE_8B, "attention_heads": heads, "kv_heads": kv_heads, "layers": layers}
    if experts is not None:
        model |= {"architecture": "moe", "experts": experts, "experts_per_token": 2, "dense_layers": 0}
        model |= {"expert_intermediate_size": 1536, "shared_experts": 0}
    view = a_view(
        ("/gates/tensor_locality", {"tensor": INSIDE_ISLAND}),
        model=model,
        engine=engine,
        devices=devices,
        nodes=nodes,
        memory_gib=memory_gib,
    )
    layout = engine_of(view.contract.identity.stack.engine).layout
    result = searched(view)
    told = [each.name for each in result.found] + [each.name for each in result.turned]
    every = [
        named(degrees)
        for world in range(1, devices * nodes + 1)
        for degrees in decompositions(layout, world, moe=experts is not None)[0]
    ]
    assert sorted(told) == sorted(every)
    assert sum(group.count or 0 for group in grouped_exclusions(result)) == len(result.turned)
    _all_valid(view, result)


def _all_valid(view: ContractView, result: Search) -> None:
    """Candidates multiply to their ranks, split the model, and fail no gate that reads no measurement."""
    model, block = view.contract.identity.model, stated(view.contract.identity.precision.quantisation_block)
    order = order_expand(view.contract).keys
    for found in result.found:
        layout = LAYOUTS[found.view.trial.topology.layout]
        assert layout.build(found.degrees).world_size == found.ranks == len(found.view.trial.rank_map)
        assert all(check.passed for check in layout.divisibility(model, found.degrees, block))
        failing = set(judge(found.view, order).failing)
        assert not failing & {"rank_count", "model_divisibility", "placement", "tensor_locality"}


def test_a_number_that_does_not_divide_is_named() -> None:
    result = searched(a_view(devices=3))
    assert turned(result, "tp3-pp1-ep1-dp1") == (
        "divide",
        "32 attention heads do not split evenly over 3 tensor ranks.",
    )


def test_an_engine_that_refuses_the_degrees_is_quoted() -> None:
    result = searched(a_view(engine="sglang", devices=4))
    reason, sentence = turned(result, "tp2-pp1-ep1-dp2-attn_dp2")
    assert reason == "layout"
    assert sentence.endswith("data-parallel replicas combined with attention data parallelism are not supported.")


def test_memory_says_by_how_much() -> None:
    result = searched(a_view(model=DENSE_70B, devices=8))
    assert turned(result, "tp1-pp1-ep1-dp1") == (
        "memory",
        "Hypothesis: weights of 131.4 GiB on the fullest rank exceed 80.0 GiB by 51.4 GiB.",
    )


def test_a_reserve_lowers_the_limit() -> None:
    reserve = ("/headroom", {"memory": {"reserved_share": 0.2}})
    gate = ("/gates/memory_headroom", {"worst": {"load_point": "saturated", "because": BECAUSE}})
    result = searched(a_view(reserve, gate, model=DENSE_70B, devices=8))
    assert turned(result, "tp2-pp1-ep1-dp1") == (
        "memory",
        "Hypothesis: weights of 65.7 GiB on the fullest rank exceed 64.0 GiB by 1.7 GiB.",
    )


def test_a_context_that_does_not_fit_beside_the_weights_is_kept_out() -> None:
    long = ("/identity/workload/context_tokens", 1_000_000)
    result = searched(a_view(long, devices=2))
    assert turned(result, "tp1-pp1-ep1-dp1") == (
        "kv",
        "Hypothesis: weights of 15.0 GiB and the KV cache of one request of 1,000,000 tokens, 122.1 GiB, exceed "
        "80.0 GiB by 57.0 GiB.",
    )


def test_promised_requests_that_cannot_be_held_are_kept_out() -> None:
    gate = ("/gates/kv_capacity", {"held": {"load_point": "saturated", "because": BECAUSE}})
    long = ("/identity/workload/context_tokens", 32_768)
    result = searched(a_view(gate, long, devices=2))
    assert turned(result, "tp1-pp1-ep1-dp1") == (
        "kv",
        "Hypothesis: KV caches of at most 16 requests of the contract's context fit; kv_capacity.held asks for 64.",
    )


def test_a_launcher_that_cannot_spread_ranks_is_quoted() -> None:
    result = searched(a_view(nodes=2, devices=2))
    assert turned(result, "tp1-pp3-ep1-dp1") == ("launch", "3 ranks do not spread evenly over 2 to 2 nodes of 2.")


def test_replicas_of_sglang_stay_on_one_node() -> None:
    result = searched(a_view(engine="sglang", nodes=2, devices=2))
    assert turned(result, "tp2-pp1-ep1-dp2")[0] == "launch"
    assert "multi-node data-parallel replicas are not supported" in turned(result, "tp2-pp1-ep1-dp2")[1].lower()


def test_a_limit_on_placement_keeps_out_what_fails_it_anyway() -> None:
    result = searched(a_view(("/gates/tensor_locality", {"tensor": INSIDE_ISLAND}), nodes=2, devices=4))
    assert turned(result, "tp8-pp1-ep1-dp1") == ("map", "tensor_locality.tensor fails whatever is measured.")
    assert "tp4-pp2-ep1-dp1" in [found.name for found in result.found]


def test_what_is_not_stated_rules_nothing_out() -> None:
    model = {name: DENSE_8B[name] for name in ("name", "revision", "architecture", "layers", "kv_heads")}
    result = searched(a_view(model={**model, "attention_heads": 32}, memory_gib=1))
    assert reasons(result)["memory"] == 0
    assert result.found[0].residency.sentence == (
        "Hypothesis: not known, because the contract does not state model.hidden_size, model.vocab_size, "
        "model.tied_embeddings and 2 more fields."
    )


def test_parameters_bound_the_weights_where_tensors_cannot_be_counted() -> None:
    model = {name: DENSE_8B[name] for name in ("name", "revision", "architecture", "layers", "kv_heads")}
    result = searched(a_view(model={**model, "attention_heads": 32, "parameters": 64 * 2**30}, devices=4))
    assert turned(result, "tp1-pp1-ep1-dp4") == (
        "memory",
        "Hypothesis: weights (parameters over the ranks of a copy) of 128.0 GiB on the fullest rank exceed 80.0 GiB by "
        "48.0 GiB.",
    )
    assert result.found[0].name == "tp2-pp1-ep1-dp1"


def test_a_fleet_without_usable_devices_has_no_candidate() -> None:
    view = a_view(("/fleet/spare_devices", ["n0-g0"]), devices=1)
    result = searched(view)
    assert (result.found, result.turned) == ([], [])
    assert grouped_exclusions(result)[0].sentence == "More ranks than devices: there are 0 to plan with."


def test_a_large_fleet_is_tried_in_whole_nodes_of_powers_of_two() -> None:
    ground = ground_of(a_view(nodes=12, devices=8).site)
    assert worlds(ground) == (*range(1, 9), 16, 32, 64, 96)


def test_sentences_of_one_reason_are_put_together_when_they_are_many() -> None:
    result = searched(a_view(nodes=4, devices=8, model={**DENSE_8B, "attention_heads": 32}))
    found = [group for group in grouped_exclusions(result) if group.reason == "divide"]
    assert len(found) == 9
    assert found[-1].sentence.endswith("further sentences of the same kind.")
    assert sum(group.count or 0 for group in found) == reasons(result)["divide"]


@pytest.mark.parametrize("field", ["layers", "attention_heads", "experts"])
def test_figures_beyond_reason_are_answered(field: str) -> None:
    model = {**LATENT_MOE, field: 2**50}
    result = searched(a_view(model=model, devices=2))
    assert len(result.found) + len(result.turned) > 0
