"""A tensor group across nodes, and the loss of a device or node."""

import pytest

from planner.stress.base import NotInjectable
from tests.planner.factories import Changes
from tests.planner.stress.cases import cell, differences, fault, injected, limits, original, summary

INSIDE = limits(tensor_locality={"rule": "inside_node"})
ONE_STAGE = Changes(
    trial=(("/topology/instances/0", {"tp": 4, "pp": 1, "ep": 1, "dp": 1, "world_size": 4}),),
)
SINGLES = Changes(trial=(("/topology/instances/0", {"tp": 1, "pp": 2, "ep": 1, "dp": 2, "world_size": 4}),))
REPLICAS = Changes(trial=(("/topology/instances/0", {"tp": 2, "pp": 1, "ep": 1, "dp": 2, "world_size": 4}),))


def test_last_rank_of_the_first_group_swaps_with_the_first_of_a_group_on_another_node() -> None:
    assert differences(original(), injected("cross_node_tensor")) == {
        "/rank_map/1/node": ("node-a", "node-b"),
        "/rank_map/1/device": ("a1", "b0"),
        "/rank_map/1/nic": ("a-nic", "b-nic"),
        "/rank_map/2/node": ("node-b", "node-a"),
        "/rank_map/2/device": ("b0", "a1"),
        "/rank_map/2/nic": ("b-nic", "a-nic"),
    }


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param(INSIDE, ("CAUGHT", "tensor_locality", 0, 2), id="locality declared"),
        pytest.param(None, ("NOT_DECLARED", None, None, None), id="nothing declared"),
        pytest.param(
            limits(group_span={"kind": "tp", "may_not_cross": ["node"]}), ("CAUGHT", "group_span", 0, 2), id="span"
        ),
        pytest.param(
            limits(group_span={"kind": "tp", "may_not_cross": ["rack"]}),
            ("NOT_DECLARED", None, None, None),
            id="only a rack may not be crossed",
        ),
    ],
)
def test_a_crossing_group_is_caught_where_its_place_is_limited(
    gates: dict[str, object], expected: tuple[object, ...]
) -> None:
    assert summary(cell("cross_node_tensor", gates)) == expected


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(ONE_STAGE, "No other tensor group starts on another node.", id="one group"),
        pytest.param(SINGLES, "No tensor group has more than one rank.", id="groups of one"),
    ],
)
def test_without_two_tensor_groups_there_is_nothing_to_swap(changes: Changes, sentence: str) -> None:
    assert fault("cross_node_tensor", None, changes)[1] == NotInjectable(sentence=sentence)


def test_a_fault_that_needs_groups_is_not_put_into_a_trial_without_them() -> None:
    changes = Changes(trial=(("/topology/instances/0/world_size", 8),))
    found = cell("cross_node_tensor", INSIDE, changes)
    assert (found.result, found.sentence) == ("NOT_INJECTABLE", "Ranks are undefined: rank_count failed.")


@pytest.mark.parametrize("domain", ["device", "node"])
@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        pytest.param({"max_groups_lost": 1}, ("WITHIN_LIMIT", "failure_domain", 0, 1), id="one group may go"),
        pytest.param({"max_groups_lost": 0}, ("CAUGHT", "failure_domain", 0, 1), id="no group may go"),
        pytest.param({"max_ranks_lost": 1}, ("CAUGHT", "failure_domain", 0, 2), id="one rank may go"),
        pytest.param(
            {"min_capacity_left_of_required": 1}, ("WITHIN_LIMIT", "failure_domain", 2, 1), id="half carries the load"
        ),
        pytest.param(
            {"min_capacity_left_of_required": 1.5}, ("CAUGHT", "failure_domain", 2, 1), id="half is too little"
        ),
        pytest.param({"min_capacity_left_of_required": 3}, ("MASKED", "failure_domain", 2, 1), id="too little before"),
    ],
)
def test_a_loss_is_measured_against_nothing_lost(
    domain: str, limit: dict[str, object], expected: tuple[object, ...]
) -> None:
    gates = limits(failure_domain={"domain": domain, "horizon": "immediate", **limit})
    assert summary(cell("rank_loss", gates, REPLICAS, target=domain)) == expected


def test_a_limit_for_another_kind_of_domain_does_not_see_the_loss() -> None:
    gates = limits(failure_domain={"domain": "node", "horizon": "immediate", "max_groups_lost": 0})
    found = cell("rank_loss", gates, target="device")
    assert (found.result, found.sentence) == (
        "NOT_DECLARED",
        "No declared limit reads it: declare failure_domain for a device.",
    )


def test_a_throughput_floor_says_nothing_about_a_loss() -> None:
    assert cell("rank_loss", target="node").result == "NOT_DECLARED"


def test_a_loss_that_could_not_be_judged_before_is_masked() -> None:
    gates = limits(failure_domain={"domain": "node", "horizon": "after_recovery", "max_groups_lost": 1})
    assert cell("rank_loss", gates, target="node").result == "MASKED"


def test_completed_requests_fall_by_the_share_of_groups_in_a_window_of_their_own() -> None:
    found = injected("rank_loss", None, REPLICAS, target="node")
    added = found["windows"].pop("injected-loss")
    assert found == original(REPLICAS)
    assert (added["purpose"], added["load_point"]) == ("injection", "saturated")
    assert added["load"]["requests"] == {"sent": 210, "completed": 105, "failed": 105, "cut_off": 0}
    assert added["load"]["output_tokens_total"] == 10_500


def test_the_added_window_takes_no_id_that_is_in_use() -> None:
    changes = Changes(trial=(("/windows/injected-loss", original()["windows"]["w1"]),))
    assert "injected-loss-x" in injected("rank_loss", None, changes, target="node")["windows"]
