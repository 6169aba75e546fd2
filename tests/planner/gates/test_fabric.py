"""Where tensor-like groups may lie."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

POLICY = "Where tensor groups may lie is a policy of this contract; no engine refuses a crossing."


def inside(rule: str) -> dict[str, Any]:
    return {"rule": rule}


def swapped(first: int, second: int) -> tuple[tuple[str, Any], ...]:
    """Swap the places of a rank on node-a and one on node-b."""
    a, b = {0: "a0", 1: "a1"}[first], {2: "b0", 3: "b1"}[second]
    return (
        (f"/rank_map/{first}", {"rank": first, "node": "node-b", "device": b, "nic": "b-nic"}),
        (f"/rank_map/{second}", {"rank": second, "node": "node-a", "device": a, "nic": "a-nic"}),
    )


CROSSING_TIME = {"values": [1, 1, 1, 1]}

CASES = [
    Case(
        name="each group in one island",
        gate="tensor_locality",
        outcome="PASS",
        limit=inside("inside_island"),
        sentence="2 tensor groups, each inside one island.",
        also={"measured": 0, "limit": 0, "notes": (POLICY,), "limit_at": "/gates/tensor_locality/limit/rule"},
    ),
    Case(
        name="the same degrees on another map",
        gate="tensor_locality",
        outcome="FAIL",
        limit=inside("inside_island"),
        trial=swapped(1, 2),
        sentence="2 tensor groups of 2 leave the island, first tp group 0, 1 on island-a, island-b.",
        also={"measured": 2, "worst": {"group": "tp 0, 1"}},
    ),
    Case(
        name="across nodes where the node is the boundary",
        gate="tensor_locality",
        outcome="FAIL",
        limit=inside("inside_node"),
        trial=swapped(1, 2),
        sentence="2 tensor groups of 2 leave the node, first tp group 0, 1 on node-a, node-b.",
    ),
    Case(
        name="one node without any island",
        gate="tensor_locality",
        outcome="PASS",
        limit=inside("inside_node"),
        contract=(("/identity/hardware/islands", ABSENT),),
        sentence="2 tensor groups, each inside one node.",
    ),
    Case(
        name="one node is no island: neighbours by link, not by index",
        gate="tensor_locality",
        outcome="FAIL",
        limit=inside("inside_island"),
        contract=(
            ("/identity/hardware/islands", {"one": {"devices": ["a0", "b0"]}, "two": {"devices": ["a1", "b1"]}}),
        ),
        sentence="2 tensor groups of 2 leave the island, first tp group 0, 1 on one, two.",
    ),
    Case(
        name="an island larger than a node",
        gate="tensor_locality",
        outcome="PASS",
        limit=inside("inside_island"),
        contract=(("/identity/hardware/islands", {"rack": {"devices": ["a0", "a1", "b0", "b1"]}}),),
        trial=swapped(1, 2),
        sentence="2 tensor groups, each inside one island.",
    ),
    Case(
        name="a device in no declared island",
        gate="tensor_locality",
        outcome="UNKNOWN",
        limit=inside("inside_island"),
        contract=(("/identity/hardware/islands/island-a/devices", ["a0"]),),
        sentence="Device a1 of rank 1 is in no declared island.",
    ),
    Case(
        name="no islands declared",
        gate="tensor_locality",
        outcome="UNKNOWN",
        limit=inside("allowed_if_measured"),
        contract=(("/identity/hardware/islands", ABSENT),),
        sentence="The contract declares no islands.",
    ),
    Case(
        name="a permitted crossing that was not measured",
        gate="tensor_locality",
        outcome="UNKNOWN",
        limit=inside("allowed_if_measured"),
        trial=swapped(1, 2),
        sentence="2 tensor groups cross islands; crossing time or link counters are not recorded.",
    ),
    Case(
        name="a permitted crossing that was measured",
        gate="tensor_locality",
        outcome="PASS",
        limit=inside("allowed_if_measured"),
        trial=(
            *swapped(1, 2),
            ("/windows/w1/per_rank/collective_move_ms", CROSSING_TIME),
            ("/windows/w2/per_rank/collective_move_ms", CROSSING_TIME),
        ),
        sentence="2 tensor groups cross islands; crossing time and link counters are recorded.",
    ),
    Case(
        name="one tensor rank",
        gate="tensor_locality",
        outcome="NOT_APPLICABLE",
        limit=inside("inside_island"),
        trial=(("/topology/instances/0/tp", 1), ("/topology/instances/0/pp", 4)),
        sentence="No tensor-like group has more than one rank.",
    ),
    Case(
        name="devices undefined",
        gate="tensor_locality",
        outcome="UNKNOWN",
        limit=inside("inside_island"),
        trial=(("/rank_map/1/device", "a0"),),
        sentence="Devices undefined: placement failed.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
