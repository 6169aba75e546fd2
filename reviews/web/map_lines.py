"""Lines of a rank map: where groups leave an island or a node. Pure geometry over ``map_places``.

Rules kept: a line joins neighbours in a group's own order, the step that closes a ring is left out; between two nodes
lines run from NIC to NIC, between more along one line for each kind. What has no room is left to the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from planner.records.base import UnsetType
from reviews.web.map_places import Box, NodePlace, Places
from reviews.web.rank_facts import Kind, Lost, RankFacts

MAX_LINES_BETWEEN_NODES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a kind; ``is_cut`` where one end is lost."""

    role: str
    path: str
    is_cut: bool


def hops(facts: RankFacts, kind: Kind) -> Iterator[tuple[int, int]]:
    """Return neighbours in the groups of a kind, in the group's order, without the step that closes the ring."""
    placed = len(facts.places)
    for group in facts.groups.groups[kind.id] if facts.groups else ():
        for first, second in pairwise(group):
            if first < placed and second < placed:
                yield first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """Everything that lines need."""

    facts: RankFacts
    lost: Lost | None
    ground: Places
    ranks: Mapping[str, int]

    def node_of(self, rank: int) -> NodePlace | None:
        """The node that holds a rank's tile."""
        device = self.facts.places[rank].device
        if self.ranks.get(device) != rank:
            return None
        return next((node for node in self.ground.nodes if device in node.devices), None)

    def port(self, rank: int, node: NodePlace) -> Box:
        """Where a rank leaves its node: its NIC, else its device."""
        place = self.facts.places[rank]
        nic = None if isinstance(place.nic, UnsetType) else node.nics.get(place.nic)
        return nic or node.devices[place.device]

    def is_cut(self, *ranks: int) -> bool:
        """Say whether an end of a line is lost or down."""
        return self.lost is not None and any(rank in self.lost.ranks | self.lost.down for rank in ranks)

    def lines(self) -> Iterator[Line]:
        """Draw all lines: inside nodes, between two nodes, or along one bus for each kind between more."""
        for at, kind in enumerate(self.facts.kinds):
            yield from self._inside(kind)
            if len(self.ground.nodes) == 2:
                yield from self._between(kind, at)
            else:
                yield from self._bus(kind, at)

    def _inside(self, kind: Kind) -> Iterator[Line]:
        used: dict[str, int] = {}
        for first, second in hops(self.facts, kind):
            node = self.node_of(first)
            if node is None or self.node_of(second) is not node:
                continue
            if self.facts.reach((first, second)) != "crosses islands":
                continue
            lane = used.setdefault(node.id, 0)
            if lane >= node.lanes:
                continue
            used[node.id] = lane + 1
            boxes = [node.devices[self.facts.places[rank].device] for rank in (first, second)]
            edge = boxes[0].bottom if node.faces_up else boxes[0].y
            away = (lane + 3) * 6 if node.faces_up else -(lane + 3) * 6
            path = f"M{boxes[0].middle:g} {edge:g}v{away:g}H{boxes[1].middle:g}v{-away:g}"
            yield Line(role=kind.role, path=path, is_cut=self.is_cut(first, second))

    def _between(self, kind: Kind, at: int) -> Iterator[Line]:
        drawn: dict[str, bool] = {}
        for first, second in hops(self.facts, kind):
            ends = [(rank, self.node_of(rank)) for rank in (first, second)]
            if None in (ends[0][1], ends[1][1]) or ends[0][1] is ends[1][1]:
                continue
            ports = [self.port(rank, node) for rank, node in ends if node]
            ports.sort(key=lambda box: box.y)
            shift = (at - 1.5) * 5
            path = f"M{ports[0].middle + shift:g} {ports[0].bottom:g}L{ports[1].middle + shift:g} {ports[1].y:g}"
            drawn[path] = drawn.get(path, True) and self.is_cut(first, second)
        for path, is_cut in list(drawn.items())[:MAX_LINES_BETWEEN_NODES]:
            yield Line(role=kind.role, path=path, is_cut=is_cut)

    def _bus(self, kind: Kind, at: int) -> Iterator[Line]:
        joined: set[str] = set()
        is_cut = False
        for first, second in hops(self.facts, kind):
            ends = [self.node_of(rank) for rank in (first, second)]
            if ends[0] is None or ends[1] is None or ends[0] is ends[1]:
                continue
            joined |= {ends[0].id, ends[1].id}
            is_cut = is_cut or self.is_cut(first, second)
        boxes = [node.box for node in self.ground.nodes if node.id in joined]
        if boxes:
            right = boxes[0].x + boxes[0].width
            x = right + 6 + at * 6
            stubs = "".join(f"M{right:g} {box.y + 20 + at * 4:g}H{x:g}" for box in boxes)
            spine = f"M{x:g} {boxes[0].y + 20 + at * 4:g}V{boxes[-1].y + 20 + at * 4:g}"
            yield Line(role=kind.role, path=spine + stubs, is_cut=is_cut)
