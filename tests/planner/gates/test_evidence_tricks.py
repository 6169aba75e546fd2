"""Evidence that looks like more than it is: copied windows, windows of another day, links and totals nobody counted."""

import copy
from typing import Any

import pytest

from tests.planner.factories import BECAUSE, FLOOR, SATURATED, Changes, a_load, a_trial, a_window, judged, limit_outcome

REPEATS = (("/steady_state", {"min_repeats": 2}),)
FULL_CROSSING = (("/topology/instances/0", {"tp": 4, "pp": 1, "ep": 1, "dp": 1, "world_size": 4}),)
THROUGHPUT = {"throughput": {"limit": FLOOR}}


def window(minute: int, **changes: Any) -> dict[str, Any]:
    load = a_load(completed=200, e2e_mean=3900, ttft=(336, 400), tpot=36)
    return a_window(minute, load, peaks_gib=[50, 51, 52, 53], sent_bytes=5 * 10**9) | changes


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({}, id="the same window again"),
        pytest.param({"start": "2026-10-01T12:11:00Z", "end": "2026-10-01T12:12:40Z"}, id="overlapping"),
        pytest.param({"start": "2026-10-01T12:10:20Z", "end": "2026-10-01T12:11:00Z"}, id="one inside the other"),
    ],
)
def test_windows_that_overlap_in_time_are_one_repeat(second: dict[str, Any]) -> None:
    windows = {"w1": window(10), "w2": window(10, **second)}
    found = judged(THROUGHPUT, Changes(contract=REPEATS, trial=(("/windows", windows),)))

    assert "throughput" in found.unknown
    assert "1 of 2 counted windows at saturated. Windows that overlap in time count once." in (
        found.gates["throughput"].limits["limit"].notes
    )


def test_windows_that_touch_are_two_repeats() -> None:
    windows = {"w1": window(10), "w2": window(11, start="2026-10-01T12:11:40Z", end="2026-10-01T12:13:20Z")}
    assert judged(THROUGHPUT, Changes(contract=REPEATS, trial=(("/windows", windows),))).state == "ELIGIBLE"


@pytest.mark.parametrize(
    ("purpose", "name"),
    [("counted", "the counted window"), ("warmup", "the warm-up"), ("injection", "the injection")],
)
def test_a_counted_window_with_another_run_inside_is_not_steady(purpose: str, name: str) -> None:
    other = window(11, purpose=purpose, load_point="open")
    found = limit_outcome("steady_state", {"load_point": SATURATED}, Changes(trial=(("/windows/other", other),)))

    assert (found.outcome, found.sentence) == ("UNKNOWN", f"Window w1 overlaps {name} other.")


def test_a_crossing_measured_after_the_as_of_time_is_not_fresh() -> None:
    other = window(10, load_point="open", start="2099-01-01T12:10:00Z", end="2099-01-01T12:11:40Z")
    other["per_rank"]["collective_move_ms"] = {"scope": "rank", "values": [1, 1, 1, 1]}
    rule = {"rule": "allowed_if_measured", "load_point": "open", "because": BECAUSE}
    gates = THROUGHPUT | {"tensor_locality": {"limit": rule}}
    found = judged(gates, Changes(trial=(*FULL_CROSSING, ("/windows/other", other))))

    assert found.unknown == ("tensor_locality", "freshness")
    assert found.gates["freshness"].limits["always"].measured_at == ("/trials/t/windows/other/end",)


@pytest.mark.parametrize("purpose", ["instrumented", "soak"])
def test_a_trace_after_the_as_of_time_is_not_fresh(purpose: str) -> None:
    trace = window(10, purpose=purpose, start="2099-01-01T12:10:00Z", end="2099-01-01T12:11:40Z")
    trace["per_rank"] = {
        name: {"scope": "rank", "values": [value] * 4} for name, value in (("step_ms", 10), ("collective_ms", 1))
    }
    share = {"load_point": SATURATED, "part": "total", "max_share": 0.5, "because": BECAUSE}
    found = judged(THROUGHPUT | {"communication_share": {"limit": share}}, Changes(trial=(("/windows/trace", trace),)))

    assert "freshness" in found.unknown
    assert found.gates["freshness"].limits["always"].sentence == (
        "Window trace ends 2099-01-01T12:11:40Z, after the as-of time."
    )


def test_a_trace_that_no_limit_reads_ages_nothing() -> None:
    trace = window(10, purpose="instrumented", start="2099-01-01T12:10:00Z", end="2099-01-01T12:11:40Z")
    assert judged(THROUGHPUT, Changes(trial=(("/windows/trace", trace),))).state == "ELIGIBLE"


@pytest.mark.parametrize(
    "counters", [{}, {"mixed": {}}, {"mixed": {"peak_tx_bytes": 5}}], ids=["no phase", "no counter", "one direction"]
)
def test_a_link_without_counters_measures_no_crossing(counters: dict[str, Any]) -> None:
    trial = copy.deepcopy(a_trial())
    for each in trial["windows"].values():
        each["per_rank"]["collective_move_ms"] = {"scope": "rank", "values": [1, 1, 1, 1]}
        each["links"] = {"a-up": counters, "b-up": counters}
    changes = Changes(trial=(*FULL_CROSSING, ("/windows", trial["windows"])))
    found = limit_outcome("tensor_locality", {"rule": "allowed_if_measured"}, changes)

    assert found.outcome == "UNKNOWN"
    assert set(found.missing) == {"/trials/t/windows/w1/links", "/trials/t/windows/w2/links"}


@pytest.mark.parametrize(
    ("reported", "sizes"),
    [
        pytest.param([], "no group", id="no group at all"),
        pytest.param([[0], [1], [2], [3]], "4 groups of 1 rank", id="every rank alone"),
        pytest.param([[0, 1], [2, 3]], "2 groups of 2 ranks", id="halves"),
        pytest.param([[0, 1, 2]], "1 group of 3 ranks", id="one rank left out"),
    ],
)
def test_reported_groups_of_other_sizes_than_the_degrees_hide_no_crossing(
    reported: list[list[int]], sizes: str
) -> None:
    gates = {"tensor_locality": {"limit": {"rule": "inside_island", "because": BECAUSE}}}
    found = judged(gates, Changes(trial=(*FULL_CROSSING, ("/topology/process_groups", {"tp": reported}))))

    assert found.failing == ("rank_count",)
    assert found.gates["tensor_locality"].outcome == "UNKNOWN"
    assert f"tp: the engine reports {sizes}; the degrees give 1 group of 4 ranks" in (
        found.gates["rank_count"].limits["always"].sentence
    )


def test_more_output_than_the_declared_length_allows_is_no_throughput() -> None:
    changes = tuple(
        (f"/windows/{name}/load/{field}", value)
        for name in ("w1", "w2")
        for field, value in (("output_tokens_total", 10**9), ("output_tokens_mean", None))
    )
    found = judged(THROUGHPUT, Changes(trial=changes))

    assert found.unknown == ("consistency", "throughput")
    assert "1,000,000,000 output tokens; 200 requests of at most 100 tokens give 20,000." in (
        found.gates["consistency"].limits["always"].sentence
    )
