"""Proposals for names: which devices the ranks may have used, and which device or link a name of a file may be.

A proposal follows the numbers in names and the order of the contract, and nothing else; a person confirms it.
"""

import re
from collections.abc import Collection, Sequence

from planner.builder.naming import Names
from planner.builder.state import Proposal
from planner.documents import ContractDocument
from planner.natural_order import natural

__all__ = ["device_proposal", "link_proposal", "rank_map_proposal"]


def _number(name: str) -> int | None:
    found = re.search(r"(?<![0-9])[0-9]{1,9}\Z", name)
    return None if found is None else int(found[0])


def _devices(contract: ContractDocument) -> list[tuple[str, str]]:
    """Return (node, device) of every device, node by node, in the order of their numbers."""
    devices = contract.record.identity.hardware.devices
    return sorted(
        ((device.node, name) for name, device in devices.items()),
        key=lambda pair: (natural(pair[0]), natural(pair[1])),
    )


def rank_map_proposal(contract: ContractDocument, names: Names, seen: Collection[str]) -> Proposal | None:
    """Propose a device for every rank: those that telemetry saw, where they are as many, else the first ones."""
    ranks = names.ranks
    known = _devices(contract)
    if ranks is None or ranks > len(known):
        return None
    numbers = {_number(name) for name in seen}
    used = [place for place in known if _number(place[1]) in numbers]
    from_seen = len(used) == ranks and len(numbers) == ranks
    chosen = used if from_seen else known[:ranks]
    why = "the devices that telemetry saw, in order" if from_seen else "the first devices of the contract, in order"
    return Proposal(
        value=[{"rank": rank, "node": node, "device": device} for rank, (node, device) in enumerate(chosen)],
        sentence=f"{why}: no file says which rank sat where",
    )


def device_proposal(contract: ContractDocument, rows: Sequence[str], names: Names) -> Proposal | None:
    """Propose devices of the contract by the number in their names, where only one node can be meant."""
    known = _devices(contract)
    nodes = {node for node, device in known if names.rank_device is None or device in names.rank_device}
    if len(nodes) != 1:
        return None
    by_number = {_number(device): device for node, device in known if node in nodes}
    found = {row: by_number[_number(row)] for row in rows if _number(row) is not None and _number(row) in by_number}
    # Two kinds of files may name one device in two ways; one kind names it once.
    named = {(row.rstrip("0123456789"), device) for row, device in found.items()}
    if len(found) != len(rows) or len(named) != len(rows):
        return None
    return Proposal(value=found, sentence="devices of the contract with the same number")


def link_proposal(rows: Sequence[str], links: Collection[str]) -> Proposal | None:
    """Propose links whose id holds the port's name."""
    plain = {row: row.replace("_", "-").rpartition("-")[0] or row for row in rows}
    found: dict[str, str] = {}
    for row, name in plain.items():
        fitting = [link for link in sorted(links) if name in link.replace("_", "-")]
        if len(fitting) == 1:
            found[row] = fitting[0]
    if not found or len(found) != len(rows):
        return None
    return Proposal(value=found, sentence="links of the contract with the same name")
