"""The devices that are planned with, and where an engine's launcher would put the ranks of a decomposition.

Rules kept: only equal nodes are planned with, because launchers fill nodes alike; spares and further slices of one
accelerator are left out and named. On a node devices are taken island by island, so that neighbours by link come
before neighbours by number. NICs for the fabric are shared out evenly, in order.

Not handled: other maps of the same degrees, and racks: nodes are taken in order of their names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.layouts import LAYOUTS, Degrees, Launch, LayoutRefusedError
from planner.natural_order import NaturalKey, natural
from planner.records.base import UNSET, UnsetType
from planner.records.contract import Device
from planner.records.evidence import LayoutName, Placement
from planner.records.matrix import PlannedFleet
from planner.site import Site

__all__ = ["Ground", "NodePlace", "PlacedRanks", "ground_of", "place"]

SHARE_NODES = frozenset({"vllm", "sglang"})
"""Layouts whose launcher starts equally many ranks on every node; the others fill one node after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """A node with its devices in the order in which ranks take them, and its NICs for the fabric."""

    id: str
    devices: tuple[str, ...]
    nics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Equal nodes, in order of their names."""

    nodes: tuple[NodePlace, ...]
    types: tuple[str, ...]
    memory_bytes: int
    left_out: tuple[str, ...]

    @property
    def per_node(self) -> int:
        """Devices of a node."""
        return len(self.nodes[0].devices) if self.nodes else 0

    @property
    def devices(self) -> int:
        """Devices of all nodes."""
        return self.per_node * len(self.nodes)

    def planned(self) -> PlannedFleet:
        """Return what the matrix says of it."""
        return PlannedFleet(
            devices=self.devices,
            nodes=tuple(node.id for node in self.nodes),
            devices_per_node=self.per_node,
            device_types=self.types,
            memory_bytes=self.memory_bytes,
            left_out=self.left_out,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRanks:
    """A rank map with what the launcher accepts and a reader should know."""

    rank_map: tuple[Placement, ...]
    nodes: int
    notices: tuple[str, ...]


def ground_of(site: Site) -> Ground:
    """Return the largest set of equal nodes; of equally large ones, that of the first node by name."""
    usable, left_out = _usable(site)
    kinds: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for node in sorted(usable, key=natural):
        devices = [site.hardware.devices[device] for device in usable[node]]
        if devices:
            kinds.setdefault(tuple(sorted((device.type, device.memory_bytes) for device in devices)), []).append(node)
    if not kinds:
        return Ground(nodes=(), types=(), memory_bytes=0, left_out=tuple(left_out))
    chosen = max(kinds, key=lambda kind: len(kind) * len(kinds[kind]))
    others = [node for kind, nodes in kinds.items() if kind != chosen for node in nodes]
    if others:
        left_out.append(
            f"{_counted(others, 'node')} with other devices than the {len(kinds[chosen])} that are planned with: "
            f"{_listed(others)}; launchers start equally many ranks on equal nodes."
        )
    return Ground(
        nodes=tuple(NodePlace(id=node, devices=usable[node], nics=_nics(site, node)) for node in kinds[chosen]),
        types=tuple(sorted({kind for kind, _ in chosen})),
        memory_bytes=min(memory for _, memory in chosen),
        left_out=tuple(left_out),
    )


def place(layout: LayoutName, degrees: Degrees, world: int, ground: Ground) -> PlacedRanks:
    """Return where the launcher puts ``world`` ranks, on as few nodes as it can.

    Raises:
        LayoutRefusedError: the launcher refuses, never serves, or starts ranks on devices that are not there.
    """
    nodes = _nodes_for(layout, world, ground)
    launch = Launch(nnodes=nodes, gpus_per_node=ground.per_node)
    seats = LAYOUTS[layout].seats(degrees, launch)
    if seats.refused is not None:
        raise seats.refused
    if seats.dangers:
        raise LayoutRefusedError("launch", f"{seats.dangers[0]}.")
    taken = dict(_taken(seats.seats, world))
    if len(taken) < world:
        raise LayoutRefusedError("launch", f"The launcher's rule gives {len(taken)} of {world} ranks a place.")
    return PlacedRanks(
        rank_map=tuple(_placement(rank, *taken[rank], ground) for rank in range(world)),
        nodes=nodes,
        notices=seats.notices,
    )


def _nodes_for(layout: LayoutName, world: int, ground: Ground) -> int:
    least = -(-world // ground.per_node)
    if layout not in SHARE_NODES:
        return least
    for nodes in range(least, len(ground.nodes) + 1):
        if world % nodes == 0:
            return nodes
    raise LayoutRefusedError(
        "nnodes", f"{world} ranks do not spread evenly over {least} to {len(ground.nodes)} nodes of {ground.per_node}."
    )


def _taken(seats: tuple[Mapping[str, int], ...], world: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield (rank, (node, device)); further engines of the same shape follow on the next devices of the node."""
    for seat in seats:
        yield seat["rank"] if "rank" in seat else seat["global_rank"], (seat["node"], seat["device"])
    for rank in range(len(seats), world) if seats and len({seat["node"] for seat in seats}) == 1 else ():
        yield rank, (0, rank)


def _placement(rank: int, node: int, device: int, ground: Ground) -> Placement:
    if node >= len(ground.nodes) or device >= ground.per_node:
        raise LayoutRefusedError("launch", f"Rank {rank} is started on device {device} of node {node}: there is none.")
    at = ground.nodes[node]
    nic = at.nics[device * len(at.nics) // ground.per_node] if at.nics else UNSET
    return Placement(rank=rank, node=at.id, device=at.devices[device], nic=nic)


def _usable(site: Site) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the devices of each node that are planned with, in order, and what is left out in words."""
    devices = site.hardware.devices
    spares = sorted(site.spares & devices.keys(), key=natural)
    slices = [name for name in _further_slices(devices) if name not in site.spares]
    gone = {*spares, *slices}
    left_out = []
    if spares:
        left_out.append(f"{_counted(spares, 'spare device')}: {_listed(spares)}.")
    if slices:
        left_out.append(
            f"{_counted(slices, 'further slice')} of an accelerator that has one in use: {_listed(slices)}; a "
            "communicator takes one slice of an accelerator."
        )
    firsts = _island_firsts(site)
    usable = {
        node: tuple(
            sorted((name for name in names if name not in gone), key=lambda name: _seat_key(site, firsts, name))
        )
        for node, names in site.node_devices.items()
    }
    return usable, left_out


def _further_slices(devices: Mapping[str, Device]) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for name in sorted(devices, key=natural):
        device = devices[name]
        if isinstance(device.slice_of, UnsetType):
            continue
        if (device.node, device.slice_of) in seen:
            yield name
        seen.add((device.node, device.slice_of))


def _island_firsts(site: Site) -> dict[str, NaturalKey]:
    """Return the first device of every island."""
    return {island: min(map(natural, devices)) for island, devices in (site.islands or {}).items()}


def _seat_key(site: Site, firsts: Mapping[str, NaturalKey], name: str) -> tuple[NaturalKey, NaturalKey]:
    """Order devices by the first device of their island, then by name; without islands by name."""
    own = natural(name)
    return min((firsts[island] for island in site.device_islands.get(name, ())), default=own), own


def _nics(site: Site, node: str) -> tuple[str, ...]:
    nics = {} if isinstance(site.hardware.nics, UnsetType) else site.hardware.nics
    fabric = (name for name, nic in nics.items() if nic.node == node and nic.use == "fabric")
    return tuple(sorted(fabric, key=natural))


def _counted(names: list[str], word: str) -> str:
    return f"{len(names)} {word}{'' if len(names) == 1 else 's'}"


def _listed(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
