"""Megatron-LM: two grids, orders of axes, refusals and model checks."""

from typing import Any

import pytest

from planner.layouts import Degrees, Launch, LayoutRefusedError
from planner.layouts.megatron import LAYOUT
from tests.planner.layouts.samples import by_definition, dense, failed, model, sets


def degrees(**fields: Any) -> Degrees:
    return Degrees(**{"moe": True, **fields})


def test_the_dense_grid_has_tensor_fastest_then_context_data_and_pipeline() -> None:
    groups = sets(LAYOUT.build(degrees(tp=2, cp=3, dp=2, pp=2)).groups)

    assert groups["tp"] == by_definition(24, lambda rank: (rank // 2,))
    assert groups["cp"] == by_definition(24, lambda rank: (rank % 2, rank // 6))
    assert groups["dp"] == by_definition(24, lambda rank: (rank % 6, rank // 12))
    assert groups["pp"] == by_definition(24, lambda rank: (rank % 12,))
    assert groups["mp"] == by_definition(24, lambda rank: (rank // 2 % 6,))
    assert groups["tp_cp"] == by_definition(24, lambda rank: (rank // 6,))
    assert groups["tp_dp"] == by_definition(24, lambda rank: (rank // 2 % 3, rank // 12))
    assert groups["dp_cp"] == by_definition(24, lambda rank: (rank % 2, rank // 12))
    assert groups["tp_dp_cp"] == by_definition(24, lambda rank: (rank // 12,))


def test_expert_groups_are_strided_by_the_expert_tensor_degree() -> None:
    kept = LAYOUT.build(degrees(tp=2, dp=3, ep=3))
    whole = LAYOUT.build(degrees(tp=2, dp=3, ep=3, extra={"etp": 1}))

    assert sets(kept.groups)["ep"] == {(0, 2, 4), (1, 3, 5)}
    assert sets(whole.groups)["ep"] == {(0, 1, 2), (3, 4, 5)}
    assert whole.sizes == {"dp": 3, "edp": 2, "etp": 1}
    assert sets(whole.groups)["edp"] == {(0, 3), (1, 4), (2, 5)}
    assert sets(kept.groups)["etp_ep"] == {(0, 1, 2, 3, 4, 5)}


def test_first_and_last_stage_share_embeddings() -> None:
    groups = LAYOUT.build(degrees(tp=2, pp=3)).groups

    assert groups["embd"] == ((0, 4), (1, 5))
    assert groups["pos_embd"] == ((0,), (1,))


def test_the_order_of_axes_moves_the_pipeline_inside_the_data_ranks() -> None:
    default = LAYOUT.build(degrees(tp=2, dp=2, pp=2)).groups
    mapped = LAYOUT.build(degrees(tp=2, dp=2, pp=2, extra={"use_tp_pp_dp_mapping": True})).groups
    ordered = LAYOUT.build(degrees(tp=2, dp=2, pp=2, extra={"order": "tp-cp-ep-pp-dp"})).groups

    assert sets(default)["pp"] == {(0, 4), (1, 5), (2, 6), (3, 7)}
    assert sets(mapped)["pp"] == {(0, 2), (1, 3), (4, 6), (5, 7)}
    assert sets(mapped) == sets(ordered)


def test_dense_data_ranks_join_nothing_but_expert_groups_join_them() -> None:
    assert LAYOUT.build(degrees(dp=2)).joins == {"tp", "pp", "cp", "ep", "etp"}
    assert LAYOUT.build(degrees()).tensor_like == {"tp", "etp"}


@pytest.mark.parametrize(
    ("fields", "constraint", "message"),
    [
        pytest.param(
            {"tp": 2, "dp": 4, "ep": 8},
            "expert_grid",
            "world_size (8) is not divisible by expert_tensor_model_pipeline_parallel size (16)",
            id="expert grid does not fit",
        ),
        pytest.param(
            {"cp": 2, "extra": {"order": "tp-dp-pp"}},
            "order",
            "The size of (cp) is (2), but you haven'tspecified the order (tp-gtp_remat-dp-pp).",
            id="order lacks an axis",
        ),
        pytest.param(
            {"dp": 2, "extra": {"order": "dp-pp"}},
            "order",
            "The size of (tp) is (1), but you haven'tspecified the order (gtp_remat-dp-pp).",
            id="order lacks tp",
        ),
        pytest.param(
            {"extra": {"order": "tp-tp-dp"}},
            "order",
            'order is made of tp, pp, dp, ep, cp, each once; found "tp-tp-dp"',
            id="axis twice",
        ),
        pytest.param(
            {"tp": 2, "cp": 2, "dp": 2, "pp": 2, "ep": 2, "extra": {"order": "tp-cp-ep-pp-dp", "etp": 1}},
            "order",
            "When not using pp-last rank ordering, the data parallel size of the attention and moe layers "
            "must be the same",
            id="data degrees differ",
        ),
        pytest.param(
            {"tp": 2, "pp": 2, "ep": 2, "extra": {"order": "tp-pp-cp-ep-dp", "etp": 1}},
            "order",
            "Pipeline parallel groups are expected to be the same for Non-Expert and Expert part",
            id="pipelines differ",
        ),
        pytest.param(
            {"extra": {"vpp": 2}},
            "vpp",
            "pipeline-model-parallel size should be greater than 1 with interleaved schedule",
            id="virtual stages of one stage",
        ),
        pytest.param(
            {"extra": {"vpp": 1}},
            "vpp",
            "pipeline-model-parallel size should be greater than 1 with interleaved schedule",
            id="one virtual stage of one stage",
        ),
        pytest.param(
            {"tp": 2, "extra": {"gtp_remat": 2}},
            "gtp_remat",
            "gtp_remat is left at 1 by this layout; found 2",
            id="rematerialised weights",
        ),
        pytest.param(
            {"dcp": 2},
            "unknown_degree",
            "megatron has no decode context parallelism; dcp must be 1",
            id="decode context",
        ),
    ],
)
def test_degrees_that_contradict_are_refused(fields: dict[str, Any], constraint: str, message: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.build(degrees(**fields))

    assert (refused.value.constraint, refused.value.message) == (constraint, message)


def test_ranks_fill_nodes_in_order() -> None:
    seats = LAYOUT.seats(degrees(tp=2, dp=2), Launch(nnodes=2, gpus_per_node=2)).seats

    assert [(seat["node"], seat["device"]) for seat in seats] == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("fields", "more", "expected"),
    [
        pytest.param({"pp": 4}, {}, {"layers": "61 layers do not split evenly over 4 stages"}, id="uneven stages"),
        pytest.param({"pp": 4, "extra": {"num_layers_in_last_pipeline_stage": 13}}, {}, {}, id="a shorter last stage"),
        pytest.param(
            {"pp": 2, "extra": {"vpp": 2}},
            {"layers": 62},
            {"virtual_stages": "31 layers of a stage do not split over 2 virtual stages"},
            id="virtual stages",
        ),
        pytest.param(
            {"dp": 48, "ep": 48}, {}, {"experts": "256 experts do not split evenly over 48 expert ranks"}, id="experts"
        ),
    ],
)
def test_a_model_must_split_evenly(fields: dict[str, Any], more: dict[str, Any], expected: dict[str, str]) -> None:
    assert failed(LAYOUT.divisibility(model(**more), degrees(**fields), None)) == expected


def test_experts_of_a_dense_model_fail() -> None:
    checks = LAYOUT.divisibility(dense(), degrees(dp=2, ep=2, moe=False), None)

    assert failed(checks) == {"experts": "ep 2 needs experts, and the model is dense"}
