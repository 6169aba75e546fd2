"""Variations of what means hide: experts, ranks, lost devices, hand-offs never made; each row names its report.

Values are this project's own.
"""

import pytest

from tests.field.slot import AT, GIB, SECONDS, served
from tests.field.variation import EXPERTS, MOE, Row, check

SPLIT = {"instances": [{"role": "prefill"}, {"role": "decode"}], "layout": "vllm"}

ROWS: dict[str, Row] = {
    # F-08, C36: experts
    "C36: balance averaged over layers may hide a hot one": Row(
        gate="expert_balance",
        limit={"load_point": AT, "max_rank_over_mean": 1.5},
        contract={"model": MOE},
        trial={"layout": "vllm", "tp": 4, "ep": 4, "engine_degrees": EXPERTS},
        window={"experts": {"e": {"balancedness": 0.9}}},
        outcome="UNKNOWN",
        says="1.111",
    ),
    "C36: a bad average is bad enough": Row(
        gate="expert_balance",
        limit={"load_point": AT, "max_rank_over_mean": 1.5},
        contract={"model": MOE},
        trial={"layout": "vllm", "tp": 4, "ep": 4, "engine_degrees": EXPERTS},
        window={"experts": {"e": {"balancedness": 0.5}}},
        outcome="FAIL",
        says="2.000",
    ),
    "C37: experts and their copies do not divide": Row(
        gate="model_divisibility",
        contract={"model": MOE, "devices": 8},
        trial={
            "layout": "vllm",
            "tp": 8,
            "ep": 8,
            "engine_degrees": {**EXPERTS, "enable_eplb": True, "redundant_experts": 3},
        },
        outcome="FAIL",
        says="64 + 3",
    ),
    # F-12, C20: stages
    "C20: the last of eight stages carries the head": Row(
        gate="stage_balance",
        limit={"load_point": AT, "min_balance": 0.85},
        contract={"devices": 8},
        trial={"pp": 8},
        window={"stages": {"s": {"busy_ms": [3.15] * 7 + [3.90]}}},
        outcome="FAIL",
        says="Stage 7",
    ),
    "C38: decode alone is asked for, both were mixed": Row(
        gate="stage_balance",
        limit={"load_point": AT, "min_balance": 0.5, "phase": "decode"},
        trial={"pp": 4},
        window={"stages": {"s": {"busy_ms": [3, 3, 3, 3]}}},
        outcome="UNKNOWN",
        says="Only mixed is recorded",
    ),
    # F-14, C63, C78: limits before the order
    "C78: preemptions near a full cache": Row(
        gate="errors",
        limit={"load_point": AT, "max_preemptions_per_1000_requests": 1},
        load={"requests": {"completed": 2000}, "preemptions": 1065},
        outcome="FAIL",
        says="532.5",
    ),
    # F-17, C73: quality
    "C73: a score without its number of items": Row(
        gate="quality",
        limit={"benchmark": "suite", "min_score": 0.8},
        trial={"tp": 2},
        more={
            "quality": {"q": {"benchmark": "suite", "topology": "tp2-pp1-ep1-dp1", "identity_id": "run", "score": 0.9}}
        },
        outcome="UNKNOWN",
        says="0.9",
    ),
    "C73: a drop below the reference": Row(
        gate="quality",
        limit={"benchmark": "suite", "max_drop": 0.01},
        trial={"tp": 2},
        more={
            "quality": {
                "q": {
                    "benchmark": "suite",
                    "topology": "tp2-pp1-ep1-dp1",
                    "identity_id": "run",
                    "score": 0.78,
                    "n": 500,
                    "interval": {"low": 0.76, "high": 0.80, "confidence": 0.95},
                    "reference": "one device",
                    "reference_score": 0.83,
                }
            }
        },
        outcome="FAIL",
        says="0.05",
    ),
    # F-18, C46, C68, C69, C77: steadiness and stability
    "C46: a compile in the first sweep": Row(
        gate="steady_state", limit={"load_point": AT}, window={"compile_events": 27}, outcome="UNKNOWN", says="27"
    ),
    "C77: another run at the same endpoint": Row(
        gate="steady_state", limit={"load_point": AT}, window={"concurrent_runs": 1}, outcome="UNKNOWN", says="1"
    ),
    "C69: throttled by heat": Row(
        gate="errors",
        limit={"load_point": AT, "max_throttling": 0},
        window={"incidents": {"throttling": {"count": 3}}},
        outcome="FAIL",
        says="3",
    ),
    "C68: nobody looked for hangs": Row(
        gate="errors", limit={"load_point": AT, "max_hangs": 0}, outcome="UNKNOWN", says="Nobody looked for hangs"
    ),
    # C69: waiting for a slower device
    "C69: one device works longer than its group": Row(
        gate="straggler",
        limit={"load_point": AT, "max_over_median": 1.2},
        trial={"tp": 4},
        window={
            "per_rank": {
                "step_ms": {"values": [20, 20, 20, 20]},
                "collective_ms": {"values": [10, 10, 2, 10]},
            }
        },
        outcome="FAIL",
        says="Rank 2",
    ),
    "C69: steps of a group end together, whoever is slow": Row(
        gate="straggler",
        limit={"load_point": AT, "max_over_median": 1.2},
        trial={"tp": 4},
        window={"per_rank": {"step_ms": {"values": [20, 20, 20, 20]}}},
        outcome="UNKNOWN",
        says="its own work apart from its group's collectives is not recorded",
    ),
    # F-19, C72: hand-off
    "C72: one transfer for each rank, half of the requests": Row(
        gate="kv_handoff",
        limit={"load_point": AT, "min_handed_over_share": 0.99},
        trial=SPLIT,
        load={"requests": {"completed": 1000}},
        window={"handoff": {"transfers": 2000, "counted_per": "rank", "transfers_per_request": 4}},
        outcome="FAIL",
        says="0.500",
    ),
    "C72: the route is too slow for the peak": Row(
        gate="kv_handoff",
        limit={"load_point": AT, "max_route_utilization": 1, "kv_bytes_per_token": 131_072},
        contract={"headroom": {"bandwidth": {"reserved_share": 0.2}}},
        trial=SPLIT,
        load={"requests": {"completed": 1000}},
        window={
            "handoff": {
                "tokens_sent_total": 4_096_000,
                "peak_requests_per_s": 20,
                "route_bytes_per_s": 12 * GIB,
            }
        },
        outcome="FAIL",
        says="0.833",
    ),
    # C65, C66: failure
    "C65: one device takes the whole expert group down": Row(
        gate="failure_domain",
        limit={"domain": "device", "horizon": "immediate", "max_capacity_share_lost": 0.5},
        contract={"model": MOE},
        trial={"layout": "vllm", "dp": 4, "ep": 4, "engine_degrees": EXPERTS},
        load=served(800),
        outcome="FAIL",
        says="1.000",
    ),
    "C66: serving smaller is worth what was measured": Row(
        gate="failure_domain",
        limit={"domain": "device", "horizon": "immediate", "max_capacity_share_lost": 0.5},
        contract={"model": MOE},
        trial={"layout": "vllm", "dp": 4, "ep": 4, "engine_degrees": EXPERTS},
        load=served(800),
        more={"failures": {"f": {"kind": "rank_loss", "domain": "g1", "load_point": AT, "output_tokens_per_s": 560}}},
        outcome="PASS",
        says="0.300",
    ),
    # C06: scale
    "C06: eight devices slower than one": Row(
        gate="scale_out",
        limit={"load_point": AT, "min_speedup": 1},
        contract={"devices": 8},
        trial={"tp": 8},
        load=served(270),
        more={
            "baseline": {
                "topology": "tp1-pp1-ep1-dp1",
                "ranks": 1,
                "identity_id": "run",
                "fits": True,
                "load": {AT: {"duration_s": SECONDS, "output_tokens_total": 57_500}},
            }
        },
        outcome="FAIL",
        says="0.470",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_variation_of_a_reported_case_gets_its_answer(row: Row) -> None:
    check(row)
