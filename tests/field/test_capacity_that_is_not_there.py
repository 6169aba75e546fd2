"""KV room and hand-offs that fall short of what the slot promises, and nobody qualifying (F-03, F-14, F-19)."""

from itertools import permutations

import pytest

from planner.records.plan import Plan
from tests.field.slot import (
    AT,
    ELIGIBLE,
    Tree,
    a_contract,
    a_limit,
    a_trial,
    a_window,
    decided,
    outcome,
    rejected,
    states,
    winner,
)


def test_weights_fit_and_the_promised_requests_do_not() -> None:
    """F-03: 150,000 tokens of KV cache are one request of 96,000, not two."""
    context = {"context_tokens": 96_000, "load_points": {AT: {"arrival": "closed", "concurrent_requests": 2}}}
    contract = a_contract(
        a_limit("memory_headroom", load_point=AT),
        a_limit("kv_capacity"),
        memory_bytes=103_079_215_104,
        workload=context,
        headroom={"memory": {"reserved_share": 0.08}},
    )
    window = {
        "load": {"longest_sequence_tokens": 96_000},
        "per_rank": {"device_used_peak_bytes": {"values": [90_194_313_216, 89_764_816_486]}},
        "replicas": {"r0": {"ranks": [0, 1], "kv_capacity_tokens": 150_000, "kv_measured_at_context_tokens": 96_000}},
    }
    plan = decided(contract, {"a": a_trial(tp=2, window=window)})
    assert states(plan) == {"a": rejected("kv_capacity")}
    assert outcome(plan, "a", "memory_headroom").outcome == "PASS"
    assert outcome(plan, "a", "kv_capacity").sentence == (
        "The KV caches hold 1 whole request of 96,000 tokens in window w1 (150,000 tokens, 1.5625 requests); "
        "at least 2 (192,000 tokens)."
    )


def latencies(completed: int, ttft: float, itl: float) -> Tree:
    return a_trial(
        {
            "requests": {"sent": 4000, "completed": completed},
            "ttft_ms": {"n": completed, "p99": ttft},
            "itl_ms": {"definition": "per_token", "n": 100_000, "p99": itl},
        }
    )


TRIALS = {"a": latencies(4000, 505, 30), "b": latencies(4000, 300, 44), "c": latencies(3880, 510, 55)}


def nobody(order: tuple[str, ...] = ("a", "b", "c")) -> Plan:
    """F-14: three trials, each with something that fails."""
    contract = a_contract(
        a_limit("ttft", load_point=AT, statistic="p99", max_ms=500),
        a_limit("itl", load_point=AT, statistic="p99", max_ms=40),
        a_limit("completeness", load_point=AT, min_completed_share=0.995),
    )
    return decided(contract, {name: TRIALS[name] for name in order})


def test_nobody_qualifies_and_every_failing_gate_is_named() -> None:
    plan = nobody()
    assert (plan.decision, winner(plan), plan.eligible) == ("NO_ELIGIBLE_TOPOLOGY", None, ())
    assert states(plan) == {
        "a": rejected("ttft"),
        "b": rejected("itl"),
        "c": rejected("completeness", "ttft", "itl"),
    }


@pytest.mark.parametrize(
    ("trial", "gate", "have", "need", "short_by"),
    [
        pytest.param("a", "ttft", 505, 500, -5, id="first token of a"),
        pytest.param("b", "itl", 44, 40, -4, id="tokens of b"),
        pytest.param("c", "completeness", 0.97, 0.995, -0.025, id="requests of c"),
        pytest.param("c", "ttft", 510, 500, -10, id="first token of c"),
        pytest.param("c", "itl", 55, 40, -15, id="tokens of c"),
    ],
)
def test_every_failing_gate_says_have_need_and_shortfall(
    trial: str, gate: str, have: float, need: float, short_by: float
) -> None:
    found = outcome(nobody(), trial, gate)
    assert (found.measured, found.limit, found.margin) == (have, need, short_by)


@pytest.mark.parametrize("order", list(permutations(TRIALS)), ids="".join)
def test_the_order_of_trials_changes_nothing(order: tuple[str, ...]) -> None:
    assert nobody(order) == nobody()


POOLS = [{"role": "prefill", "tp": 2}, {"role": "decode", "tp": 2}]


def handed_over(transfers: int, running: int) -> Tree:
    load = {"requests": {"completed": 1000}}
    handoff = {
        "transfers": transfers,
        "counted_per": "request",
        "decode_kv_tokens": 240_000,
        "decode_running_max": running,
    }
    return a_trial(instances=[dict(pool) for pool in POOLS], window=a_window(load, handoff=handoff))


def pools() -> Plan:
    """F-19: nothing handed over, no room to stage, and room for six more requests of 9,000 tokens."""
    share = {"load_point": AT, "min_handed_over_share": 0.99, "because": "Nothing else is the declared topology."}
    room = {
        "load_point": AT,
        "min_staging_requests": 4,
        "tokens_per_request": 9000,
        "because": "A burst of four.",
    }
    contract = a_contract({"kv_handoff": {"share": share, "room": room}})
    return decided(contract, {"a": handed_over(0, 20), "b": handed_over(1000, 24), "c": handed_over(1000, 20)})


def test_a_split_that_handed_nothing_over_is_not_the_declared_topology() -> None:
    plan = pools()
    assert states(plan) == {"a": rejected("kv_handoff"), "b": rejected("kv_handoff"), "c": ELIGIBLE}
    assert winner(plan) == "c"
    limits = plan.candidates["a"].gates["kv_handoff"].limits
    assert (limits["share"].outcome, limits["share"].measured) == ("FAIL", 0)


def test_staging_room_is_what_the_decode_pool_holds_beyond_what_runs() -> None:
    plan = pools()
    room = {name: plan.candidates[name].gates["kv_handoff"].limits["room"].measured for name in ("b", "c")}
    assert room == {"b": 2, "c": 6}
