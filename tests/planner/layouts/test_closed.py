"""The closed decomposition."""

from typing import Any

import pytest

from planner.layouts import Degrees, Launch, LayoutRefusedError
from planner.layouts.closed import LAYOUT
from tests.planner.layouts.samples import by_definition, dense, failed, model, notices, sets


def test_every_degree_multiplies_and_strides_follow_tp_pp_ep_dp() -> None:
    built = LAYOUT.build(Degrees(tp=2, pp=3, ep=2, dp=2, moe=True))

    assert built.world_size == 24
    assert sets(built.groups) == {
        "tp": by_definition(24, lambda rank: (rank // 2,)),
        "pp": by_definition(24, lambda rank: (rank // 6, rank % 2)),
        "ep": by_definition(24, lambda rank: (rank // 12, rank % 6)),
        "dp": by_definition(24, lambda rank: (rank % 12,)),
    }


def test_only_tensor_groups_are_tensor_like_and_data_never_joins() -> None:
    built = LAYOUT.build(Degrees(tp=2, dp=2, moe=True))

    assert built.tensor_like == {"tp"}
    assert built.joins == {"tp", "pp", "ep"}


@pytest.mark.parametrize("name", ["cp", "dcp"])
def test_context_degrees_are_refused(name: str) -> None:
    with pytest.raises(LayoutRefusedError) as refused:
        LAYOUT.build(Degrees(**{name: 2}))  # type: ignore[arg-type]  # one of two fields by name

    assert refused.value.constraint == "unknown_degree"


@pytest.mark.parametrize(
    ("degrees", "more", "expected"),
    [
        pytest.param({"tp": 4, "ep": 2}, {}, {}, id="all divide"),
        pytest.param(
            {"tp": 6},
            {"intermediate_size": None, "expert_intermediate_size": None},
            {
                "attention_heads": "64 attention heads do not split evenly over 6 tensor ranks",
                "kv_heads": "8 KV heads are neither a multiple nor a divisor of 6 tensor ranks",
            },
            id="heads",
        ),
        pytest.param({"pp": 2}, {}, {"layers": "61 layers do not split evenly over 2 stages"}, id="layers"),
        pytest.param({"ep": 3}, {}, {"experts": "256 experts do not split evenly over 3 expert ranks"}, id="experts"),
        pytest.param(
            {"tp": 8},
            {"expert_intermediate_size": 2044},
            {"expert_width": "expert width 2044 does not split evenly over 8 ranks"},
            id="expert width",
        ),
        pytest.param(
            {"tp": 8},
            {"expert_intermediate_size": 1536},
            {"quantisation_block": "expert width 1536 over 8 ranks is 192, not a multiple of the block of 128"},
            id="block",
        ),
    ],
)
def test_a_model_must_split_evenly(degrees: dict[str, Any], more: dict[str, Any], expected: dict[str, str]) -> None:
    assert failed(LAYOUT.divisibility(model(**more), Degrees(**degrees, moe=True), 128)) == expected


def test_experts_on_a_dense_model_fail() -> None:
    checks = LAYOUT.divisibility(dense(), Degrees(ep=2), None)

    assert failed(checks) == {"experts": "ep 2 needs experts, and the model is dense"}


def test_copied_kv_heads_are_a_notice() -> None:
    checks = LAYOUT.divisibility(model(), Degrees(tp=16, moe=True), None)

    assert notices(checks) == {"kv_heads": "each KV head is held 2 times"}


def test_latent_attention_ignores_kv_heads_and_says_how_often_it_is_held() -> None:
    checks = LAYOUT.divisibility(model(attention="mla", kv_heads=3), Degrees(tp=8, moe=True), None)

    assert failed(checks) == {}
    assert notices(checks) == {"kv_heads": "the KV cache is held 8 times in a tensor group"}


def test_seats_fill_nodes_in_order_and_say_when_they_are_too_few() -> None:
    seats = LAYOUT.seats(Degrees(tp=3), Launch(nnodes=1, gpus_per_node=2))

    assert seats.seats == (
        {"rank": 0, "node": 0, "device": 0},
        {"rank": 1, "node": 0, "device": 1},
        {"rank": 2, "node": 1, "device": 0},
    )
    assert seats.dangers == ("3 ranks need 2 nodes of 2 devices; 1 given",)
    assert LAYOUT.seats(Degrees(tp=3), Launch(gpus_per_node=2)).dangers == ()
