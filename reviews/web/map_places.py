"""Fixed places of a rank map: where nodes, islands, devices and NICs stand in the drawing. Pure geometry.

Rules kept: places follow from the contract's hardware alone, sorted by id with numbers read as numbers, so every
trial of a contract is drawn on the same ground and two maps can be compared by eye. Devices that no rank uses have a
place too. A device that the contract does not know gets no place; the caller lists it.

Not handled: what stands on a device, colours, lines between devices.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from planner.natural_order import natural
from planner.records.base import UnsetType
from planner.records.contract import Hardware
from planner.site import Site
from reviews.web.formats import count, quantity

WIDTH = 980
MARGIN = 16
GUTTER = 30
"""Room at the right for the lines that join more than two nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """Sizes of tiles; ``per_row`` devices stand side by side."""

    tile_width: int
    tile_height: int
    gap: int
    per_row: int


ROOMY = Density(tile_width=100, tile_height=96, gap=8, per_row=8)

HEADER = 30
LANE = 6
"""Distance between two parallel lines."""
LANES = 8
"""Lines inside a node that have room; kept free on every map, so that no map moves a device."""
NIC_HEIGHT = 22
NIC_GAP = 18
NIC_LETTERS = 9
"""Letters that fit into the box of a NIC."""
PAD = 12
TOP = 34.0
BETWEEN_TWO = 96
BETWEEN_MANY = 44
NOTES_ROOM = 60
"""Room below more than two nodes for what runs between them."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The middle from left to right."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    @property
    def text_y(self) -> float:
        """Where a word in the middle stands."""
        return self.y + self.height / 2 + 4

    @property
    def below_y(self) -> float:
        """Where a second word stands below it."""
        return self.text_y + 16


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """A node with everything in it.

    ``faces_up``: NICs above the devices, lanes for lines inside the node below them; otherwise the other way round.
    ``lanes`` is how many lines have room.
    """

    id: str
    box: Box
    islands: tuple[tuple[str, Box], ...]
    devices: Mapping[str, Box]
    nics: Mapping[str, Box]
    faces_up: bool
    lanes: int
    note: str

    @property
    def nic_labels(self) -> tuple[tuple[str, str, Box], ...]:
        """Every NIC with what is written into its box."""
        return tuple((nic, short_name(nic, self.id, NIC_LETTERS), box) for nic, box in self.nics.items())

    @property
    def text_x(self) -> float:
        """Where the node's name starts."""
        return self.box.x + PAD

    @property
    def end_x(self) -> float:
        """Where words at the right end."""
        return self.box.x + self.box.width - PAD

    @property
    def text_y(self) -> float:
        """The line of the node's name: above its devices, at the foot where NICs stand above."""
        return self.box.bottom - 12 if self.faces_up else self.box.y + 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The whole ground. ``racks`` are declared domains whose nodes stand next to each other."""

    width: int
    height: float
    nodes: tuple[NodePlace, ...]
    racks: tuple[tuple[str, Box], ...]

    @property
    def device_boxes(self) -> dict[str, Box]:
        """The place of every device."""
        return {device: box for node in self.nodes for device, box in node.devices.items()}


def island_runs(site: Site, node: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the node's devices island by island; devices of no island come last, under an empty name."""
    devices = site.node_devices.get(node, frozenset())
    runs: dict[str, list[str]] = {}
    for device in sorted(devices, key=natural):
        names = sorted(site.device_islands.get(device, ()), key=natural)
        runs.setdefault(names[0] if names else "", []).append(device)
    ordered = sorted(runs.items(), key=lambda run: (not run[0], natural(run[0])))
    return tuple((name, tuple(found)) for name, found in ordered)


def rows_of(runs: Iterable[tuple[str, tuple[str, ...]]], per_row: int) -> list[list[tuple[str, tuple[str, ...]]]]:
    """Break runs into rows of at most ``per_row`` devices; an island that fits is not torn."""
    rows: list[list[tuple[str, tuple[str, ...]]]] = [[]]
    room = per_row
    for name, devices in runs:
        for start in range(0, len(devices), per_row):
            part = devices[start : start + per_row]
            if len(part) > room:
                rows.append([])
                room = per_row
            rows[-1].append((name, part))
            room -= len(part)
    return [row for row in rows if row]


def device_row(
    row: list[tuple[str, tuple[str, ...]]], x: float, y: float, size: Density
) -> tuple[list[tuple[str, Box]], dict[str, Box]]:
    """Place one row of islands and their devices."""
    islands, devices = [], {}
    for name, found in row:
        width = len(found) * (size.tile_width + size.gap) - size.gap
        islands.append((name, Box(x, y, width + 2 * PAD, size.tile_height + 2 * PAD)))
        for at, device in enumerate(found):
            devices[device] = Box(
                x + PAD + at * (size.tile_width + size.gap), y + PAD, size.tile_width, size.tile_height
            )
        x += width + 2 * PAD + size.gap
    return islands, devices


def nic_boxes(nics: tuple[str, ...], left: float, right: float, y: float) -> dict[str, Box]:
    """Spread the node's NICs under its devices."""
    step = (right - left) / max(1, len(nics))
    width = min(64.0, max(18.0, step - 6))
    return {nic: Box(left + step * at + (step - width) / 2, y, width, NIC_HEIGHT) for at, nic in enumerate(nics)}


def node_place(site: Site, node: str, y: float, size: Density, *, faces_up: bool, gutter: int = 0) -> NodePlace:
    """Place one node. NICs and lanes: NICs face the other node of two, lanes lie on the far side."""
    runs = island_runs(site, node)
    spanning = [name for name, _ in runs if name and spans_nodes(site, name)]
    nics = tuple(sorted((nic for nic, at in site.nics.items() if at == node), key=natural))
    rows = rows_of(runs, size.per_row)
    lanes = LANES * LANE if len([name for name, _ in runs if name]) > 1 and len(rows) == 1 else 0
    nic_room = NIC_HEIGHT + NIC_GAP if nics else 0
    top = y + (nic_room + PAD if faces_up else HEADER + lanes)
    islands: list[tuple[str, Box]] = []
    devices: dict[str, Box] = {}
    at = top
    for row in rows:
        found, boxes = device_row(row, MARGIN + PAD + 8, at, size)
        islands += found
        devices |= boxes
        at += size.tile_height + 2 * PAD + size.gap
    below = at - size.gap if devices else top + 12
    left = min((box.x for box in devices.values()), default=MARGIN + PAD)
    right = max((box.x + box.width for box in devices.values()), default=WIDTH / 2)
    nic_y = y + PAD if faces_up else below + NIC_GAP - PAD
    # A node that faces up has its name at the foot, below the lanes.
    height = below - y + (lanes + HEADER - PAD if faces_up else nic_room) + PAD
    return NodePlace(
        id=node,
        box=Box(MARGIN, y, WIDTH - 2 * MARGIN - gutter, height),
        islands=tuple((name, place) for name, place in islands if name and name not in spanning),
        devices=devices,
        nics=nic_boxes(nics, left, right, nic_y),
        faces_up=faces_up,
        lanes=LANES if lanes else 0,
        note=node_note(site.hardware, devices, nics, spanning),
    )


def spans_nodes(site: Site, island: str) -> bool:
    """Say whether an island reaches over several nodes."""
    devices = (site.islands or {}).get(island, frozenset())
    return len({site.hardware.devices[device].node for device in devices if device in site.hardware.devices}) > 1


def node_note(hardware: Hardware, devices: Iterable[str], nics: tuple[str, ...], spanning: list[str]) -> str:
    """Say what a node holds: devices with their memory, NICs, and an island that is larger than the node."""
    sizes = [hardware.devices[device].memory_bytes for device in devices]
    gib = {quantity(size, "bytes") for size in sizes}
    parts = [count(len(sizes), "device")]
    parts += [f"{next(iter(gib))} each"] if len(gib) == 1 else []
    parts += [count(len(nics), "NIC")] if nics else []
    parts += [f"in island {name}, larger than this node" for name in spanning]
    return " · ".join(parts)


def places(site: Site) -> Places:
    """Place all hardware of a contract; an empty contract gives an empty ground."""
    size = fitting_size(site)
    order = node_order(site)
    found: list[NodePlace] = []
    y = TOP
    for at, node in enumerate(order):
        faces_up = len(order) == 2 and at == 1
        place = node_place(site, node, y, size, faces_up=faces_up, gutter=GUTTER if len(order) > 2 else 0)
        found.append(place)
        y = place.box.bottom + (BETWEEN_TWO if len(order) == 2 else BETWEEN_MANY)
    height = (found[-1].box.bottom if found else 60) + 16
    return Places(width=WIDTH, height=height, nodes=tuple(found), racks=rack_boxes(site, found))


def fitting_size(site: Site) -> Density:
    """Return the size of tiles with which the widest row of islands stays inside its node."""
    gutter = GUTTER if len(site.hardware.nodes) > 2 else 0
    room = WIDTH - 2 * MARGIN - gutter - 2 * PAD - 8
    widths = [ROOMY.tile_width]
    for node in site.hardware.nodes:
        for row in rows_of(island_runs(site, node), ROOMY.per_row):
            devices = sum(len(found) for _, found in row)
            widths.append((room - (devices - 1) * ROOMY.gap - len(row) * 2 * PAD) // devices)
    return replace(ROOMY, tile_width=min(widths))


def short_name(id: str, node: str, most: int) -> str:
    """Write an id without its node's at the start, and no longer than there is room for."""
    own = id.removeprefix(node).lstrip("-._:/") or id if len(id) > most else id
    return own if len(own) <= most else f"{own[: most - 1]}…"


def node_order(site: Site) -> tuple[str, ...]:
    """Order the nodes: rack by rack, then by id."""
    racks = rack_of_nodes(site)
    return tuple(sorted(site.hardware.nodes, key=lambda node: (natural(racks.get(node, "~")), natural(node))))


def rack_of_nodes(site: Site) -> dict[str, str]:
    """Return the rack of each node, where the contract declares racks."""
    declared = site.fleet.failure_domains
    racks = {} if isinstance(declared, UnsetType) else declared.get("rack", {})
    return {node: rack for rack, nodes in racks.items() for node in nodes}


def rack_boxes(site: Site, nodes: list[NodePlace]) -> tuple[tuple[str, Box], ...]:
    """Draw a frame around each rack's nodes; they stand together because of ``node_order``."""
    racks = rack_of_nodes(site)
    frames: dict[str, Box] = {}
    for node in nodes:
        rack = racks.get(node.id)
        if rack is None:
            continue
        top = frames[rack].y if rack in frames else node.box.y - 22
        frames[rack] = Box(4, top, WIDTH - 8, node.box.bottom + 10 - top)
    return tuple(frames.items())
