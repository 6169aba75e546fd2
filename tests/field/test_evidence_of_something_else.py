"""Evidence of another build, another workload, another topology, or of too short a run (F-09, F-11, F-17, F-18)."""

from typing import Any

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
    inconclusive,
    outcome,
    rejected,
    served,
    states,
    winner,
)
from tests.planner.documents import ABSENT

DIGEST = "/stack/collective_library/digest"


def other_builds() -> Plan:
    """F-09: the same version text with another digest, and with none."""
    library = {"version": "9.1.0", "digest": "sha256:" + "11" * 32}
    contract = a_contract(
        a_limit("throughput", load_point=AT, min_output_tokens_per_s=100),
        stack={"collective_library": library, "driver": {"version": "800.10"}},
    )
    trials = {"a": a_trial(served(400), identity="other"), "b": a_trial(served(500), identity="none")}
    identities = {"other": [(DIGEST, "sha256:" + "22" * 32)], "none": [(DIGEST, ABSENT)]}
    return decided(contract, trials, identities)


def test_equal_version_text_is_not_the_same_library() -> None:
    plan = other_builds()
    assert states(plan) == {"a": inconclusive("identity", "throughput"), "b": inconclusive("identity", "throughput")}
    assert (plan.decision, winner(plan)) == ("INCONCLUSIVE", None)
    assert outcome(plan, "a", "identity").measured_at == (f"/identities/other{DIGEST}",)
    assert outcome(plan, "b", "identity").missing == (f"/identities/none{DIGEST}",)


def test_a_reading_of_another_build_says_what_it_would_be() -> None:
    found = outcome(other_builds(), "a", "throughput")
    assert (found.outcome, found.would, found.measured) == ("UNKNOWN", "PASS", 400)


def warm_cache() -> Plan:
    """F-11: the cache is off in the contract; one trial had it warm, one does not say."""
    contract = a_contract(
        a_limit("workload_match", load_point=AT, max_difference_share=0.05),
        a_limit("ttft", load_point=AT, statistic="p99", max_ms=700),
        workload={"prefix_cache": {"policy": "off"}},
        keys=({"key": "ttft", "load_point": AT},),
    )

    def load(p99: float, **more: Any) -> Tree:
        return a_trial({"in_flight_mean": 16, "ttft_ms": {"n": 2000, "p99": p99}, **more})

    return decided(
        contract, {"a": load(240, cache_hit_share=0.62), "b": load(610, cache_hit_share=0.0), "c": load(600)}
    )


def test_a_warm_cache_is_another_workload() -> None:
    plan = warm_cache()
    assert states(plan) == {"a": rejected("workload_match"), "b": ELIGIBLE, "c": inconclusive("workload_match")}
    assert winner(plan) == "b"
    assert outcome(plan, "a", "workload_match").sentence == (
        "0.620 of the prompt tokens were cache hits, declared 0.000, in window w1."
    )


def test_a_cache_state_not_recorded_is_named() -> None:
    plan = warm_cache()
    assert outcome(plan, "c", "workload_match").missing == ("/trials/c/windows/w1/load/cache_hit_share",)
    assert [contender.trial for contender in plan.contenders] == ["c"]


def score(value: float, topology: str) -> Tree:
    return {
        "q": {
            "benchmark": "math",
            "topology": topology,
            "identity_id": "run",
            "score": value,
            "n": 1319,
            "interval": {"low": value - 0.02, "high": value + 0.02, "confidence": 0.95},
        }
    }


def qualities() -> Plan:
    """F-17: a score of one device shown for two, a bad one of two, and a good one of two stages."""
    contract = a_contract(a_limit("quality", benchmark="math", min_score=0.8))
    return decided(
        contract,
        {
            "a": {**a_trial(tp=2), "quality": score(0.83, "tp1-pp1-ep1-dp1")},
            "b": {**a_trial(tp=2), "quality": score(0.61, "tp2-pp1-ep1-dp1")},
            "c": {**a_trial(pp=2), "quality": score(0.82, "tp1-pp2-ep1-dp1")},
        },
    )


def test_quality_of_another_topology_says_nothing_of_this_one() -> None:
    plan = qualities()
    assert states(plan) == {"a": inconclusive("quality"), "b": rejected("quality"), "c": ELIGIBLE}
    assert winner(plan) == "c"
    assert outcome(plan, "a", "quality").notes == ('0.83 was measured on "tp1-pp1-ep1-dp1", not on tp2-pp1-ep1-dp1.',)
    assert outcome(plan, "b", "quality").sentence == 'tp2-pp1-ep1-dp1 scores 0.61 on "math"; at least 0.8.'


def soaked(minutes: int, timeouts: int, first_after_s: int | None = None) -> Tree:
    """Return a trial whose soak window starts at noon."""
    when = {} if first_after_s is None else {"first_after_s": first_after_s}
    trial = a_trial(served(400), window={"incidents": {"collective_timeouts": {"count": 0}}})
    end = f"2026-09-20T{12 + minutes // 60}:{minutes % 60:02}:00Z"
    trial["windows"]["soak"] = a_window(
        purpose="soak",
        start="2026-09-20T12:00:00Z",
        end=end,
        incidents={"collective_timeouts": {"count": timeouts, **when}},
    )
    return trial


def soaks() -> Plan:
    """F-18: five clean minutes, an hour with a timeout in minute 24, and a clean hour."""
    contract = a_contract(
        a_limit("steady_state", load_point=AT, min_soak_s=3600),
        a_limit("errors", load_point=AT, max_collective_timeouts=0),
    )
    return decided(contract, {"a": soaked(5, 0), "b": soaked(60, 1, 24 * 60), "c": soaked(65, 0)})


def test_a_short_soak_decides_nothing() -> None:
    plan = soaks()
    assert states(plan) == {
        "a": inconclusive("steady_state", "errors"),
        "b": rejected("errors"),
        "c": ELIGIBLE,
    }
    assert winner(plan) == "c"
    assert "300 s; at least 3600 s" in outcome(plan, "a", "steady_state").sentence


def test_a_timeout_in_the_soak_is_named_with_its_time() -> None:
    found = outcome(soaks(), "b", "errors")
    assert found.sentence == (
        "1 collective timeout at saturated in window soak; at most 0. First after 1,440 s of soak."
    )
