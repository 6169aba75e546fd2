"""Rank maps for the tests: the worked example's, and small ones made by hand."""

from typing import Any

import msgspec

from planner.records.contract import Contract
from planner.records.evidence import Trial
from reviews.web.rank_facts import RankFacts, rank_facts
from tests.web.plans import example_documents


def example_facts(name: str = "worked", trial: str = "t-base-16") -> RankFacts:
    """A trial of a shipped example on its hardware."""
    contract, evidence = example_documents(name)
    return rank_facts(contract.record, trial, evidence.record.trials[trial])


def hardware(nodes: dict[str, int], *, islands: bool = True, nics: int = 0, per_island: int = 0) -> dict[str, Any]:
    """Nodes with so many devices each; islands are whole nodes unless ``per_island`` devices make one."""
    devices = {f"{node}.{at}": node for node, size in nodes.items() for at in range(size)}
    tree: dict[str, Any] = {
        "nodes": {node: {} for node in nodes},
        "devices": {device: {"node": node, "type": "x", "memory_bytes": 2**30} for device, node in devices.items()},
    }
    if islands:
        found: dict[str, list[str]] = {}
        for node, size in nodes.items():
            for at in range(size):
                found.setdefault(f"{node}-i{at // (per_island or size)}", []).append(f"{node}.{at}")
        tree["islands"] = {name: {"devices": members} for name, members in found.items()}
    if nics:
        tree["nics"] = {f"{node}-nic{at}": {"node": node, "use": "fabric"} for node in nodes for at in range(nics)}
    return tree


def contract_of(tree: dict[str, Any], *, racks: dict[str, list[str]] | None = None) -> Contract:
    """The worked contract on other hardware."""
    worked: dict[str, Any] = msgspec.to_builtins(example_documents("worked")[0].record)
    worked["identity"]["hardware"] = tree
    worked["fleet"] = {"failure_domains": {"rack": racks}} if racks else {}
    return msgspec.convert(worked, Contract)


def trial_of(
    devices: list[str], degrees: tuple[int, int, int, int], *, layout: str = "closed", nics: bool = False
) -> Trial:
    """A trial with ranks on these devices, in order."""
    tp, pp, ep, dp = degrees
    places = [
        {"rank": rank, "node": device.split(".")[0], "device": device}
        | ({"nic": f"{device.split('.')[0]}-nic0"} if nics else {})
        for rank, device in enumerate(devices)
    ]
    instance = {"tp": tp, "pp": pp, "ep": ep, "dp": dp, "world_size": len(devices)}
    window = {
        "purpose": "counted",
        "load_point": "saturated",
        "start": "2026-09-14T08:00:00Z",
        "end": "2026-09-14T08:05:00Z",
    }
    tree = {
        "topology": {"layout": layout, "instances": [instance]},
        "rank_map": places,
        "identity_id": "lab",
        "windows": {"w": window},
    }
    return msgspec.convert(tree, Trial)


def facts_of(
    nodes: dict[str, int], degrees: tuple[int, int, int, int], *, devices: list[str] | None = None, **options: Any
) -> RankFacts:
    """Facts of a trial that uses all devices in order, unless others are named."""
    racks = options.pop("racks", None)
    tree = hardware(nodes, **options)
    return rank_facts(
        contract_of(tree, racks=racks),
        "t-1",
        trial_of(devices if devices is not None else list(tree["devices"]), degrees, nics=bool(options.get("nics"))),
    )
