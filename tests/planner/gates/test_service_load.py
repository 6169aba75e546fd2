"""Overload, request shapes apart, and all-to-all under a mix of tokens."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters
from tests.planner.gates.test_balance_experts import EXPERT_PARALLEL, MOE

Limit = dict[str, Any]
Trial = tuple[Change, ...]
AT = "/trials/t/windows"
SHAPES: tuple[Change, ...] = (
    (
        "/identity/workload/request_shapes",
        {"short": {"min_prompt_tokens": 0, "max_prompt_tokens": 4096}, "long": {"min_prompt_tokens": 4097}},
    ),
)
SHAPE = {"load_point": "saturated", "shape": "long", "latency": "ttft_ms", "statistic": "p95", "max_ms": 2000}
TAIL = {"load_point": "saturated", "statistic": "p99", "max_ms": 4}


def both(pointer: str, first: Any, second: Any) -> tuple[Change, ...]:
    return ((f"/windows/w1{pointer}", first), (f"/windows/w2{pointer}", second))


def refused(first: int, second: int) -> tuple[Change, ...]:
    """Refuse so many requests of the 200 and 210 sent in both windows."""
    windows = ((200, first), (210, second))
    counts = [{"sent": sent, "failed": count, "refused": count, "cut_off": 0} for sent, count in windows]
    return both("/load/requests", *counts)


def shapes(latency: str = "ttft_ms", **figures: Any) -> tuple[Change, ...]:
    record = {"long": {latency: figures}}
    return both("/load/shapes", record, record)


def collective(p99: float, **more: Any) -> dict[str, Any]:
    return {"operation": "all_to_all", "time_ms": {"n": 5000, "p99": p99}, **more}


def overload(
    name: str, outcome: str, limit: dict[str, Any], trial: tuple[Change, ...], sentence: str, **also: Any
) -> Case:
    limit = {"load_point": "saturated", **limit}
    return Case(name=name, gate="overload", outcome=outcome, limit=limit, trial=trial, sentence=sentence, also=also)


def shape(
    name: str, outcome: str, limit: dict[str, Any], trial: tuple[Change, ...], sentence: str, **also: Any
) -> Case:
    return Case(
        name=name,
        gate="tails_by_shape",
        outcome=outcome,
        limit=limit,
        contract=SHAPES,
        trial=trial,
        sentence=sentence,
        also=also,
    )


def tail(name: str, outcome: str, limit: dict[str, Any], records: dict[str, Any], sentence: str, **also: Any) -> Case:
    return Case(
        name=name,
        gate="all_to_all_tail",
        outcome=outcome,
        limit=limit,
        contract=MOE,
        trial=(*EXPERT_PARALLEL, *(both("/collectives", records, records) if records else ())),
        sentence=sentence,
        also=also,
    )


CASES = [
    overload(
        "queue to the request",
        "PASS",
        {"max_queued_requests": 40},
        both("/load/queued_requests_max", 40, 12),
        "Up to 40 requests wait at saturated in window w1; at most 40.",
        unit="requests",
        margin=0,
        comparator="<=",
    ),
    overload(
        "one request more",
        "FAIL",
        {"max_queued_requests": 40},
        both("/load/queued_requests_max", 12, 41),
        "Up to 41 requests wait at saturated in window w2; at most 40.",
    ),
    overload(
        "queue not recorded",
        "UNKNOWN",
        {"max_queued_requests": 40},
        both("/load/queued_requests_max", 12, None),
        "The deepest queue is not recorded at saturated in window w2.",
        missing=(f"{AT}/w2/load/queued_requests_max",),
    ),
    overload(
        "refused too many",
        "FAIL",
        {"max_refused_share": 0.05},
        refused(20, 0),
        "0.100 of the requests are refused at saturated in window w1; at most 0.050.",
        unit="share",
    ),
    overload(
        "refused as few as declared",
        "PASS",
        {"min_refused_share": 0.1},
        refused(20, 42),
        "0.100 of the requests are refused at saturated in window w1; at least 0.100.",
        comparator=">=",
    ),
    overload(
        "refusals not counted",
        "UNKNOWN",
        {"max_refused_share": 0.05},
        (),
        "Requests sent and refused are not recorded at saturated in window w1.",
    ),
    shape(
        "to the millisecond",
        "PASS",
        SHAPE,
        shapes(n=200, p95=2000),
        "TTFT p95 of shape long is 2,000 ms at saturated in window w1; at most 2,000 ms.",
        margin=0,
        measured_at=(f"{AT}/w1/load/shapes/long/ttft_ms/p95", f"{AT}/w1/load/shapes/long/ttft_ms/n"),
    ),
    shape(
        "a slow shape behind a good percentile over all",
        "FAIL",
        SHAPE,
        shapes(n=200, p95=2001),
        "TTFT p95 of shape long is 2,001 ms at saturated in window w1; at most 2,000 ms.",
    ),
    shape(
        "too few requests of the shape",
        "UNKNOWN",
        SHAPE,
        shapes(n=60, p95=900),
        "TTFT p95 of shape long is 900 ms at saturated in window w1; at most 2,000 ms. n = 60, p95 needs 200.",
    ),
    shape(
        "no figures of the shape",
        "UNKNOWN",
        SHAPE,
        (),
        "TTFT p95 of shape long is not recorded at saturated in window w1.",
        missing=tuple(f"{AT}/{w}/load/shapes/long/ttft_ms/{name}" for w in ("w1", "w2") for name in ("p95", "n")),
    ),
    shape(
        "a latency per chunk",
        "UNKNOWN",
        SHAPE | {"latency": "itl_ms"},
        shapes("itl_ms", definition="per_chunk", n=200, p95=30),
        "ITL p95 of shape long is 30 ms at saturated in window w1; at most 2,000 ms. "
        'Recorded as "per_chunk"; the limit is for per_token.',
        missing=tuple(f"{AT}/{w}/load/shapes/long/itl_ms/definition" for w in ("w1", "w2")),
    ),
    shape(
        "a latency per token",
        "PASS",
        SHAPE | {"latency": "itl_ms"},
        shapes("itl_ms", definition="per_token", n=200, p95=30),
        "ITL p95 of shape long is 30 ms at saturated in window w1; at most 2,000 ms.",
    ),
    tail(
        "worst message size, to the millisecond",
        "PASS",
        TAIL,
        {"small": collective(1), "large": collective(4)},
        "All-to-all p99 is 4 ms at saturated in window w1; at most 4 ms.",
        margin=0,
        worst={"window": "w1", "collective": "large"},
    ),
    tail(
        "over under one mix",
        "FAIL",
        TAIL | {"token_mix": "long"},
        {"a": collective(1, token_mix="short"), "b": collective(5, token_mix="long")},
        "All-to-all p99 under long is 5 ms at saturated in window w1; at most 4 ms.",
    ),
    tail(
        "the mix was not run",
        "UNKNOWN",
        TAIL | {"token_mix": "long"},
        {"a": collective(1, token_mix="short")},
        "All-to-all p99 under long is not recorded at saturated in window w1.",
        missing=(f"{AT}/w1/collectives", f"{AT}/w2/collectives"),
    ),
    tail(
        "another phase",
        "UNKNOWN",
        TAIL | {"phase": "decode"},
        {"a": collective(1)},
        "All-to-all p99 is not recorded at saturated in window w1.",
    ),
    tail(
        "other operations only",
        "UNKNOWN",
        TAIL,
        {"a": {"operation": "all_reduce", "time_ms": {"n": 5000, "p99": 1}}},
        "All-to-all p99 is not recorded at saturated in window w1.",
    ),
    Case(
        name="no expert group",
        gate="all_to_all_tail",
        outcome="NOT_APPLICABLE",
        limit=TAIL,
        sentence="No expert group has more than one rank.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
