"""Variations of figures that mean something else, or are evidence of something else; each row names its report.

Values are this project's own.
"""

import pytest

from tests.field.slot import AT, GIB, served
from tests.field.variation import Row, check

FLOOR = {"min_output_tokens_per_s": 1}

ROWS: dict[str, Row] = {
    # F-03, C26, C27, C32: KV capacity
    "C26: KV measured at another context": Row(
        gate="kv_capacity",
        limit={"load_point": AT},
        contract={"workload": {"context_tokens": 29_000}},
        trial={"tp": 4},
        window={
            "replicas": {
                "r0": {
                    "ranks": [0, 1, 2, 3],
                    "kv_capacity_tokens": 10**6,
                    "kv_measured_at_context_tokens": 20_000,
                }
            }
        },
        outcome="UNKNOWN",
        says="20,000",
    ),
    "C27: two replicas hold together what one does not": Row(
        gate="kv_capacity",
        limit={"load_point": AT},
        contract={"workload": {"context_tokens": 32_000}},
        trial={"tp": 2, "dp": 2},
        window={
            "replicas": {
                f"r{at}": {
                    "ranks": [2 * at, 2 * at + 1],
                    "kv_capacity_tokens": 8 * 32_000,
                    "kv_measured_at_context_tokens": 32_000,
                }
                for at in range(2)
            }
        },
        outcome="PASS",
        says="16",
    ),
    "C32: the emptiest rank decides, not the first": Row(
        gate="kv_capacity",
        limit={"load_point": AT, "min_tokens": 33_000},
        contract={"workload": {"context_tokens": 1000}},
        trial={"tp": 2},
        load={"kv_measured_at_context_tokens": 1000},
        window={"per_rank": {"kv_capacity_tokens": {"values": [33_776, 32_880]}}},
        outcome="FAIL",
        says="32,880",
    ),
    # F-04, F-07, C29, C30: memory
    "C29: a peak seen before the longest prompt came": Row(
        gate="memory_headroom",
        limit={"load_point": AT, "max_used_bytes": 70 * GIB},
        contract={"workload": {"context_tokens": 96_000}},
        trial={"tp": 2},
        load={"longest_sequence_tokens": 12_000},
        window={"per_rank": {"device_used_peak_bytes": {"scope": "device", "values": [60 * GIB, 60 * GIB]}}},
        outcome="UNKNOWN",
        says="12,000",
    ),
    "C30: the first rank carries the others' contexts": Row(
        gate="memory_headroom",
        limit={"load_point": AT, "max_used_bytes": 64 * GIB},
        contract={"workload": {"context_tokens": 1000}},
        trial={"tp": 4},
        load={"longest_sequence_tokens": 1000},
        window={
            "per_rank": {
                "device_used_peak_bytes": {
                    "scope": "device",
                    "values": [mib * 2**20 for mib in (66_601, 57_600, 57_900, 57_700)],
                }
            }
        },
        outcome="FAIL",
        says="Rank 0",
    ),
    "C61: a rank on a smaller device than the others": Row(
        gate="memory_headroom",
        limit={"load_point": AT},
        contract={
            "workload": {"context_tokens": 1000},
            "headroom": {"memory": {"reserved_share": 0.1}},
            "hardware": {
                "devices": {
                    f"g{at}": {"node": "n0", "type": "accel", "memory_bytes": (40 if at == 2 else 80) * GIB}
                    for at in range(4)
                }
            },
        },
        trial={"tp": 4},
        load={"longest_sequence_tokens": 1000},
        window={"per_rank": {"device_used_peak_bytes": {"scope": "device", "values": [37 * GIB] * 4}}},
        outcome="FAIL",
        says="Rank 2",
    ),
    # F-05, C51 to C53: completeness
    "C53: unfinished requests do not count against": Row(
        gate="completeness",
        limit={"load_point": AT, "min_completed_share": 0.99},
        load={"requests": {"sent": 1010, "completed": 998, "failed": 2, "cut_off": 10}},
        outcome="PASS",
        says="0.998",
    ),
    "C53: more unfinished than ever ran at once": Row(
        gate="completeness",
        limit={"load_point": AT, "min_completed_share": 0.99},
        load={"requests": {"sent": 4096, "completed": 979, "failed": 0, "cut_off": 3117}},
        outcome="FAIL",
        says="0.240 of the requests completed",
    ),
    "C51: what was sent is not in the file": Row(
        gate="completeness",
        limit={"load_point": AT, "min_completed_share": 0.99},
        load={"requests": {"completed": 1000}},
        outcome="UNKNOWN",
        says="not recorded",
    ),
    # F-06, C54 to C57: throughput
    "C55: a rate per device stated as the whole": Row(
        gate="throughput",
        limit={"load_point": AT, **FLOOR},
        trial={"tp": 4},
        load=served(800, output_tokens_per_s={"value": 200, "scope": "deployment"}),
        outcome="UNKNOWN",
        says="800",
    ),
    "C55: the same rate with its basis": Row(
        gate="throughput",
        limit={"load_point": AT, **FLOOR},
        trial={"tp": 4},
        load=served(800, output_tokens_per_s={"value": 200, "scope": "device"}),
        outcome="PASS",
        says="800",
    ),
    "C57: more output than so many in flight can give": Row(
        gate="throughput",
        limit={"load_point": AT, **FLOOR},
        load=served(
            900, requests={"completed": 100}, itl_ms={"definition": "per_token", "n": 89_900, "mean": 127, "p50": 120}
        ),
        outcome="UNKNOWN",
        says="900",
    ),
    # F-09, C23, C43 to C45, C76, C81: environment
    "C45: another driver": Row(
        gate="identity",
        contract={"stack": {"driver": {"version": "590.44"}}},
        identity=(("/stack/driver/version", "580.1"),),
        outcome="UNKNOWN",
        says="/stack/driver/version",
    ),
    "C76: graphs switched off": Row(
        gate="identity",
        contract={"stack": {"flags": {"graphs": True}}},
        identity=(("/stack/flags/graphs", False),),
        outcome="UNKNOWN",
        says="/stack/flags/graphs",
    ),
    "C81: devices of another type": Row(
        gate="identity",
        identity=(("/hardware/devices/g0/type", "other"),),
        outcome="UNKNOWN",
        says="/hardware/devices/g0/type",
    ),
    "C14: a KV cache of another number format": Row(
        gate="equal_service", identity=(("/precision/kv_cache", "fp8"),), outcome="FAIL", says="/precision/kv_cache"
    ),
    "C58: speculation that the contract does not have": Row(
        gate="equal_service",
        contract={"workload": {"speculation": "none"}},
        identity=(("/workload/speculation", {"method": "draft"}),),
        outcome="FAIL",
        says="/workload/speculation",
    ),
    # F-10, C58, C59: latencies
    "C59: TPOT by another definition": Row(
        gate="tpot",
        limit={"load_point": AT, "statistic": "mean", "max_ms": 20},
        load={"tpot_ms": {"definition": "e2e/n", "n": 1000, "mean": 12}},
        outcome="UNKNOWN",
        says="e2e/n",
    ),
    "C75: open loop, counted from the real send": Row(
        gate="ttft",
        limit={"load_point": AT, "statistic": "p99", "max_ms": 500},
        contract={"workload": {"load_points": {AT: {"arrival": "open", "requests_per_s": 20}}}},
        load={"requests": {"completed": 2000}, "ttft_from": "send", "ttft_ms": {"n": 2000, "p99": 300}},
        outcome="UNKNOWN",
        says="300",
    ),
    "C75: open loop, late already without the wait": Row(
        gate="ttft",
        limit={"load_point": AT, "statistic": "p99", "max_ms": 500},
        contract={"workload": {"load_points": {AT: {"arrival": "open", "requests_per_s": 20}}}},
        load={"requests": {"completed": 2000}, "ttft_from": "send", "ttft_ms": {"n": 2000, "p99": 600}},
        outcome="FAIL",
        says="600",
    ),
    "C52: a tail over more requests than there were": Row(
        gate="ttft",
        limit={"load_point": AT, "statistic": "p99", "max_ms": 500},
        load={"requests": {"completed": 100}, "ttft_ms": {"n": 5000, "p99": 300}},
        outcome="UNKNOWN",
        says="5,000",
    ),
    # F-11, C47 to C50: workload
    "C49: half of the declared prompt": Row(
        gate="workload_match",
        limit={"load_point": AT, "max_difference_share": 0.05},
        contract={"workload": {"prompt_tokens": {"fixed": 10_000}}},
        load={"requests": {"completed": 100}, "input_tokens_total": 582_800, "in_flight_mean": 16},
        outcome="FAIL",
        says="5,828",
    ),
    "C50: tokens counted by the client": Row(
        gate="workload_match",
        limit={"load_point": AT, "max_difference_share": 0.05, "tokens_counted_by": "server"},
        load={"in_flight_mean": 16, "tokens_counted_by": "client"},
        outcome="UNKNOWN",
        says="server",
    ),
    "C47: colder than the cache that was declared": Row(
        gate="workload_match",
        limit={"load_point": AT, "max_difference_share": 0.05, "cache_hit_share": 0.5},
        load={"in_flight_mean": 16, "cache_hit_share": 0.3},
        outcome="FAIL",
        says="0.300",
    ),
    "C58: acceptance that was set": Row(
        gate="workload_match",
        limit={"load_point": AT, "max_difference_share": 0.05},
        load={"in_flight_mean": 16, "synthetic_acceptance": True},
        outcome="FAIL",
        says="synthetic",
    ),
    "C75: a cap that was never reached": Row(
        gate="workload_match",
        limit={"load_point": AT, "max_difference_share": 0.05},
        load={"in_flight_mean": 9},
        outcome="FAIL",
        says="9 requests",
    ),
    # F-15: other units
    "F-15: seconds in a field of milliseconds": Row(
        gate="e2e",
        limit={"load_point": AT, "statistic": "p99", "max_ms": 900},
        load={"requests": {"completed": 2000}, "e2e_ms": {"n": 2000, "p99": 840_000}},
        outcome="FAIL",
        says="840,000",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_variation_of_a_reported_case_gets_its_answer(row: Row) -> None:
    check(row)
