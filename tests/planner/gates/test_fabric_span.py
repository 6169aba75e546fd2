"""Which boundaries groups cross, and how evenly they use the NICs of a node."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

TWO_GROUPS = (("/topology/instances/0/pp", 1), ("/topology/instances/0/dp", 2))
SECOND_NIC = (("/identity/hardware/nics/a-nic2", {"node": "node-a", "use": "fabric"}),)


DEVICES = ("a0", "a1", "b0", "b1")
SOCKETS = tuple((f"/identity/hardware/devices/{name}/socket", f"s{name[1]}") for name in DEVICES)
SWITCHES = tuple((f"/identity/hardware/devices/{name}/pcie_switch", "p0") for name in DEVICES)
"""Each device of a node on a socket of its own, and both under one switch, which has the same id on each node."""

ISLANDS_OF_HALF = (
    (
        "/identity/hardware/islands",
        {"rack": {"devices": ["a1", "b1"]}, "a": {"devices": ["a0"]}, "b": {"devices": ["b0"]}},
    ),
)
"""Ranks 1 and 3 share an island that spans the nodes; ranks 0 and 2 do not."""
A_STORAGE_NIC = (("/identity/hardware/nics/a-store", {"node": "node-a", "use": "storage"}),)


def span(kind: str, *boundaries: str) -> dict[str, Any]:
    return {"kind": kind, "may_not_cross": list(boundaries)}


GROUP_SPAN = [
    Case(
        name="tensor groups inside both",
        gate="group_span",
        outcome="PASS",
        limit=span("tp", "island", "node"),
        sentence="2 tp groups inside every island and node.",
        also={"measured": 0, "limit": 0, "unit": "groups", "limit_at": "/gates/group_span/limit/may_not_cross"},
    ),
    Case(
        name="a pipeline over two nodes of one rack",
        gate="group_span",
        outcome="FAIL",
        limit=span("pp", "rack", "node"),
        sentence="2 pp groups of 2 cross a boundary, first the node by ranks 0, 2.",
        also={"measured": 2, "worst": {"boundary": "node", "group": "pp 0, 2"}},
    ),
    Case(
        name="an island larger than a node is another boundary",
        gate="group_span",
        outcome="PASS",
        limit=span("pp", "island"),
        contract=(("/identity/hardware/islands", {"all": {"devices": ["a0", "a1", "b0", "b1"]}}),),
        sentence="2 pp groups inside every island.",
    ),
    Case(
        name="a boundary that is not declared",
        gate="group_span",
        outcome="UNKNOWN",
        limit=span("tp", "node", "feed"),
        sentence="The contract declares no feed, so no crossing of one can be told.",
    ),
    Case(
        name="a crossing is told whatever else is not declared",
        gate="group_span",
        outcome="FAIL",
        limit=span("pp", "feed", "node"),
        sentence="2 pp groups of 2 cross a boundary, first the node by ranks 0, 2.",
    ),
    Case(
        name="a member in no declared rack",
        gate="group_span",
        outcome="UNKNOWN",
        limit=span("pp", "rack"),
        contract=(("/fleet/failure_domains/rack/rack-1", ["node-a"]),),
        sentence="Device b0 of rank 2 is in no declared rack.",
    ),
    Case(
        name="tensor groups over two sockets",
        gate="group_span",
        outcome="FAIL",
        limit=span("tp", "socket"),
        contract=SOCKETS,
        sentence="2 tp groups of 2 cross a boundary, first the socket by ranks 0, 1.",
        also={"worst": {"boundary": "socket", "group": "tp 0, 1"}},
    ),
    Case(
        name="tensor groups under one switch",
        gate="group_span",
        outcome="PASS",
        limit=span("tp", "pcie_switch"),
        contract=SWITCHES,
        sentence="2 tp groups inside every pcie_switch.",
    ),
    Case(
        name="no device says on which socket it hangs",
        gate="group_span",
        outcome="UNKNOWN",
        limit=span("tp", "socket"),
        sentence="The contract declares no socket, so no crossing of one can be told.",
    ),
    Case(
        name="groups of one rank",
        gate="group_span",
        outcome="NOT_APPLICABLE",
        limit=span("ep", "node"),
        sentence="No ep group has more than one rank.",
    ),
    Case(
        name="a kind that nobody names",
        gate="group_span",
        outcome="UNKNOWN",
        limit=span("tensors", "node"),
        sentence="No layout names a group kind tensors, and the engine reported none.",
    ),
]

NIC_MAP = [
    Case(
        name="one NIC for two devices is as even as it gets",
        gate="nic_map",
        outcome="PASS",
        limit={},
        sentence="NIC a-nic of node-a serves 2 devices; at most 2 with 2 crossing devices on 1 fabric NIC.",
        also={"measured": 2, "limit": 2, "worst": {"node": "node-a", "nic": "a-nic"}},
    ),
    Case(
        name="one NIC shared while another idles",
        gate="nic_map",
        outcome="FAIL",
        limit={},
        contract=SECOND_NIC,
        sentence="NIC a-nic of node-a serves 2 devices; at most 1 with 2 crossing devices on 2 fabric NICs.",
    ),
    Case(
        name="both NICs used",
        gate="nic_map",
        outcome="PASS",
        limit={},
        contract=SECOND_NIC,
        trial=(("/rank_map/1/nic", "a-nic2"),),
        sentence="NIC a-nic of node-a serves 1 device; at most 1 with 2 crossing devices on 2 fabric NICs.",
    ),
    Case(
        name="a storage NIC that idles does not count",
        gate="nic_map",
        outcome="PASS",
        limit={},
        contract=(("/identity/hardware/nics/a-nic2", {"node": "node-a", "use": "storage"}),),
        sentence="NIC a-nic of node-a serves 2 devices; at most 2 with 2 crossing devices on 1 fabric NIC.",
    ),
    Case(
        name="a crossing rank names no NIC",
        gate="nic_map",
        outcome="UNKNOWN",
        limit={},
        trial=(("/rank_map/1/nic", ABSENT),),
        sentence="Rank 1 crosses its node and names no NIC.",
        also={"missing": ("/trials/t/rank_map/1/nic",)},
    ),
    Case(
        name="a crossing rank on a storage NIC, while a fabric NIC idles",
        gate="nic_map",
        outcome="FAIL",
        limit={},
        contract=(*SECOND_NIC, *A_STORAGE_NIC),
        trial=(("/rank_map/1/nic", "a-store"),),
        sentence="Rank 1 on node-a crosses on NIC a-store, a storage NIC. Groups cross on fabric NICs.",
        also={
            "measured": 1,
            "limit": 0,
            "margin": -1,
            "worst": {"node": "node-a", "nic": "a-store"},
            "measured_at": ("/trials/t/rank_map/1/nic",),
        },
    ),
    Case(
        name="every crossing rank on a front-end NIC of a node without fabric NICs",
        gate="nic_map",
        outcome="FAIL",
        limit={},
        contract=(("/identity/hardware/nics/a-nic/use", "front_end"),),
        sentence="Rank 0 on node-a crosses on NIC a-nic, a front-end NIC. "
        "Rank 1 on node-a crosses on NIC a-nic, a front-end NIC. Groups cross on fabric NICs.",
        also={"measured": 2, "limit": 0},
    ),
    Case(
        name="a storage NIC and a shared one are both said",
        gate="nic_map",
        outcome="FAIL",
        limit={},
        contract=(*A_STORAGE_NIC, ("/identity/hardware/nics/b-nic2", {"node": "node-b", "use": "fabric"})),
        trial=(("/rank_map/1/nic", "a-store"),),
        sentence="Rank 1 on node-a crosses on NIC a-store, a storage NIC. Groups cross on fabric NICs. NIC b-nic of "
        "node-b serves 2 devices; at most 1 with 2 crossing devices on 2 fabric NICs.",
        also={"worst": {"node": "node-b", "nic": "b-nic"}},
    ),
    Case(
        name="a rank on a storage NIC fails, whatever another one does not say",
        gate="nic_map",
        outcome="FAIL",
        limit={},
        contract=A_STORAGE_NIC,
        trial=(("/rank_map/0/nic", ABSENT), ("/rank_map/1/nic", "a-store")),
        sentence="Rank 1 on node-a crosses on NIC a-store, a storage NIC. Groups cross on fabric NICs.",
        also={"missing": ("/trials/t/rank_map/0/nic",)},
    ),
    Case(
        name="a rank that does not cross may be on any NIC",
        gate="nic_map",
        outcome="PASS",
        limit={},
        contract=(*ISLANDS_OF_HALF, *A_STORAGE_NIC),
        trial=(("/rank_map/1/nic", "a-store"),),
        sentence="NIC a-nic of node-a serves 1 device; at most 1 with 1 crossing device on 1 fabric NIC.",
    ),
    Case(
        name="an island of two nodes needs no NIC",
        gate="nic_map",
        outcome="NOT_APPLICABLE",
        limit={},
        contract=(("/identity/hardware/islands", {"rack": {"devices": list(DEVICES)}}), *SECOND_NIC),
        sentence="Every group that crosses a node lies inside one island.",
    ),
    Case(
        name="only the group that leaves an island of two nodes counts",
        gate="nic_map",
        outcome="PASS",
        limit={},
        contract=ISLANDS_OF_HALF,
        sentence="NIC a-nic of node-a serves 1 device; at most 1 with 1 crossing device on 1 fabric NIC.",
    ),
    Case(
        name="without declared islands every group that crosses a node counts",
        gate="nic_map",
        outcome="FAIL",
        limit={},
        contract=(("/identity/hardware/islands", ABSENT), *SECOND_NIC),
        sentence="NIC a-nic of node-a serves 2 devices; at most 1 with 2 crossing devices on 2 fabric NICs.",
    ),
    Case(
        name="islands smaller than a node: what stays on the node needs no NIC",
        gate="nic_map",
        outcome="NOT_APPLICABLE",
        limit={},
        contract=(("/identity/hardware/islands", {name: {"devices": [name]} for name in DEVICES}),),
        trial=TWO_GROUPS,
        sentence="No group crosses a node.",
    ),
    Case(
        name="nothing crosses",
        gate="nic_map",
        outcome="NOT_APPLICABLE",
        limit={},
        trial=TWO_GROUPS,
        sentence="No group crosses a node.",
    ),
]

CASES = [*GROUP_SPAN, *NIC_MAP]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
