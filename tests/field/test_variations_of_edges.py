"""Variations at the edge of a limit, and figures that look right: each row is decided by one byte, sample or second.

Values are this project's own; an id that starts with C names the report that a row is in the spirit of.
"""

from typing import Any

import pytest

from tests.field.slot import AT, GIB, served
from tests.field.variation import EXPERTS, MOE, Row, check

SHARE_KEPT = {"headroom": {"memory": {"reserved_share": 0.07}}, "workload": {"context_tokens": 1000}}
LINKS = {
    "devices": 4,
    "per_node": 2,
    "hardware": {
        "nodes": {"n0": {}, "n1": {}},
        "devices": {f"g{at}": {"node": f"n{at // 2}", "type": "accel", "memory_bytes": 80 * GIB} for at in range(4)},
        "nics": {f"x{at}": {"node": f"n{at // 2}", "use": "fabric"} for at in range(4)},
        "links": {
            f"l{at}": {"class": "inter_node", "nic": f"x{at}", "bytes_per_s_one_way": 50 * 10**9} for at in range(4)
        },
    },
}
LINK_LIMIT = {"load_point": AT, "link_class": "inter_node", "max_utilization": 0.85, "max_sample_interval_s": 1}
ACROSS: dict[str, Any] = {
    "places": [("n0", "g0"), ("n0", "g1"), ("n1", "g2"), ("n1", "g3")],
    "nics": ["x0", "x1", "x2", "x3"],
    "trial": {"tp": 4},
}
SCORED = {"benchmark": "math", "topology": "tp1-pp1-ep1-dp1", "identity_id": "run", "score": 0.9}
BASELINE = {"topology": "tp2-pp1-ep1-dp1", "identity_id": "run", "fits": True}
P99 = {"load_point": AT, "statistic": "p99", "max_ms": 500}
ALL_SENT = {"load_point": AT, "min_completed_share": 0.99}
OPEN = {"name": "chat", "load_points": {AT: {"arrival": "open", "requests_per_s": 20}}}


def peaks(*values: int | None, **more: object) -> dict[str, object]:
    return {"per_rank": {"device_used_peak_bytes": {"scope": "device", "values": list(values), **more}}}


def busiest(last: int | None, interval_s: float = 1) -> dict[str, object]:
    """Three quiet links, and the busiest interval of the fourth."""
    counters = {"scope": "nic", "sample_interval_s": interval_s, "peak_rx_bytes": 0}
    return {"links": {f"l{at}": {"mixed": {**counters, "peak_tx_bytes": (0, 0, 0, last)[at]}} for at in range(4)}}


ROWS: dict[str, Row] = {
    "C30: the worst rank is one byte above a reserve that is no whole byte": Row(
        gate="memory_headroom",
        limit={"load_point": AT},
        contract=SHARE_KEPT,
        load={"longest_sequence_tokens": 1000},
        trial={"tp": 4},
        window=peaks(1, 1, 1, 79_886_391_706),
        outcome="FAIL",
        says="Rank 3",
    ),
    "C30: one byte below it": Row(
        gate="memory_headroom",
        limit={"load_point": AT},
        contract=SHARE_KEPT,
        load={"longest_sequence_tokens": 1000},
        trial={"tp": 4},
        window=peaks(1, 1, 1, 79_886_391_705),
        outcome="PASS",
        says="Rank 3",
    ),
    "C31: the rank that nobody read hides behind three that fit": Row(
        gate="memory_headroom",
        limit={"load_point": AT},
        contract=SHARE_KEPT,
        load={"longest_sequence_tokens": 1000},
        trial={"tp": 4},
        window=peaks(1, 1, 1, None),
        outcome="UNKNOWN",
        says="Rank 3",
    ),
    "C29: a peak of samples five seconds apart": Row(
        gate="memory_headroom",
        limit={"load_point": AT},
        contract=SHARE_KEPT,
        load={"longest_sequence_tokens": 1000},
        trial={"tp": 2},
        window=peaks(1, 1, sample_interval_s=5),
        outcome="UNKNOWN",
        says="lower bound",
    ),
    "C26: the longest sequence is one token short of the context": Row(
        gate="memory_headroom",
        limit={"load_point": AT},
        contract=SHARE_KEPT,
        load={"longest_sequence_tokens": 999},
        trial={"tp": 2},
        window=peaks(1, 1),
        outcome="UNKNOWN",
        says="999 of 1,000",
    ),
    "C82: one slow link of four, at its peak": Row(
        gate="link_utilization",
        limit=LINK_LIMIT,
        contract=LINKS,
        window=busiest(42_500_000_001),
        outcome="FAIL",
        says="l3",
        **ACROSS,
    ),
    "C82: the same link at exactly its ceiling": Row(
        gate="link_utilization",
        limit=LINK_LIMIT,
        contract=LINKS,
        window=busiest(42_500_000_000),
        outcome="PASS",
        says="0.850",
        **ACROSS,
    ),
    "C82: a mean over fifteen seconds is no peak": Row(
        gate="link_utilization",
        limit=LINK_LIMIT,
        contract=LINKS,
        window=busiest(10**9, interval_s=15),
        outcome="UNKNOWN",
        says="lower bound",
        **ACROSS,
    ),
    "C36: one hot layer of sixty": Row(
        gate="expert_balance",
        limit={"load_point": AT, "max_rank_over_mean": 1.3},
        contract={"model": MOE},
        trial={"layout": "vllm", "tp": 4, "ep": 4, "engine_degrees": EXPERTS},
        window={
            "experts": {
                "e": {
                    "layers": {
                        f"l{at}": {"tokens_by_rank": [100, 100, 100, 300 if at == 59 else 100]} for at in range(60)
                    }
                }
            }
        },
        outcome="FAIL",
        says="layer l59",
    ),
    "C36: a third above the mean, to the token": Row(
        gate="expert_balance",
        limit={"load_point": AT, "max_rank_over_mean": 1.3},
        contract={"model": MOE},
        trial={"layout": "vllm", "tp": 4, "ep": 4, "engine_degrees": EXPERTS},
        window={"experts": {"e": {"layers": {"l0": {"tokens_by_rank": [130, 90, 90, 90]}}}}},
        outcome="PASS",
        says="1.300",
    ),
    "C69: clocks were throttled during the run": Row(
        gate="errors",
        limit={"load_point": AT, "max_throttling": 0},
        window={"incidents": {"throttling": {"count": 3, "first_after_s": 44}}},
        outcome="FAIL",
        says="44 s",
    ),
    "C69: nobody looked at the clocks": Row(
        gate="errors",
        limit={"load_point": AT, "max_throttling": 0},
        window={"incidents": {"throttling": {"count": None}}},
        outcome="UNKNOWN",
        says="Nobody looked",
    ),
    "C69: slow at step time alone is nobody's fault": Row(
        gate="straggler",
        limit={"load_point": AT, "max_over_median": 1.1},
        trial={"tp": 4},
        window={"per_rank": {"step_ms": {"values": [10, 10, 10, 12]}}},
        outcome="UNKNOWN",
        says="is not recorded",
    ),
    "C54: the rate of a device told as the whole deployment's": Row(
        gate="throughput",
        limit={"load_point": AT, "min_output_tokens_per_s": 1000},
        load=served(1600, output_tokens_per_s={"value": 400, "scope": "deployment"}),
        trial={"tp": 4},
        outcome="UNKNOWN",
        says="totals give 1,600",
    ),
    "C54: the same rate, told as a device's": Row(
        gate="throughput",
        limit={"load_point": AT, "min_output_tokens_per_s": 1000},
        load=served(1600, output_tokens_per_s={"value": 400, "scope": "device"}),
        trial={"tp": 4},
        outcome="PASS",
        says="1,600",
    ),
    "C55: a hundred seconds of work in a window without length": Row(
        gate="throughput",
        limit={"load_point": AT, "min_output_tokens_per_s": 1000},
        load=served(1600),
        window={"start": "2026-09-20T10:00:00Z", "end": "2026-09-20T10:00:00Z"},
        outcome="UNKNOWN",
        says="duration_s is 100",
    ),
    "tail: one of one sample too few": Row(
        gate="ttft",
        limit=P99,
        load={"ttft_ms": {"n": 999, "p99": 400}},
        outcome="UNKNOWN",
        says="p99 needs 1,000",
    ),
    "tail: a p99 below the p95": Row(
        gate="ttft",
        limit=P99,
        load={"ttft_ms": {"n": 1000, "p95": 450, "p99": 400}},
        outcome="UNKNOWN",
        says="above p99",
    ),
    "tail: one unit in the last place above its ceiling": Row(
        gate="ttft",
        limit=P99,
        load={"ttft_ms": {"n": 1000, "p99": 500.00000000000006}},
        outcome="FAIL",
        says="500.0000000000001 ms",
    ),
    "C75: an open loop that counts from when it got round to sending": Row(
        gate="ttft",
        limit=P99,
        contract={"workload": OPEN},
        load={"ttft_from": "send", "ttft_ms": {"n": 1000, "p99": 400}},
        outcome="UNKNOWN",
        says="lower bound",
    ),
    "C51: more completed than were ever sent": Row(
        gate="completeness",
        limit=ALL_SENT,
        load={"requests": {"sent": 1000, "completed": 1200}},
        outcome="UNKNOWN",
        says="sent is 1,000",
    ),
    "C52: good requests that did not complete": Row(
        gate="goodput",
        limit={"load_point": AT, "min_good_share": 0.95, "ttft_ms": 500},
        load={"requests": {"sent": 1000, "completed": 900, "good": 990}, "good_if": {"ttft_ms": 500}},
        outcome="UNKNOWN",
        says="completed is 900",
    ),
    "C52: good by a looser ceiling": Row(
        gate="goodput",
        limit={"load_point": AT, "min_good_share": 0.95, "ttft_ms": 500},
        load={"requests": {"sent": 1000, "completed": 1000, "good": 990}, "good_if": {"ttft_ms": 501}},
        outcome="UNKNOWN",
        says="501",
    ),
    "C43: a revision that nobody could read is no other revision": Row(
        gate="equal_service",
        identity=(("/model/revision", None),),
        outcome="UNKNOWN",
        says="/model/revision is not known",
    ),
    "quality: a score that its own interval denies": Row(
        gate="quality",
        limit={"benchmark": "math", "min_score": 0.8},
        more={"quality": {"q": {**SCORED, "n": 500, "interval": {"low": 0.5, "high": 0.6, "confidence": 0.95}}}},
        outcome="UNKNOWN",
        says="does not hold it",
    ),
    "C06: faster than a baseline that is larger": Row(
        gate="scale_out",
        limit={"load_point": AT, "min_speedup": 1},
        load=served(3000),
        more={"baseline": {**BASELINE, "ranks": 2, "load": {AT: {"duration_s": 100, "output_tokens_total": 100_000}}}},
        outcome="UNKNOWN",
        says="no smaller one",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_variation_at_an_edge_gets_its_answer(row: Row) -> None:
    check(row)
