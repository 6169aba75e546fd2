"""The contract's ``stress`` section: known sizes within bounds, nothing else."""

from typing import Any

import pytest

from planner.intake import read_contract
from tests.planner.documents import changed, example, findings

LARGEST = {
    "memory_added_share": 100,
    "tail_added_share": 100,
    "rate_left_share": 1,
    "link_peak_utilization": 1,
    "slow_link_time_factor": 100,
    "slow_link_bandwidth_share": 1,
    "hot_rank_over_mean": 100,
    "slow_stage_factor": 100,
    "slow_rank_added_share": 100,
    "stale_after_max_age_s": 2**53 - 1,
}


def refused(stress: Any) -> list[tuple[str, str]]:
    tree = changed(example("worked", "contract"), ("/stress", stress))
    return [(code, pointer) for code, pointer, _, _ in findings(read_contract, tree)]


@pytest.mark.parametrize(
    "stress",
    [
        pytest.param({}, id="all left out"),
        pytest.param(LARGEST, id="the largest"),
        pytest.param({"rate_left_share": 0.01, "slow_stage_factor": 1.0, "memory_added_share": 0}, id="the smallest"),
    ],
)
def test_sizes_within_their_bounds_are_taken(stress: dict[str, Any]) -> None:
    assert refused(stress) == []


@pytest.mark.parametrize(
    ("stress", "expected"),
    [
        pytest.param({"memory_share": 1}, ("document/unknown_field", "/stress/memory_share"), id="no such size"),
        pytest.param([], ("document/type", "/stress"), id="a list"),
        pytest.param({"rate_left_share": 0}, ("document/range", "/stress/rate_left_share"), id="no rate left"),
        pytest.param({"slow_stage_factor": 0.9}, ("document/range", "/stress/slow_stage_factor"), id="a faster stage"),
        pytest.param({"hot_rank_over_mean": 101}, ("document/range", "/stress/hot_rank_over_mean"), id="too hot"),
        pytest.param({"tail_added_share": None}, ("document/type", "/stress/tail_added_share"), id="null"),
        pytest.param({"tail_added_share": True}, ("document/type", "/stress/tail_added_share"), id="true"),
    ],
)
def test_any_other_size_is_refused(stress: Any, expected: tuple[str, str]) -> None:
    assert refused(stress) == [expected]
