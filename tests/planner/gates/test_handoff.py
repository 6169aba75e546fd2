"""The hand-off from a prefill to a decode pool: share, staging room, route, pool balance."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/windows/w1/handoff"
POOL = {"tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2}
POOLS: tuple[Change, ...] = (("/topology/instances", [{"role": "prefill", **POOL}, {"role": "decode", **POOL}]),)
SHARE = {"load_point": "saturated", "min_handed_over_share": 0.99}
STAGING = {"load_point": "saturated", "min_staging_requests": 4, "tokens_per_request": 9000}
ROUTE = {"load_point": "saturated", "max_route_utilization": 1}
BALANCE = {"load_point": "saturated", "min_pool_balance": 0.8}

TTFT = {"load_point": "saturated", "statistic": "p95", "max_ttft_ms": 500}
TPOT = {"load_point": "saturated", "statistic": "p95", "max_tpot_ms": 40}
PILE = {"queued_first_third_mean": 4, "queued_last_third_mean": 9, "decode_idle_share": 0.4}


def case(name: str, outcome: str, limit: Any, record: dict[str, Any], sentence: str, **also: Any) -> Case:
    """One row with the same hand-off in both windows, the second scaled to its 210 requests where it counts."""
    second = {**record, "transfers": -(-record["transfers"] * 210 // 200)} if record.get("transfers") else record
    trial = (*POOLS, ("/windows/w1/handoff", record), ("/windows/w2/handoff", second))
    return Case(name=name, gate="kv_handoff", outcome=outcome, limit=limit, trial=trial, sentence=sentence, also=also)


CASES = [
    case(
        "to the share",
        "PASS",
        SHARE,
        {"transfers": 198, "counted_per": "request"},
        "0.990 of the completed requests were handed over in window w1; at least 0.990.",
        measured=0.99,
        margin=0,
        comparator=">=",
        unit="share",
        limit_at="/gates/kv_handoff/limit/min_handed_over_share",
    ),
    case(
        "nothing was handed over",
        "FAIL",
        SHARE,
        {"transfers": 0},
        "0.000 of the completed requests were handed over in window w1; at least 0.990.",
        measured_at=(f"{AT}/transfers", "/trials/t/windows/w1/load/requests/completed"),
    ),
    case(
        "a count pooled over ranks",
        "FAIL",
        SHARE,
        {"transfers": 200, "counted_per": "rank", "transfers_per_request": 2},
        "0.500 of the completed requests were handed over in window w1; at least 0.990.",
    ),
    case(
        "a count per rank of unknown size",
        "UNKNOWN",
        SHARE,
        {"transfers": 200, "counted_per": "rank"},
        "The hand-off is not recorded as asked in window w1. "
        "Transfers are counted per rank; how many one request makes is not recorded.",
        missing=tuple(f"/trials/t/windows/{w}/handoff/transfers_per_request" for w in ("w1", "w2")),
    ),
    case(
        "what one transfer counts for is not recorded",
        "UNKNOWN",
        SHARE,
        {"transfers": 200},
        "1.000 of the completed requests were handed over in window w1; at least 0.990. "
        "What one transfer counts for is not recorded.",
    ),
    case(
        "staging room to the request",
        "PASS",
        STAGING,
        {"decode_kv_tokens": 240_000, "decode_running_max": 22},
        "The decode pool has room for 4 more requests in window w1; at least 4.",
        unit="requests",
    ),
    case(
        "no staging room, rounded up to blocks",
        "FAIL",
        STAGING | {"block_tokens": 4800},
        {"decode_kv_tokens": 240_000, "decode_running_max": 22},
        "The decode pool has room for 3 more requests in window w1; at least 4.",
    ),
    case(
        "more running than fit",
        "FAIL",
        STAGING,
        {"decode_kv_tokens": 90_000, "decode_running_max": 12},
        "The decode pool has room for −2 more requests in window w1; at least 4.",
    ),
    case(
        "running requests not recorded",
        "UNKNOWN",
        STAGING,
        {"decode_kv_tokens": 240_000},
        "The hand-off is not recorded as asked in window w1.",
        missing=tuple(f"/trials/t/windows/{w}/handoff/decode_running_max" for w in ("w1", "w2")),
    ),
    case(
        "no length to stage",
        "UNKNOWN",
        {"load_point": "saturated", "min_staging_requests": 4},
        {"decode_kv_tokens": 240_000, "decode_running_max": 22},
        "The hand-off cannot be judged in window w1. "
        "The contract has no fixed lengths, and the limit no tokens_per_request.",
        missing=(),
    ),
    case(
        "the route after its reserve, to the byte",
        "PASS",
        ROUTE | {"kv_bytes_per_token": 1000},
        {"tokens_sent_total": 210_000, "peak_requests_per_s": 9, "route_bytes_per_s": 10_500_000},
        "The hand-off needs 0.900 of its route at peak in window w1; at most 0.900.",
        comparator="<=",
    ),
    case(
        "copies on the decode side double the bytes",
        "FAIL",
        ROUTE | {"kv_bytes_per_token": 1000},
        {"tokens_sent_total": 210_000, "peak_requests_per_s": 9, "route_bytes_per_s": 10_500_000, "copies": 2},
        "The hand-off needs 1.800 of its route at peak in window w1; at most 0.900.",
    ),
    case(
        "bytes as counted",
        "PASS",
        ROUTE,
        {"bytes_total": 210_000_000, "peak_requests_per_s": 4, "route_bytes_per_s": 10_500_000},
        "The hand-off needs 0.400 of its route at peak in window w1; at most 0.900.",
    ),
    case(
        "the route is not measured",
        "UNKNOWN",
        ROUTE,
        {"bytes_total": 210_000_000, "peak_requests_per_s": 4},
        "The hand-off is not recorded as asked in window w1.",
        missing=tuple(f"/trials/t/windows/{w}/handoff/route_bytes_per_s" for w in ("w1", "w2")),
    ),
    case(
        "pools in balance, to the share",
        "PASS",
        BALANCE,
        {"prefill_requests_per_s": 4, "decode_requests_per_s": 5},
        "The slower pool keeps up with 0.800 of the faster in window w1; at least 0.800.",
    ),
    case(
        "decode behind prefill",
        "FAIL",
        BALANCE,
        {"prefill_requests_per_s": 10, "decode_requests_per_s": 5},
        "The slower pool keeps up with 0.500 of the faster in window w1; at least 0.800.",
    ),
    case(
        "first token across the hand-off",
        "PASS",
        TTFT,
        {"ttft_ms": {"n": 200, "p95": 500}},
        "TTFT p95 across the hand-off is 500 ms in window w1; at most 500 ms.",
        unit="ms",
        measured_at=(f"{AT}/ttft_ms/p95", f"{AT}/ttft_ms/n"),
        limit_at="/gates/kv_handoff/limit/max_ttft_ms",
    ),
    case(
        "first token too late across the hand-off, whatever all requests saw",
        "FAIL",
        TTFT,
        {"ttft_ms": {"n": 200, "p95": 500.5}},
        "TTFT p95 across the hand-off is 500.5 ms in window w1; at most 500 ms.",
    ),
    case(
        "all requests were handed over",
        "PASS",
        TTFT,
        {"transfers": 200, "counted_per": "request"},
        "TTFT p95 across the hand-off is 400 ms in window w1; at most 500 ms.",
        notes=("All requests were handed over.",),
        measured_at=("/trials/t/windows/w1/load/ttft_ms/p95", "/trials/t/windows/w1/load/ttft_ms/n"),
    ),
    case(
        "some requests never left the prefill pool",
        "UNKNOWN",
        TTFT,
        {"transfers": 190, "counted_per": "request"},
        "The hand-off is not recorded as asked in window w1. Figures of all requests say nothing of those handed over.",
        missing=tuple(f"/trials/t/windows/{w}/handoff/ttft_ms" for w in ("w1", "w2")),
    ),
    case(
        "too few requests handed over for the percentile",
        "UNKNOWN",
        TTFT,
        {"ttft_ms": {"n": 199, "p95": 400}},
        "TTFT p95 across the hand-off is 400 ms in window w1; at most 500 ms. n = 199, p95 needs 200.",
    ),
    case(
        "tokens with the wait for the transfer in them",
        "FAIL",
        TPOT,
        {"tpot_ms": {"n": 200, "p95": 41, "definition": "(e2e-ttft)/(n-1)"}},
        "TPOT p95 across the hand-off is 41 ms in window w1; at most 40 ms.",
    ),
    case(
        "tokens by another definition",
        "UNKNOWN",
        TPOT,
        {"tpot_ms": {"n": 200, "p95": 41, "definition": "e2e/n"}},
        "TPOT p95 across the hand-off is 41 ms in window w1; at most 40 ms. "
        'Recorded as "e2e/n"; the limit is for (e2e-ttft)/(n-1).',
    ),
    case(
        "transfers pile up in front of an idle decode pool",
        "PASS",
        SHARE,
        {"transfers": 200, "counted_per": "request", **PILE},
        "1.000 of the completed requests were handed over in window w1; at least 0.990.",
        notes=tuple(
            f"Transfers pile up in window {w} while the decode pool idles: look at the hand-off." for w in ("w1", "w2")
        ),
    ),
    case(
        "transfers that wait for a busy decode pool",
        "PASS",
        SHARE,
        {"transfers": 200, "counted_per": "request", **PILE, "decode_idle_share": 0.05},
        "1.000 of the completed requests were handed over in window w1; at least 0.990.",
        notes=(),
    ),
    Case(
        name="not recorded",
        gate="kv_handoff",
        outcome="UNKNOWN",
        limit=SHARE,
        trial=POOLS,
        sentence="The hand-off is not recorded as asked in window w1.",
        also={"missing": (f"{AT}/transfers", "/trials/t/windows/w2/handoff/transfers")},
    ),
    Case(
        name="no pools",
        gate="kv_handoff",
        outcome="NOT_APPLICABLE",
        limit=SHARE,
        sentence="No prefill and decode pools.",
    ),
]


@pytest.mark.parametrize("row", parameters(CASES))
def test_gate_gives_the_whole_answer(row: Case) -> None:
    check(row)
