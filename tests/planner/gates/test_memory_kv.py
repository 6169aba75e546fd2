"""Whole requests in the KV caches, replica by replica, and what keeps a recorded capacity from counting."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/windows/w1"
LIMIT: dict[str, Any] = {"load_point": "saturated"}
ONE = [0, 1, 2, 3]
TWO_GROUPS: tuple[Change, ...] = (("/topology/instances/0/pp", 1), ("/topology/instances/0/dp", 2))


def replica(tokens: int | None, ranks: list[int], context: int | None = 4096, **more: Any) -> dict[str, Any]:
    return {"ranks": ranks, "kv_capacity_tokens": tokens, "kv_measured_at_context_tokens": context, **more}


def one(tokens: int | None, context: int | None = 4096, **more: Any) -> tuple[Change, ...]:
    """Give the one serving group a capacity in both windows."""
    return tuple((f"/windows/{w}/replicas", {"r0": replica(tokens, ONE, context, **more)}) for w in ("w1", "w2"))


def two(first: int, second: int) -> tuple[Change, ...]:
    record = {"r0": replica(first, [0, 1]), "r1": replica(second, [2, 3])}
    return (*TWO_GROUPS, *((f"/windows/{w}/replicas", record) for w in ("w1", "w2")))


def by_rank(*tokens: int | None, context: int | None = 4096, **more: Any) -> tuple[Change, ...]:
    return tuple(
        change
        for w in ("w1", "w2")
        for change in (
            (f"/windows/{w}/per_rank/kv_capacity_tokens", {"values": list(tokens), **more}),
            (f"/windows/{w}/load/kv_measured_at_context_tokens", context),
        )
    )


def held(requests: str, tokens: str, fraction: str, window: str = "w1") -> str:
    return (
        f"The KV caches hold {requests} of 4,096 tokens in window {window} ({tokens} tokens, {fraction} requests); "
        "at least 8 (32,768 tokens)."
    )


CASES = [
    Case(
        name="to the token",
        gate="kv_capacity",
        outcome="PASS",
        limit=LIMIT,
        trial=one(8 * 4096),
        sentence=held("8 whole requests", "32,768", "8"),
        also={
            "measured": 8,
            "limit": 8,
            "margin": 0,
            "unit": "requests",
            "measured_at": (f"{AT}/replicas/r0/kv_capacity_tokens",),
            "limit_at": "/gates/kv_capacity/limit",
        },
    ),
    Case(
        name="one token short is one request short",
        gate="kv_capacity",
        outcome="FAIL",
        limit=LIMIT,
        trial=one(8 * 4096 - 1),
        sentence=held("7 whole requests", "32,767", "7.9998"),
        also={"margin": -1},
    ),
    Case(
        name="the context is rounded up to blocks",
        gate="kv_capacity",
        outcome="FAIL",
        limit=LIMIT | {"block_tokens": 1000},
        trial=one(39_999),
        sentence="The KV caches hold 7 whole requests of 5,000 tokens in window w1 (39,999 tokens, 7.9998 requests); "
        "at least 8 (40,000 tokens).",
    ),
    Case(
        name="fractions of two replicas make no request",
        gate="kv_capacity",
        outcome="FAIL",
        limit=LIMIT,
        trial=two(4 * 4096 - 1, 4 * 4096 + 4095),
        sentence="The KV caches hold 7 whole requests of 4,096 tokens in window w1; at least 8 (32,768 tokens).",
        also={"worst": {"window": "w1", "rank": "0"}},
    ),
    Case(
        name="replicas add up",
        gate="kv_capacity",
        outcome="PASS",
        limit=LIMIT,
        trial=two(3 * 4096, 5 * 4096),
        sentence="The KV caches hold 8 whole requests of 4,096 tokens in window w1; at least 8 (32,768 tokens).",
    ),
    Case(
        name="the emptiest rank decides, never the sum",
        gate="kv_capacity",
        outcome="FAIL",
        limit=LIMIT,
        trial=by_rank(40_000, 40_000, 30_000, 40_000),
        sentence=held("7 whole requests", "30,000", "7.3242"),
        also={"measured_at": (f"{AT}/per_rank/kv_capacity_tokens/values/2",)},
    ),
    Case(
        name="a lower bound passes a floor",
        gate="kv_capacity",
        outcome="PASS",
        limit=LIMIT,
        trial=by_rank(40_000, 40_000, 40_000, 40_000, bound="lower"),
        sentence=held("9 whole requests", "40,000", "9.7656"),
    ),
    Case(
        name="a lower bound fails no floor",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=by_rank(4_096, 40_000, 40_000, 40_000, bound="lower"),
        sentence=held("1 whole request", "4,096", "1"),
    ),
    Case(
        name="the engine's own count of whole contexts",
        gate="kv_capacity",
        outcome="FAIL",
        limit=LIMIT,
        trial=one(50_000, kv_max_concurrent_requests=7.9),
        sentence=held("7 whole requests", "50,000", "12.207"),
        also={"measured_at": (f"{AT}/replicas/r0/kv_max_concurrent_requests",)},
    ),
    Case(
        name="tokens of all replicas",
        gate="kv_capacity",
        outcome="PASS",
        limit=LIMIT | {"min_tokens": 40_000},
        trial=two(10_000, 30_000),
        sentence="The KV caches hold 40,000 tokens in window w1; at least 40,000.",
        also={"unit": "tokens", "limit_at": "/gates/kv_capacity/limit/min_tokens"},
    ),
    Case(
        name="tokens one short",
        gate="kv_capacity",
        outcome="FAIL",
        limit=LIMIT | {"min_tokens": 40_001},
        trial=two(10_000, 30_000),
        sentence="The KV caches hold 40,000 tokens in window w1; at least 40,001.",
    ),
    Case(
        name="measured at another context",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=one(80_000, context=2048),
        sentence=held("19 whole requests", "80,000", "19.5312") + " Measured at a context of 2,048 tokens, not 4,096.",
        also={
            "missing": tuple(f"/trials/t/windows/{w}/replicas/r0/kv_measured_at_context_tokens" for w in ("w1", "w2"))
        },
    ),
    Case(
        name="context of the measurement not recorded",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=by_rank(80_000, 80_000, 80_000, 80_000, context=None),
        sentence=held("19 whole requests", "80,000", "19.5312")
        + " The context at which KV capacity was measured is not recorded.",
    ),
    Case(
        name="a rank without a value",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=by_rank(80_000, None, 80_000, 80_000),
        sentence="KV capacity is not recorded in window w1. KV capacity is not recorded for every rank.",
        also={"missing": tuple(f"/trials/t/windows/{w}/per_rank/kv_capacity_tokens/values/1" for w in ("w1", "w2"))},
    ),
    Case(
        name="shards of a context over ranks, scope left open",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=(
            ("/topology/layout", "vllm"),
            ("/topology/instances/0/dcp", 2),
            *by_rank(20_000, 20_000, 20_000, 20_000),
        ),
        sentence="KV capacity cannot be judged in window w1. "
        "The document does not say whether a rank's figure is its own shard or the whole replica's.",
        also={"missing": tuple(f"/trials/t/windows/{w}/per_rank/kv_capacity_tokens/scope" for w in ("w1", "w2"))},
    ),
    Case(
        name="shards of a context over ranks add up",
        gate="kv_capacity",
        outcome="PASS",
        limit=LIMIT,
        trial=(
            ("/topology/layout", "vllm"),
            ("/topology/instances/0/dcp", 2),
            *by_rank(20_000, 20_000, 20_000, 20_000, scope="rank"),
        ),
        sentence=held("9 whole requests", "40,000", "9.7656"),
    ),
    Case(
        name="nothing recorded",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        sentence="KV capacity is not recorded in window w1. KV capacity is not recorded for every replica.",
        also={"missing": (f"{AT}/replicas", "/trials/t/windows/w2/replicas")},
    ),
    Case(
        name="one window without it",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=(*one(80_000), ("/windows/w1/replicas", ABSENT)),
        sentence="KV capacity is not recorded in window w1. KV capacity is not recorded for every replica.",
    ),
    Case(
        name="an open loop promises no number",
        gate="kv_capacity",
        outcome="UNKNOWN",
        limit=LIMIT | {"load_point": "open"},
        sentence="Load point open has no concurrent_requests to hold.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
