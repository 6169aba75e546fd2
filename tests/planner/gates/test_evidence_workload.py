"""The measured workload against the declared one: lengths, load, cache hits, speculation."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/windows/w1/load"
LIMIT = {"load_point": "saturated", "max_difference_share": 0.1}
OFF: tuple[Change, ...] = (("/identity/workload/prefix_cache", {"policy": "off"}),)
PROMPTS: tuple[Change, ...] = (("/identity/workload/prompt_tokens", {"mean": 1000, "p50": 900, "p95": 2000}),)
DIGEST: tuple[Change, ...] = (("/identity/workload/dataset_digest", "sha256:" + "1" * 64),)


def both(pointer: str, first: Any, second: Any) -> tuple[Change, ...]:
    return ((f"/windows/w1/load{pointer}", first), (f"/windows/w2/load{pointer}", second))


def in_flight(first: float, second: float) -> tuple[Change, ...]:
    """Measured requests in flight, and no mean latency that says it otherwise."""
    return (*both("/in_flight_mean", first, second), *both("/e2e_ms/mean", None, None))


def prompts(p50: int = 900, p95: int = 2000, total: int = 200_000) -> tuple[Change, ...]:
    return (
        *both("/input_tokens_total", total, 210_000),
        *both("/prompt_tokens", {"p50": p50, "p95": p95}, {"p50": 900, "p95": 2000}),
    )


OPEN_RATE = "/identity/workload/load_points/open/requests_per_s"


def open_loop(sent: int) -> tuple[Change, ...]:
    return tuple(
        change
        for w in ("w1", "w2")
        for change in (
            (f"/windows/{w}/load_point", "open"),
            (f"/windows/{w}/load/requests/sent", sent if w == "w1" else 210),
            (f"/windows/{w}/load/requests/cut_off", None),
        )
    )


CASES = [
    Case(
        name="requests in flight from rate and latency",
        gate="workload_match",
        outcome="PASS",
        limit=LIMIT,
        sentence="Nothing differs by more than 0.029; at most 0.100. "
        "Mean in flight is 7.8 requests, declared 8, in window w2.",
        also={"unit": "share", "comparator": "<=", "worst": {"window": "w2"}},
    ),
    Case(
        name="to the share",
        gate="workload_match",
        outcome="PASS",
        limit=LIMIT,
        trial=in_flight(7.2, 8),
        sentence="Nothing differs by more than 0.100; at most 0.100. "
        "Mean in flight is 7.2 requests, declared 8, in window w1.",
        also={"measured": 0.1, "margin": 0, "measured_at": (f"{AT}/in_flight_mean",)},
    ),
    Case(
        name="the cap on requests was not the load",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        trial=in_flight(7.1, 8),
        sentence="Mean in flight is 7.1 requests, declared 8, in window w1.",
    ),
    Case(
        name="requests in flight that rate and latency contradict",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=both("/in_flight_mean", 7.1, 8),
        sentence="Output mean is 100 tokens, declared 100, in window w1. "
        "Mean in flight is 7.1; request rate × mean E2E is 7.8. "
        "Mean in flight is 7.1 requests, declared 8, in window w1. "
        "Mean in flight is 7.1; request rate × mean E2E is 7.8.",
        also={"missing": tuple(f"{AT}/{at}" for at in ("output_tokens_total", "requests/completed", "in_flight_mean"))},
    ),
    Case(
        name="outputs longer than declared are another workload, not a doubt",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        contract=(("/identity/workload/output_tokens", {"fixed": 50}),),
        trial=both("/tpot_ms", ABSENT, ABSENT),
        sentence="Output mean is 100 tokens, declared 50, in window w1. "
        "Output mean is 100 tokens, declared 50, in window w2.",
    ),
    Case(
        name="lengths from totals, not as declared",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        contract=PROMPTS,
        trial=prompts(total=100_000),
        sentence="Prompt mean is 500 tokens, declared 1,000, in window w1.",
        also={"measured": 0.5, "measured_at": (f"{AT}/input_tokens_total", f"{AT}/requests/completed")},
    ),
    Case(
        name="longer prompts than declared",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        contract=PROMPTS,
        trial=prompts(p95=2300),
        sentence="Prompt p95 is 2,300 tokens, declared 2,000, in window w1.",
    ),
    Case(
        name="several differences are all named and none decides alone",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        contract=PROMPTS,
        trial=prompts(p50=100, p95=2300),
        sentence="Prompt p50 is 100 tokens, declared 900, in window w1. "
        "Prompt p95 is 2,300 tokens, declared 2,000, in window w1.",
        also={"measured": None},
    ),
    Case(
        name="a percentile not recorded",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT,
        contract=PROMPTS,
        trial=both("/input_tokens_total", 200_000, 210_000),
        sentence="Prompt p50 is not recorded in window w1. Prompt p95 is not recorded in window w1. "
        "Prompt p50 is not recorded in window w2. And 1 more.",
        also={
            "missing": tuple(
                f"/trials/t/windows/{w}/load/prompt_tokens/{point}" for w in ("w1", "w2") for point in ("p50", "p95")
            )
        },
    ),
    Case(
        name="a digest names every length",
        gate="workload_match",
        outcome="PASS",
        limit=LIMIT,
        contract=(*PROMPTS, *DIGEST),
        sentence="Nothing differs by more than 0.029; at most 0.100. "
        "Mean in flight is 7.8 requests, declared 8, in window w2.",
    ),
    Case(
        name="totals contradict the digest",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        contract=(*PROMPTS, *DIGEST),
        trial=both("/input_tokens_total", 100_000, 210_000),
        sentence="Prompt mean is 500 tokens, declared 1,000, in window w1.",
    ),
    Case(
        name="open loop sent too slowly",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT | {"load_point": "open"},
        contract=((OPEN_RATE, 2.05),),
        trial=open_loop(200),
        sentence="Sent rate is 2 requests per s, declared 2.05, in window w1.",
    ),
    Case(
        name="open loop sent as offered",
        gate="workload_match",
        outcome="PASS",
        limit=LIMIT | {"load_point": "open"},
        contract=((OPEN_RATE, 2.04),),
        trial=open_loop(200),
        sentence="Nothing differs by more than 0.029; at most 0.100. "
        "Sent rate is 2.1 requests per s, declared 2, in window w2.",
    ),
    Case(
        name="cache hits although the cache is declared off",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        contract=OFF,
        trial=both("/cache_hit_share", 0.62, 0),
        sentence="0.620 of the prompt tokens were cache hits, declared 0.000, in window w1.",
        also={"measured": 0.62},
    ),
    Case(
        name="fewer cache hits than expected",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT | {"cache_hit_share": 0.5},
        trial=both("/cache_hit_share", 0.5, 0.39),
        sentence="0.390 of the prompt tokens were cache hits, declared 0.500, in window w2.",
    ),
    Case(
        name="cache hits not recorded",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT,
        contract=OFF,
        trial=both("/cache_hit_share", 0, None),
        sentence="Cache hits are not recorded in window w2.",
        also={"missing": ("/trials/t/windows/w2/load/cache_hit_share",)},
    ),
    Case(
        name="synthetic acceptance",
        gate="workload_match",
        outcome="FAIL",
        limit=LIMIT,
        trial=(("/windows/w1/load/synthetic_acceptance", True),),
        sentence="Acceptance was synthetic in window w1.",
        also={"measured": None, "measured_at": (f"{AT}/synthetic_acceptance",)},
    ),
    Case(
        name="acceptance length not recorded",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT,
        contract=(("/identity/workload/speculation", "draft"),),
        trial=both("/acceptance_length_mean", 2.1, None),
        sentence="Acceptance length is not recorded in window w2.",
    ),
    Case(
        name="whose tokenizer counted is not known",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT | {"tokens_counted_by": "server"},
        trial=both("/tokens_counted_by", "client", "server"),
        sentence="Tokens are not known to be counted by the server in window w1.",
        also={"missing": (f"{AT}/tokens_counted_by",)},
    ),
    Case(
        name="load not recorded",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=both("/e2e_ms", ABSENT, ABSENT),
        sentence="Mean in flight is not recorded in window w1. Mean in flight is not recorded in window w2.",
        also={"missing": (f"{AT}/in_flight_mean", "/trials/t/windows/w2/load/in_flight_mean")},
    ),
    Case(
        name="no counted window",
        gate="workload_match",
        outcome="UNKNOWN",
        limit=LIMIT | {"load_point": "open"},
        sentence="No counted window at open.",
        also={"missing": ("/trials/t/windows",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
