"""Read a topology of NCCL or RCCL (``NCCL_TOPO_DUMP_FILE``, ``NCCL_TOPO_FILE``), XML.

Rules kept: hosts are told apart by ``host_hash``; peer links lead to a device, or to switches, which join all devices
on switches of the host; an address of all f is the fabric that hosts share. Paths over PCIe follow from the tree. A
static file without ``<gpu>`` shows devices by PCI class and says nothing of peer links. Not handled: graphs
(``NCCL_GRAPH_FILE``), which tell what the library chose, not what is there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, takewhile

from planner.errors import DocumentRefusedError, Problem
from planner.hardware.lines import refuse
from planner.hardware.matrix import MAX_ALL_NAMES, MAX_NAMES
from planner.hardware.model import Note, SeenDevice, SeenNic, SeenNode, SeenPath
from planner.hardware.nccl_peers import PeerLink, peer_paths
from planner.hardware.xml_tree import Element, xml_tree
from planner.shown import shown

__all__ = ["SOURCE", "read_nccl_topo"]

SOURCE = "NCCL topology XML"

_BUS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", re.IGNORECASE)
_TARGET = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2,4}:[0-9a-f]{2}(?:\.[0-9a-f])?", re.IGNORECASE)
_DEVICE_CLASS = re.compile(r"0x(?:03|12)[0-9a-f]*", re.IGNORECASE)
_NIC_CLASS = re.compile(r"0x02[0-9a-f]*", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,9}")
_NO_GUID = re.compile(r"(?:0x)?0+")
_BYTES_PER_MBIT = 125_000
_SOCKET_DEFAULT = 10_000
"""Mb/s that the library writes for a socket interface whose rate it cannot read."""


@dataclass(slots=True)
class _Thing:
    """A device or NIC in the tree: the element, PCI function and bridges above it, the NUMA node."""

    element: Element
    bus_id: str | None
    bridges: tuple[str, ...]
    numa: str | None
    cpu: int


@dataclass(slots=True)
class _Host:
    devices: list[_Thing] = field(default_factory=list)
    nics: list[_Thing] = field(default_factory=list)
    functions: list[_Thing] = field(default_factory=list)


def read_nccl_topo(text: str) -> tuple[SeenNode, ...]:
    """Return the hosts of the file.

    Raises:
        DocumentRefusedError: no such XML, or with every element that does not fit.
    """
    root = xml_tree(text)
    if root.tag != "system":
        refuse("hardware/format", "a <system> element", f"<{shown(root.tag, quote=False)}>", root.line)
    problems: list[Problem] = []
    hosts = _hosts(root, problems)
    if not any(host.devices or host.functions for host in hosts):
        expected = "a <gpu>, as a dump has, or a <pci> of a device's class"
        problems.append(Problem("hardware/no_device", "", expected, "none", root.line))
    things = sum(len(host.devices) + len(host.nics) + len(host.functions) for host in hosts)
    if things > MAX_ALL_NAMES:
        refuse("hardware/size", f"at most {MAX_ALL_NAMES:,} devices and NICs", f"{things:,}")
    nodes = [_node(host, problems) for host in hosts if host.devices or host.functions or host.nics]
    if problems:
        raise DocumentRefusedError(tuple(problems))
    return tuple(nodes)


def _hosts(root: Element, problems: list[Problem]) -> list[_Host]:
    hosts: dict[str, _Host] = {}
    for position, cpu in enumerate(root.all("cpu")):
        host = hosts.setdefault(cpu.attributes.get("host_hash", ""), _Host())
        numa = cpu.attributes.get("numaid", "")
        _Walk(host, numa if _COUNT.fullmatch(numa) else None, position, problems).inside(cpu, None, ())
    return list(hosts.values())


@dataclass(slots=True)
class _Walk:
    """Goes down one ``<cpu>`` and sorts what is found into its host."""

    host: _Host
    numa: str | None
    cpu: int
    problems: list[Problem]

    def inside(self, element: Element, bus_id: str | None, bridges: tuple[str, ...]) -> None:
        for child in element.children:
            if child.tag == "pci":
                self._function(child, bridges if bus_id is None else (*bridges, bus_id))
            elif child.tag == "gpu" and bus_id is not None:
                self.host.devices.append(self._thing(child, bus_id, bridges))
            elif child.tag == "nic":
                self.host.nics += [self._thing(net, bus_id, bridges) for net in child.all("net")]

    def _function(self, pci: Element, bridges: tuple[str, ...]) -> None:
        bus_id = pci.attributes.get("busid", "")
        if not _BUS.fullmatch(bus_id):
            self.problems.append(Problem("hardware/attribute", "", 'busid as "0000:3b:00.0"', shown(bus_id), pci.line))
            return
        if not pci.children and _class(pci):
            self.host.functions.append(self._thing(pci, bus_id.lower(), bridges))
        self.inside(pci, bus_id.lower(), bridges)

    def _thing(self, element: Element, bus_id: str | None, bridges: tuple[str, ...]) -> _Thing:
        return _Thing(element, bus_id, bridges, self.numa, self.cpu)


def _class(pci: Element) -> str:
    """Return ``device``, ``nic`` or nothing for the class of a PCI function."""
    code = pci.attributes.get("class", "")
    return "device" if _DEVICE_CLASS.fullmatch(code) else "nic" if _NIC_CLASS.fullmatch(code) else ""


def _node(host: _Host, problems: list[Problem]) -> SeenNode:
    static = not host.devices
    shown_devices, shown_nics = _static(host) if static else (host.devices, _merged(host.nics))
    if len(shown_devices) + len(shown_nics) > MAX_NAMES:
        found = f"{len(shown_devices)} and {len(shown_nics)}"
        problems.append(Problem("hardware/size", "", f"at most {MAX_NAMES} devices and NICs of a host", found))
        return SeenNode(devices=())
    devices, nics = _named("GPU", shown_devices), _named("NIC", shown_nics)
    problems.extend(_repeated(shown_devices))
    notes = [Note(sentence="Without <gpu>, a static file: what it shows is by PCI class.")] if static else []
    links = [link for name, thing in devices for link in _links(name, thing, problems)]
    peers, fabric = peer_paths([(name, thing.bus_id or "") for name, thing in devices], links, problems, notes)
    seen_nics = tuple(_nic(name, thing, notes, problems) for name, thing in nics)
    return SeenNode(
        devices=tuple(SeenDevice(name=name, numa=thing.numa, bus_id=thing.bus_id) for name, thing in devices),
        nics=seen_nics,
        paths=tuple(_with_peers([*devices, *nics], peers)),
        peers_seen=not static,
        fabric=fabric,
        notes=tuple(notes),
    )


def _static(host: _Host) -> tuple[list[_Thing], list[_Thing]]:
    devices = [thing for thing in host.functions if _class(thing.element) == "device"]
    return devices, _merged(host.nics) or [thing for thing in host.functions if _class(thing.element) == "nic"]


def _merged(nics: Sequence[_Thing]) -> list[_Thing]:
    """Return the NICs, a socket interface that stands below every ``<cpu>`` only once and at no place."""
    found: dict[tuple[str, ...], _Thing] = {}
    for position, nic in enumerate(nics):
        names = tuple(nic.element.attributes.get(name, "") for name in ("name", "dev", "port"))
        key = names if nic.bus_id is None else (*names, str(position))
        before = found.setdefault(key, nic)
        if before is not nic:
            before.numa, before.cpu = None, -1
    return list(found.values())


def _named(word: str, things: Sequence[_Thing]) -> list[tuple[str, _Thing]]:
    """Name things by their own number where all have another one, else in the order of the file."""
    own = [thing.element.attributes.get("dev", "") for thing in things]
    if len(set(own)) < len(own) or not all(map(_COUNT.fullmatch, own)):
        own = [str(position) for position in range(len(things))]
    return [(f"{word}{number}", thing) for number, thing in zip(own, things, strict=True)]


def _repeated(devices: Sequence[_Thing]) -> Iterator[Problem]:
    """Refuse a device that stands twice; slices of one function differ in rank or part."""
    seen: dict[tuple[str, ...], int] = {}
    for device in devices:
        attributes = device.element.attributes
        key = (device.bus_id or "", *(attributes.get(name, "") for name in ("dev", "rank", "mlopart")))
        first = seen.setdefault(key, device.element.line)
        if first != device.element.line:
            expected = f"one <gpu> at {device.bus_id}, which line {first} has"
            yield Problem("hardware/repeated", "", expected, "another one", device.element.line)


def _links(name: str, device: _Thing, problems: list[Problem]) -> Iterator[PeerLink]:
    for link in device.element.children:
        if link.tag not in ("nvlink", "xgmi"):
            continue
        target, count = link.attributes.get("target", ""), link.attributes.get("count", "")
        if not _TARGET.fullmatch(target):
            expected = f"target of <{link.tag}>, a PCI address"
            problems.append(Problem("hardware/attribute", "", expected, shown(target), link.line))
        elif not _COUNT.fullmatch(count) or not int(count):
            expected = f"count of <{link.tag}>, at least 1"
            problems.append(Problem("hardware/attribute", "", expected, shown(count), link.line))
        else:
            tclass = link.attributes.get("tclass", "")
            yield PeerLink(name, target.lower(), int(count), tclass.lower(), link.tag, link.line)


def _nic(name: str, thing: _Thing, notes: list[Note], problems: list[Problem]) -> SeenNic:
    attributes = thing.element.attributes
    interface = attributes.get("name") or None
    if interface is not None and not re.fullmatch(r"[!-~]{1,128}", interface):
        expected = "name of <net>, 1 to 128 printable characters"
        problems.append(Problem("hardware/attribute", "", expected, shown(interface), thing.element.line))
    return SeenNic(
        name=name,
        interface=interface,
        numa=thing.numa,
        bus_id=thing.bus_id,
        bytes_per_s_one_way=_rate(thing.element, notes, problems),
    )


def _rate(net: Element, notes: list[Note], problems: list[Problem]) -> int | None:
    """Return the rate that the file states, in bytes per second; ``speed`` is in Mb/s."""
    speed = net.attributes.get("speed")
    if net.tag != "net" or speed is None or speed.startswith("-"):
        return None
    if not _COUNT.fullmatch(speed):
        problems.append(Problem("hardware/attribute", "", "speed of <net>, an integer in Mb/s", shown(speed), net.line))
        return None
    if int(speed) == _SOCKET_DEFAULT and _NO_GUID.fullmatch(net.attributes.get("guid", "")):
        sentence = "A socket interface at 10000 Mb/s, which is also written where the rate is not known; not read."
        notes.append(Note(sentence=sentence, line=net.line))
        return None
    return int(speed) * _BYTES_PER_MBIT or None


def _with_peers(things: Sequence[tuple[str, _Thing]], peers: dict[frozenset[str], SeenPath]) -> Iterator[SeenPath]:
    """Yield every pair: its peer links where it has some, else its way over PCIe."""
    for (a, first), (b, second) in combinations(things, 2):
        peer = peers.get(frozenset((a, b)))
        if peer is not None:
            yield peer
            continue
        way = _pcie_way(first, second)
        if way is not None:
            yield SeenPath(a=a, b=b, code=way[0], kind="pcie", hops=way[1])


def _pcie_way(a: _Thing, b: _Thing) -> tuple[str, int] | None:
    """Return the way over PCIe by the tree and the bridges on it.

    Below one ``<cpu>`` and no common bridge it is PHB: the file has no host bridges, so NODE cannot be told from it.
    """
    if -1 in (a.cpu, b.cpu):
        return None
    pairs = zip(a.bridges, b.bridges, strict=False) if a.cpu == b.cpu else ()
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    bridges = len(a.bridges) + len(b.bridges) - 2 * common + (1 if common else 0)
    if a.cpu != b.cpu:
        return "SYS", bridges
    if a.bus_id is not None and a.bus_id == b.bus_id:
        return "PIX", 0
    return ("PIX" if bridges == 1 else "PXB", bridges) if common else ("PHB", bridges)
