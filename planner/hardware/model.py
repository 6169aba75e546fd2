"""Hardware as one file shows it: an immutable model with the names of the contract's records.

Two steps. A reader returns what it saw (``SeenNode``), in the file's own names. ``planner.hardware.assembly`` gives
ids and finds islands, which makes it ``Hardware``. What a file does not say is None, never a usual value.
"""

from dataclasses import dataclass

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
    """A device in the file's own name; ``cpus`` and ``numa`` as the tool writes them, such as ``0-23,96-119``."""

    name: str
    numa: str | None = None
    cpus: str | None = None
    bus_id: str | None = None
    type: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNic:
    """A NIC in the file's own name, and the name that the host knows it by (``interface``)."""

    name: str
    interface: str | None = None
    numa: str | None = None
    bus_id: str | None = None
    bytes_per_s_one_way: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPath:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """An accelerator. ``nearest_nics`` are the NICs on its nearest kind of path, ``nearest_path`` that kind."""

    id: str
    node: str
    name: str
    type: str | None
    memory_bytes: int | None
    numa: str | None
    cpus: str | None
    bus_id: str | None
    nearest_nics: tuple[str, ...]
    nearest_path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic:
    """A network interface."""

    id: str
    node: str
    name: str
    interface: str | None
    numa: str | None
    bus_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
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
    """Devices joined by direct peer links, in the order of the file."""

    id: str
    devices: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The link of a NIC out of its node; the rate is for one direction, in bytes per second."""

    id: str
    nic: str
    bytes_per_s_one_way: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """All that a file shows. ``islands`` is None where it shows no peer links at all, empty where there are none."""

    source: str
    nodes: tuple[Node, ...]
    devices: tuple[Device, ...]
    nics: tuple[Nic, ...]
    paths: tuple[Path, ...]
    islands: tuple[Island, ...] | None
    links: tuple[Link, ...]
    notes: tuple[Note, ...]
