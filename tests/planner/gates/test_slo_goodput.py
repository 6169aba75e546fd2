"""The share of requests within all their ceilings."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters

LIMIT = {"load_point": "saturated", "min_good_share": 0.9, "ttft_ms": 500, "e2e_ms": 5000}
CEILINGS = {"ttft_ms": 500, "e2e_ms": 5000}


def good(first: int | None, second: int = 210, ceilings: Any = CEILINGS) -> tuple[Change, ...]:
    return (
        ("/windows/w1/load/requests/good", first),
        ("/windows/w1/load/good_if", ceilings),
        ("/windows/w2/load/requests/good", second),
        ("/windows/w2/load/good_if", CEILINGS),
    )


CASES = [
    Case(
        name="to the request",
        gate="goodput",
        outcome="PASS",
        limit=LIMIT,
        trial=good(180),
        sentence="0.900 of the requests met every ceiling at saturated in window w1; at least 0.900.",
        also={
            "measured": 0.9,
            "margin": 0,
            "unit": "share",
            "limit_at": "/gates/goodput/limit/min_good_share",
            "worst": {"window": "w1"},
        },
    ),
    Case(
        name="one request short",
        gate="goodput",
        outcome="FAIL",
        limit=LIMIT,
        trial=good(179),
        sentence="0.895 of the requests met every ceiling at saturated in window w1; at least 0.900.",
    ),
    Case(
        name="refused requests count against",
        gate="goodput",
        outcome="FAIL",
        limit=LIMIT,
        trial=(
            *good(180),
            ("/windows/w1/load/requests/sent", 201),
            ("/windows/w1/load/requests/failed", 1),
        ),
        sentence="0.896 of the requests met every ceiling at saturated in window w1; at least 0.900.",
    ),
    Case(
        name="counted with another ceiling",
        gate="goodput",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=good(200, ceilings={"ttft_ms": 900, "e2e_ms": 5000}),
        sentence="1.000 of the requests met every ceiling at saturated in window w1; at least 0.900. "
        "Good was counted with ttft_ms 900.",
        also={"missing": ("/trials/t/windows/w1/load/good_if/ttft_ms",)},
    ),
    Case(
        name="counted without one of the ceilings",
        gate="goodput",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=good(200, ceilings={"ttft_ms": 500}),
        sentence="1.000 of the requests met every ceiling at saturated in window w1; at least 0.900. "
        "Good was counted with e2e_ms not used.",
    ),
    Case(
        name="what made a request good is not recorded",
        gate="goodput",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=(*good(200), ("/windows/w1/load/good_if", ABSENT)),
        sentence="1.000 of the requests met every ceiling at saturated in window w1; at least 0.900. "
        "What made a request good is not recorded.",
    ),
    Case(
        name="not counted",
        gate="goodput",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=good(None),
        sentence="Requests sent and good are not recorded in window w1.",
        also={"missing": ("/trials/t/windows/w1/load/requests/good",)},
    ),
    Case(
        name="no counted window",
        gate="goodput",
        outcome="UNKNOWN",
        limit=LIMIT | {"load_point": "open"},
        sentence="No counted window at open.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
