"""Other tails and the output rate; what all tails share is in ``test_slo_ttft``."""

from typing import Any

import pytest

from planner.records.plan import Ratio
from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

LOAD = "/windows/w1/load"
AT = "/trials/t/windows/w1/load"


def ceiling(max_ms: float, statistic: str = "p95", **more: Any) -> dict[str, Any]:
    return {"load_point": "saturated", "statistic": statistic, "max_ms": max_ms, **more}


def floor(rate: float) -> dict[str, Any]:
    return {"load_point": "saturated", "min_output_tokens_per_s": rate}


TPOT = [
    Case(
        name="by the contract's definition",
        gate="tpot",
        outcome="PASS",
        limit=ceiling(40),
        sentence="TPOT p95 at saturated is 40 ms in window w1; at most 40 ms.",
    ),
    Case(
        name="above the ceiling",
        gate="tpot",
        outcome="FAIL",
        limit=ceiling(35, "mean"),
        sentence="TPOT mean at saturated is 36 ms in window w1; at most 35 ms.",
    ),
    Case(
        name="by another definition",
        gate="tpot",
        outcome="UNKNOWN",
        limit=ceiling(40, definition="e2e/n"),
        sentence="TPOT p95 at saturated is 40 ms in window w1; at most 40 ms. "
        'Recorded as "(e2e-ttft)/(n-1)"; the limit is for e2e/n.',
    ),
    Case(
        name="without a definition",
        gate="tpot",
        outcome="UNKNOWN",
        limit=ceiling(40),
        trial=((f"{LOAD}/tpot_ms/definition", ABSENT),),
        sentence="TPOT p95 at saturated is 40 ms in window w1; at most 40 ms. "
        "Recorded without a definition; the limit is for (e2e-ttft)/(n-1).",
        also={"missing": (f"{AT}/tpot_ms/definition",)},
    ),
]

ITL = [
    Case(
        name="per token",
        gate="itl",
        outcome="PASS",
        limit=ceiling(70, "p99"),
        sentence="ITL p99 at saturated is 70 ms in window w1; at most 70 ms.",
    ),
    Case(
        name="above the ceiling",
        gate="itl",
        outcome="FAIL",
        limit=ceiling(69.9, "p99"),
        sentence="ITL p99 at saturated is 70 ms in window w1; at most 69.9 ms.",
    ),
    Case(
        name="per chunk",
        gate="itl",
        outcome="UNKNOWN",
        limit=ceiling(80, "p99"),
        trial=((f"{LOAD}/itl_ms/definition", "per_chunk"),),
        sentence="ITL p99 at saturated is 70 ms in window w1; at most 80 ms. "
        'Recorded as "per_chunk"; the limit is for per_token.',
    ),
]

E2E = [
    Case(
        name="under the ceiling",
        gate="e2e",
        outcome="PASS",
        limit=ceiling(4200),
        sentence="E2E p95 at saturated is 4,200 ms in window w1; at most 4,200 ms.",
    ),
    Case(
        name="above the ceiling",
        gate="e2e",
        outcome="FAIL",
        limit=ceiling(4000),
        sentence="E2E p95 at saturated is 4,200 ms in window w1; at most 4,000 ms.",
    ),
    Case(
        name="not recorded",
        gate="e2e",
        outcome="UNKNOWN",
        limit=ceiling(5000),
        trial=((f"{LOAD}/e2e_ms", ABSENT),),
        sentence="E2E p95 at saturated is not recorded in window w1.",
    ),
]

THROUGHPUT = [
    Case(
        name="exactly at the floor in the slowest window",
        gate="throughput",
        outcome="PASS",
        limit=floor(200),
        sentence="Output rate at saturated is 200 tok/s in window w1; at least 200 tok/s.",
        also={"measured": 200, "comparator": ">=", "unit": "tok/s", "margin": 0, "worst": {"window": "w1"}},
    ),
    Case(
        name="the slowest window decides, not the mean",
        gate="throughput",
        outcome="FAIL",
        limit=floor(205),
        sentence="Output rate at saturated is 200 tok/s in window w1; at least 205 tok/s.",
    ),
    Case(
        name="a rate that is no decimal",
        gate="throughput",
        outcome="PASS",
        limit=floor(190),
        trial=((f"{LOAD}/duration_s", 101),),
        sentence="Output rate at saturated is 198 tok/s in window w1; at least 190 tok/s.",
        also={"measured": Ratio(num=20000, den=101), "margin": Ratio(num=810, den=101)},
    ),
    Case(
        name="total not recorded",
        gate="throughput",
        outcome="UNKNOWN",
        limit=floor(150),
        trial=((f"{LOAD}/output_tokens_total", None),),
        sentence="Output rate at saturated is not recorded in window w1.",
        also={"missing": (f"{AT}/output_tokens_total",)},
    ),
    Case(
        name="a stated rate is not read in place of the total",
        gate="throughput",
        outcome="UNKNOWN",
        limit=floor(150),
        trial=(
            (f"{LOAD}/output_tokens_total", ABSENT),
            (f"{LOAD}/output_tokens_per_s", {"value": 900, "scope": "deployment"}),
        ),
        sentence="Output rate at saturated is not recorded in window w1.",
    ),
    Case(
        name="completed requests not recorded",
        gate="throughput",
        outcome="UNKNOWN",
        limit=floor(150),
        trial=((f"{LOAD}/requests", ABSENT),),
        sentence="Output rate at saturated is 200 tok/s in window w1; at least 150 tok/s. "
        "Completed requests are not recorded.",
        also={"missing": (f"{AT}/requests/completed",)},
    ),
    Case(
        name="window of no length",
        gate="throughput",
        outcome="UNKNOWN",
        limit=floor(150),
        trial=((f"{LOAD}/duration_s", 0),),
        sentence="Output rate at saturated cannot be judged in window w1. duration_s is 0: no rate follows from it.",
        also={"missing": (), "measured_at": (f"{AT}/requests/completed", f"{AT}/duration_s")},
    ),
    Case(
        name="total and stated rate contradict each other",
        gate="throughput",
        outcome="UNKNOWN",
        limit=floor(150),
        trial=((f"{LOAD}/output_tokens_per_s", {"value": 400, "scope": "deployment"}),),
        sentence="Output rate at saturated is 200 tok/s in window w1; at least 150 tok/s. "
        "output_tokens_per_s over the deployment is stated as 400; totals give 200.",
        also={"would": "PASS"},
    ),
    Case(
        name="a sound window fails although another is in doubt",
        gate="throughput",
        outcome="FAIL",
        limit=floor(220),
        trial=((f"{LOAD}/output_tokens_per_s", {"value": 400, "scope": "deployment"}),),
        sentence="Output rate at saturated is 210 tok/s in window w2; at least 220 tok/s.",
    ),
]

CASES = [*TPOT, *ITL, *E2E, *THROUGHPUT]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
