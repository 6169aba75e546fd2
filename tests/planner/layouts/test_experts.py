"""How experts and heads are split over ranks."""

import pytest

from planner.layouts import LayoutRefusedError
from planner.layouts.experts import (
    HeadShare,
    place_even,
    place_floor,
    place_linear,
    place_round_robin,
    share_heads,
    share_heads_up,
)


def test_linear_placement_gives_the_first_ranks_one_more() -> None:
    assert place_linear(7, 3) == ((0, 1, 2), (3, 4), (5, 6))
    assert place_linear(2, 3) == ((0,), (1,), ())


def test_round_robin_deals_experts_out() -> None:
    assert place_round_robin(7, 3) == ((0, 3, 6), (1, 4), (2, 5))


def test_round_robin_needs_an_expert_for_every_rank() -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        place_round_robin(2, 3)

    assert refused.value.constraint == "experts"


def test_a_floored_placement_drops_the_rest() -> None:
    assert place_floor(7, 3) == ((0, 1), (2, 3), (4, 5))


def test_even_placement_refuses_a_rest() -> None:
    assert place_even(6, 3) == ((0, 1), (2, 3), (4, 5))
    with pytest.raises(LayoutRefusedError) as refused:
        place_even(7, 3)

    assert refused.value.message == "num_experts (7) must be divisible by ep_size (3)"


@pytest.mark.parametrize(
    ("heads", "kv_heads", "tp", "expected"),
    [
        pytest.param(24, 12, 4, HeadShare(query_heads=6, kv_heads=3), id="split"),
        pytest.param(24, 4, 8, HeadShare(query_heads=3, kv_heads=1), id="copied"),
        pytest.param(24, 1, 24, HeadShare(query_heads=1, kv_heads=1), id="one for all"),
    ],
)
def test_key_value_heads_are_split_or_copied(heads: int, kv_heads: int, tp: int, expected: HeadShare) -> None:
    assert share_heads(heads, kv_heads, tp) == expected


@pytest.mark.parametrize(
    ("heads", "kv_heads", "tp", "constraint"),
    [
        pytest.param(24, 8, 5, "attention_heads", id="query heads"),
        pytest.param(24, 6, 4, "kv_heads", id="key-value heads"),
    ],
)
def test_heads_that_do_not_split_are_refused(heads: int, kv_heads: int, tp: int, constraint: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        share_heads(heads, kv_heads, tp)

    assert refused.value.constraint == constraint


def test_an_engine_that_rounds_up_takes_uneven_key_value_heads() -> None:
    assert share_heads_up(24, 6, 4) == HeadShare(query_heads=6, kv_heads=2)
    with pytest.raises(LayoutRefusedError):
        share_heads_up(24, 6, 5)
