"""Global ranks, exported groups, serving groups, names and digests."""

from typing import Any

import msgspec
import pytest

from planner.layouts import LayoutRefusedError
from planner.rankmap import (
    degrees_of,
    derived_name,
    rank_map_digest,
    serving_groups,
    topology_groups,
)
from planner.records.evidence import Instance, Placement, Topology


def topology(*instances: dict[str, Any], layout: str = "closed", **more: Any) -> Topology:
    full = [{"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": 1, **instance} for instance in instances]
    return msgspec.convert({"layout": layout, "instances": full, **more}, Topology)


def test_closed_groups_are_strided_in_the_order_tp_pp_ep_dp() -> None:
    groups = topology_groups(topology({"tp": 2, "pp": 2, "ep": 2, "dp": 2}), moe=True)

    assert {kind: found[:2] for kind, found in groups.groups.items()} == {
        "tp": ((0, 1), (2, 3)),
        "pp": ((0, 2), (1, 3)),
        "ep": ((0, 4), (1, 5)),
        "dp": ((0, 8), (1, 9)),
    }
    assert groups.world_sizes == (16,)
    assert groups.source == "rule"


def test_ranks_of_the_second_instance_follow_those_of_the_first() -> None:
    groups = topology_groups(topology({"tp": 2}, {"tp": 3}), moe=False)

    assert groups.groups["tp"] == ((0, 1), (2, 3, 4))
    assert groups.world_sizes == (2, 3)
    assert groups.starts == (0, 2)
    assert groups.ranks == 5


def test_coordinates_give_group_and_position_of_every_rank() -> None:
    groups = topology_groups(topology({"tp": 2, "pp": 2}), moe=False)

    assert groups.coordinates["tp"] == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert groups.coordinates["pp"] == ((0, 0), (1, 0), (0, 1), (1, 1))


def test_a_closed_serving_group_joins_tensor_pipeline_and_expert_but_not_data() -> None:
    groups = topology_groups(topology({"tp": 2, "pp": 1, "ep": 2, "dp": 2}), moe=True)

    assert serving_groups(groups) == ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(
    ("layout", "instances", "moe", "expected"),
    [
        pytest.param(
            "vllm",
            [{"tp": 4, "pp": 2, "dp": 2}],
            False,
            (tuple(range(8)), tuple(range(8, 16))),
            id="dense vLLM replicas stand alone",
        ),
        pytest.param("vllm", [{"dp": 4}], True, ((0, 1, 2, 3),), id="vLLM experts off: data ranks run in lock-step"),
        pytest.param("vllm", [{"dp": 4, "ep": 4}], True, ((0, 1, 2, 3),), id="vLLM experts on"),
        pytest.param("vllm", [{"tp": 2}, {"tp": 2}], False, ((0, 1), (2, 3)), id="separate engines never join"),
        pytest.param(
            "megatron",
            [{"tp": 4, "pp": 2, "dp": 2}],
            False,
            ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
            id="the same degrees under Megatron join other ranks",
        ),
        pytest.param("megatron", [{"dp": 4, "ep": 2}], True, ((0, 1), (2, 3)), id="Megatron experts join data ranks"),
        pytest.param(
            "sglang",
            [{"tp": 4, "ep": 4, "engine_degrees": {"attn_dp": 4}}],
            True,
            ((0, 1, 2, 3),),
            id="SGLang attention data ranks run in lock-step",
        ),
        pytest.param("sglang", [{"tp": 2, "dp": 2}], True, ((0, 1), (2, 3)), id="SGLang replicas stand alone"),
        pytest.param(
            "trtllm",
            [{"tp": 4, "ep": 4, "engine_degrees": {"enable_attention_dp": True}}],
            True,
            ((0, 1, 2, 3),),
            id="TensorRT-LLM attention data ranks run in lock-step",
        ),
    ],
)
def test_serving_groups_follow_what_a_request_waits_for(
    layout: str, instances: list[dict[str, Any]], moe: bool, expected: tuple[tuple[int, ...], ...]
) -> None:
    assert serving_groups(topology_groups(topology(*instances, layout=layout), moe=moe)) == expected


def test_exported_groups_replace_the_rule_and_the_difference_is_said() -> None:
    exported = {"tp": [[0, 2], [1, 3]]}
    groups = topology_groups(topology({"tp": 2, "pp": 2}, process_groups=exported), moe=False)

    assert groups.groups["tp"] == ((0, 2), (1, 3))
    assert groups.source == "engine"
    assert (groups.sources["tp"], groups.sources["pp"]) == ("engine", "rule")
    assert groups.differences == ("tp: engine and rule differ, first in the group of rank 0",)


def test_exported_groups_equal_to_the_rule_differ_in_nothing() -> None:
    exported = {"tp": [[2, 3], [0, 1]]}
    groups = topology_groups(topology({"tp": 2, "pp": 2}, process_groups=exported), moe=False)

    assert groups.differences == ()
    assert groups.groups["tp"] == ((2, 3), (0, 1))


def test_the_order_inside_an_exported_group_counts_as_a_difference() -> None:
    groups = topology_groups(topology({"tp": 2}, process_groups={"tp": [[1, 0]]}), moe=False)

    assert groups.differences == ("tp: engine and rule differ, first in the group of rank 0",)


def test_a_kind_that_only_the_engine_knows_joins_by_what_it_does() -> None:
    exported = {"attn_tp": [[0, 1]], "dp_world": [[0, 2], [1, 3]]}
    groups = topology_groups(topology({"dp": 4}, process_groups=exported), moe=False)

    assert serving_groups(groups) == ((0, 1), (2,), (3,))
    assert "attn_tp" in groups.tensor_like
    assert groups.differences == (
        "attn_tp: the engine reports this kind; the rule has none",
        "attn_tp: the engine's groups hold 2 of 4 ranks",
        "dp_world: the engine reports this kind; the rule has none",
    )


@pytest.mark.parametrize(
    ("exported", "message"),
    [
        pytest.param({"tp": [[0, 4]]}, "tp: rank 4 is not one of 4 ranks", id="rank beyond the world"),
        pytest.param({"tp": [[0, 1], [1, 2]]}, "tp: rank 1 is in two groups, or twice in one", id="rank twice"),
        pytest.param({"tp": [[]]}, "tp: a group has no member", id="empty group"),
    ],
)
def test_exported_groups_that_contradict_themselves_are_refused(exported: dict[str, Any], message: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        topology_groups(topology({"tp": 2, "pp": 2}, process_groups=exported), moe=False)

    assert (refused.value.constraint, refused.value.message) == ("process_groups", message)


def test_too_many_ranks_over_all_instances_are_refused_by_name() -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        topology_groups(topology({"tp": 40_000}, {"tp": 40_000}), moe=False)

    assert refused.value.constraint == "rank_limit"


@pytest.mark.parametrize(
    ("instances", "name"),
    [
        pytest.param([{"tp": 4, "pp": 2, "ep": 2}], "tp4-pp2-ep2-dp1", id="one instance"),
        pytest.param([{"tp": 8, "cp": 2, "dcp": 4}], "tp8-pp1-ep1-dp1-cp2-dcp4", id="context degrees when above 1"),
        pytest.param([{"tp": 8, "cp": 1, "dcp": 1}], "tp8-pp1-ep1-dp1", id="context degrees of 1 are left out"),
        pytest.param([{"tp": 4}] * 3, "3x(tp4-pp1-ep1-dp1)", id="equal instances"),
        pytest.param([{"tp": 8}, {"tp": 4}, {"tp": 4}], "tp8-pp1-ep1-dp1+2x(tp4-pp1-ep1-dp1)", id="unequal instances"),
        pytest.param(
            [{"role": "prefill", "tp": 2}, {"role": "prefill", "tp": 2}, {"role": "decode", "tp": 8}],
            "prefill:2x(tp2-pp1-ep1-dp1)+decode:tp8-pp1-ep1-dp1",
            id="pools",
        ),
    ],
)
def test_the_derived_name_lists_degrees(instances: list[dict[str, Any]], name: str) -> None:
    assert derived_name(topology(*instances)) == name


def test_degrees_of_an_instance_take_one_for_an_absent_context_degree() -> None:
    instance = msgspec.convert(
        {"tp": 8, "pp": 1, "ep": 1, "dp": 1, "dcp": 2, "engine_degrees": {"attn_dp": 4}, "world_size": 8}, Instance
    )
    degrees = degrees_of(instance, moe=True)

    assert (degrees.tp, degrees.cp, degrees.dcp, dict(degrees.extra), degrees.moe) == (8, 1, 2, {"attn_dp": 4}, True)


def test_the_digest_of_a_rank_map_is_that_of_its_canonical_json() -> None:
    places = (
        Placement(rank=0, node="node-a", device="a0", nic="a-nic0"),
        Placement(rank=1, node="node-a", device="a1"),
    )

    # sha256 of [{"device":"a0","nic":"a-nic0","node":"node-a","rank":0},{"device":"a1","node":"node-a","rank":1}]
    assert rank_map_digest(places) == "sha256:e32fe42e3cd34f0407e7a623f1d723991c3b9ee9d2a0d09e2b1f12b4a4a34887"
    assert rank_map_digest(places[::-1]) != rank_map_digest(places)
