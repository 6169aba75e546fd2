"""A hot expert rank, a slow stage, a slow rank."""

from typing import Any

import pytest

from planner.stress.base import NotInjectable
from tests.planner.factories import NO_CHANGE, Changes
from tests.planner.stress.cases import cell, differences, fault, injected, limits, original, summary, traced

AT = {"load_point": "saturated"}
EXPERTS = (("/topology/instances/0", {"tp": 1, "pp": 1, "ep": 4, "dp": 1, "world_size": 4}),)
MOE = (
    (
        "/identity/model",
        {
            "name": "moe",
            "revision": "r1",
            "architecture": "moe",
            "layers": 32,
            "attention_heads": 32,
            "kv_heads": 8,
            "experts": 8,
            "experts_per_token": 2,
            "shared_experts": 0,
            "expert_intermediate_size": 1024,
        },
    ),
)


def tokens(*by_rank: int | None, by_expert: list[int] | None = None) -> Changes:
    """Return one layer's tokens in a trial of four expert ranks."""
    layer: dict[str, Any] = {"tokens_by_rank": list(by_rank)}
    if by_expert is not None:
        layer["tokens_by_expert"] = by_expert
    load = {"phase": "mixed", "interval_s": 1, "layers": {"l0": layer}}
    return Changes(contract=MOE, trial=(*EXPERTS, traced(experts={"all": load})))


def layer_of(tree: Any) -> Any:
    return tree["windows"]["trace"]["experts"]["all"]["layers"]["l0"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param((100, 100, 100, 100), (200, 66, 67, 67), id="even: the first"),
        pytest.param((100, 160, 80, 60), (83, 201, 66, 50), id="uneven: the hottest, the others in proportion"),
    ],
)
def test_the_hottest_rank_gets_twice_the_mean_and_the_sum_stays(
    before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    found = layer_of(injected("hot_expert", None, tokens(*before)))["tokens_by_rank"]
    assert sum(found) == sum(before)
    assert max(found) >= 2 * sum(before) / 4
    assert found.index(max(found)) == after.index(max(after))


def test_tokens_by_expert_move_alike() -> None:
    changes = tokens(100, 100, 100, 100, by_expert=[50] * 8)
    found = layer_of(injected("hot_expert", None, changes))["tokens_by_expert"]
    assert (max(found) // 50, sum(found)) == (2, 400)


def test_a_hot_expert_is_caught_by_its_limit() -> None:
    gates = limits(expert_balance={**AT, "max_rank_over_mean": 1.5})
    found = cell("hot_expert", gates, tokens(100, 100, 100, 100))
    assert (found.result, found.gate, found.before, found.intended) == ("CAUGHT", "expert_balance", 1, True)
    assert cell("hot_expert", None, tokens(100, 100, 100, 100)).result == "NOT_DECLARED"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(NO_CHANGE, "No expert group has more than one rank.", id="no expert group"),
        pytest.param(tokens(1, 1, None, 1), "No layer records tokens of every rank that could move.", id="a gap"),
        pytest.param(tokens(0, 0, 0, 0), "No layer records tokens of every rank that could move.", id="no tokens"),
        pytest.param(
            tokens(9, 1, 1, 1), "No layer records tokens of every rank that could move.", id="hotter than that already"
        ),
    ],
)
def test_tokens_that_can_not_move_say_why(changes: Changes, sentence: str) -> None:
    assert fault("hot_expert", None, changes)[1] == NotInjectable(sentence=sentence)


STAGES = Changes(
    trial=(
        traced(
            stages={"p": {"busy_ms": [8, 10], "cycle_ms": 12}},
            per_rank={"step_ms": {"values": [20] * 4}, "collective_wait_ms": {"values": [4, 4, 0, 0]}},
        ),
    )
)


def test_the_slowest_stage_gets_slower_and_the_others_wait_for_it() -> None:
    assert differences(original(STAGES), injected("stage_bubble", None, STAGES)) == {
        "/windows/trace/stages/p/busy_ms/1": (10, 13),
        "/windows/trace/stages/p/cycle_ms": (12, 15),
        **{f"/windows/trace/per_rank/step_ms/values/{rank}": (20, 25) for rank in range(4)},
        **{f"/windows/trace/per_rank/collective_wait_ms/values/{rank}": (4, 9) for rank in (0, 1)},
    }


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param({"min_balance": 0.85}, "CAUGHT", id="a floor above what is left"),
        pytest.param({"min_balance": 0.8}, "WITHIN_LIMIT", id="a floor below it"),
        pytest.param({"max_idle_share": 0.4}, "CAUGHT", id="a ceiling of idling"),
    ],
)
def test_a_bubble_is_caught_by_its_limit(limit: dict[str, float], expected: str) -> None:
    found = cell("stage_bubble", limits(stage_balance={**AT, **limit}), STAGES)
    assert (found.result, found.gate) == (expected, "stage_balance")


@pytest.mark.parametrize("busy", [[8, None], [0, 0]], ids=["a gap", "idle"])
def test_stages_that_are_not_recorded_say_so(busy: list[int | None]) -> None:
    changes = Changes(trial=(traced(stages={"p": {"busy_ms": busy}}),))
    assert fault("stage_bubble", None, changes)[1] == NotInjectable(
        sentence="No busy times of several pipeline stages are recorded."
    )


SLOW = Changes(
    trial=(
        traced(
            per_rank={
                "step_ms": {"values": [20] * 4},
                "collective_wait_ms": {"values": [4, 2, 4, 4]},
                "collective_move_ms": {"values": [2] * 4},
                "arrival_lag_ms": {"values": [0, 1, 0, 0]},
            }
        ),
    )
)


def test_a_slow_rank_works_longer_and_its_group_waits() -> None:
    assert differences(original(SLOW), injected("slow_rank", None, SLOW)) == {
        **{f"/windows/trace/per_rank/step_ms/values/{rank}": (20, 24) for rank in range(4)},
        **{f"/windows/trace/per_rank/collective_wait_ms/values/{rank}": (4, 8) for rank in (0, 2, 3)},
        "/windows/trace/per_rank/arrival_lag_ms/values/1": (1, 5),
    }


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param({"max_over_median": 1.15}, "CAUGHT", id="over the median"),
        pytest.param({"max_over_median": 1.2}, "WITHIN_LIMIT", id="just under the ceiling"),
        pytest.param({"max_arrival_lag_ms": 4}, "CAUGHT", id="arrival lag"),
    ],
)
def test_a_slow_rank_is_caught_by_its_limit(limit: dict[str, float], expected: str) -> None:
    found = cell("slow_rank", limits(straggler={**AT, **limit}), SLOW)
    assert (found.result, found.gate) == (expected, "straggler")


def test_a_limit_of_the_whole_step_time_is_no_help_against_a_slow_rank() -> None:
    assert summary(cell("slow_rank", None, SLOW)) == ("NOT_DECLARED", None, None, None)


def test_without_steps_there_is_no_rank_to_slow() -> None:
    assert fault("slow_rank")[1] == NotInjectable(sentence="No step is recorded for a rank that serves with others.")
