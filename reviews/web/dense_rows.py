"""A dense map as cells: every rank of a large fleet, or one of two maps side by side. Pure.

Rules kept: hue is the kind, one of two grounds and the label the group; lines are those of the selected rank's groups,
for all groups have no room; differences from another map are marked by form. A rank that no known device holds is
listed, never dropped.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from reviews.web.dense_places import (
    CHANNEL,
    EDGE,
    GUTTER,
    WIDE,
    WIDTH,
    DensePlaces,
    NodeSpot,
    dense_places,
    device_order,
)
from reviews.web.links import Query
from reviews.web.map_lines import Line
from reviews.web.map_rows import housed
from reviews.web.rank_facts import Kind, Lost, RankFacts

LONG = 1000
"""Ranks from which a number has more digits than fit at its usual size."""
SECOND_STRIDE = 4
"""Distance between two lines of different kinds in a channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A device. ``rank`` is None where it holds none; ``css`` are its classes after the first."""

    rank: int | None
    text: str
    sub: str
    css: str
    label: str
    is_selected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseNode:
    """A node as drawn: cells island by island."""

    spot: NodeSpot
    runs: tuple[tuple[str, tuple[Cell, ...]], ...]
    is_lost: bool
    note: str
    lost_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseMap:
    """The whole drawing; ``homeless`` as in ``map_rows``."""

    places: DensePlaces
    nodes: tuple[DenseNode, ...]
    lines: tuple[Line, ...]
    homeless: tuple[str, ...]

    @property
    def has_sub(self) -> bool:
        """Whether cells have room for a second line."""
        return self.places.size is WIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseView:
    """What is drawn. ``only`` are the ranks that belong to the drawing; the others are shown as held by others.

    ``marked`` are ranks to draw strong; where it is None nothing is compared and all are equal. ``joins`` are by kind
    the ranks whose nodes a line joins where no rank is selected.
    """

    facts: RankFacts
    colour: Kind | None
    selected: int | None
    lost: Lost | None
    worst: int | None = None
    only: Set[int] | None = None
    marked: Set[int] | None = None
    mates: frozenset[int] = field(default_factory=frozenset)
    joins: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    query: Query = field(default_factory=Query)


def dense_map(view: DenseView, ground: DensePlaces | None = None) -> DenseMap:
    """Draw a trial on its ground; ``ground`` is given where two maps share one."""
    ground = ground or dense_places(view.facts.site, width=WIDTH)
    known = {device for spot in ground.nodes for device in device_order(spot)}
    ranks, homeless = housed(view.facts, known)
    shades = grounds_in_order(view, ground, ranks)
    return DenseMap(
        places=ground,
        nodes=tuple([dense_node(view, spot, ranks, shades) for spot in ground.nodes]),
        lines=tuple(lines_of(view, ground, ranks)),
        homeless=homeless,
    )


def grounds_in_order(view: DenseView, ground: DensePlaces, ranks: Mapping[str, int]) -> dict[int, int]:
    """Give groups one of two grounds, in turns in the order in which they are met."""
    if view.colour is None:
        return {}
    coordinates = view.facts.groups.coordinates.get(view.colour.id, ()) if view.facts.groups else ()
    shades: dict[int, int] = {}
    for spot in ground.nodes:
        for device in device_order(spot):
            rank = ranks.get(device)
            at = coordinates[rank] if rank is not None and rank < len(coordinates) else None
            if at is not None:
                shades.setdefault(at[0], len(shades) % 2)
    return shades


def dense_node(view: DenseView, spot: NodeSpot, ranks: Mapping[str, int], shades: Mapping[int, int]) -> DenseNode:
    """Make a node's cells."""
    devices = device_order(spot)
    is_lost = view.lost is not None and bool(devices) and view.lost.devices.issuperset(devices)
    runs = tuple(
        [
            (name, tuple([cell(view, device, ranks.get(device), shades) for device in found]))
            for name, found in spot.runs
        ]
    )
    nics = f"{len(spot.nics)} NICs" if len(spot.nics) != 1 else "1 NIC"
    return DenseNode(
        spot=spot,
        runs=runs,
        is_lost=is_lost,
        note=f"{spot.id}: {nics}",
        lost_href=view.query.link("map", lost=f"node:{spot.id}"),
    )


def cell(view: DenseView, device: str, rank: int | None, shades: Mapping[int, int]) -> Cell:
    """Make one device's cell."""
    if rank is None:
        return Cell(rank=None, text="·", sub=device, css="c-idle", label=f"device {device}, idle")
    if view.only is not None and rank not in view.only:
        return Cell(rank=None, text="·", sub=device, css="c-other", label=f"device {device}, of the other pool")
    kind = view.colour
    at = view.facts.coordinate(kind.id, rank) if kind else None
    state = rank_state(view.lost, rank)
    group = kind.label(at[0]) if kind and at else ""
    words = [f"rank {rank}", group, state, "highest" if rank == view.worst else ""]
    return Cell(
        rank=rank,
        text=str(rank),
        sub=state or group,
        css=cell_css(view, rank, f"f-{kind.role}-{shades.get(at[0], 0)}" if kind and at else "f-none", state),
        label=", ".join(word for word in words if word),
        is_selected=rank == view.selected,
    )


def rank_state(lost: Lost | None, rank: int) -> str:
    """Say whether a rank is lost or down."""
    if lost is None:
        return ""
    return "lost" if rank in lost.ranks else "down" if rank in lost.down else ""


def cell_css(view: DenseView, rank: int, ground: str, state: str) -> str:
    """Write a cell's classes."""
    found = ["c-lost" if state == "lost" else ground]
    found += ["c-down"] * (state == "down")
    if rank == view.selected:
        found.append("c-sel")
    elif rank in view.mates:
        found.append("c-mate")
    if view.marked is not None:
        found.append("c-moved" if rank in view.marked else "c-same")
    found += ["c-worst"] * (rank == view.worst)
    found += ["c-long"] * (rank >= LONG)
    return " ".join(found)


def lines_of(view: DenseView, ground: DensePlaces, ranks: Mapping[str, int]) -> Iterator[Line]:
    """Join the nodes of each of the selected rank's groups, else of ``joins``: down to the channel of the row, along
    it, and across rows at the right."""
    spots = {device: spot for spot in ground.nodes for device in device_order(spot)}
    of_rank = {rank: spots[device] for device, rank in ranks.items()}
    right = max((spot.box.x + spot.box.width for spot in ground.nodes), default=0.0)
    for at, kind in enumerate(view.facts.kinds):
        members = view.joins.get(kind.id, ())
        if view.selected is not None:
            members = view.facts.members(kind.id, view.selected)
        if view.only is not None:
            members = tuple(rank for rank in members if rank in view.only)
        met = {of_rank[rank].id: of_rank[rank] for rank in members if rank in of_rank}
        if len(met) < 2:
            continue
        lost = view.lost.ranks | view.lost.down if view.lost else frozenset()
        yield Line(
            role=kind.role, path=joined(tuple(met.values()), ground, right, at), is_cut=not lost.isdisjoint(members)
        )


def joined(spots: tuple[NodeSpot, ...], ground: DensePlaces, right: float, at: int) -> str:
    """Write the path that joins nodes; kinds run beside each other by ``at``."""
    lane = 5 + min(at, (CHANNEL - 8) // SECOND_STRIDE) * SECOND_STRIDE
    spine = min(right + EDGE + lane, right + GUTTER)
    rows: dict[int, list[NodeSpot]] = {}
    for spot in spots:
        rows.setdefault(spot.row, []).append(spot)
    parts = []
    for row, found in sorted(rows.items()):
        y = ground.bottoms[row] + lane
        drops = [spot.box.middle + (at - 2) * SECOND_STRIDE for spot in found]
        ends = (min(drops), spine if len(rows) > 1 else max(drops))
        parts += [f"M{x:g} {spot.box.bottom:g}V{y:g}" for x, spot in zip(drops, found, strict=True)]
        parts.append(f"M{ends[0]:g} {y:g}H{ends[1]:g}")
    if len(rows) > 1:
        heights = [ground.bottoms[row] + lane for row in (min(rows), max(rows))]
        parts.append(f"M{spine:g} {heights[0]:g}V{heights[1]:g}")
    return "".join(parts)
