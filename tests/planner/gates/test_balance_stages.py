"""Pipeline stages: the slowest against the mean, and idle time."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

FLOOR = {"load_point": "saturated", "min_balance": 0.8}
IDLE = {"load_point": "saturated", "max_idle_share": 0.4}


def stages(*busy: float | None, **more: Any) -> tuple[Change, ...]:
    return tuple((f"/windows/{w}/stages", {"s0": {"busy_ms": list(busy), **more}}) for w in ("w1", "w2"))


CASES = [
    Case(
        name="to the share",
        gate="stage_balance",
        outcome="PASS",
        limit=FLOOR,
        trial=stages(6, 10),
        sentence="Stage 1 is slowest with 10 ms, mean 8 ms: balance 0.800 in window w1; at least 0.800. "
        "Stage 0 idles 0.400.",
        also={
            "measured": 0.8,
            "margin": 0,
            "comparator": ">=",
            "worst": {"window": "w1", "stages": "s0", "stage": "1"},
            "measured_at": ("/trials/t/windows/w1/stages/s0/busy_ms/1",),
            "limit_at": "/gates/stage_balance/limit/min_balance",
        },
    ),
    Case(
        name="a slower last stage",
        gate="stage_balance",
        outcome="FAIL",
        limit=FLOOR,
        trial=stages(5.9, 10),
        sentence="Stage 1 is slowest with 10 ms, mean 7.95 ms: balance 0.795 in window w1; at least 0.800. "
        "Stage 0 idles 0.410.",
    ),
    Case(
        name="idle share of the slowest stage's cycle",
        gate="stage_balance",
        outcome="PASS",
        limit=IDLE,
        trial=stages(6, 10),
        sentence="Stage 0 idles 0.400 of the cycle in window w1; at most 0.400. "
        "Stage 1 is slowest with 10 ms, mean 8 ms.",
        also={"comparator": "<="},
    ),
    Case(
        name="idle share of a recorded cycle",
        gate="stage_balance",
        outcome="FAIL",
        limit=IDLE,
        trial=stages(6, 10, cycle_ms=12),
        sentence="Stage 0 idles 0.500 of the cycle in window w1; at most 0.400. "
        "Stage 1 is slowest with 10 ms, mean 8 ms.",
    ),
    Case(
        name="a cycle shorter than a stage",
        gate="stage_balance",
        outcome="UNKNOWN",
        limit=IDLE,
        trial=stages(6, 10, cycle_ms=9),
        sentence="Stage times cannot be judged in window w1. cycle_ms is 9 ms, stage 1 is busy for 10 ms: a cycle is "
        "no shorter than its slowest stage.",
        also={
            "missing": (),
            "measured_at": tuple(
                f"/trials/t/windows/{w}/stages/s0/{field}" for w in ("w1", "w2") for field in ("cycle_ms", "busy_ms/1")
            ),
        },
    ),
    Case(
        name="a stage without a value",
        gate="stage_balance",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=stages(6, None),
        sentence="Stage times are not recorded in window w1.",
        also={"missing": tuple(f"/trials/t/windows/{w}/stages/s0/busy_ms/1" for w in ("w1", "w2"))},
    ),
    Case(
        name="fewer stages than the pipeline has",
        gate="stage_balance",
        outcome="UNKNOWN",
        limit=FLOOR,
        trial=stages(6),
        sentence="Stage times are not recorded in window w1. 1 of 2 stages are recorded.",
    ),
    Case(
        name="another phase than the limit's",
        gate="stage_balance",
        outcome="UNKNOWN",
        limit=FLOOR | {"phase": "decode"},
        trial=stages(6, 10),
        sentence="Stage times are not recorded in window w1. Only mixed is recorded.",
    ),
    Case(
        name="the phase of the limit",
        gate="stage_balance",
        outcome="PASS",
        limit=FLOOR | {"phase": "decode"},
        trial=stages(10, 10, phase="decode"),
        sentence="Stage 0 is slowest with 10 ms, mean 10 ms: balance 1.000 in window w1; at least 0.800. "
        "Stage 0 idles 0.000.",
    ),
    Case(
        name="not recorded",
        gate="stage_balance",
        outcome="UNKNOWN",
        limit=FLOOR,
        sentence="Stage times are not recorded in window w1.",
        also={"missing": ("/trials/t/windows/w1/stages", "/trials/t/windows/w2/stages")},
    ),
    Case(
        name="one stage",
        gate="stage_balance",
        outcome="NOT_APPLICABLE",
        limit=FLOOR,
        trial=(("/topology/instances/0/tp", 4), ("/topology/instances/0/pp", 1)),
        sentence="No pipeline has more than one stage.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
