"""Long tails and a low rate: what moves, what stays, and that no identity breaks."""

from dataclasses import replace
from typing import Any

import pytest

from planner.stress.base import Injected, NotInjectable
from tests.planner.documents import ABSENT
from tests.planner.factories import Changes
from tests.planner.stress.cases import cell, differences, fault, injected, limits, original, summary

AT = {"load_point": "saturated"}
P99 = Changes(trial=tuple((f"/windows/{window}/load/ttft_ms/p99", 600) for window in ("w1", "w2")))
RATES: dict[str, Any] = {
    "requests_per_s": {"value": 2, "scope": "deployment"},
    "output_tokens_per_s": {"value": 50, "scope": "device"},
}
STATED = Changes(trial=tuple((f"/windows/w1/load/{name}", rate) for name, rate in RATES.items()))


def ttft(statistic: str, most: float) -> dict[str, Any]:
    return limits(ttft={**AT, "statistic": statistic, "max_ms": most})


def broken(name: str, changes: Changes) -> list[str]:
    """Return the identities that the injected copy breaks."""
    view, found = fault(name, None, changes)
    assert isinstance(found, Injected)
    copy = replace(view, trial=found.trial)
    return [check.sentence for checks in copy.checks.values() for check in checks if not check.holds]


def test_tails_grow_by_half_the_p99_and_the_middle_stays() -> None:
    found = differences(original(P99)["windows"]["w1"], injected("tail_latency", None, P99)["windows"]["w1"])
    assert found == {
        "/load/ttft_ms/p95": (400, 700),
        "/load/ttft_ms/p99": (600, 900),
        "/load/ttft_ms/max": (700, 1000),
        "/load/e2e_ms/p95": (4200, 4500),
        "/load/e2e_ms/max": (5000, 5300),
    }


def test_tails_of_request_shapes_grow_with_them() -> None:
    shape = {"requests": 50, "ttft_ms": {"n": 50, "p50": 300, "p95": 450}}
    declared = ("/identity/workload/request_shapes", {"long": {"min_prompt_tokens": 1000}})
    changes = Changes(
        contract=(declared,),
        trial=(*P99.trial, *((f"/windows/{w}/load/shapes", {"long": shape}) for w in ("w1", "w2"))),
    )
    assert injected("tail_latency", None, changes)["windows"]["w1"]["load"]["shapes"]["long"]["ttft_ms"] == {
        "n": 50,
        "p50": 300,
        "p95": 750,
    }


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param(ttft("p95", 500), ("CAUGHT", "ttft", 400, 700), id="p95 within before"),
        pytest.param(ttft("p95", 700), ("WITHIN_LIMIT", "ttft", 400, 700), id="at the limit"),
        pytest.param(ttft("p95", 390), ("MASKED", "ttft", 400, 700), id="too slow before"),
        pytest.param(ttft("p50", 500), ("NOT_DECLARED", None, None, None), id="only the median is limited"),
        pytest.param(None, ("NOT_DECLARED", None, None, None), id="no latency is limited"),
    ],
)
def test_a_long_tail_is_caught_by_a_limit_of_the_tail_alone(
    gates: dict[str, Any] | None, expected: tuple[object, ...]
) -> None:
    assert summary(cell("tail_latency", gates, P99)) == expected


def test_a_window_without_a_p99_gives_the_fault_no_size() -> None:
    assert fault("tail_latency")[1] == NotInjectable(sentence="No TTFT p99 is recorded.")


def test_rates_fall_while_counts_and_first_tokens_stay() -> None:
    found = injected("low_throughput", None, STATED)["windows"]["w1"]["load"]
    before = original(STATED)["windows"]["w1"]["load"]
    assert {name for name in before if before[name] != found[name]} == {
        "duration_s",
        "e2e_ms",
        "tpot_ms",
        "itl_ms",
        *RATES,
    }
    assert found["duration_s"] == 100 / 0.7
    assert found["e2e_ms"] == {"n": 200, "mean": 3900 / 0.7, "p50": 3600 / 0.7, "p95": 6000, "max": 5000 / 0.7}
    assert found["itl_ms"]["p99"] == 100
    assert (found["requests_per_s"]["value"], found["output_tokens_per_s"]["value"]) == (1.4, 35)


def test_tpot_takes_what_the_first_token_leaves_of_the_longer_request() -> None:
    found = injected("low_throughput")["windows"]["w1"]["load"]["tpot_ms"]
    assert found["mean"] == pytest.approx(36 * (3900 / 0.7 - 336) / (3900 - 336))


def test_windows_are_stretched_about_the_last_end_so_that_none_overlaps() -> None:
    found = injected("low_throughput")["windows"]
    assert [(found[name]["start"], found[name]["end"]) for name in ("w1", "w2")] == [
        ("2026-10-01T12:05:00Z", "2026-10-01T12:07:23Z"),
        ("2026-10-01T12:19:17Z", "2026-10-01T12:21:40Z"),
    ]


@pytest.mark.parametrize("name", ["tail_latency", "low_throughput", "memory_pressure", "saturated_link"])
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(P99, id="closed loop"),
        pytest.param(Changes(trial=(*P99.trial, *STATED.trial)), id="stated rates"),
        pytest.param(
            Changes(trial=(*P99.trial, *((f"/windows/{w}/load/in_flight_mean", 7.8) for w in ("w1", "w2")))),
            id="in flight",
        ),
        pytest.param(
            Changes(trial=(*P99.trial, ("/windows/w1/load/ttft_ms/mean", 3500), ("/windows/w1/load/tpot_ms/mean", 4))),
            id="first token late",
        ),
    ],
)
def test_no_identity_that_held_is_broken(name: str, changes: Changes) -> None:
    view, _ = fault(name, None, changes)
    before = [check.sentence for checks in view.checks.values() for check in checks if not check.holds]
    assert len(broken(name, changes)) == len(before)


@pytest.mark.parametrize("name", ["cross_node_tensor", "tail_latency", "low_throughput", "memory_pressure"])
def test_identities_of_a_copy_are_those_of_a_trial_that_was_never_changed(name: str) -> None:
    view, found = fault(name, None, P99)
    assert isinstance(found, Injected)
    assert view.with_trial(found.trial).checks == replace(view, trial=found.trial).checks


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        pytest.param(150, ("CAUGHT", "throughput"), id="above what is left"),
        pytest.param(139, ("WITHIN_LIMIT", "throughput"), id="below what is left"),
        pytest.param(250, ("MASKED", "throughput"), id="above what was measured"),
    ],
)
def test_a_low_rate_is_caught_by_a_floor(floor: float, expected: tuple[str, str]) -> None:
    found = cell("low_throughput", limits(throughput={**AT, "min_output_tokens_per_s": floor}))
    assert (found.result, found.gate) == expected


def test_what_only_a_gate_of_another_family_catches_is_said_to_be_outside() -> None:
    found = cell("low_throughput", limits(cost={**AT, "max_usd_per_million_output_tokens": 17}))
    assert (found.result, found.gate, found.intended) == ("CAUGHT", "cost", False)
    assert found.sentence.endswith("No limit of the family slo catches it.")


def test_a_gate_of_another_family_that_holds_leaves_the_hole() -> None:
    found = cell("low_throughput", limits(cost={**AT, "max_usd_per_million_output_tokens": 40}))
    assert found.result == "NOT_DECLARED"


def test_without_a_duration_there_is_no_rate_to_lower() -> None:
    changes = Changes(trial=tuple((f"/windows/{window}/load/duration_s", ABSENT) for window in ("w1", "w2")))
    assert fault("low_throughput", None, changes)[1] == NotInjectable(sentence="No duration is recorded.")


def test_a_figure_that_no_number_holds_is_not_written() -> None:
    changes = Changes(trial=tuple((f"/windows/{window}/load/e2e_ms/max", 1.7e308) for window in ("w1", "w2")))
    found = cell("low_throughput", None, changes)
    assert (found.result, found.sentence) == ("NOT_INJECTABLE", "A figure gets too large to be written.")
