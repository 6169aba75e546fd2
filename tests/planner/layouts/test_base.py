"""Counts, switches and grids that every layout is made of."""

import pytest

from planner.layouts import LAYOUTS, Degrees, LayoutRefusedError
from planner.layouts.base import MAX_RANKS, check_count, check_world, chunks, extra_flag, grid

EVERY_LAYOUT = [pytest.param(name, id=name) for name in LAYOUTS]


def test_layouts_are_listed_in_a_fixed_order() -> None:
    assert tuple(LAYOUTS) == ("closed", "vllm", "sglang", "megatron", "trtllm")


def test_closed_says_that_it_matches_no_engine() -> None:
    assert "matches no engine" in LAYOUTS["closed"].statement


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(0, "tp is at least 1; found 0", id="zero"),
        pytest.param(-4, "tp is at least 1; found -4", id="negative"),
        pytest.param(True, "tp is a whole number; found true", id="bool"),
        pytest.param("8", 'tp is a whole number; found "8"', id="text"),
        pytest.param(8.0, "tp is a whole number; found 8.0", id="fraction"),
        pytest.param(1_000_000_000, f"tp is at most {MAX_RANKS}; found 1000000000", id="a billion"),
    ],
)
def test_a_wrong_count_is_refused_by_name(value: object, message: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        check_count("tp", value)

    assert (refused.value.constraint, refused.value.message) == ("degree", message)


def test_a_product_beyond_the_limit_is_refused_with_its_factors() -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        check_world({"tp": 1024, "pp": 1024})

    assert refused.value.constraint == "rank_limit"
    assert refused.value.message == f"tp 1024 x pp 1024 is 1048576 ranks; at most {MAX_RANKS} are accepted"


@pytest.mark.parametrize("name", EVERY_LAYOUT)
def test_every_layout_refuses_a_degree_that_it_does_not_have(name: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUTS[name].build(Degrees(extra={"tpp": 2}))

    assert (refused.value.constraint, refused.value.message) == ("unknown_degree", f'{name} has no degree "tpp"')


@pytest.mark.parametrize("name", EVERY_LAYOUT)
def test_every_layout_of_one_rank_has_groups_of_that_rank_only(name: str) -> None:
    built = LAYOUTS[name].build(Degrees(moe=True))

    assert built.world_size == 1
    assert {group for groups in built.groups.values() for group in groups} == {(0,)}


@pytest.mark.parametrize("name", EVERY_LAYOUT)
def test_every_layout_refuses_a_billion_ranks_before_it_builds_any(name: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUTS[name].build(Degrees(tp=1000, pp=1000, moe=True))

    assert refused.value.constraint == "rank_limit"


def test_a_switch_is_never_a_number() -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        extra_flag(Degrees(extra={"enable_eplb": 1}), "enable_eplb")

    assert refused.value.message == "enable_eplb is true or false; found 1"


def test_a_grid_is_cut_along_its_axes_with_the_last_named_fastest() -> None:
    assert grid((2, 3), (1,)) == ((0, 1, 2), (3, 4, 5))
    assert grid((2, 3), (0,)) == ((0, 3), (1, 4), (2, 5))
    assert grid((2, 3), (1, 0)) == ((0, 3, 1, 4, 2, 5),)


def test_chunks_cut_every_group_alone() -> None:
    assert chunks(((0, 1, 2, 3), (4, 5, 6, 7)), 2) == ((0, 1), (2, 3), (4, 5), (6, 7))
