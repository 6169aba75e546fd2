"""The rank map as shapes: tiles, idle devices, lines, notes, in the places of ``map_places``. Pure.

Rules kept: kind is a hue and a dash, a group is one of two alternating grounds and its label; a line is drawn only
where a group leaves an island or a node; a rank that no known device holds is listed, never dropped.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviews.web.formats import count, listed
from reviews.web.links import Query
from reviews.web.map_lines import Drawer, Line
from reviews.web.map_places import MARGIN, NOTES_ROOM, Box, NodePlace, Places, places, short_name
from reviews.web.rank_facts import Kind, Lost, RankFacts, carried_by

MOST_NOTE = 390.0
"""Width of a note that has room for everything."""
NO_TRAFFIC = "replicas, no request traffic"
DEVICE_LETTERS = 9
"""Letters of a device that fit beside its rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One rank on its device. ``ground`` is 0 or 1; ``state`` is empty, ``lost`` or ``down``."""

    rank: int
    node: str
    device: str
    box: Box
    role: str
    ground: int
    bold: str
    plain: str
    below: str
    label: str
    href: str
    is_selected: bool
    is_mate: bool
    state: str
    filled: float
    x: int
    y: int

    @property
    def short(self) -> str:
        """The device as it fits beside the rank."""
        return short_name(self.device, self.node, DEVICE_LETTERS)

    @property
    def left(self) -> float:
        """Where the tile's words start."""
        return self.box.x + 9

    @property
    def right(self) -> float:
        """Where they end."""
        return self.box.x + self.box.width - 9

    @property
    def lines(self) -> tuple[float, float, float, float]:
        """The heights of rank, group, other groups, memory bar."""
        top = self.box.y
        return top + 25, top + 46, top + 62, top + 78

    @property
    def room(self) -> float:
        """The length of a full memory bar."""
        return self.box.width - 18

    @property
    def filled_width(self) -> float:
        """The length of the memory bar."""
        return round(self.room * self.filled, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Words on the drawing, with the line they speak of."""

    role: str
    box: Box
    title: str
    text: str

    @property
    def line_x(self) -> float:
        """Where the sample of the line starts; the words follow it."""
        return self.box.x + 14

    @property
    def text_x(self) -> float:
        """Where the words start."""
        return self.box.x + 56


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShape:
    """A node as drawn."""

    place: NodePlace
    is_lost: bool
    aside: str
    idle: tuple[tuple[str, Box], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMap:
    """The whole drawing; ``homeless`` are ranks on devices that the contract does not have, or that are taken."""

    places: Places
    nodes: tuple[NodeShape, ...]
    tiles: tuple[Tile, ...]
    lines: tuple[Line, ...]
    notes: tuple[Note, ...]
    homeless: tuple[str, ...]

    @property
    def height(self) -> float:
        """The height of the drawing, with room for notes below more than two nodes."""
        return self.places.height + (NOTES_ROOM if self.notes and len(self.nodes) > 2 else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the address asks for."""

    facts: RankFacts
    colour: Kind | None
    selected: int | None
    lost: Lost | None
    query: Query
    filled: Mapping[int, float]


def housed(facts: RankFacts, known: Container[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the rank of each device, and the ranks that have no place."""
    ranks: dict[str, int] = {}
    homeless = []
    for rank, place in enumerate(facts.places):
        if place.device not in known:
            homeless.append(f"rank {rank}: the contract has no device {place.device}")
        elif place.device in ranks:
            homeless.append(f"rank {rank}: device {place.device} already holds rank {ranks[place.device]}")
        else:
            ranks[place.device] = rank
    return ranks, tuple(homeless)


def grounds(view: View, ranks: Mapping[str, int], ground: Places) -> dict[int, int]:
    """Choose a ground for every group so that neighbours differ where two grounds can do that."""
    if view.colour is None:
        return {}
    chosen: dict[int, int] = {}
    above: dict[float, int] = {}
    for node in ground.nodes:
        left = None
        for device, box in node.devices.items():
            at = view.facts.coordinate(view.colour.id, ranks[device]) if device in ranks else None
            if at is None:
                continue
            if at[0] not in chosen:
                near = [chosen[index] for index in (left, above.get(box.x)) if index is not None]
                chosen[at[0]] = 1 - near[0] if near else 0
            left = above[box.x] = at[0]
    return chosen


def tile_of(view: View, rank: int, device: str, box: Box, ground: int, at: tuple[int, int]) -> Tile:
    """Make the tile of a rank."""
    facts, colour = view.facts, view.colour
    own = facts.coordinate(colour.id, rank) if colour else None
    others = [
        kind.label(found[0])
        for kind in facts.kinds
        if kind is not colour and kind.role != "pipeline" and kind.largest > 1
        if (found := facts.coordinate(kind.id, rank))
    ]
    stage = next((facts.coordinate(kind.id, rank) for kind in facts.kinds if kind.role == "pipeline"), None)
    has_stages = any(kind.role == "pipeline" and kind.largest > 1 for kind in facts.kinds)
    bold = colour.label(own[0]) if colour and own else ""
    state = ""
    if view.lost:
        state = "lost" if rank in view.lost.ranks else "down" if rank in view.lost.down else ""
    spoken = f"rank {rank}, {facts.places[rank].node} device {device}"
    group = f", {colour.name.lower()} group {bold}" if colour and bold else ""
    mates = facts.members(colour.id, view.selected) if colour and view.selected is not None else ()
    return Tile(
        rank=rank,
        node=facts.places[rank].node,
        device=device,
        box=box,
        role=colour.role if colour and own else "none",
        ground=ground,
        bold=bold,
        plain=f"stage {stage[1]}" if stage and has_stages else "",
        below=" ".join(others[:3]),
        label=f"{spoken}{group}{', ' + state if state else ''}",
        href=view.query.link("rank", rank=rank),
        is_selected=rank == view.selected,
        is_mate=rank in mates and rank != view.selected,
        state=state,
        filled=view.filled.get(rank, 0.0),
        x=at[0],
        y=at[1],
    )


def tiles_of(view: View, ground: Places, ranks: Mapping[str, int]) -> Iterator[Tile]:
    """Make all tiles, node by node; ``x`` and ``y`` are places for the arrow keys."""
    chosen = grounds(view, ranks, ground)
    line = 0
    for node in ground.nodes:
        rows = sorted({box.y for box in node.devices.values()})
        for device, box in node.devices.items():
            if device not in ranks:
                continue
            rank = ranks[device]
            own = view.facts.coordinate(view.colour.id, rank) if view.colour else None
            x = sum(1 for other in node.devices.values() if other.y == box.y and other.x < box.x)
            yield tile_of(view, rank, device, box, chosen.get(own[0], 0) if own else 0, (x, line + rows.index(box.y)))
        line += max(1, len(rows))


def notes_of(view: View, ground: Places, lines: tuple[Line, ...]) -> Iterator[Note]:
    """Write what runs between nodes, with its links: into the room between two nodes, else below all of them."""
    drawn = [line.role for line in lines]
    crossing = [
        (kind, far) for kind in view.facts.kinds if kind.role in drawn and (far := far_groups(view.facts, kind))
    ]
    if not crossing or len(ground.nodes) < 2:
        return
    middle = ground.height + NOTES_ROOM / 2 - 8
    if len(ground.nodes) == 2:
        middle = (ground.nodes[0].box.bottom + ground.nodes[1].box.y) / 2
    step = min(MOST_NOTE, (ground.width - 2 * MARGIN) / len(crossing))
    start = (ground.width - len(crossing) * step) / 2
    for at, (kind, far) in enumerate(crossing):
        links = NO_TRAFFIC if are_replicas(view.facts, far) else carried_by(view.facts, kind)
        is_wide = step == MOST_NOTE
        yield Note(
            role=kind.role,
            box=Box(start + at * step + 5, middle - 22, step - 10, 44),
            title=f"{kind.name}, {'cut' if view.lost else 'crosses nodes'}",
            text=f"{count(len(far), 'group')} of {len(far[0])} · {links}" if is_wide else links,
        )


def are_replicas(facts: RankFacts, groups: Sequence[tuple[int, ...]]) -> bool:
    """Whether no two ranks of a group answer the same request: nothing of a request runs between them."""
    return bool(facts.serving) and all(
        len({facts.serving_of[rank] for rank in group}) == len(group) for group in groups
    )


def far_groups(facts: RankFacts, kind: Kind) -> list[tuple[int, ...]]:
    """Return the groups of a kind that leave their node."""
    groups = facts.groups.groups[kind.id] if facts.groups else ()
    return [group for group in groups if facts.reach(group) in ("crosses nodes", "crosses racks")]


def aside_of(facts: RankFacts, place: NodePlace, ranks: Mapping[str, int]) -> str:
    """Name the kinds whose groups leave an island inside the node; no contract declares a link for that."""
    own = {ranks[device] for device in place.devices if device in ranks}
    names = [
        kind.name.lower()
        for kind in facts.kinds
        for groups in [facts.groups.groups[kind.id] if facts.groups else ()]
        if any(own.issuperset(group) and facts.reach(group) == "crosses islands" for group in groups)
    ]
    return f"{listed(names)} across islands, no link declared" if names else ""


def rank_map(view: View) -> RankMap:
    """Draw a trial."""
    ground = places(view.facts.site)
    ranks, homeless = housed(view.facts, ground.device_boxes)
    lines = tuple(Drawer(facts=view.facts, lost=view.lost, ground=ground, ranks=ranks).lines())
    return RankMap(
        places=ground,
        nodes=tuple(
            NodeShape(
                place=node,
                is_lost=view.lost is not None and bool(node.devices) and set(node.devices) <= view.lost.devices,
                aside=aside_of(view.facts, node, ranks),
                idle=tuple((device, box) for device, box in node.devices.items() if device not in ranks),
            )
            for node in ground.nodes
        ),
        tiles=tuple(tiles_of(view, ground, ranks)),
        lines=lines,
        notes=tuple(notes_of(view, ground, lines)),
        homeless=homeless,
    )
