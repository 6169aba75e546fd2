"""Counted windows that are no steady state: compiling, disturbed, too few, uneven, or ever further behind."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

NEVER = {"steady_state": {"FAIL"}}
"""Evidence without a steady state is UNKNOWN."""

W1 = "/trials/t/windows/w1"
STEADY = {"load_point": "saturated"}
OPEN = {"load_point": "open"}


def backlog(first: float, last: float | None) -> tuple[Change, ...]:
    """An open loop in w1 with this backlog in its first and its last third."""
    means = {"backlog_first_third_mean": first, "backlog_last_third_mean": last}
    return (("/windows/w1/load_point", "open"), *((f"/windows/w1/load/{name}", mean) for name, mean in means.items()))


def unsteady(*, limit: Mapping[str, Any] = STEADY, **parts: Any) -> Case:
    """One row of windows that are no steady state."""
    return Case(gate="steady_state", outcome="UNKNOWN", limit=limit, **parts)


CASES = [
    Case(
        name="quiet windows",
        gate="steady_state",
        outcome="PASS",
        limit=STEADY | {"max_spread_share": 0.05, "min_window_s": 100},
        sentence="2 counted windows at saturated, steady.",
    ),
    unsteady(
        name="compile events in a counted window",
        trial=(("/windows/w1/compile_events", 3),),
        sentence="3 compile events in window w1.",
    ),
    unsteady(
        name="other runs not recorded",
        trial=(("/windows/w1/concurrent_runs", None),),
        sentence="concurrent_runs is not recorded in window w1.",
        also={"missing": (f"{W1}/concurrent_runs",)},
    ),
    unsteady(
        name="rates too far apart",
        limit=STEADY | {"max_spread_share": 0.04},
        sentence="Output rates differ by 0.048 of the highest; at most 0.040.",
    ),
    unsteady(
        name="windows too short",
        limit=STEADY | {"min_window_s": 101},
        sentence="Window w1 is shorter than 101 s. Window w2 is shorter than 101 s.",
    ),
    unsteady(
        name="too few windows",
        contract=(("/steady_state", {"min_repeats": 3}),),
        sentence="2 of 3 counted windows at saturated.",
        also={"missing": ("/trials/t/windows",)},
    ),
    unsteady(
        name="no soak",
        limit=STEADY | {"min_soak_s": 3600},
        sentence="The longest soak at saturated is 0 s; at least 3600 s.",
    ),
    unsteady(
        name="warm-up inside a counted window",
        trial=(
            (
                "/windows/warm",
                {
                    "purpose": "warmup",
                    "load_point": "saturated",
                    "start": "2026-10-01T12:09:00Z",
                    "end": "2026-10-01T12:10:01Z",
                },
            ),
        ),
        sentence="Window w1 overlaps the warm-up warm.",
    ),
    Case(
        name="a backlog that does not grow",
        gate="steady_state",
        outcome="PASS",
        limit=OPEN,
        trial=backlog(20, 22),
        sentence="1 counted window at open, steady.",
    ),
    unsteady(
        name="a backlog that grows",
        limit=OPEN,
        trial=backlog(20, 22.5),
        sentence="The backlog of window w1 grows from 20 to 22.5 requests between its first and last third.",
    ),
    unsteady(
        name="a backlog out of nothing",
        limit=OPEN,
        trial=backlog(0, 3),
        sentence="The backlog of window w1 grows from 0 to 3 requests between its first and last third.",
    ),
    unsteady(
        name="a backlog that nobody recorded",
        limit=OPEN,
        trial=backlog(20, None),
        sentence="The backlog of window w1 is not recorded.",
        also={"missing": (f"{W1}/load/backlog_last_third_mean",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
