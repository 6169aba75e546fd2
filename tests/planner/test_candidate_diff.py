"""Two candidates side by side: changes by hand, directions, and what forbids comparing."""

import copy
from fractions import Fraction
from typing import Any

import pytest

from planner.candidate_diff import CandidateDiff, CandidateSide, ValueChange, candidate_diff, trial_changes
from planner.records.plan import OrderKey, Plan
from tests.web.plans import candidate, gate, limit, plan

CONTRACT: dict[str, Any] = {
    "identity": {
        "model": {"name": "m", "layers": 32},
        "precision": {"weights": "bf16"},
        "workload": {"name": "chat"},
        "hardware": {"devices": {"a0": {"node": "n"}}},
        "stack": {"engine": {"version": "1"}},
    },
    "gates": {"ttft": {"p95": {"load_point": "saturated", "statistic": "p95", "max_ms": 500, "because": "Half."}}},
}


def one(outcome: str = "PASS", *, rate: int = 60, family: str = "slo", **fields: Any) -> Plan:
    """A plan of one trial ``t-1`` with one limit of ttft."""
    found = candidate(
        gates={"ttft": gate(outcome, family=family, p95=limit(outcome, **fields))},
        keys={"output_tokens_per_s_per_charged_device": rate, "topology": "tp1"},
    )
    return plan({"t-1": found})


def side(made: Plan, contract: dict[str, Any] = CONTRACT, observed: dict[str, Any] | None = None) -> CandidateSide:
    return CandidateSide(plan=made, trial="t-1", contract=contract, observed=observed or contract["identity"])


def changed(**changes: Any) -> dict[str, Any]:
    """The contract with leaves at ``section__key`` set to other values."""
    tree = copy.deepcopy(CONTRACT)
    for name, value in changes.items():
        section, key = name.split("__")
        tree["identity"][section][key] = value
    return tree


def ttft(diff: CandidateDiff) -> ValueChange:
    return next(row for row in diff.values if row.limit_id == "p95")


def test_a_change_is_a_share_of_the_value_before_and_the_comparator_says_what_is_better() -> None:
    diff = candidate_diff(side(one(measured=420)), side(one(measured=315)))
    row = ttft(diff)
    assert (row.change, row.effect, row.better, row.unit) == (Fraction(-1, 4), "GAIN", "lower", "ms")
    assert (row.before, row.after, row.limit_after, row.differs) == (420, 315, 500, True)


def test_a_key_of_the_order_is_better_in_its_own_direction() -> None:
    diff = candidate_diff(side(one(rate=60)), side(one(rate=45)))
    key = diff.values[0]
    assert (key.name, key.change, key.effect, key.better) == (
        "output_tokens_per_s_per_charged_device",
        Fraction(-1, 4),
        "LOSS",
        "higher",
    )


def test_keys_that_are_text_are_no_values() -> None:
    assert [row.name for row in candidate_diff(side(one()), side(one())).values] == [
        "output_tokens_per_s_per_charged_device",
        "ttft",
    ]


def test_a_value_from_zero_is_better_or_worse_without_a_share() -> None:
    row = ttft(candidate_diff(side(one(measured=0)), side(one(measured=3))))
    assert (row.change, row.effect) == (None, "LOSS")


def test_equal_values_are_the_same() -> None:
    row = ttft(candidate_diff(side(one()), side(one(measured=420.0))))
    assert (row.change, row.effect, row.differs) == (Fraction(0), "SAME", False)


def test_what_describes_the_evidence_is_neither_gain_nor_loss() -> None:
    row = ttft(candidate_diff(side(one(family="evidence")), side(one(family="evidence", measured=210))))
    assert (row.change, row.effect, row.better) == (Fraction(-1, 2), "CHANGED", None)


@pytest.mark.parametrize(
    ("section", "contract"),
    [
        pytest.param("workload", changed(workload__name="code"), id="workload"),
        pytest.param("model", changed(model__layers=33), id="model"),
        pytest.param("precision", changed(precision__weights="fp8"), id="precision"),
        pytest.param("hardware", changed(hardware__devices={"b0": {"node": "n"}}), id="hardware"),
    ],
)
def test_figures_of_another_basis_are_not_compared(section: str, contract: dict[str, Any]) -> None:
    diff = candidate_diff(side(one(measured=420)), side(one("FAIL", measured=600), contract))
    assert diff.differing == (section,)
    assert {(row.effect, row.change, row.reason) for row in diff.values} == {
        ("NOT_COMPARED", None, f"{section} differs")
    }
    assert [(row.gate, row.limit_id, row.before and row.before.outcome) for row in diff.outcomes] == [
        ("ttft", "p95", "PASS")
    ]


def test_what_only_the_runs_differ_in_forbids_comparing_as_well() -> None:
    diff = candidate_diff(side(one()), side(one(), observed=changed(precision__weights="fp8")["identity"]))
    (row,) = diff.mismatches
    assert (row.pointer, row.of, row.before, row.after) == ("/precision/weights", "run", "bf16", "fp8")


@pytest.mark.parametrize("unknown", ["unknown", None])
def test_what_a_run_does_not_know_is_no_difference(unknown: str | None) -> None:
    diff = candidate_diff(side(one()), side(one(), observed=changed(precision__weights=unknown)["identity"]))
    assert (diff.mismatches, diff.cautions) == ((), ())


def test_another_stack_is_named_and_compared() -> None:
    diff = candidate_diff(side(one()), side(one(measured=210), changed(stack__engine={"version": "2"})))
    assert ([row.pointer for row in diff.cautions], ttft(diff).effect) == (["/stack/engine/version"], "GAIN")


def test_other_prices_are_named() -> None:
    dear = copy.deepcopy(CONTRACT) | {"fleet": {"usd_per_device_hour": {"x": 3}, "power_cap_watts": {"x": 1}}}
    diff = candidate_diff(side(one()), side(one(), dear))
    assert [(row.section, row.pointer) for row in diff.cautions] == [("fleet", "/fleet/usd_per_device_hour/x")]


def test_a_limit_that_reads_another_statistic_is_not_compared() -> None:
    contract = copy.deepcopy(CONTRACT)
    contract["gates"]["ttft"]["p95"] |= {"statistic": "p99", "max_ms": 700, "because": "Other."}
    row = ttft(candidate_diff(side(one()), side(one(limit=700), contract)))
    assert (row.effect, row.reason, row.limit_before, row.limit_after) == (
        "NOT_COMPARED",
        "the limits read differently: statistic",
        500,
        700,
    )


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        pytest.param(one("UNKNOWN"), "the outcome after is UNKNOWN", id="in doubt"),
        pytest.param(one(unit="s"), "the units differ", id="another unit"),
        pytest.param(one(measured=None), "not measured after", id="not measured"),
        pytest.param(
            one("NOT_APPLICABLE", measured=None, limit=None, limit_at=None), "not measured after", id="not applicable"
        ),
        pytest.param(plan({"t-1": candidate()}), "the contract after has no such limit", id="no such limit"),
    ],
)
def test_one_value_alone_is_left_out_with_its_reason(after: Plan, reason: str) -> None:
    row = ttft(candidate_diff(side(one()), side(after)))
    assert (row.effect, row.change, row.reason) == ("NOT_COMPARED", None, reason)


def test_a_key_read_at_another_load_point_is_not_compared() -> None:
    key = OrderKey(key="output_tokens_per_s_per_charged_device", direction="desc", load_point="single")
    other = plan(dict(one().candidates), order=(key,))
    assert candidate_diff(side(one()), side(other)).values[0].reason == "another load point or statistic is read"


def test_a_limit_that_came_has_no_outcome_before() -> None:
    diff = candidate_diff(side(plan({"t-1": candidate()})), side(one("FAIL")))
    (row,) = diff.outcomes
    assert (row.before, row.after and row.after.outcome, diff.same_outcomes) == (None, "FAIL", 0)


def test_trials_that_came_went_and_turned_are_listed_and_others_are_not() -> None:
    before = plan({"a": candidate(), "b": one().candidates["t-1"], "gone": candidate()})
    turned = candidate("REJECTED", gates={"ttft": gate("FAIL", p95=limit("FAIL"))})
    after = plan({"a": candidate(), "b": turned, "new": candidate()})
    assert [(row.trial, row.states, row.gates, row.is_measured_anew) for row in trial_changes(before, after)] == [
        ("b", ("ELIGIBLE", "REJECTED"), (("ttft", "PASS", "FAIL"),), False),
        ("gone", ("ELIGIBLE", None), (), True),
        ("new", (None, "ELIGIBLE"), (), True),
    ]
