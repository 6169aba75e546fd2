"""Which decompositions are looked at, and how they are spelled."""

from math import prod
from types import MappingProxyType

import pytest

from planner.layouts import LAYOUTS, Degrees, LayoutRefusedError
from planner.matrix.axes import MOST, canonical, decompositions, named
from planner.records.evidence import LayoutName

LAYOUT_NAMES: tuple[LayoutName, ...] = ("closed", "vllm", "sglang", "megatron", "trtllm")


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
@pytest.mark.parametrize("moe", [True, False])
@pytest.mark.parametrize("ranks", [1, 2, 6, 8, 12])
def test_degrees_that_the_layout_accepts_multiply_to_the_ranks(layout: LayoutName, moe: bool, ranks: int) -> None:
    built = 0
    for degrees in decompositions(layout, ranks, moe=moe)[0]:
        try:
            assert LAYOUTS[layout].build(degrees).world_size == ranks
        except LayoutRefusedError:
            assert layout == "sglang"
            continue
        built += 1
    assert built > 0


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_names_tell_all_decompositions_apart(layout: LayoutName) -> None:
    found = decompositions(layout, 16, moe=True)[0]
    assert len({named(degrees) for degrees in found}) == len(found)


def test_every_factorisation_of_a_small_world_is_looked_at() -> None:
    brute = {
        (tp, pp, ep, dp)
        for tp in range(1, 13)
        for pp in range(1, 13)
        for ep in range(1, 13)
        for dp in range(1, 13)
        if prod((tp, pp, ep, dp)) == 12
    }
    found = decompositions("closed", 12, moe=True)[0]
    assert {(each.tp, each.pp, each.ep, each.dp) for each in found} == brute


def test_plain_ones_come_first() -> None:
    names = [named(degrees) for degrees in decompositions("vllm", 4, moe=False)[0]]
    assert names[:3] == ["tp4-pp1-ep1-dp1", "tp1-pp1-ep1-dp4", "tp1-pp4-ep1-dp1"]


def test_expert_parallelism_of_vllm_is_on_or_off() -> None:
    found = [degrees for degrees in decompositions("vllm", 8, moe=True)[0] if degrees.tp == 4 and degrees.dp == 2]
    assert {degrees.ep for degrees in found} == {1, 8}


def test_a_dense_model_has_no_expert_ranks() -> None:
    assert {degrees.ep for name in LAYOUT_NAMES for degrees in decompositions(name, 8, moe=False)[0]} == {1}


def test_very_many_are_cut_and_said_to_be() -> None:
    found, there_are_more = decompositions("vllm", 55_440, moe=True)
    assert (len(found), there_are_more) == (MOST, True)


@pytest.mark.parametrize(
    ("layout", "degrees", "name"),
    [
        pytest.param(
            "vllm",
            Degrees(tp=4, ep=8, dp=2, moe=True, extra=MappingProxyType({"enable_expert_parallel": True})),
            "tp4-pp1-ep8-dp2",
            id="the switch that ep says too",
        ),
        pytest.param(
            "sglang",
            Degrees(tp=8, dp=4, extra=MappingProxyType({"enable_dp_attention": True})),
            "tp8-pp1-ep1-dp1-attn_dp4",
            id="the old spelling",
        ),
        pytest.param(
            "trtllm",
            Degrees(tp=8, dp=8, extra=MappingProxyType({"enable_attention_dp": True})),
            "tp8-pp1-ep1-dp1-attention_dp",
            id="a data degree that tensor ranks are",
        ),
        pytest.param(
            "megatron",
            Degrees(tp=4, ep=2, moe=True, extra=MappingProxyType({"etp": 4})),
            "tp4-pp1-ep2-dp1",
            id="the default said aloud",
        ),
        pytest.param(
            "vllm",
            Degrees(tp=2, extra=MappingProxyType({"enable_eplb": False, "redundant_experts": 0})),
            "tp2-pp1-ep1-dp1",
            id="what is off",
        ),
    ],
)
def test_a_trial_spelled_another_way_is_the_same_candidate(layout: LayoutName, degrees: Degrees, name: str) -> None:
    assert named(canonical(layout, degrees)) == name
