"""SGLang: groups, refusals, placement and model checks."""

from typing import Any

import pytest

from planner.layouts import Degrees, Launch, LayoutRefusedError
from planner.layouts.sglang import LAYOUT
from tests.planner.layouts.samples import by_definition, failed, model, notices, sets


def degrees(**fields: Any) -> Degrees:
    return Degrees(**{"moe": True, **fields})


def test_the_pipeline_is_outermost_and_tp_is_the_whole_stage() -> None:
    built = LAYOUT.build(degrees(tp=3, pp=2))

    assert built.world_size == 6
    assert built.groups["tp"] == ((0, 1, 2), (3, 4, 5))
    assert sets(built.groups)["pp"] == {(0, 3), (1, 4), (2, 5)}


def test_expert_groups_are_strided_by_the_expert_tensor_degree() -> None:
    built = LAYOUT.build(degrees(tp=6, ep=3))

    assert sets(built.groups)["moe_ep"] == {(0, 2, 4), (1, 3, 5)}
    assert sets(built.groups)["moe_tp"] == {(0, 1), (2, 3), (4, 5)}
    assert built.sizes["moe_tp"] == 2


def test_attention_is_cut_into_data_context_and_tensor_ranks() -> None:
    built = LAYOUT.build(degrees(tp=12, cp=2, extra={"attn_dp": 3}))

    assert sets(built.groups)["attn_tp"] == by_definition(12, lambda rank: (rank // 2,))
    assert sets(built.groups)["attn_cp"] == by_definition(12, lambda rank: (rank // 4, rank % 2))
    assert built.notices == ("attention data parallelism 3: attention weights are held 3 times",)


def test_partners_in_context_stand_in_for_the_expert_data_group() -> None:
    wider = LAYOUT.build(degrees(tp=4, cp=2, ep=4))
    equal = LAYOUT.build(degrees(tp=4, cp=2, ep=2, extra={"moe_dp": 2}))

    assert wider.groups["moe_dp"] == wider.groups["attn_cp"] == ((0, 2), (1, 3))
    assert equal.groups["moe_dp"] == ((0, 2), (1, 3))
    assert sets(equal.groups)["moe_ep"] == {(0, 1), (2, 3)}


def test_decode_context_is_a_group_only_when_it_is_on() -> None:
    assert "dcp" not in LAYOUT.build(degrees(tp=4)).groups
    assert LAYOUT.build(degrees(tp=4, dcp=2)).groups["dcp"] == ((0, 1), (2, 3))


def test_replicas_are_worlds_of_their_own() -> None:
    built = LAYOUT.build(degrees(tp=2, dp=2))

    assert (built.world_size, built.engines) == (4, 2)
    assert built.groups["tp"] == ((0, 1), (2, 3))
    assert built.notices == ("dp 2 is 2 independent engines of 2 ranks, and no process group joins them",)


def test_the_old_spelling_of_attention_data_adds_no_ranks() -> None:
    built = LAYOUT.build(degrees(tp=4, dp=4, extra={"enable_dp_attention": True}))

    assert (built.world_size, built.engines, built.sizes["attn_dp"]) == (4, 1, 4)


@pytest.mark.parametrize(
    ("fields", "constraint", "words"),
    [
        pytest.param({"tp": 8, "cp": 3}, "attn_cp", "divisible by attn_cp_size", id="context does not divide"),
        pytest.param({"tp": 8, "cp": 2, "extra": {"attn_dp": 8}}, "attn_cp", "attn_dp_size * attn_cp_size", id="both"),
        pytest.param({"tp": 8, "extra": {"attn_dp": 3}}, "attn_dp", "tp_size % attn_dp_size", id="attention data"),
        pytest.param({"tp": 8, "extra": {"moe_dp": 3}}, "moe_dp", "divisible by moe_dp_size", id="expert data"),
        pytest.param({"tp": 8, "ep": 8, "extra": {"moe_dp": 2}}, "moe_dp", "less than or equal", id="too many experts"),
        pytest.param({"tp": 8, "cp": 2, "ep": 2, "extra": {"moe_dp": 2}}, "moe_dp", "must be equal", id="too few"),
        pytest.param(
            {"tp": 8, "pp": 2, "cp": 2, "ep": 4, "extra": {"moe_dp": 2}},
            "moe_dp",
            "PP is not supported",
            id="pipeline with expert data",
        ),
        pytest.param({"tp": 8, "ep": 4, "extra": {"moe_dp": 2}}, "moe_dp", "only supported when", id="unlike context"),
        pytest.param({"tp": 4, "ep": 8}, "moe_ep", "larger than tp_size", id="more expert ranks than ranks"),
        pytest.param({"tp": 8, "dcp": 3}, "decode_context", "divisible by", id="decode context"),
        pytest.param({"tp": 8, "dcp": 0}, "decode_context", "must be at least 1", id="decode context of none"),
        pytest.param(
            {"tp": 8, "dp": 4, "extra": {"attn_dp": 2, "enable_dp_attention": True}},
            "attn_dp",
            "contradicts",
            id="both",
        ),
        pytest.param({"extra": {"layer_partition": ""}, "tp": 0}, "degree", "tp is at least 1", id="no rank"),
        pytest.param({"extra": {"redundant_experts": "8"}}, "degree", "redundant_experts", id="count as text"),
    ],
)
def test_degrees_that_contradict_are_refused(fields: dict[str, Any], constraint: str, words: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.build(degrees(**fields))

    assert refused.value.constraint == constraint
    assert words in refused.value.message


def test_ranks_in_no_expert_group_fail_when_groups_are_made() -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.build(degrees(tp=5, ep=2))

    assert refused.value.constraint == "moe_ep"
    assert "{'moe_ep': [4], 'moe_tp': [4]}" in refused.value.message
    assert refused.value.built is not None
    assert refused.value.built.groups["moe_ep"] == ((0, 2), (1, 3))


def test_stages_share_a_node_when_there_are_more_stages_than_nodes() -> None:
    seats = LAYOUT.seats(degrees(tp=2, pp=4), Launch(nnodes=2)).seats

    assert [(seat["rank"], seat["node"], seat["device"]) for seat in seats] == [
        (0, 0, 0),
        (1, 0, 1),
        (2, 0, 2),
        (3, 0, 3),
        (4, 1, 0),
        (5, 1, 1),
        (6, 1, 2),
        (7, 1, 3),
    ]


def test_a_stage_spans_nodes_when_there_are_more_nodes_than_stages() -> None:
    seats = LAYOUT.seats(degrees(tp=4, extra={"base_gpu_id": 2, "gpu_id_step": 2}), Launch(nnodes=2)).seats

    assert [(seat["node"], seat["device"]) for seat in seats] == [(0, 2), (0, 4), (1, 2), (1, 4)]


@pytest.mark.parametrize(
    ("fields", "nodes", "words"),
    [
        pytest.param({"tp": 2, "pp": 3}, 2, "ranks [4, 5] are launched on no node", id="a stage is never started"),
        pytest.param({"tp": 2, "pp": 3}, 6, None, id="two nodes a stage"),
        pytest.param({"tp": 3, "pp": 2}, 3, "extra ranks [6, 7, 8] >= world size are launched", id="one node too many"),
    ],
)
def test_a_launch_that_never_completes_is_refused_by_us(fields: dict[str, Any], nodes: int, words: str | None) -> None:
    refused = LAYOUT.seats(degrees(**fields), Launch(nnodes=nodes)).refused

    assert (refused and refused.message) == (words and f"no error is raised, but launch never completes: {words}")


@pytest.mark.parametrize(
    ("fields", "nodes", "words"),
    [
        pytest.param({"tp": 4, "dp": 2}, 2, "multi-node data-parallel replicas are not supported", id="replicas"),
        pytest.param(
            {"tp": 4},
            3,
            "tp_size must be divisible by number of nodes (tp_size * pp_size 4, nodes 3)",
            id="uneven nodes",
        ),
    ],
)
def test_nodes_that_the_argument_checks_refuse(fields: dict[str, Any], nodes: int, words: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.seats(degrees(**fields), Launch(nnodes=nodes))

    assert refused.value.constraint == "nnodes"
    assert words in refused.value.message


def test_a_device_beyond_the_node_is_said() -> None:
    dangers = LAYOUT.seats(degrees(tp=12), Launch(gpus_per_node=8)).dangers

    assert dangers == ("device 11 is used on a node of 8 devices; the engine does not check",)


def test_a_device_that_two_ranks_are_given_is_said() -> None:
    """A stage begins 2 devices after the other, and a step of 2 sends rank 1 there too."""
    seats = LAYOUT.seats(degrees(tp=2, pp=2, extra={"gpu_id_step": 2}), Launch(gpus_per_node=8))

    assert [seat["device"] for seat in seats.seats] == [0, 2, 2, 4]
    assert seats.dangers == ("ranks 1 and 2 are given the same device 2 of node 0; the engine does not check",)


def test_attention_data_ranks_hold_all_heads_and_expert_width_is_cut_by_moe_tp() -> None:
    fields = {"tp": 8, "ep": 2, "extra": {"attn_dp": 8}}
    checks = LAYOUT.divisibility(
        model(attention_heads=7, kv_heads=7, expert_intermediate_size=1536), degrees(**fields), 128
    )

    assert failed(checks) == {}
    assert "7 attention heads split evenly over 1 tensor ranks" in {check.sentence for check in checks}
    assert failed(LAYOUT.divisibility(model(expert_intermediate_size=1536), degrees(tp=8), 128)) == {
        "quantisation_block": "expert width 1536 over 8 ranks is 192, not a multiple of the block of 128"
    }


def test_redundant_experts_count_as_physical_ones() -> None:
    fields = {"tp": 6, "ep": 6, "extra": {"redundant_experts": 2}}
    attention = {"attention_heads": 6, "kv_heads": 6, "intermediate_size": None}

    assert failed(LAYOUT.divisibility(model(**attention), degrees(**fields), None)) == {}
    assert failed(LAYOUT.divisibility(model(**attention), degrees(tp=6, ep=6), None)) == {
        "experts": "256 experts do not split evenly over 6 expert ranks"
    }


def test_the_last_stages_hold_the_remaining_layers() -> None:
    checks = LAYOUT.divisibility(model(), degrees(pp=4), None)

    assert "61 layers over 4 stages: 15, 15, 15, 16" in {check.sentence for check in checks}
    assert notices(checks) == {"layers": "stages are uneven"}
