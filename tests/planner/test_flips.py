"""Flips: each is stated as values, and planning documents that say so gives what it states."""

import copy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.figures import number
from planner.records.plan import Flip, Plan, Ratio
from tests.planner.documents import ABSENT, changed
from tests.planner.fleet import SECONDS, a_contract, a_floor, a_price, a_trial, planned

Tree = dict[str, Any]
LIMIT_FIELDS = {"throughput": "min_output_tokens_per_s", "ttft": "max_ms", "cost": "max_usd_per_million_output_tokens"}


def a_tail(ms: float) -> Tree:
    return {"ttft": {"tail": {"load_point": "saturated", "statistic": "p95", "max_ms": ms, "because": "Feel."}}}


def gates(floor: int = 6000, tail: float = 500, price: float = 9) -> Tree:
    return {**a_floor(floor), **a_tail(tail), **a_price(price)}


def winner(plan: Plan) -> str | None:
    return None if plan.selected is None else plan.selected.trial


def one(plan: Plan, **wanted: object) -> Flip:
    """Return the only flip with these fields."""
    [found] = [flip for flip in plan.flips if all(getattr(flip, name) == value for name, value in wanted.items())]
    return found


def carried_out(flip: Flip, contract: Tree, trials: Tree) -> Plan:
    """Plan documents in which the flip's change is true."""
    contract, trials = copy.deepcopy(contract), copy.deepcopy(trials)
    value = number(flip.new)
    assert value is not None
    if flip.kind == "limit":
        contract["gates"][flip.gate][flip.limit_id][LIMIT_FIELDS[flip.gate]] = flip.new
        return planned(contract, trials)
    for window in trials[str(flip.trial)]["windows"].values():
        if flip.gate == "throughput":
            tokens = value * SECONDS
            assert tokens.denominator == 1
            window["load"]["output_tokens_total"] = tokens.numerator
        else:
            window["load"].setdefault("ttft_ms", {"n": 1000})["p95"] = flip.new
    return planned(contract, trials)


def falls_to_the_content_id(plan: Plan) -> bool:
    """Say whether only the content id decides: changed evidence has another one, a flip leaves it as it is."""
    best = [entry.values[:-1] for entry in plan.eligible[:2]]
    return len(best) == 2 and best[0] == best[1]


RATES = st.integers(min_value=4, max_value=18).map(lambda hundreds: hundreds * 800)
TRIALS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.builds(
        lambda degrees, rate, ttft: a_trial(rate, tp=degrees[0], dp=degrees[1], ttft=ttft),
        st.sampled_from([(8, 1), (4, 1), (2, 8), (4, 2), (16, 1)]),
        RATES,
        st.one_of(st.none(), st.integers(min_value=300, max_value=700)),
    ),
    min_size=1,
)
SELECTIONS = st.sampled_from(
    [
        {"preset": "highest_throughput"},
        {"preset": "smallest_first"},
        {"keys": [{"key": "usd_per_million_output_tokens"}]},
        {"keys": [{"key": "output_tokens_per_s"}, {"key": "ttft"}]},
        {"keys": [{"key": "ttft"}]},
    ]
)


@settings(max_examples=40, deadline=None)
@given(trials=TRIALS, selection=SELECTIONS, floor=RATES, tail=st.integers(400, 600), price=st.integers(1, 3))
def test_planning_with_the_change_gives_the_stated_winner(
    trials: Tree, selection: Tree, floor: int, tail: int, price: int
) -> None:
    contents = [repr(trial) for trial in trials.values()]
    for name, trial in trials.items():
        if contents.count(repr(trial)) > 1:
            trial["source"] = name
    contract = a_contract(gates=gates(floor, tail, price), selection=selection)
    plan = planned(contract, trials)
    for flip in plan.flips:
        again = carried_out(flip, contract, trials)
        if flip.kind != "limit" and falls_to_the_content_id(again):
            continue
        assert winner(again) == flip.winner, flip
        if flip.effect == "SAME_WINNER":
            assert again.candidates[str(flip.trial)].state == "ELIGIBLE", flip


def test_a_rejected_trial_gets_in_at_its_limit_and_wins() -> None:
    plan = planned(a_contract(gates=gates()), {"w": a_trial(6400, tp=8, ttft=400), "r": a_trial(7200, tp=8, ttft=600)})
    assert one(plan, kind="reading", trial="r") == Flip(
        kind="reading",
        gate="ttft",
        limit_id="tail",
        trial="r",
        unit="ms",
        old=600,
        new=500,
        comparator="<=",
        bound=500,
        change=Ratio(num=-1, den=6),
        raw_values=1,
        effect="OTHER_WINS",
        winner="r",
        sentence="r wins if ttft.tail of r is ≤ 500 ms (measured 600 ms, −16.7 %).",
    )


def test_leaving_takes_the_next_representable_value() -> None:
    plan = planned(a_contract(gates=gates(tail=500.5)), {"w": a_trial(6400, tp=8, ttft=400)})
    flip = one(plan, kind="reading", gate="ttft")
    assert (flip.new, flip.comparator, flip.bound, flip.effect) == (500.6, ">", 500.5, "NONE_LEFT")


def test_an_eligible_trial_wins_beyond_the_winners_rate_per_device() -> None:
    trials = {"w": a_trial(6400, tp=8, ttft=400), "x": a_trial(11200, tp=2, dp=8, ttft=450)}
    flip = one(planned(a_contract(gates=gates()), trials), kind="reading", trial="x")
    assert (flip.gate, flip.new, flip.comparator, flip.winner) == ("throughput", 12800, ">=", "x")


def test_a_tie_that_the_next_key_loses_takes_the_next_representable_rate() -> None:
    trials = {"w": a_trial(6400, tp=8, ttft=400), "x": a_trial(6100, tp=8, ttft=450)}
    flip = one(planned(a_contract(gates=gates()), trials), kind="reading", trial="x")
    assert (flip.bound, flip.comparator, flip.new) == (6400, ">", 6401)


def test_two_gates_away_is_no_flip() -> None:
    trials = {"w": a_trial(6400, tp=8, ttft=400), "far": a_trial(100, tp=8, ttft=900)}
    plan = planned(a_contract(gates=gates(price=900)), trials)
    assert [flip for flip in plan.flips if flip.trial == "far"] == []


def test_one_limit_can_let_two_trials_in_and_the_better_wins() -> None:
    trials = {"low": a_trial(3000, tp=4, ttft=400), "high": a_trial(3200, tp=4, ttft=400)}
    plan = planned(a_contract(gates=gates()), trials)
    assert {(flip.new, flip.winner) for flip in plan.flips if flip.kind == "limit"} == {(3200, "high"), (3000, "high")}


def test_an_unmeasured_reading_has_a_bound_and_no_size() -> None:
    trial = changed(a_trial(6400, tp=8), ("/windows/w0/load/ttft_ms", {"n": 1000, "p95": None}))
    contract = a_contract(gates=gates(), selection={"keys": [{"key": "output_tokens_per_s"}]})
    flip = one(planned(contract, {"u": trial}), kind="unmeasured")
    assert flip == Flip(
        kind="unmeasured",
        gate="ttft",
        limit_id="tail",
        trial="u",
        unit="ms",
        old=None,
        new=500,
        comparator="<=",
        bound=500,
        change=None,
        raw_values=None,
        effect="OTHER_WINS",
        winner="u",
        sentence="u wins if ttft.tail is measured ≤ 500 ms.",
    )


def test_every_window_on_the_wrong_side_has_to_move() -> None:
    slow = a_trial([5000, 5500, 6100], tp=8, ttft=400)
    plan = planned(a_contract(gates=gates()), {"s": slow})
    assert one(plan, kind="reading", gate="throughput").raw_values == 2


@pytest.mark.parametrize("gone", ["throughput", "ttft"])
def test_a_limit_that_is_not_declared_is_never_flipped(gone: str) -> None:
    contract = changed(a_contract(gates=gates()), (f"/gates/{gone}", ABSENT))
    plan = planned(contract, {"w": a_trial(6400, tp=8, ttft=400), "r": a_trial(6300, tp=8, ttft=600)})
    assert gone not in {flip.gate for flip in plan.flips}


def test_flips_come_by_effect_and_then_by_smallest_change() -> None:
    trials = {
        "w": a_trial(6400, tp=8, ttft=400),
        "x": a_trial(6300, tp=8, ttft=450),
        "r": a_trial(5000, tp=8, ttft=450),
    }
    plan = planned(a_contract(gates=gates()), trials)
    groups = [flip.effect for flip in plan.flips]
    assert groups == sorted(groups, key=["OTHER_WINS", "NONE_LEFT", "SAME_WINNER"].index)
    sizes = [abs(number(flip.change) or Fraction(0)) for flip in plan.flips if flip.effect == "OTHER_WINS"]
    assert sizes == sorted(sizes)


def test_a_contract_that_allows_copies_has_no_flips() -> None:
    selection = {"keys": [{"key": "charged_devices"}], "scale": "independent_replicas"}
    assert planned(a_contract(selection=selection), {"w": a_trial(6400, tp=8)}).flips == ()


def test_one_sided_evidence_is_let_in_by_no_flip() -> None:
    """The largest of the requests seen is a lower bound: it fails the ceiling and never passes one."""
    contract = changed(a_contract(gates=gates()), ("/gates/ttft/tail/statistic", "max"))
    trial = changed(a_trial(6400, tp=8), ("/windows/w0/load/ttft_ms", {"n": 1000, "max": 600}))
    plan = planned(contract, {"t": trial})
    assert plan.candidates["t"].failing == ("ttft",)
    assert plan.flips == ()


def test_an_unmeasured_reading_also_gives_the_key_that_it_is() -> None:
    trials = {"u": a_trial(9600, tp=8), "w": a_trial(6400, tp=8, ttft=400)}
    plan = planned(a_contract(gates=gates()), trials)
    assert plan.candidates["u"].missing_keys == ("ttft",)
    flip = one(plan, kind="unmeasured")
    assert (flip.trial, flip.new, flip.winner) == ("u", 500, "u")


@pytest.mark.parametrize(("age", "effect", "comparator"), [(10**6, "NONE_LEFT", ">"), (3600, "OTHER_WINS", "<=")])
def test_the_age_of_evidence_is_a_reading_without_a_limit_of_its_own(age: int, effect: str, comparator: str) -> None:
    plan = planned(a_contract(validity={"max_evidence_age_s": age}), {"w": a_trial(6400, tp=8)})
    flip = one(plan, gate="freshness")
    assert (flip.limit_id, flip.old, flip.bound, flip.comparator, flip.effect) == (
        None,
        914_300,
        age,
        comparator,
        effect,
    )
    assert "freshness of w is" in flip.sentence
