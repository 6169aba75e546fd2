"""Hardware as the part of a contract it can fill, and what the contract asks for beyond the file.

Rules kept: the names are those of ``planner.records.contract``; a field that the file does not say is left out and
listed, never filled with a usual value (``NV18`` counts links, it is no bandwidth).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.hardware.model import Device, Hardware, Island, Link

__all__ = ["Missing", "fragment", "missing"]

_AT = "/identity/hardware"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A field to be asked for: its pointer with ``<id>`` for each of ``ids``, and the question.

    ``always`` says that no contract is accepted without it where its parent stands; the others depend on the gates.
    """

    pointer: str
    question: str
    always: bool
    ids: tuple[str, ...] = ()


def fragment(hardware: Hardware) -> dict[str, Any]:
    """Return what the file says as members of a contract; to be completed by what ``missing`` lists."""
    section: dict[str, Any] = {
        "nodes": {node.id: {} for node in hardware.nodes},
        "devices": {device.id: _device(device) for device in hardware.devices},
    }
    if hardware.nics:
        section["nics"] = {nic.id: {"node": nic.node} for nic in hardware.nics}
    if hardware.islands:
        section["islands"] = {island.id: _island(island) for island in hardware.islands}
    if hardware.links:
        section["links"] = {link.id: _link(link) for link in hardware.links}
    return {"identity": {"hardware": section}}


def _device(device: Device) -> dict[str, Any]:
    said = {"type": device.type, "memory_bytes": device.memory_bytes}
    return {"node": device.node, **{name: value for name, value in said.items() if value is not None}}


def _island(island: Island) -> dict[str, Any]:
    return {"devices": list(island.devices), "kind": island.kind}


def _link(link: Link) -> dict[str, Any]:
    rate = {} if link.bytes_per_s_one_way is None else {"bytes_per_s_one_way": link.bytes_per_s_one_way}
    return {"nic": link.nic, **rate}


def missing(hardware: Hardware) -> tuple[Missing, ...]:
    """Return what is to be asked for, in the order of the contract."""
    return tuple(_missing(hardware))


def _missing(hardware: Hardware) -> Iterator[Missing]:
    nodes = tuple(node.id for node in hardware.nodes)
    yield Missing(
        pointer=f"{_AT}/nodes/<id>/sockets",
        question="How many sockets? NUMA nodes may be more than sockets.",
        always=False,
        ids=nodes,
    )
    untyped = tuple(device.id for device in hardware.devices if device.type is None)
    if untyped:
        yield Missing(
            pointer=f"{_AT}/devices/<id>/type", question="Which model of accelerator?", always=True, ids=untyped
        )
    unsized = tuple(device.id for device in hardware.devices if device.memory_bytes is None)
    if unsized:
        yield Missing(
            pointer=f"{_AT}/devices/<id>/memory_bytes",
            question="How many bytes of memory does the driver report?",
            always=True,
            ids=unsized,
        )
    yield from _missing_of_nics(hardware)
    yield from _missing_of_islands(hardware)
    yield Missing(
        pointer="/fleet/failure_domains/rack", question="In which rack is each node?", always=False, ids=nodes
    )


def _missing_of_nics(hardware: Hardware) -> Iterator[Missing]:
    if not hardware.nics:
        yield Missing(pointer=f"{_AT}/nics", question="Which NICs has each node? The file shows none.", always=False)
        return
    yield Missing(
        pointer=f"{_AT}/nics/<id>/use",
        question="For the fabric, for storage, or for the front end?",
        always=True,
        ids=tuple(nic.id for nic in hardware.nics),
    )
    links = tuple(link.id for link in hardware.links)
    yield Missing(pointer=f"{_AT}/links/<id>/class", question="Of which class, as inter_node?", always=True, ids=links)
    unrated = tuple(link.id for link in hardware.links if link.bytes_per_s_one_way is None)
    if unrated:
        yield Missing(
            pointer=f"{_AT}/links/<id>/bytes_per_s_one_way",
            question="How many bytes per second in one direction?",
            always=True,
            ids=unrated,
        )
    yield Missing(pointer=f"{_AT}/links/<id>/kind", question="Which kind of network and rate?", always=False, ids=links)
    yield Missing(
        pointer=f"{_AT}/links/<id>/contention_domain",
        question="Which rail or switch do links share their bandwidth on?",
        always=False,
        ids=links,
    )


def _missing_of_islands(hardware: Hardware) -> Iterator[Missing]:
    if hardware.islands is None:
        yield Missing(
            pointer=f"{_AT}/islands", question="Which devices have direct peer links with one another?", always=False
        )
        return
    islands = tuple(island.id for island in hardware.islands)
    switchable = [island for island in hardware.islands if island.kind.startswith("nvlink")]
    inside = tuple(island.id for island in switchable if _is_inside_a_node(island, hardware))
    if inside:
        yield Missing(
            pointer=f"{_AT}/islands/<id>/devices",
            question="Does it go on in other nodes, by an NVLink switch of the rack? One node's file cannot tell.",
            always=False,
            ids=inside,
        )
    if islands:
        yield Missing(
            pointer=f"{_AT}/islands/<id>/bytes_per_s_one_way",
            question="How many bytes per second from a device to its peers, in one direction?",
            always=False,
            ids=islands,
        )


def _is_inside_a_node(island: Island, hardware: Hardware) -> bool:
    return len({device.node for device in hardware.devices if device.id in island.devices}) == 1
