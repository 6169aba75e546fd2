"""A small site with ranks on it: two nodes of four devices, NICs shared by two devices."""

from typing import Any

import msgspec

from planner.rankmap import TopologyGroups, topology_groups
from planner.records.contract import Fleet, Hardware
from planner.records.evidence import Placement, Topology
from planner.site import Site

NODES = ("a", "b")


def site(
    *, islands: dict[str, list[str]] | None = None, rails: bool = True, racks: dict[str, list[str]] | None = None
) -> Site:
    """Devices a0..a3 and b0..b3; by default one island a node and one rack for both, none with ``{}``."""
    devices = {f"{node}{at}": {"node": node, "type": "x", "memory_bytes": 1} for node in NODES for at in range(4)}
    nics = {f"{node}-nic{at}": {"node": node, "use": "fabric"} for node in NODES for at in range(2)}
    links = {
        f"{nic}-up": {
            "class": "inter_node",
            "nic": nic,
            "bytes_per_s_one_way": 50 if nic.endswith("0") else 25,
            **({"contention_domain": f"rail-{nic[-1]}"} if rails else {}),
        }
        for nic in nics
    }
    if islands is None:
        islands = {f"island-{node}": [f"{node}{at}" for at in range(4)] for node in NODES}
    tree: dict[str, Any] = {"nodes": {node: {} for node in NODES}, "devices": devices, "nics": nics, "links": links}
    if islands:
        tree["islands"] = {name: {"devices": held, "bytes_per_s_one_way": 400} for name, held in islands.items()}
    racks = {"r0": ["a", "b"]} if racks is None else racks
    fleet = {"failure_domains": {"rack": racks}} if racks else {}
    return Site(hardware=msgspec.convert(tree, Hardware), fleet=msgspec.convert(fleet, Fleet))


def places(order: str, *, nics: bool = True) -> tuple[Placement, ...]:
    """Put rank r on the r-th device of ``order``."""
    devices = order.split()
    return tuple(
        msgspec.convert(
            {
                "rank": rank,
                "node": device[0],
                "device": device,
                **({"nic": f"{device[0]}-nic{int(device[1]) // 2}"} if nics else {}),
            },
            Placement,
        )
        for rank, device in enumerate(devices)
    )


ALL = "a0 a1 a2 a3 b0 b1 b2 b3"
"""All devices in order."""


def closed_groups(ranks: int, /, **degrees: int) -> TopologyGroups:
    """Return the groups of one instance of the closed layout; degrees left out are 1."""
    instance = {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": ranks, **degrees}
    return topology_groups(msgspec.convert({"layout": "closed", "instances": [instance]}, Topology), moe=True)
