"""TensorRT-LLM: groups of both orchestrators, refusals and model checks."""

from typing import Any

import pytest

from planner.layouts import Degrees, Launch, LayoutRefusedError
from planner.layouts.trtllm import LAYOUT
from tests.planner.layouts.samples import by_definition, failed, model, notices, sets


def degrees(**fields: Any) -> Degrees:
    return Degrees(**{"moe": True, **fields})


def test_expert_ranks_are_fast_and_expert_tensor_ranks_slow() -> None:
    built = LAYOUT.build(degrees(tp=6, ep=3))

    assert sets(built.groups)["moe_ep"] == {(0, 1, 2), (3, 4, 5)}
    assert sets(built.groups)["moe_tp"] == {(0, 3), (1, 4), (2, 5)}
    assert built.sizes["moe_tp"] == 2


def test_expert_clusters_lie_inside_the_expert_tensor_ranks() -> None:
    built = LAYOUT.build(degrees(tp=6, extra={"moe_cluster": 2}))

    assert sets(built.groups)["moe_cluster"] == {(0, 1), (2, 3), (4, 5)}
    assert sets(built.groups)["moe_tp"] == {(0, 2, 4), (1, 3, 5)}


def test_mpi_and_ray_put_context_and_pipeline_the_other_way_round() -> None:
    mpi = LAYOUT.build(degrees(tp=1, pp=2, cp=3, extra={"orchestrator": "mpi"}))
    ray = LAYOUT.build(degrees(tp=1, pp=2, cp=3, extra={"orchestrator": "ray"}))

    assert sets(mpi.groups)["cp"] == sets({"cp": ((0, 1, 2), (3, 4, 5))})["cp"]
    assert sets(mpi.groups)["pp"] == {(0, 3), (1, 4), (2, 5)}
    assert sets(ray.groups)["cp"] == {(0, 2, 4), (1, 3, 5)}
    assert sets(ray.groups)["pp"] == {(0, 1), (2, 3), (4, 5)}
    assert mpi.notices[0] == (
        "cp and pp are both above 1: the MPI and Ray orchestrators build different pipeline and context groups"
    )


def test_ray_has_expert_groups_only_with_expert_parallelism() -> None:
    ray = LAYOUT.build(degrees(tp=4, pp=2, ep=2, extra={"orchestrator": "ray"}))

    assert sets(ray.groups)["moe_ep"] == by_definition(8, lambda rank: (rank // 2,))
    assert "moe_ep" not in LAYOUT.build(degrees(tp=4, extra={"orchestrator": "ray"})).groups


def test_helix_shares_experts_over_context_ranks() -> None:
    built = LAYOUT.build(degrees(tp=2, cp=2, ep=4, extra={"cp_type": "helix"}))

    assert built.groups["moe_ep"] == ((0, 1, 2, 3),)
    assert (built.sizes["attn_tp"], built.sizes["attn_cp"]) == (2, 2)
    assert "moe_ep" in built.joins


def test_expert_groups_that_ulysses_leaves_unused_join_nothing() -> None:
    built = LAYOUT.build(degrees(tp=2, cp=2))

    assert built.groups["moe_tp"] == ((0, 1),)
    assert built.joins == {"tp", "pp", "cp"}
    assert built.tensor_like == {"tp"}
    assert "they are not used" in built.notices[0]


def test_attention_data_ranks_are_the_tensor_ranks() -> None:
    built = LAYOUT.build(degrees(tp=4, dp=4, ep=4, extra={"enable_attention_dp": True}))

    assert (built.world_size, built.sizes["attention_dp"]) == (4, 4)
    assert built.notices == ("attention data parallelism: attention weights are held 4 times",)


@pytest.mark.parametrize(
    ("fields", "constraint", "words"),
    [
        pytest.param({"tp": 8, "ep": 8, "extra": {"moe_tp": 2}}, "moe_sizes", "got 16 != 8", id="expert product"),
        pytest.param({"tp": 8, "ep": 3}, "moe_sizes", "got 6 != 8", id="experts leave ranks over"),
        pytest.param({"tp": 8, "extra": {"attn_tp": 4}}, "attn_cp", "got 4, 2.", id="attention context of ulysses"),
        pytest.param(
            {"tp": 4, "cp": 2, "extra": {"attn_tp": 4, "attn_cp": 3, "cp_type": "HELIX"}},
            "attn_sizes",
            "got 4 * 2 != 4 * 3",
            id="attention product",
        ),
        pytest.param({"tp": 4, "cp": 2, "ep": 2}, "context_experts", "CP 0 doesn't support MoE", id="experts and cp"),
        pytest.param(
            {"tp": 8, "ep": 2, "extra": {"moe_cluster": 2}}, "moe_cluster", "needs moe_ep_size 1", id="cluster and ep"
        ),
        pytest.param(
            {"tp": 2, "extra": {"enable_lm_head_tp_in_adp": True}}, "attention_dp", "requires", id="head without data"
        ),
        pytest.param({"tp": 2, "dp": 2}, "data_parallel", "list each as an instance", id="replicas"),
        pytest.param({"tp": 2, "dcp": 2}, "unknown_degree", "dcp must be 1", id="decode context"),
        pytest.param({"extra": {"cp_type": "spiral"}}, "cp_type", "ULYSSES, STAR, RING, HELIX", id="kind of context"),
        pytest.param({"extra": {"orchestrator": "slurm"}}, "orchestrator", "mpi, ray", id="orchestrator"),
        pytest.param(
            {"tp": 2, "cp": 2, "ep": 4, "extra": {"cp_type": "HELIX", "orchestrator": "ray"}},
            "device_mesh",
            "is not the world of 4 ranks",
            id="helix on a device mesh",
        ),
    ],
)
def test_degrees_that_contradict_are_refused(fields: dict[str, Any], constraint: str, words: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.build(degrees(**fields))

    assert refused.value.constraint == constraint
    assert words in refused.value.message


def test_seats_fill_nodes_in_order_with_coordinates() -> None:
    seats = LAYOUT.seats(degrees(pp=2, cp=2), Launch(gpus_per_node=3)).seats

    assert seats[3] == {"rank": 3, "node": 1, "device": 0, "tp_rank": 0, "pp_rank": 1, "cp_rank": 1}


@pytest.mark.parametrize(
    ("fields", "more", "expected"),
    [
        pytest.param({"tp": 4, "ep": 4}, {}, {}, id="all divide"),
        pytest.param(
            {"tp": 7, "ep": 7},
            {"attention_heads": 7, "kv_heads": 7, "intermediate_size": None},
            {"experts": "256 experts over 7 expert ranks: the engine floors the share and drops 4 experts"},
            id="dropped experts",
        ),
        pytest.param(
            {"tp": 2, "cp": 2},
            {},
            {"context": "attention accepts context parallelism only as HELIX; found ULYSSES"},
            id="context that attention does not accept",
        ),
        pytest.param(
            {"tp": 64, "cp": 2, "extra": {"cp_type": "HELIX"}},
            {},
            {"attention_heads": "64 attention heads do not split evenly over 128 tensor ranks"},
            id="helix cuts heads over tensor and context",
        ),
        pytest.param(
            {"tp": 8, "ep": 8, "extra": {"enable_attention_dp": True}}, {"attention_heads": 9}, {}, id="attention data"
        ),
    ],
)
def test_model_checks_use_the_degree_that_shards(
    fields: dict[str, Any], more: dict[str, Any], expected: dict[str, str]
) -> None:
    assert failed(LAYOUT.divisibility(model(**more), degrees(**fields), None)) == expected


def test_key_value_heads_are_rounded_up_with_a_notice() -> None:
    checks = LAYOUT.divisibility(model(attention_heads=12, kv_heads=6), degrees(tp=4, ep=4), None)

    assert failed(checks) == {}
    assert notices(checks)["kv_heads"] == "every rank holds 2 KV heads, 8 in all"


def test_the_first_stages_hold_the_remaining_layers() -> None:
    checks = LAYOUT.divisibility(model(), degrees(pp=4), None)

    assert "61 layers over 4 stages: 16, 15, 15, 15" in {check.sentence for check in checks}
