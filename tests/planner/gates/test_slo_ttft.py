"""TTFT at the boundary and on both sides of it, and every way in which a figure answers nothing."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

LOAD = "/windows/w1/load"
AT = "/trials/t/windows/w1/load"


def ceiling(max_ms: float, statistic: str = "p95", **more: Any) -> dict[str, Any]:
    return {"load_point": "saturated", "statistic": statistic, "max_ms": max_ms, **more}


OPEN = (("/windows/w1/load_point", "open"), ("/windows/w2/load_point", "open"))
HISTOGRAM = tuple((f"/windows/{window}/load/quantile_method", "histogram_upper") for window in ("w1", "w2"))

CASES = [
    Case(
        name="under the ceiling, worst window named",
        gate="ttft",
        outcome="PASS",
        limit=ceiling(500),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 500 ms.",
        also={
            "measured": 400,
            "comparator": "<=",
            "limit": 500,
            "unit": "ms",
            "margin": 100,
            "margin_share": 0.2,
            "worst": {"window": "w1"},
            "measured_at": (f"{AT}/ttft_ms/p95", f"{AT}/ttft_ms/n"),
            "limit_at": "/gates/ttft/limit/max_ms",
            "missing": (),
            "because": "A reason.",
        },
    ),
    Case(
        name="exactly at the ceiling",
        gate="ttft",
        outcome="PASS",
        limit=ceiling(400),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 400 ms.",
        also={"margin": 0},
    ),
    Case(
        name="the smallest written step above the ceiling",
        gate="ttft",
        outcome="FAIL",
        limit=ceiling(400),
        trial=((f"{LOAD}/ttft_ms/p95", 400.0001),),
        sentence="TTFT p95 at saturated is 400.0001 ms in window w1; at most 400 ms.",
        also={"margin": -0.0001},
    ),
    Case(
        name="statistic not recorded",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500),
        trial=((f"{LOAD}/ttft_ms/p95", None),),
        sentence="TTFT p95 at saturated is not recorded in window w1.",
        also={"missing": (f"{AT}/ttft_ms/p95",), "would": None},
    ),
    Case(
        name="latency not recorded at all",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500),
        trial=((f"{LOAD}/ttft_ms", ABSENT),),
        sentence="TTFT p95 at saturated is not recorded in window w1.",
        also={"missing": (f"{AT}/ttft_ms/p95", f"{AT}/ttft_ms/n")},
    ),
    Case(
        name="one window fails whatever is missing in the other",
        gate="ttft",
        outcome="FAIL",
        limit=ceiling(390),
        trial=(("/windows/w2/load/ttft_ms", ABSENT),),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 390 ms.",
    ),
    Case(
        name="one request short of the samples that p95 needs",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500),
        trial=((f"{LOAD}/ttft_ms/n", 199),),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 500 ms. n = 199, p95 needs 200.",
        also={"missing": (f"{AT}/ttft_ms/n",)},
    ),
    Case(
        name="the contract needs fewer samples beyond the percentile",
        gate="ttft",
        outcome="PASS",
        limit=ceiling(500),
        contract=(("/comparison", {"min_samples_beyond_percentile": 5}),),
        trial=((f"{LOAD}/ttft_ms/n", 199),),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 500 ms.",
    ),
    Case(
        name="mean with fewer than 20 requests",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500, "mean"),
        trial=((f"{LOAD}/ttft_ms/n", 19), (f"{LOAD}/requests/completed", ABSENT)),
        sentence="TTFT mean at saturated is 336 ms in window w1; at most 500 ms. n = 19, mean needs 20.",
    ),
    Case(
        name="a maximum seen passes no ceiling",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(800, "max"),
        sentence="TTFT max at saturated is 700 ms in window w1; at most 800 ms. "
        "The largest seen is a lower bound of the largest there can be.",
    ),
    Case(
        name="a maximum seen fails a ceiling",
        gate="ttft",
        outcome="FAIL",
        limit=ceiling(600, "max"),
        sentence="TTFT max at saturated is 700 ms in window w1; at most 600 ms.",
    ),
    Case(
        name="the upper edge of a bucket passes",
        gate="ttft",
        outcome="PASS",
        limit=ceiling(500),
        trial=HISTOGRAM,
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 500 ms.",
    ),
    Case(
        name="the upper edge of a bucket fails nothing",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(390),
        trial=HISTOGRAM,
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 390 ms. "
        "The edge of a histogram bucket is an upper bound.",
    ),
    Case(
        name="no counted window at the load point",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500) | {"load_point": "open"},
        sentence="No counted window at open.",
        also={"missing": ("/trials/t/windows",)},
    ),
    Case(
        name="fewer windows than the contract needs",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500),
        contract=(("/steady_state", {"min_repeats": 3}),),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 500 ms. 2 of 3 counted windows at saturated.",
        also={"missing": ("/trials/t/windows",)},
    ),
    Case(
        name="open loop without the start of the clock",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500) | {"load_point": "open"},
        trial=OPEN,
        sentence="TTFT p95 at open is 400 ms in window w1; at most 500 ms. "
        "Open loop, and the start of the clock is not recorded.",
        also={"missing": (f"{AT}/ttft_from", "/trials/t/windows/w2/load/ttft_from")},
    ),
    Case(
        name="open loop from the scheduled time",
        gate="ttft",
        outcome="PASS",
        limit=ceiling(500) | {"load_point": "open"},
        trial=(*OPEN, (f"{LOAD}/ttft_from", "scheduled"), ("/windows/w2/load/ttft_from", "scheduled")),
        sentence="TTFT p95 at open is 400 ms in window w1; at most 500 ms.",
    ),
    Case(
        name="open loop from the real send is a lower bound",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500) | {"load_point": "open"},
        trial=(*OPEN, (f"{LOAD}/ttft_from", "send"), ("/windows/w2/load/ttft_from", "scheduled")),
        sentence="TTFT p95 at open is 400 ms in window w1; at most 500 ms. "
        "Counted from the real send, late sends are left out: a lower bound.",
    ),
    Case(
        name="broken identity of a field it reads",
        gate="ttft",
        outcome="UNKNOWN",
        limit=ceiling(500),
        trial=((f"{LOAD}/ttft_ms/p50", 450),),
        sentence="TTFT p95 at saturated is 400 ms in window w1; at most 500 ms. ttft_ms p50 450 is above p95 400.",
        also={"would": "PASS"},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
