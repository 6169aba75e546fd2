"""From what a reader saw to ``Hardware``: ids, islands, nearest NICs, and notes on what stands out.

Rules kept: an island is a connected component of direct peer links of one kind, never neighbours by index; a device
without peer links is in no island; two islands of different nodes are one only where the file shows them on the same
switch fabric. Not handled: what the contract wants to know beyond the file (``planner.hardware.fragment``).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from planner.hardware.model import (
    PCIE_CODES,
    Device,
    Hardware,
    Island,
    Link,
    Nic,
    Node,
    Note,
    Path,
    SeenDevice,
    SeenNic,
    SeenNode,
)

PEER_KINDS = ("nvlink", "xgmi")
_NUMBER = re.compile(r"[0-9]+\Z")


def assembled(source: str, seen: Sequence[SeenNode], node_ids: Sequence[str]) -> Hardware:
    """Return the hardware; ``node_ids`` has one id for each node that was seen."""
    hosts = [_Host(node_id, node) for node_id, node in zip(node_ids, seen, strict=True)]
    paths = tuple(path for host in hosts for path in host.paths())
    nics = tuple(nic for host in hosts for nic in host.nics())
    islands = _islands(hosts, paths) if all(node.peers_seen for node in seen) else None
    devices = tuple(device for host in hosts for device in host.devices())
    notes = [note for node in seen for note in node.notes]
    notes += [Note(sentence=sentence) for sentence in _remarks(devices, paths, islands)]
    return Hardware(
        source=source,
        nodes=tuple(Node(id=host.id) for host in hosts),
        devices=devices,
        nics=nics,
        paths=paths,
        islands=islands,
        links=tuple(link for host in hosts for link in host.links()),
        notes=tuple(notes),
    )


class _Host:
    """One node and the ids of what is in it."""

    def __init__(self, node_id: str, seen: SeenNode) -> None:
        self.id = node_id
        self.seen = seen
        self.ids: Mapping[str, str] = {**_ids(node_id, "gpu", seen.devices), **_ids(node_id, "nic", seen.nics)}
        self._nearest = _nearest(seen)

    def devices(self) -> Iterator[Device]:
        for device in self.seen.devices:
            code, names = self._nearest.get(device.name, (None, ()))
            yield Device(
                id=self.ids[device.name],
                node=self.id,
                name=device.name,
                type=device.type,
                memory_bytes=device.memory_bytes,
                numa=device.numa,
                cpus=device.cpus,
                bus_id=device.bus_id,
                nearest_nics=tuple(self.ids[name] for name in names),
                nearest_path=code,
                line=device.line,
            )

    def nics(self) -> Iterator[Nic]:
        for nic in self.seen.nics:
            yield Nic(
                id=self.ids[nic.name],
                node=self.id,
                name=nic.name,
                interface=nic.interface,
                numa=nic.numa,
                bus_id=nic.bus_id,
            )

    def links(self) -> Iterator[Link]:
        for nic in self.seen.nics:
            yield Link(
                id=f"{self.ids[nic.name]}-up", nic=self.ids[nic.name], bytes_per_s_one_way=nic.bytes_per_s_one_way
            )

    def paths(self) -> Iterator[Path]:
        for path in self.seen.paths:
            yield Path(
                a=self.ids[path.a],
                b=self.ids[path.b],
                code=path.code,
                kind=path.kind,
                links=path.links,
                weight=path.weight,
                hops=path.hops,
                peer_access=path.peer_access,
            )


def _ids(node_id: str, word: str, things: Sequence[SeenDevice] | Sequence[SeenNic]) -> dict[str, str]:
    """Return an id for each name: with the name's own number where every one has another, else by position."""
    names = [thing.name for thing in things]
    numbers = [_NUMBER.search(name) for name in names]
    own = [str(int(number.group())) for number in numbers if number]
    suffixes = own if len(set(own)) == len(names) else [str(position) for position in range(len(names))]
    return {name: f"{node_id}-{word}{suffix}" for name, suffix in zip(names, suffixes, strict=True)}


def _nearest(seen: SeenNode) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return for each device the nearest kind of path to a NIC and the NICs on such a path, over fewest bridges."""
    devices = {device.name for device in seen.devices}
    order = {nic.name: position for position, nic in enumerate(seen.nics)}
    found: dict[str, dict[tuple[int, int], list[str]]] = {}
    for path in seen.paths:
        for here, there in ((path.a, path.b), (path.b, path.a)):
            if here in devices and there in order and path.code in PCIE_CODES:
                distance = (PCIE_CODES.index(path.code), path.hops or 0)
                found.setdefault(here, {}).setdefault(distance, []).append(there)
    nearest: dict[str, tuple[str, tuple[str, ...]]] = {}
    for device, by_distance in found.items():
        least = min(by_distance)
        nearest[device] = (PCIE_CODES[least[0]], tuple(sorted(by_distance[least], key=order.__getitem__)))
    return nearest


def _islands(hosts: Sequence[_Host], paths: Sequence[Path]) -> tuple[Island, ...]:
    node_of = {host.ids[device.name]: host.id for host in hosts for device in host.seen.devices}
    used: Counter[str] = Counter()
    islands: list[Island] = []
    for kind in PEER_KINDS:
        peers = [path for path in paths if path.kind == kind]
        edges = [(path.a, path.b) for path in peers]
        if kind == "nvlink":
            edges += pairwise(host.ids[name] for host in hosts for name in sorted(host.seen.fabric))
        ends = {end for edge in edges for end in edge}
        components = _components([name for name in node_of if name in ends], edges)
        for component, inside in zip(components, _by_component(components, peers), strict=True):
            nodes = {node_of[device] for device in component}
            prefix = f"{nodes.pop()}-island-" if len(nodes) == 1 else "island-"
            islands.append(Island(id=f"{prefix}{used[prefix]}", devices=component, kind=_kind(kind, inside)))
            used[prefix] += 1
    return tuple(islands)


def _by_component(components: Sequence[tuple[str, ...]], peers: Iterable[Path]) -> list[list[Path]]:
    """Return the paths inside each component."""
    position = {device: number for number, component in enumerate(components) for device in component}
    inside: list[list[Path]] = [[] for _ in components]
    for path in peers:
        if path.a in position:
            inside[position[path.a]].append(path)
    return inside


def _components(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the connected components in the order of their first name."""
    root = {name: name for name in names}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for a, b in edges:
        root[find(b)] = find(a)
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(find(name), []).append(name)
    return [tuple(group) for group in groups.values()]


def _kind(kind: str, inside: Sequence[Path]) -> str:
    """Return the kind with the number of links of a pair where all pairs have the same: the matrix is identity."""
    counts = {path.links for path in inside}
    return f"{kind}-{counts.pop()}" if len(counts) == 1 and None not in counts else kind


def _remarks(devices: Sequence[Device], paths: Sequence[Path], islands: tuple[Island, ...] | None) -> Iterator[str]:
    if islands is None:
        yield "The file shows no peer links: which devices form an island is to be asked."
        return
    peers = [path for path in paths if path.kind in PEER_KINDS]
    node_of = {device.id: device.node for device in devices}
    for island, inside in zip(islands, _by_component([island.devices for island in islands], peers), strict=True):
        yield from _about_island(island, node_of, inside)
    joined = {device for island in islands for device in island.devices}
    alone = [device.id for device in devices if device.id not in joined]
    if islands and alone:
        yield f"Without a peer link, though others have some: {_listed(alone)}. A fault, or hardware of another kind."
    if not islands and len(devices) > 1:
        yield "No two devices have a direct peer link: there is no island."
    shared = Counter(device.nearest_nics for device in devices if len(device.nearest_nics) == 1)
    for (nic,), count in sorted(shared.items()):
        if count > 1:
            yield f"{count} devices have {nic} as their only nearest NIC."


def _about_island(island: Island, node_of: Mapping[str, str], inside: Sequence[Path]) -> Iterator[str]:
    joined = {frozenset((path.a, path.b)) for path in inside}
    pairs = [(a, b) for a, b in combinations(island.devices, 2) if node_of[a] == node_of[b]]
    apart = [f"{a} and {b}" for a, b in pairs if frozenset((a, b)) not in joined]
    if apart:
        yield f"{island.id}: without a direct peer link: {len(apart)} of {len(pairs)} pairs, first {apart[0]}."
    counts = sorted({path.links for path in inside if path.links is not None})
    if len(counts) > 1:
        yield f"{island.id}: pairs have {_listed([str(count) for count in counts])} links; the slowest pair bounds it."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
