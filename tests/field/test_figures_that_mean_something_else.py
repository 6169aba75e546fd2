"""Figures without unit, basis or definition, or of survivors only (F-05, F-06, F-07, F-10, F-15)."""

from typing import Any

from planner.intake import read_contract, read_evidence
from planner.records.plan import Plan
from tests.field.slot import (
    AT,
    ELIGIBLE,
    GIB,
    Tree,
    a_contract,
    a_limit,
    a_trial,
    decided,
    evidence_tree,
    inconclusive,
    outcome,
    rejected,
    states,
    winner,
)
from tests.planner.documents import findings, raw

WINDOW = "/trials/a/windows/w1"


def refusals(contract: Tree, trial: Tree) -> list[tuple[str, str, str, str]]:
    """Return what intake says against evidence with this trial."""
    return findings(read_evidence, evidence_tree(contract, {"a": trial}), read_contract(raw(contract)))


def requests(sent: int, completed: int, ttft_p99: float) -> Tree:
    return {
        "requests": {"sent": sent, "completed": completed, "failed": sent - completed, "cut_off": 0},
        "ttft_ms": {"n": completed, "p99": ttft_p99},
    }


def survivors() -> Plan:
    """F-05: the latency of 960 requests out of 4,000, and of nearly all."""
    contract = a_contract(
        a_limit("completeness", load_point=AT, min_completed_share=0.995),
        a_limit("ttft", load_point=AT, statistic="p99", max_ms=900),
    )
    return decided(contract, {"a": a_trial(requests(4000, 960, 310)), "b": a_trial(requests(4000, 3996, 820))})


def test_refused_work_is_not_served_work() -> None:
    plan = survivors()
    assert states(plan) == {"a": rejected("completeness", unknown=("ttft",)), "b": ELIGIBLE}
    assert winner(plan) == "b"
    found = outcome(plan, "a", "completeness")
    assert (found.measured, found.limit) == (0.24, 0.995)
    assert found.sentence == "0.240 of the requests completed at saturated in window w1; at least 0.995."


def test_a_tail_over_too_few_survivors_answers_nothing() -> None:
    assert outcome(survivors(), "a", "ttft").notes == ("n = 960, p99 needs 1,000.",)


EIGHTY = {"end": "2026-09-20T10:01:20Z"}
TOTALS = {
    "duration_s": 80,
    "input_tokens_total": 512_000,
    "output_tokens_total": 64_000,
    "requests": {"completed": 500},
}


def floor_of_1200() -> Tree:
    return a_contract(a_limit("throughput", load_point=AT, min_output_tokens_per_s=1200), devices=8)


def test_output_from_totals_decides_the_throughput() -> None:
    """F-06."""
    plan = decided(floor_of_1200(), {"a": a_trial(TOTALS, tp=8, window=EIGHTY)})
    found = outcome(plan, "a", "throughput")
    assert states(plan) == {"a": rejected("throughput")}
    assert (found.measured, found.limit, found.margin) == (800, 1200, -400)


def test_a_throughput_without_a_basis_is_refused_by_name() -> None:
    """F-06."""
    ambiguous = a_trial({**TOTALS, "throughput": 7200}, tp=8)
    bare = a_trial({**TOTALS, "output_tokens_per_s": {"value": 7200}}, tp=8)
    assert [found[:2] for found in refusals(floor_of_1200(), ambiguous)] == [
        ("document/unknown_field", f"{WINDOW}/load/throughput")
    ]
    assert [found[:2] for found in refusals(floor_of_1200(), bare)] == [
        ("document/missing_field", f"{WINDOW}/load/output_tokens_per_s/scope")
    ]


def test_input_counted_as_output_is_caught_by_the_totals() -> None:
    """F-06: 7,200 is input and output together, or 900 for each of 8 devices."""
    both = {"total_tokens_per_s": {"value": 7200, "scope": "deployment"}}
    each = {"total_tokens_per_s": {"value": 900, "scope": "device"}}
    wrong = {"output_tokens_per_s": {"value": 7200, "scope": "deployment"}}
    for stated in (both, each):
        plan = decided(floor_of_1200(), {"a": a_trial({**TOTALS, **stated}, tp=8, window=EIGHTY)})
        assert outcome(plan, "a", "consistency").outcome == "PASS"
    plan = decided(floor_of_1200(), {"a": a_trial({**TOTALS, **wrong}, tp=8, window=EIGHTY)})
    assert outcome(plan, "a", "consistency").sentence == (
        "Window w1: output_tokens_per_s over the deployment is stated as 7,200; totals give 800."
    )
    assert (outcome(plan, "a", "throughput").outcome, outcome(plan, "a", "throughput").would) == ("UNKNOWN", "FAIL")


def peak_limit() -> Tree:
    return a_contract(
        a_limit("memory_headroom", load_point=AT),
        workload={"context_tokens": 4096},
        headroom={"memory": {"reserved_share": 0.05}},
    )


def peak(value: Any) -> Tree:
    metric = {"device_used_peak_bytes": {"values": [value]}}
    return a_trial({"longest_sequence_tokens": 4096}, window={"per_rank": metric})


def test_gb_are_not_gib_at_the_edge() -> None:
    """F-07: 83.0 GB are 77.3 GiB, above 76 GiB and below what the device has."""
    plan = decided(peak_limit(), {"a": peak(83 * 10**9), "b": peak(round(75.5 * GIB))})
    assert states(plan) == {"a": rejected("memory_headroom"), "b": ELIGIBLE}
    assert outcome(plan, "a", "memory_headroom").sentence == "Rank 0 on n0 uses 77.3 GiB of 76.0 GiB."


def test_a_peak_that_is_not_in_whole_bytes_is_refused() -> None:
    """F-07."""
    at = f"{WINDOW}/per_rank/device_used_peak_bytes/values/0"
    assert refusals(peak_limit(), peak(75.5)) == [
        ("document/type", at, "an integer, because device_used_peak_bytes counts", "75.5")
    ]
    assert [found[:2] for found in refusals(peak_limit(), peak({"value": 75.5, "unit": "GiB"}))] == [
        ("document/type", at)
    ]


CHUNKED = {
    "duration_s": 100,
    "output_tokens_total": 76_000,
    "requests": {"completed": 400},
    "tpot_ms": {"definition": "(e2e-ttft)/(n-1)", "n": 1000, "mean": 20, "p99": 24},
}


def token_latencies(itl: Tree) -> Plan:
    """F-10: 16 in flight, 760 tok/s, mean TPOT 20 ms and mean ITL 200 ms."""
    contract = a_contract(
        a_limit("itl", load_point=AT, statistic="p99", max_ms=60),
        a_limit("tpot", load_point=AT, statistic="p99", max_ms=30),
    )
    load = {**CHUNKED, "requests": {"completed": 1000}, "itl_ms": {"n": 75_000, "mean": 200, "p99": 260, **itl}}
    return decided(contract, {"a": a_trial(load)})


def test_itl_without_a_definition_neither_passes_nor_fails() -> None:
    plan = token_latencies({})
    found = outcome(plan, "a", "itl")
    assert states(plan) == {"a": inconclusive("telemetry", "itl")}
    assert outcome(plan, "a", "tpot").outcome == "PASS"
    assert found.missing == (f"{WINDOW}/load/itl_ms/definition",)


def test_itl_per_chunk_neither_passes_nor_fails() -> None:
    plan = token_latencies({"definition": "per_chunk"})
    assert states(plan) == {"a": inconclusive("itl")}
    assert 'Recorded as "per_chunk"; the limit is for per_token.' in outcome(plan, "a", "itl").sentence


def test_itl_that_claims_to_be_per_token_is_caught_by_the_output_rate() -> None:
    plan = token_latencies({"definition": "per_token"})
    found = outcome(plan, "a", "itl")
    assert states(plan) == {"a": inconclusive("consistency", "itl")}
    assert (found.outcome, found.would) == ("UNKNOWN", "FAIL")
    assert "mean ITL with 16 in flight allows 80." in outcome(plan, "a", "consistency").sentence


def ttft(p99: Any) -> Tree:
    return a_trial({"ttft_ms": {"n": 2000, "p99": p99}})


def ttft_limit() -> Tree:
    return a_contract(a_limit("ttft", load_point=AT, statistic="p99", max_ms=900))


def test_a_latency_without_a_unit_in_its_name_is_refused() -> None:
    """F-15."""
    bare = a_trial({"ttft": {"n": 2000, "p99": 0.84}})
    assert [found[:2] for found in refusals(ttft_limit(), bare)] == [("document/unknown_field", f"{WINDOW}/load/ttft")]
    wrapped = ttft({"value": 0.84})
    assert [found[:2] for found in refusals(ttft_limit(), wrapped)] == [("document/type", f"{WINDOW}/load/ttft_ms/p99")]


def test_a_latency_far_above_its_limit_is_said_and_not_corrected() -> None:
    """F-15: 840 s were meant as ms."""
    plan = decided(ttft_limit(), {"b": ttft(840), "c": ttft(840_000)})
    found = outcome(plan, "c", "ttft")
    assert states(plan) == {"b": ELIGIBLE, "c": rejected("ttft")}
    assert (found.measured, found.limit) == (840_000, 900)
    assert found.notes == ("That is 933 × the limit: compare the unit with the tool's.",)
