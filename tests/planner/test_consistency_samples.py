"""Sample counts that no window can have given: more than were served, sent, offered, or than there was time for."""

from typing import Any

import pytest

from planner.consistency import Check
from tests.planner.documents import ABSENT, Change
from tests.planner.factories import Changes, a_view, limit_outcome

LOAD = "/windows/w1/load"
UNCOUNTED: tuple[Change, ...] = ((f"{LOAD}/requests", ABSENT), (f"{LOAD}/output_tokens_mean", ABSENT))
OPEN: tuple[Change, ...] = (("/windows/w1/load_point", "open"),)
"""Two requests per second are offered for 100 s."""


def bare(**latencies: Any) -> Change:
    """A window of 100 s with 8 requests in flight, and nothing counted but these latencies."""
    return LOAD, {"duration_s": 100, **latencies}


def checked(*trial: Change, contract: tuple[Change, ...] = ()) -> list[Check]:
    found = a_view(None, Changes(trial=trial, contract=contract)).checks["w1"]
    return [check for check in found if check.id == "n"]


def said(*trial: Change, contract: tuple[Change, ...] = ()) -> list[str]:
    return [check.sentence for check in checked(*trial, contract=contract) if not check.holds]


SHAPE = (("/identity/workload/request_shapes", {"short": {"min_prompt_tokens": 1}}),)
IMPOSSIBLE: dict[str, tuple[tuple[Change, ...], list[str]]] = {
    "more than completed": (
        ((f"{LOAD}/tpot_ms/n", 230),),
        ["tpot_ms has n = 230; 200 requests completed."],
    ),
    "more than sent": (
        (*UNCOUNTED, (f"{LOAD}/requests", {"sent": 200}), (f"{LOAD}/ttft_ms/n", 1000)),
        ["ttft_ms has n = 1,000; 200 requests sent."],
    ),
    "more than output tokens": (
        (*UNCOUNTED, (f"{LOAD}/ttft_ms", {"n": 30_000})),
        ["ttft_ms has n = 30,000; 20,000 output tokens."],
    ),
    "more gaps between tokens than tokens": (
        ((f"{LOAD}/itl_ms", {"n": 30_000}),),
        ["itl_ms has n = 30,000; 20,000 output tokens."],
    ),
    "longer than the window has time for, by the mean": (
        (bare(e2e_ms={"n": 10_000, "mean": 4000}),),
        [
            "e2e_ms has n = 10,000 with mean 4000 ms: at least 40,000 s of waiting; 8 in flight have 800 s.",
        ],
    ),
    "longer than the window has time for, by a percentile": (
        (bare(ttft_ms={"n": 10**15, "p95": 400}),),
        [
            "ttft_ms has n = 1,000,000,000,000,000 with p95 400 ms: at least 20,000,000,000,000 s of waiting; 8 in "
            "flight have 800 s.",
        ],
    ),
    "more than twice what was offered": (
        (*OPEN, bare(ttft_ms={"n": 401, "p95": 400})),
        ["ttft_ms has n = 401; 200 requests were offered."],
    ),
}


@pytest.mark.parametrize(("changes", "sentences"), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_an_impossible_count_is_a_breach(changes: tuple[Change, ...], sentences: list[str]) -> None:
    assert said(*changes) == sentences


POSSIBLE: dict[str, tuple[Change, ...]] = {
    "requests of one token have no TPOT": ((f"{LOAD}/tpot_ms/n", 150),),
    "just in time": (bare(e2e_ms={"n": 200, "mean": 4000}),),
    "exactly twice what was offered": (*OPEN, bare(ttft_ms={"n": 400, "p95": 400})),
    "a latency longer than the window is no count": (bare(ttft_ms={"n": 2000, "p95": 840_000}),),
    "a count of completed requests answers for itself": (
        (f"{LOAD}/ttft_ms/p95", 60_000),
        (f"{LOAD}/ttft_ms/max", 70_000),
    ),
}


@pytest.mark.parametrize("changes", POSSIBLE.values(), ids=POSSIBLE.keys())
def test_a_possible_count_is_none(changes: tuple[Change, ...]) -> None:
    assert said(*changes) == []


def test_requests_of_a_shape_are_among_the_completed() -> None:
    shapes = {"short": {"requests": 220, "ttft_ms": {"n": 300, "p95": 400}}}
    assert said((f"{LOAD}/shapes", shapes), contract=SHAPE) == [
        "220 requests of shape short; 200 requests completed.",
        "ttft_ms of shape short has n = 300; at most 220 requests.",
    ]


def test_a_limit_does_not_pass_on_an_impossible_count() -> None:
    limit = {"load_point": "saturated", "statistic": "p95", "max_ms": 500}
    changes = (bare(ttft_ms={"n": 10**15, "p95": 400}),)
    found = limit_outcome("ttft", limit, Changes(trial=changes))
    assert (found.outcome, found.would) == ("UNKNOWN", "PASS")
