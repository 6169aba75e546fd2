"""Hardware as a file shows it or a contract declares it: an immutable model with the names of the contract's records.

From a file in two steps: a reader returns what it saw (``SeenNode``), in the file's own names;
``planner.hardware.assembly`` gives ids and finds islands. What nobody says is None, never a usual value.
"""

from dataclasses import dataclass

import msgspec

__all__ = [
    "PCIE_CODES",
    "Device",
    "Hardware",
    "Island",
    "Link",
    "Nic",
    "Node",
    "Note",
    "Path",
    "Rack",
    "SeenDevice",
    "SeenNic",
    "SeenNode",
    "SeenPath",
]

PCIE_CODES = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Paths over PCIe from the nearest to the farthest: one bridge, several bridges, the host bridge, host bridges of one
NUMA node, the interconnect between NUMA nodes. They join no island."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a reader of the result should know and no field holds; ``line`` counts from 1."""

    sentence: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDevice:
    """A device in the file's own name; ``cpus`` and ``numa`` as the tool writes them, such as ``0-23,96-119``.

    ``line`` is where the text first lists its type or memory, from 1.
    """

    name: str
    numa: str | None = None
    cpus: str | None = None
    bus_id: str | None = None
    type: str | None = None
    memory_bytes: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNic:
    """A NIC in the file's own name, and the name that the host knows it by (``interface``)."""

    name: str
    interface: str | None = None
    numa: str | None = None
    bus_id: str | None = None
    bytes_per_s_one_way: int | None = None


class SeenPath(msgspec.Struct, frozen=True, kw_only=True):
    """How two things of one node reach one another; both ways are the same.

    ``kind`` is ``nvlink`` or ``xgmi`` for direct peer links, ``pcie`` for the rest; ``links`` counts bonded peer links.
    """

    a: str
    b: str
    code: str
    kind: str
    links: int | None = None
    weight: int | None = None
    hops: int | None = None
    peer_access: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNode:
    """One host. ``peers_seen`` says whether the file shows peer links at all.

    ``fabric`` names the devices on a switch fabric that the file shows as one for all its hosts.
    """

    devices: tuple[SeenDevice, ...]
    nics: tuple[SeenNic, ...] = ()
    paths: tuple[SeenPath, ...] = ()
    peers_seen: bool = True
    fabric: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A host."""

    id: str
    sockets: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """An accelerator. ``nearest_nics`` are the NICs on its nearest kind of path, ``nearest_path`` that kind.

    ``line`` is where its file first lists type or memory.
    """

    id: str
    node: str
    name: str
    type: str | None = None
    memory_bytes: int | None = None
    numa: str | None = None
    cpus: str | None = None
    bus_id: str | None = None
    nearest_nics: tuple[str, ...] = ()
    nearest_path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic:
    """A network interface; ``use`` is fabric, storage or front_end."""

    id: str
    node: str
    name: str
    use: str | None = None
    interface: str | None = None
    numa: str | None = None
    bus_id: str | None = None


class Path(msgspec.Struct, frozen=True, kw_only=True):
    """How two things of one node, by id, reach one another (see ``SeenPath``)."""

    a: str
    b: str
    code: str
    kind: str
    links: int | None
    weight: int | None
    hops: int | None
    peer_access: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Island:
    """Devices joined by direct peer links; the rate is from a device to its peers, in one direction."""

    id: str
    devices: tuple[str, ...]
    kind: str | None = None
    bytes_per_s_one_way: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of the fabric, in files that of a NIC out of its node.

    The rate is for one direction, in bytes per second; links of one ``contention_domain`` share their bandwidth.
    """

    id: str
    nic: str | None = None
    link_class: str | None = None
    kind: str | None = None
    bytes_per_s_one_way: int | None = None
    contention_domain: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rack:
    """Nodes that stand in one rack."""

    id: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """All that a file shows, or a contract declares.

    ``islands`` is None where nothing is said of peer links, empty where there are none; ``racks`` is None where
    nothing is said of racks.
    """

    source: str
    nodes: tuple[Node, ...]
    devices: tuple[Device, ...]
    nics: tuple[Nic, ...] = ()
    islands: tuple[Island, ...] | None = None
    links: tuple[Link, ...] = ()
    racks: tuple[Rack, ...] | None = None
    paths: tuple[Path, ...] = ()
    notes: tuple[Note, ...] = ()
