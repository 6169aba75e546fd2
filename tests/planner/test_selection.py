"""The decision over judged candidates, by hand-made candidates: order, contenders, decisiveness, copies."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import pytest

from planner.order import Order
from planner.records.plan import Candidate, Contender, Eligible, OrderKey, Ratio, State, Value
from planner.selection import Selection, select, topology_integers

DIGEST = "sha256:" + "0" * 64
RATE = OrderKey(key="output_tokens_per_s_per_charged_device", direction="desc", load_point="saturated")
GROUP = OrderKey(key="serving_group_ranks", direction="asc")
DEVICES = OrderKey(key="charged_devices", direction="asc")
TOPOLOGY = OrderKey(key="topology", direction="asc")
CONTENT = OrderKey(key="trial_content_id", direction="asc")


def an_order(*keys: OrderKey, copies: bool = False) -> Order:
    return Order(keys=(*keys, TOPOLOGY, CONTENT), notes=(), load_point="saturated", copies=copies)


def a_candidate(
    state: State = "ELIGIBLE", topology: str = "tp4-pp1-ep1-dp1", content: str = DIGEST, **keys: Value
) -> Candidate:
    unknown = ("freshness",) if state == "INCONCLUSIVE" and all(v is not None for v in keys.values()) else ()
    return Candidate(
        trial_content_id=content,
        topology=topology,
        layout="closed",
        ranks=4,
        nodes=1,
        ranks_per_node=(4,),
        serving_groups=((0, 1, 2, 3),),
        charged_devices=4,
        stranded_devices=0,
        rank_map_digest=DIGEST,
        groups_from="rule",
        state=state,
        failing=("ttft",) if state == "REJECTED" else (),
        unknown=unknown,
        gates={},
        keys={**keys, "topology": topology, "trial_content_id": content},
        missing_keys=tuple(name for name, value in keys.items() if value is None),
        hints=(),
    )


def rated(rate: Value, state: State = "ELIGIBLE", **more: Any) -> Candidate:
    return a_candidate(state, output_tokens_per_s_per_charged_device=rate, **more)


def chosen(
    candidates: dict[str, Candidate],
    order: Order,
    spreads: Mapping[str, Fraction | None] | None = None,
    units: Mapping[str, int | None] | None = None,
) -> Selection:
    return select(candidates, order, spread_of=(spreads or {}).get, units_of=(units or {}).get)


def test_only_eligible_trials_are_ordered_whatever_the_others_measured() -> None:
    selection = chosen({"a": rated(700), "b": rated(900, "REJECTED"), "c": rated(800)}, an_order(RATE))
    assert selection.eligible == (
        Eligible(trial="c", values=(800, "tp4-pp1-ep1-dp1", DIGEST)),
        Eligible(trial="a", values=(700, "tp4-pp1-ep1-dp1", DIGEST)),
    )
    assert (selection.decision, selection.winner) == ("SELECT_TOPOLOGY", "c")


@pytest.mark.parametrize(
    ("states", "decision"),
    [
        pytest.param(["REJECTED", "REJECTED"], "NO_ELIGIBLE_TOPOLOGY", id="all rejected"),
        pytest.param(["REJECTED", "INCONCLUSIVE"], "INCONCLUSIVE", id="one could have been eligible"),
        pytest.param(["ELIGIBLE", "INCONCLUSIVE"], "SELECT_TOPOLOGY", id="one eligible"),
    ],
)
def test_the_decision_follows_the_states(states: list[State], decision: str) -> None:
    candidates = {f"t-{index}": rated(800, state) for index, state in enumerate(states)}
    assert chosen(candidates, an_order(RATE)).decision == decision


@pytest.mark.parametrize("names", [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
def test_equal_keys_fall_to_the_topology_by_integers_and_then_to_the_content_id(names: list[str]) -> None:
    low, high = "sha256:" + "1" * 64, "sha256:" + "2" * 64
    pool = {
        "a": rated(800, topology="tp16-pp1-ep1-dp1", content=low),
        "b": rated(800, topology="tp4-pp1-ep1-dp1", content=high),
        "c": rated(800, topology="tp4-pp1-ep1-dp1", content=low),
    }
    selection = chosen({name: pool[name] for name in names}, an_order(RATE))
    assert [entry.trial for entry in selection.eligible] == ["c", "b", "a"]


def test_topology_names_split_into_text_and_integers() -> None:
    assert topology_integers("3x(tp4-pp1)") == ("", 3, "x(tp", 4, "-pp", 1, ")")


@pytest.mark.parametrize(
    ("rival", "sentence"),
    [
        pytest.param(
            rated(900, "INCONCLUSIVE"),
            "Would win on output_tokens_per_s_per_charged_device if its unknown gates passed (freshness).",
            id="better on a key",
        ),
        pytest.param(
            rated(None, "INCONCLUSIVE"),
            "Could win if its missing values were measured: it has no usable value for "
            "output_tokens_per_s_per_charged_device, so nothing shows that it is behind.",
            id="key missing",
        ),
    ],
)
def test_an_inconclusive_trial_that_could_outrank_the_winner_is_a_contender(rival: Candidate, sentence: str) -> None:
    selection = chosen({"a": rated(800), "r": rival}, an_order(RATE))
    assert selection.winner == "a"
    assert selection.contenders == (Contender(trial="r", topology="tp4-pp1-ep1-dp1", sentence=sentence),)


@pytest.mark.parametrize(
    "rival",
    [
        pytest.param(rated(700, "INCONCLUSIVE"), id="behind even if all passed"),
        pytest.param(rated(900, "REJECTED"), id="failed, so nothing is open"),
    ],
)
def test_a_trial_that_could_not_outrank_the_winner_is_no_contender(rival: Candidate) -> None:
    assert chosen({"a": rated(800), "r": rival}, an_order(RATE)).contenders == ()


@pytest.mark.parametrize(
    ("spreads", "decisive"),
    [
        pytest.param({"a": Fraction(99), "b": Fraction(3)}, True, id="lead above the larger spread"),
        pytest.param({"a": Fraction(3), "b": Fraction(100)}, False, id="lead equal to the larger spread"),
        pytest.param({"a": Fraction(3), "b": None}, None, id="one window only"),
    ],
)
def test_the_lead_is_decisive_only_beyond_the_larger_spread(
    spreads: dict[str, Fraction | None], decisive: Literal[True, False, None]
) -> None:
    assert chosen({"a": rated(800), "b": rated(700)}, an_order(RATE), spreads).decisive is decisive


def test_a_single_eligible_trial_has_no_lead_to_judge() -> None:
    assert chosen({"a": rated(800)}, an_order(RATE), {"a": Fraction(1)}).decisive is None


def test_copies_multiply_devices_only_where_the_contract_allows_them() -> None:
    candidates = {"a": a_candidate(charged_devices=8), "b": a_candidate(charged_devices=5)}
    units = {"a": 1, "b": 2}
    single = chosen(candidates, an_order(DEVICES), units=units)
    copies = chosen(candidates, an_order(DEVICES, copies=True), units=units)
    assert [(entry.trial, entry.values[0], entry.units) for entry in single.eligible] == [("b", 5, 1), ("a", 8, 1)]
    assert [(entry.trial, entry.values[0], entry.units) for entry in copies.eligible] == [("a", 8, 1), ("b", 10, 2)]


def test_copies_leave_per_device_figures_as_they_are() -> None:
    selection = chosen({"a": rated(900.5)}, an_order(RATE, copies=True), units={"a": 3})
    assert selection.eligible[0].values[0] == 900.5


def test_values_compare_exactly_not_as_doubles() -> None:
    """As doubles a third and its nearest decimal are equal, and the smaller topology would win."""
    candidates = {
        "a": rated(Ratio(num=1, den=3), topology="tp8-pp1-ep1-dp1"),
        "b": rated(0.3333333333333333, topology="tp2-pp1-ep1-dp1"),
    }
    assert chosen(candidates, an_order(RATE)).winner == "a"
