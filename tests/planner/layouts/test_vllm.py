"""vLLM: groups, refusals, placement and model checks."""

from typing import Any

import pytest

from planner.layouts import Degrees, Launch, LayoutRefusedError
from planner.layouts.vllm import LAYOUT
from tests.planner.layouts.samples import by_definition, dense, failed, model, notices, sets


def degrees(**fields: Any) -> Degrees:
    return Degrees(**{"moe": True, **fields})


def test_expert_groups_of_a_stage_span_data_and_tensor_ranks() -> None:
    built = LAYOUT.build(degrees(tp=3, pp=2, dp=2, ep=6))

    assert built.world_size == 12
    assert sets(built.groups) == {
        "tp": by_definition(12, lambda rank: (rank // 3,)),
        "dcp": by_definition(12, lambda rank: (rank,)),
        "pcp": by_definition(12, lambda rank: (rank,)),
        "pp": by_definition(12, lambda rank: (rank // 6, rank % 3)),
        "dp": by_definition(12, lambda rank: (rank % 6,)),
        "ep": {(0, 1, 2, 6, 7, 8), (3, 4, 5, 9, 10, 11)},
    }
    assert built.sizes == {"moe_tp": 1, "moe_ep": 6}


def test_with_experts_off_their_group_is_a_tensor_group() -> None:
    built = LAYOUT.build(degrees(tp=2, dp=2))

    assert built.groups["ep"] == ((0, 1, 2, 3),)
    assert built.sizes == {"moe_tp": 4, "moe_ep": 1}
    assert built.tensor_like == {"tp", "dcp", "pcp", "ep"}
    assert built.notices == ("expert parallelism is off: every expert is cut into 4 tensor shards over dp x pcp x tp",)


def test_mixture_data_ranks_run_in_lock_step() -> None:
    assert LAYOUT.build(degrees(dp=2)).joins == {"tp", "dcp", "pcp", "pp", "ep", "dp"}


def test_dense_replicas_are_engines_of_their_own() -> None:
    built = LAYOUT.build(degrees(tp=2, dp=3, moe=False))

    assert (built.world_size, built.engines) == (6, 3)
    assert built.groups["dp"] == ((0,), (1,), (2,), (3,), (4,), (5,))
    assert "ep" not in built.groups
    assert built.joins == {"tp", "dcp", "pcp", "pp"}
    assert built.notices == (
        "the model is dense: dp 3 is 3 independent engines of 2 ranks, and no process group joins them",
    )


def test_the_balancer_has_a_communicator_on_the_expert_ranks() -> None:
    built = LAYOUT.build(degrees(tp=2, ep=2, extra={"enable_eplb": True}))

    assert built.groups["eplb"] == built.groups["ep"] == ((0, 1),)
    assert "eplb" not in built.joins


def test_decode_context_cuts_tensor_groups_and_runs_over_prefill_context_first() -> None:
    assert LAYOUT.build(degrees(tp=4, dcp=2)).groups["dcp"] == ((0, 1), (2, 3))
    assert LAYOUT.build(degrees(tp=2, cp=3, dcp=6)).groups["dcp"] == ((0, 2, 4, 1, 3, 5),)


def test_an_outer_launcher_repeats_the_grid() -> None:
    built = LAYOUT.build(degrees(tp=2, dp=2, ep=4, extra={"external_dp": 2}))

    assert built.world_size == 8
    assert built.groups["ep"] == ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        pytest.param({"tp": 8, "ep": 4}, "expert_degree", id="ep is not the expert group"),
        pytest.param({"tp": 2, "extra": {"enable_expert_parallel": True}}, "expert_degree", id="on, but ep 1"),
        pytest.param({"ep": 2, "extra": {"enable_expert_parallel": False}}, "expert_degree", id="off, but ep 2"),
        pytest.param({"tp": 2, "ep": 2, "moe": False}, "experts", id="experts of a dense model"),
        pytest.param({"tp": 2, "extra": {"enable_eplb": True}}, "eplb", id="balancer without experts"),
        pytest.param(
            {"extra": {"enable_eplb": True, "enable_expert_parallel": True}}, "eplb", id="balancer on one rank"
        ),
        pytest.param({"extra": {"redundant_experts": 8}}, "redundant_experts", id="copies without balancer"),
        pytest.param({"tp": 8, "dcp": 3}, "decode_context", id="decode context does not divide tp"),
        pytest.param({"tp": 4, "cp": 2, "dcp": 4}, "decode_context", id="decode context between the allowed sizes"),
        pytest.param({"extra": {"layer_partition": "a,b"}}, "layer_partition", id="partition of words"),
        pytest.param({"extra": {"enable_eplb": "yes"}}, "degree", id="switch as text"),
    ],
)
def test_degrees_that_contradict_are_refused(fields: dict[str, Any], constraint: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.build(degrees(**fields))

    assert refused.value.constraint == constraint


def test_a_replica_sits_on_one_node_device_by_device() -> None:
    seats = LAYOUT.seats(degrees(tp=2, dp=2, moe=False), Launch(nnodes=2, gpus_per_node=8)).seats

    assert seats == (
        {"dp_rank": 0, "rank_in_replica": 0, "global_rank": 0, "node": 0, "device": 0},
        {"dp_rank": 0, "rank_in_replica": 1, "global_rank": 1, "node": 0, "device": 1},
        {"dp_rank": 1, "rank_in_replica": 0, "global_rank": 2, "node": 1, "device": 0},
        {"dp_rank": 1, "rank_in_replica": 1, "global_rank": 3, "node": 1, "device": 1},
    )


def test_more_ranks_than_devices_on_a_node_are_accepted_and_said() -> None:
    seats = LAYOUT.seats(degrees(tp=8, pp=3), Launch(nnodes=2, gpus_per_node=8))

    assert len(seats.seats) == 24
    assert seats.dangers == ("12 ranks are started on each node of 8 devices; the engine does not check",)


def test_a_replica_that_no_node_starts_is_accepted_by_the_engine_and_named_by_us() -> None:
    """Each of two nodes has room for five ranks and starts two whole replicas of two: the fifth replica never runs."""
    seats = LAYOUT.seats(degrees(tp=2, dp=5), Launch(nnodes=2))

    assert [(seat["global_rank"], seat["node"], seat["device"]) for seat in seats.seats] == [
        (0, 0, 0),
        (1, 0, 1),
        (2, 0, 2),
        (3, 0, 3),
        (4, 1, 0),
        (5, 1, 1),
        (6, 1, 2),
        (7, 1, 3),
    ]
    assert seats.refused is not None
    assert seats.refused.message == (
        "no error is raised, but launch never completes: ranks [8, 9] are launched on no node"
    )


def test_a_nodes_replicas_begin_where_its_share_of_ranks_does() -> None:
    """Four nodes of seven ranks each start three pairs, from data rank 0, 3, 7 and 10 on."""
    refused = LAYOUT.seats(degrees(tp=2, dp=14), Launch(nnodes=4)).refused

    assert refused is not None
    assert "ranks [12, 13, 26, 27] are launched on no node" in refused.message


@pytest.mark.parametrize(
    ("fields", "launch", "constraint"),
    [
        pytest.param({"tp": 4, "dp": 3}, {"nnodes": 5}, "nnodes", id="nodes do not divide the world"),
        pytest.param({"tp": 4, "dp": 3}, {"nnodes": 2}, "nnodes", id="nodes do not divide the replicas"),
        pytest.param({"tp": 16}, {"gpus_per_node": 8}, "devices", id="one node is too small"),
        pytest.param({"tp": 16, "pp": 6}, {"nnodes": 7}, "nnodes", id="nodes do not divide one replica"),
    ],
)
def test_nodes_that_the_launcher_refuses(fields: dict[str, Any], launch: dict[str, int], constraint: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.seats(degrees(**fields), Launch(**launch))  # type: ignore[arg-type]  # counts only

    assert refused.value.constraint == constraint


@pytest.mark.parametrize(
    ("fields", "launch"),
    [
        pytest.param({"tp": 16}, Launch(gpus_per_node=8, orchestrator="ray"), id="ray orders nodes by id"),
        pytest.param({"tp": 2, "ep": 2, "extra": {"external_dp": 2}}, Launch(), id="another launcher"),
    ],
)
def test_ranks_that_another_places_have_no_seat(fields: dict[str, Any], launch: Launch) -> None:
    seats = LAYOUT.seats(degrees(**fields), launch)

    assert seats.seats == ()
    assert len(seats.notices) == 1


@pytest.mark.parametrize(
    ("fields", "more", "expected"),
    [
        pytest.param({"tp": 8, "ep": 8}, {}, {}, id="experts whole: width is not sharded"),
        pytest.param(
            {"tp": 8},
            {"expert_intermediate_size": 1536},
            {"quantisation_block": "expert width 1536 over 8 ranks is 192, not a multiple of the block of 128"},
            id="experts off: width is sharded over the flattened ranks",
        ),
        pytest.param({"tp": 8, "ep": 8}, {"expert_intermediate_size": 1536}, {}, id="the same width, experts on"),
        pytest.param(
            {"tp": 8, "dcp": 2},
            {},
            {
                "decode_context": "Decode context parallelism for GQA/MQA requires `--tensor-parallel-size` (8) to be "
                "greater than the model's total number of KV heads (8). Increase `--tensor-parallel-size` or set "
                "`--decode-context-parallel-size 1`."
            },
            id="decode context without copies",
        ),
        pytest.param({"tp": 8, "dcp": 2}, {"attention": "mla"}, {}, id="decode context of latent attention"),
        pytest.param(
            {"dp": 48, "ep": 48, "extra": {"enable_eplb": True, "redundant_experts": 30}},
            {},
            {"experts": "256 + 30 redundant experts do not split evenly over 48 expert ranks"},
            id="balancer wants equal shares",
        ),
        pytest.param(
            {"pp": 4, "extra": {"layer_partition": "20,20,20"}},
            {},
            {"layers": "len(partitions)=3 does not match pp_size=4."},
            id="partition of another length",
        ),
    ],
)
def test_model_checks_use_the_degree_that_shards(
    fields: dict[str, Any], more: dict[str, Any], expected: dict[str, str]
) -> None:
    assert failed(LAYOUT.divisibility(model(**more), degrees(**fields), 128)) == expected


def test_uneven_experts_and_stages_pass_with_a_notice() -> None:
    checks = LAYOUT.divisibility(model(), degrees(pp=4, dp=48, ep=48), None)

    assert failed(checks) == {}
    assert notices(checks) == {"layers": "stages are uneven", "experts": "16 ranks hold 6 experts, 32 hold 5"}


def test_a_dense_model_has_no_expert_checks() -> None:
    names = {check.name for check in LAYOUT.divisibility(dense(), degrees(tp=8, moe=False), None)}

    assert names == {"attention_heads", "kv_heads", "layers", "dense_width"}


def test_decode_context_lessens_the_copies_of_latent_attention() -> None:
    checks = LAYOUT.divisibility(model(attention="mla"), degrees(tp=8, dcp=4), None)

    assert notices(checks)["kv_heads"] == "the KV cache is held 2 times in a tensor group"
