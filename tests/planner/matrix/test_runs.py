"""What is run on every candidate: points, caches, samples, repeats, traces, soak, faults and quality."""

from fractions import Fraction
from typing import Any

import pytest

from planner.figures import number
from planner.matrix import benchmark_matrix
from planner.matrix.runs import MOST_FAULTS, MOST_POINTS
from planner.records.matrix import Matrix
from tests.planner.documents import contract
from tests.planner.matrix.contracts import BECAUSE, DENSE_70B, a_matrix

WORKLOAD = "/identity/workload"
POINTS = f"{WORKLOAD}/load_points"


def latency(statistic: str) -> dict[str, Any]:
    return {"tail": {"load_point": "saturated", "statistic": statistic, "max_ms": 500, "because": BECAUSE}}


def test_points_come_single_then_saturated_then_by_name() -> None:
    matrix = a_matrix(
        (f"{POINTS}/busy-10", {"arrival": "closed", "concurrent_requests": 10}),
        (f"{POINTS}/busy-2", {"arrival": "closed", "concurrent_requests": 2}),
    )
    assert list(matrix.runs) == ["single", "saturated", "busy-2", "busy-10"]


def test_what_no_limit_reads_is_optional() -> None:
    runs = a_matrix().runs
    assert {name: run.required for name, run in runs.items()} == {"single": False, "saturated": True}
    assert runs["saturated"].because == ("gates.throughput.floor", "selection")


@pytest.mark.parametrize(
    ("statistic", "samples"),
    [
        pytest.param("p50", 640, id="ten rounds of 64 are more than a median needs"),
        pytest.param("p95", 640, id="p95 needs 10 / 0.05 = 200"),
        pytest.param("p99", 1000, id="p99 needs 10 / 0.01 = 1,000"),
        pytest.param("p99_9", 10000, id="p99.9 needs 10 / 0.001 = 10,000"),
    ],
)
def test_a_window_has_the_samples_that_its_statistics_need(statistic: str, samples: int) -> None:
    assert a_matrix(("/gates/ttft", latency(statistic))).runs["saturated"].requests == samples


def test_a_point_of_one_request_has_ten_and_two_windows() -> None:
    run = a_matrix().runs["single"]
    assert (run.requests, run.warmup_requests, run.repeats) == (10, 2, 2)


def test_time_is_reckoned_from_the_floor() -> None:
    """640 requests of 256 tokens at 1,000 tokens/s are 163.84 s a window, 327.68 s in two."""
    run = a_matrix().runs["saturated"]
    assert number(run.seconds) == Fraction(64 * 2560 * 2, 1000)


def test_a_cost_is_devices_times_time_times_price() -> None:
    matrix = a_matrix(model=DENSE_70B)
    cell = next(cell for cell in matrix.cells if cell.run == "saturated")
    candidate = matrix.candidates[cell.candidate]
    hours = Fraction(32768, 100) / 3600
    assert number(cell.device_hours) == hours * candidate.charged_devices
    assert number(cell.usd) == hours * 3 * candidate.charged_devices


def test_a_window_that_steady_state_counts_lasts_as_long_as_it_asks() -> None:
    steady = {"settled": {"load_point": "saturated", "min_window_s": 600, "because": BECAUSE}}
    run = a_matrix(("/gates/steady_state", steady)).runs["saturated"]
    assert number(run.min_s) == 600
    assert run.requests == -(-600 * 1000 // 256)


def test_a_cache_that_is_on_is_measured_warm_and_cold() -> None:
    cache = (f"{WORKLOAD}/prefix_cache", {"policy": "on", "expected_hit_share": 0.3})
    runs = a_matrix(cache).runs
    assert [name for name in runs if name.startswith("saturated")] == ["saturated/warm", "saturated/cold"]
    assert runs["saturated/warm"].cache == "warm"


def test_what_only_traces_show_has_a_run_of_its_own() -> None:
    runs = benchmark_matrix(contract(name="late-rank")).runs
    traced = runs["saturated/trace"]
    assert (traced.kind, traced.required, traced.repeats) == ("instrumented", True, 1)
    assert traced.because[:2] == ("gates.communication_share.waiting", "gates.straggler.own_work")


def test_only_so_many_points_are_planned_and_the_rest_is_counted() -> None:
    many = {f"at-{index}": {"arrival": "closed", "concurrent_requests": index + 1} for index in range(40)}
    points = {"saturated": {"arrival": "closed", "concurrent_requests": 64}, **many}
    matrix = a_matrix((POINTS, points))
    planned = {run.load_point for run in matrix.runs.values()}
    assert len(planned) == MOST_POINTS
    assert "saturated" in planned
    assert any(note.startswith("17 of 41 load points have no run here") for note in matrix.notes)


def faults(matrix: Matrix) -> dict[str, str]:
    return {name: run.injection.kind for name, run in matrix.runs.items() if run.injection is not None}


def test_faults_are_those_that_the_contract_asks_for() -> None:
    assert not faults(a_matrix())
    found = benchmark_matrix(contract(name="blast-radius"))
    assert faults(found) == {"fault/rank_loss/saturated": "rank_loss", "fault/node_loss/node/saturated": "node_loss"}
    steps = found.runs["fault/node_loss/node/saturated"].injection
    assert steps is not None
    assert (steps.domain_kind, bool(steps.steps), bool(steps.criterion)) == ("node", True, True)
    assert len(faults(found)) <= MOST_FAULTS


def test_a_candidate_without_groups_has_no_fault_of_a_group() -> None:
    matrix = benchmark_matrix(contract(name="blast-radius"))
    alone = {name for name, each in matrix.candidates.items() if each.ranks == each.serving_groups}
    assert not [cell for cell in matrix.cells if cell.candidate in alone and cell.run.startswith("fault/rank_loss")]


def test_every_fault_that_sections_speak_of_is_a_run_with_its_steps() -> None:
    recovery = {
        "timeout_s": 30,
        "on_rank_loss": "restart_group",
        "in_flight_requests": "retry_elsewhere",
        "drain": "drain",
        "admission_control": "router",
        "load_shedding": "router",
    }
    matrix = a_matrix(
        ("/recovery", recovery),
        ("/needs", {"isolation": {"nodes_lost_to_survive": 1, "because": BECAUSE}}),
        ("/stress", {"slow_rank_added_share": 0.2, "slow_link_time_factor": 2}),
        model=DENSE_70B,
        nodes=2,
    )
    kinds = ("rank_loss", "drain", "node_loss", "slow_rank", "slow_link")
    assert sorted(faults(matrix).values()) == sorted(kinds)
    for run in matrix.runs.values():
        if run.injection is not None:
            assert (run.required, len(run.injection.steps) > 1) == (False, True)
            assert run.injection.criterion.startswith("on rank loss restart_group after at most 30 s")
