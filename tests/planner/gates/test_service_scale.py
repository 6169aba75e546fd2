"""Speedup over the smallest topology measured, and what keeps a baseline from comparing."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters

SPEEDUP = {"load_point": "saturated", "min_speedup": 2}
EFFICIENCY = {"load_point": "saturated", "min_efficiency": 0.5}
AT = "/trials/t/baseline"


def baseline(tokens: int | None, ranks: int = 1, **more: Any) -> tuple[Change, ...]:
    """Give a baseline that made so many tokens in 100 s."""
    record = {
        "topology": "tp1-pp1-ep1-dp1",
        "ranks": ranks,
        "identity_id": "run",
        "fits": True,
        "load": {"saturated": {"duration_s": 100, "output_tokens_total": tokens}},
        **more,
    }
    return (("/baseline", record),)


CASES = [
    Case(
        name="to the ratio, in the slowest window",
        gate="scale_out",
        outcome="PASS",
        limit=SPEEDUP,
        trial=baseline(10_000),
        sentence="4 ranks against 1 of tp1-pp1-ep1-dp1: 2.000 × as fast in window w1; at least 2.000.",
        also={"measured": 2, "margin": 0, "worst": {"window": "w1"}},
    ),
    Case(
        name="hardly faster",
        gate="scale_out",
        outcome="FAIL",
        limit=SPEEDUP,
        trial=baseline(16_000),
        sentence="4 ranks against 1 of tp1-pp1-ep1-dp1: 1.250 × as fast in window w1; at least 2.000.",
    ),
    Case(
        name="per rank, to the ratio",
        gate="scale_out",
        outcome="PASS",
        limit=EFFICIENCY,
        trial=baseline(20_000, ranks=2),
        sentence="4 ranks against 2 of tp1-pp1-ep1-dp1: 0.500 × as fast per rank in window w1; at least 0.500.",
        also={"limit_at": "/gates/scale_out/limit/min_efficiency"},
    ),
    Case(
        name="a baseline of more ranks",
        gate="scale_out",
        outcome="UNKNOWN",
        limit=SPEEDUP,
        trial=baseline(10_000, ranks=8),
        sentence="The baseline has 8 ranks, the trial 4: it is no smaller one.",
        also={"missing": (f"{AT}/ranks",)},
    ),
    Case(
        name="one of as many ranks that does not fit",
        gate="scale_out",
        outcome="UNKNOWN",
        limit=SPEEDUP,
        trial=baseline(None, ranks=4, fits=False),
        sentence="The baseline has 4 ranks, the trial 4: it is no smaller one.",
    ),
    Case(
        name="no baseline",
        gate="scale_out",
        outcome="UNKNOWN",
        limit=SPEEDUP,
        sentence="No smaller topology is recorded as measured or tried.",
        also={"missing": (AT,)},
    ),
    Case(
        name="baseline of another identity",
        gate="scale_out",
        outcome="UNKNOWN",
        limit=SPEEDUP,
        evidence=(("/identities/earlier", {}),),
        trial=baseline(10_000, identity_id="earlier"),
        sentence="The baseline ran with identity earlier, the trial with run.",
        also={"missing": (f"{AT}/identity_id",)},
    ),
    Case(
        name="baseline without a rate",
        gate="scale_out",
        outcome="UNKNOWN",
        limit=SPEEDUP,
        trial=baseline(None),
        sentence="The baseline's output rate at saturated is not recorded.",
        also={"missing": (f"{AT}/load/saturated/output_tokens_total",)},
    ),
    Case(
        name="trial without a rate",
        gate="scale_out",
        outcome="UNKNOWN",
        limit=SPEEDUP,
        trial=(*baseline(10_000), ("/windows/w2/load/duration_s", ABSENT)),
        sentence="Output rate at saturated is not recorded in window w2.",
    ),
    Case(
        name="a smaller one does not fit",
        gate="scale_out",
        outcome="NOT_APPLICABLE",
        limit=SPEEDUP,
        trial=baseline(10_000, fits=False),
        sentence='A smaller topology, "tp1-pp1-ep1-dp1", was tried and does not fit.',
    ),
    Case(
        name="the baseline itself",
        gate="scale_out",
        outcome="NOT_APPLICABLE",
        limit=SPEEDUP,
        trial=baseline(10_000, topology="tp2-pp2-ep1-dp1"),
        sentence="This topology is its own baseline.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
