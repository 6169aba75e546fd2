"""Fixed places of a large fleet, and of two maps side by side: nodes as small boxes, rack by rack. Pure geometry.

Rules kept: as in ``map_places``, places follow from the contract's hardware alone. All nodes are of one width; a rack
starts where its frame fits; below each row of nodes lies a channel for lines, at the right a gutter. The sizes here are
those of ``static/css/map.css``, which lays the cells of a node out.

Not handled: what stands on a device.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from planner.natural_order import natural
from planner.site import Site
from reviews.web.map_places import Box, island_runs, node_order, rack_of_nodes

WIDTH = 1056
"""Eight nodes of eight of the narrowest cells side by side; wider than a map of few devices, for their words."""
EDGE = 8
GAP = 6
CHANNEL = 28
GUTTER = 30
RACK_HEAD = 20
RACK_PAD = 6
HEAD = 20
"""Height of a node's name."""
INSET = 3
CELL_GAP = 1
RUN_GAP = 4
NIC_ROOM = 9
FEW_NODES = 16
FEW = 64
SOME = 256
"""Devices up to which cells are wide, and up to which they are wider than the narrowest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSize:
    """Width and height of a device's cell; ``css`` names the same sizes in the style sheet."""

    width: int
    height: int
    css: str


WIDE = CellSize(width=62, height=40, css="wide")
MIDDLE = CellSize(width=42, height=26, css="middle")
NARROW = CellSize(width=27, height=24, css="narrow")
"""Eight nodes of eight devices side by side fill the drawing; a cell holds four figures and is large enough to hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpot:
    """A node: its box, its devices by island, and where the ticks of its NICs start. ``row`` counts from the top."""

    id: str
    box: Box
    runs: tuple[tuple[str, tuple[str, ...]], ...]
    nics: tuple[str, ...]
    row: int

    @property
    def nic_path(self) -> str:
        """One short stroke for each NIC, below the devices."""
        step = (self.box.width - 2 * INSET) / max(1, len(self.nics))
        strokes = [
            f"M{self.box.x + INSET + step * (at + 0.2):.1f} {self.nic_y:g}h{step * 0.6:.1f}"
            for at in range(len(self.nics))
        ]
        return "".join(strokes)

    @property
    def nic_y(self) -> float:
        """The height of the NICs."""
        return self.box.bottom - NIC_ROOM / 2 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DensePlaces:
    """The ground of a dense map. ``columns`` cells stand side by side; ``bottoms`` are the lower edges of the rows."""

    width: int
    height: float
    size: CellSize
    columns: int
    nodes: tuple[NodeSpot, ...]
    racks: tuple[tuple[str, Box], ...]
    bottoms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """Nodes that stay together: a rack, or all nodes without one."""

    rack: str
    nodes: tuple[str, ...]


def dense_places(site: Site, *, width: int = WIDTH) -> DensePlaces:
    """Place all hardware of a contract in a drawing of this width."""
    runs = {node: tuple(island_runs(site, node)) for node in node_order(site)}
    longest = max((len(devices) for found in runs.values() for _, devices in found), default=1)
    size = size_for(len(site.hardware.devices))
    fitting = (width - 2 * EDGE - GUTTER - 2 * RACK_PAD - 2 * INSET) // (size.width + CELL_GAP)
    columns = min(longest, 8 if longest > 8 else 4, fitting)
    node_width = columns * (size.width + CELL_GAP) - CELL_GAP + 2 * INSET
    return Flow(site=site, runs=runs, columns=columns, size=size, node_width=node_width, width=width).placed()


def size_for(devices: int) -> CellSize:
    """Choose the size of a cell for so many devices."""
    return WIDE if devices <= FEW else MIDDLE if devices <= SOME else NARROW


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Nodes laid out in rows."""

    site: Site
    runs: dict[str, tuple[tuple[str, tuple[str, ...]], ...]]
    columns: int
    size: CellSize
    node_width: int
    width: int

    def placed(self) -> DensePlaces:
        """Lay out unit by unit, each in rows as wide as the drawing allows."""
        per_row = self._per_row()
        nics = self._nics()
        nodes: list[NodeSpot] = []
        racks: list[tuple[str, Box]] = []
        bottoms: list[float] = []
        y = float(EDGE)
        for line in self._lines(per_row):
            has_racks = any(unit.rack for unit in line)
            top = y + (RACK_HEAD if has_racks else 0)
            x = float(EDGE + RACK_PAD)
            frames = []
            for unit in line:
                wide = min(per_row, len(unit.nodes))
                frames.append((unit.rack, x, wide))
                x += wide * (self.node_width + GAP) + 2 * RACK_PAD
            depth = max(-(-len(unit.nodes) // per_row) for unit in line)
            start = top
            for row in range(depth):
                shown = [
                    (unit.nodes[row * per_row : (row + 1) * per_row], frame)
                    for unit, frame in zip(line, frames, strict=True)
                ]
                height = max(self._height(node) for found, _ in shown for node in found)
                for found, (_, left, _) in shown:
                    for at, node in enumerate(found):
                        box = Box(left + at * (self.node_width + GAP), start, self.node_width, height)
                        nodes.append(
                            NodeSpot(id=node, box=box, runs=self.runs[node], nics=nics.get(node, ()), row=len(bottoms))
                        )
                bottoms.append(start + height)
                start += height + CHANNEL
            for rack, left, wide in frames:
                if rack:
                    frame_width = wide * (self.node_width + GAP) - GAP + 2 * RACK_PAD
                    racks.append((rack, Box(left - RACK_PAD, y, frame_width, start - y - 4)))
            y = start + (6 if has_racks else 0)
        used = max((spot.box.x + spot.box.width for spot in nodes), default=0.0) + RACK_PAD + GUTTER + EDGE
        return DensePlaces(
            width=min(self.width, max(round(used), self.width * 3 // 4)),
            height=y + EDGE,
            size=self.size,
            columns=self.columns,
            nodes=tuple(nodes),
            racks=tuple(racks),
            bottoms=tuple(bottoms),
        )

    def _per_row(self) -> int:
        """Return how many nodes of a unit stand side by side: no more than fit, and in rows of even length."""
        fitting = max(1, (self.width - 2 * EDGE - GUTTER - 2 * RACK_PAD + GAP) // (self.node_width + GAP))
        longest = max((len(unit.nodes) for unit in self._units()), default=1)
        return -(-longest // -(-longest // fitting))

    def _lines(self, per_row: int) -> Iterator[list[Unit]]:
        """Put units side by side while they fit; a unit of several rows stands alone."""
        line: list[Unit] = []
        for unit in self._units():
            taken = sum(len(other.nodes) for other in line)
            room = self.width - 2 * EDGE - GUTTER
            needed = (taken + len(unit.nodes)) * (self.node_width + GAP) + (len(line) + 1) * 2 * RACK_PAD - GAP
            if line and needed > room:
                yield line
                line = []
            line.append(unit)
        if line:
            yield line

    def _units(self) -> Iterator[Unit]:
        racks = rack_of_nodes(self.site)
        for rack, nodes in groupby(self.runs, key=lambda node: racks.get(node, "")):
            yield Unit(rack, tuple(nodes))

    def _height(self, node: str) -> float:
        runs = self.runs[node] or (("", ()),)
        rows = sum(-(-len(devices) // self.columns) for _, devices in runs)
        cells = rows * (self.size.height + CELL_GAP) - CELL_GAP * len(runs) + RUN_GAP * (len(runs) - 1)
        return HEAD + max(0, cells) + INSET + NIC_ROOM

    def _nics(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for nic, node in self.site.nics.items():
            found.setdefault(node, []).append(nic)
        return {node: tuple(sorted(names, key=natural)) for node, names in found.items()}


def is_small(ground: DensePlaces) -> bool:
    """Say whether lines of all groups have room."""
    return len(ground.nodes) <= FEW_NODES


def device_order(spot: NodeSpot) -> Sequence[str]:
    """Return the devices of a node in the order of their cells."""
    return [device for _, devices in spot.runs for device in devices]
