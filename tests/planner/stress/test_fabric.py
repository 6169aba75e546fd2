"""A full link and a slow link."""

from typing import Any

import pytest

from planner.stress.base import NotInjectable
from tests.planner.documents import ABSENT
from tests.planner.factories import Changes
from tests.planner.stress.cases import cell, differences, fault, injected, limits, original, summary, traced

AT = {"load_point": "saturated"}
RATE = 10**10


def link_limit(most: float) -> dict[str, Any]:
    return limits(
        link_utilization={**AT, "link_class": "inter_node", "max_utilization": most, "max_sample_interval_s": 1}
    )


MOVES = Changes(
    trial=(
        traced(
            per_rank={
                "step_ms": {"values": [10] * 4},
                "collective_ms": {"values": [3] * 4},
                "collective_move_ms": {"values": [2, 2, 1, 1]},
                "collective_wait_ms": {"values": [1] * 4},
            }
        ),
    )
)


def test_the_peak_of_the_busier_direction_of_the_busiest_link_is_set() -> None:
    assert differences(original(), injected("saturated_link")) == {
        "/windows/w2/links/a-up/mixed/peak_tx_bytes": (6 * 10**9, 98 * RATE // 100)
    }


def test_the_busier_direction_may_be_the_received_one() -> None:
    changes = Changes(trial=(("/windows/w1/links/b-up/mixed/peak_rx_bytes", 9 * 10**9),))
    assert differences(original(changes), injected("saturated_link", None, changes)) == {
        "/windows/w1/links/b-up/mixed/peak_rx_bytes": (9 * 10**9, 98 * RATE // 100)
    }


def test_a_percentage_that_a_tool_states_follows() -> None:
    changes = Changes(trial=(("/windows/w2/links/a-up/mixed/utilization", 0.6),))
    assert injected("saturated_link", None, changes)["windows"]["w2"]["links"]["a-up"]["mixed"]["utilization"] == 0.98


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param(link_limit(1), ("CAUGHT", "link_utilization", 0.6, 0.98), id="over the reserve"),
        pytest.param(link_limit(0.5), ("MASKED", "link_utilization", 0.6, 0.98), id="too full before"),
        pytest.param(None, ("NOT_DECLARED", None, None, None), id="no limit"),
    ],
)
def test_a_full_link_is_caught_by_its_limit(gates: dict[str, Any] | None, expected: tuple[object, ...]) -> None:
    assert summary(cell("saturated_link", gates)) == expected


def test_a_link_may_be_full_up_to_its_limit() -> None:
    changes = Changes(contract=(("/stress", {"link_peak_utilization": 0.8}),))
    found = cell("saturated_link", link_limit(1), changes)
    assert (*summary(found), found.limit, found.margin) == ("WITHIN_LIMIT", "link_utilization", 0.6, 0.8, 0.9, 0.1)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(
            Changes(contract=(("/stress", {"link_peak_utilization": 0.5}),)),
            "Link a-up is as full as that already.",
            id="already fuller",
        ),
        pytest.param(
            Changes(trial=(("/windows/w1/links", ABSENT), ("/windows/w2/links", ABSENT))),
            "No link of the contract has recorded counters.",
            id="no counters",
        ),
    ],
)
def test_a_link_that_can_not_be_filled_says_why(changes: Changes, sentence: str) -> None:
    assert fault("saturated_link", None, changes)[1] == NotInjectable(sentence=sentence)


def test_moves_of_groups_over_the_slow_link_double_and_their_steps_grow_by_it() -> None:
    assert differences(original(MOVES), injected("slow_link", None, MOVES)) == {
        f"/windows/trace/per_rank/{name}/values/{rank}": (before, before + more)
        for rank, more in enumerate((2, 2, 1, 1))
        for name, before in (("step_ms", 10), ("collective_ms", 3), ("collective_move_ms", more))
    }


def test_a_slow_link_is_caught_where_moving_is_limited() -> None:
    gates = limits(communication_share={**AT, "part": "moving", "max_share": 0.3})
    found = cell("slow_link", gates, MOVES)
    assert (found.result, found.gate, found.before, found.outcome) == ("CAUGHT", "communication_share", 0.2, "FAIL")


def test_a_slow_link_is_caught_where_bandwidth_is_limited() -> None:
    floor = {"operation": "all_reduce", "message_bytes": 1024, "min_bus_bytes_per_s": 60, "group_kind": "pp"}
    gates = limits(link_bandwidth={**AT, **floor})
    recorded = {"operation": "all_reduce", "group_kind": "pp", "message_bytes": 1024, "nodes": ["node-a", "node-b"]}
    entry = {"pp": {**recorded, "wrong": 0, "bus_bytes_per_s_by_rank": [100, 100, 100, 100]}}
    changes = Changes(trial=tuple((f"/windows/{window}/collectives", entry) for window in ("w1", "w2")))
    found = cell("slow_link", gates, changes)
    assert (found.result, found.gate, found.intended, found.before, found.after) == (
        "CAUGHT",
        "link_bandwidth",
        True,
        100,
        50,
    )


def test_collectives_between_nodes_take_as_much_longer_at_half_the_bandwidth() -> None:
    collective = {
        "operation": "all_reduce",
        "group_kind": "pp",
        "message_bytes": 1024,
        "time_ms": {"n": 10, "mean": 2, "p95": 3},
        "bus_bytes_per_s": 100,
        "bus_bytes_per_s_by_rank": [100, 90, None, 80],
    }
    inside = {**collective, "group_kind": "tp"}
    named = {**collective, "group_kind": "tp", "nodes": ["node-a", "node-b"]}
    changes = Changes(trial=(("/windows/w1/collectives", {"pp": collective, "tp": inside, "wide": named}),))
    found = injected("slow_link", None, changes)["windows"]["w1"]["collectives"]
    slow = {
        "time_ms": {"n": 10, "mean": 4, "p95": 6},
        "bus_bytes_per_s": 50,
        "bus_bytes_per_s_by_rank": (50, 45, None, 40),
    }
    assert found["pp"] == {**collective, **slow}
    assert found["wide"] == {**named, **slow, "nodes": ("node-a", "node-b")}
    assert found["tp"] == {**inside, "bus_bytes_per_s_by_rank": (100, 90, None, 80)}


def test_the_route_of_a_hand_off_loses_half_of_its_bandwidth() -> None:
    changes = Changes(trial=(("/windows/w1/handoff", {"route_bytes_per_s": 1000, "transfers": 5}),))
    found = injected("slow_link", None, changes)["windows"]["w1"]["handoff"]
    assert found == {"route_bytes_per_s": 500, "transfers": 5}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(Changes(), "No moving time, collective or hand-off is recorded.", id="nothing recorded"),
        pytest.param(
            Changes(trial=(("/topology/instances/0", {"tp": 2, "pp": 1, "ep": 1, "dp": 2, "world_size": 4}),)),
            "No group crosses a node over a link that the contract declares.",
            id="replicas inside nodes",
        ),
    ],
)
def test_a_link_that_can_not_be_slowed_says_why(changes: Changes, sentence: str) -> None:
    assert fault("slow_link", None, changes)[1] == NotInjectable(sentence=sentence)
