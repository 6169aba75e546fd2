"""Hardware as the part of a contract it can fill, and what the contract asks for beyond it.

Rules kept: the names are those of ``planner.records.contract``; a field of which nothing is said is left out and
listed, never filled with a usual value (``NV18`` counts links, it is no bandwidth).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from planner.hardware.declared import DECLARED
from planner.hardware.model import Hardware, Island, Link

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
    """Return what is said as members of a contract; to be completed by what ``missing`` lists."""
    section = {
        "nodes": {node.id: _said(sockets=node.sockets) for node in hardware.nodes},
        "devices": {
            device.id: _said(node=device.node, type=device.type, memory_bytes=device.memory_bytes)
            for device in hardware.devices
        },
        "nics": {nic.id: _said(node=nic.node, use=nic.use) for nic in hardware.nics},
        "islands": {island.id: _island(island) for island in hardware.islands or ()},
        "links": {link.id: _link(link) for link in hardware.links},
    }
    said: dict[str, Any] = {"identity": {"hardware": {name: entries for name, entries in section.items() if entries}}}
    if hardware.racks:
        said["fleet"] = {"failure_domains": {"rack": {rack.id: list(rack.nodes) for rack in hardware.racks}}}
    return said


def _said(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _island(island: Island) -> dict[str, Any]:
    return _said(devices=list(island.devices), kind=island.kind, bytes_per_s_one_way=island.bytes_per_s_one_way)


def _link(link: Link) -> dict[str, Any]:
    # `class` is a keyword in Python, so it cannot be one of the names here.
    named = {} if link.link_class is None else {"class": link.link_class}
    rate, domain = link.bytes_per_s_one_way, link.contention_domain
    return named | _said(kind=link.kind, nic=link.nic, bytes_per_s_one_way=rate, contention_domain=domain)


def missing(hardware: Hardware) -> tuple[Missing, ...]:
    """Return what is to be asked for, in the order of the contract."""
    return tuple(entry for entry in _missing(hardware) if entry.ids or "<id>" not in entry.pointer)


def _missing(hardware: Hardware) -> Iterator[Missing]:
    nodes = tuple(node.id for node in hardware.nodes)
    unsocketed = tuple(node.id for node in hardware.nodes if node.sockets is None)
    untyped = tuple(device.id for device in hardware.devices if device.type is None)
    unsized = tuple(device.id for device in hardware.devices if device.memory_bytes is None)
    yield _when_needed("nodes/<id>/sockets", "How many sockets? NUMA nodes may be more than sockets.", unsocketed)
    yield _always("devices/<id>/type", "Which model of accelerator?", untyped)
    yield _always("devices/<id>/memory_bytes", "How many bytes of memory does the driver report?", unsized)
    if hardware.nics:
        unused = tuple(nic.id for nic in hardware.nics if nic.use is None)
        yield _always("nics/<id>/use", "For the fabric, for storage, or for the front end?", unused)
    else:
        yield _when_needed("nics", "Which NICs has each node?")
    yield from _missing_of_islands(hardware)
    yield from _missing_of_links(hardware.links)
    if hardware.racks is None:
        rack = "/fleet/failure_domains/rack"
        yield Missing(pointer=rack, question="In which rack is each node?", always=False, ids=nodes)


def _missing_of_islands(hardware: Hardware) -> Iterator[Missing]:
    if hardware.islands is None:
        yield _when_needed("islands", "Which devices have direct peer links with one another?")
        return
    unrated = tuple(island.id for island in hardware.islands if island.bytes_per_s_one_way is None)
    switched = [island for island in hardware.islands if (island.kind or "").startswith("nvlink")]
    node_of = {device.id: device.node for device in hardware.devices}
    inside = tuple(island.id for island in switched if len({node_of[device] for device in island.devices}) == 1)
    if hardware.source != DECLARED:
        question = "Does it go on in other nodes, by an NVLink switch of the rack? The file of one node cannot tell."
        yield _when_needed("islands/<id>/devices", question, inside)
    question = "How many bytes per second from a device to its peers, in one direction?"
    yield _when_needed("islands/<id>/bytes_per_s_one_way", question, unrated)


def _missing_of_links(links: Sequence[Link]) -> Iterator[Missing]:
    unclassed = tuple(link.id for link in links if link.link_class is None)
    unrated = tuple(link.id for link in links if link.bytes_per_s_one_way is None)
    unkind = tuple(link.id for link in links if link.kind is None)
    undomained = tuple(link.id for link in links if link.contention_domain is None)
    yield _always("links/<id>/class", "Of which class, as inter_node?", unclassed)
    yield _when_needed("links/<id>/kind", "Which kind of network?", unkind)
    yield _always("links/<id>/bytes_per_s_one_way", "How many bytes per second in one direction?", unrated)
    question = "Which rail or switch does it share its bandwidth on with others?"
    yield _when_needed("links/<id>/contention_domain", question, undomained)


def _always(field: str, question: str, ids: tuple[str, ...]) -> Missing:
    return Missing(pointer=f"{_AT}/{field}", question=question, always=True, ids=ids)


def _when_needed(field: str, question: str, ids: tuple[str, ...] = ()) -> Missing:
    return Missing(pointer=f"{_AT}/{field}", question=question, always=False, ids=ids)
