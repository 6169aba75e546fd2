"""What pages say about the ranks of one trial: groups with names, reach, neighbours, losses. Pure, no drawing.

Rules kept: groups are those of ``planner.rankmap`` (the layout's rule, or what the engine exported); a rank is lost
when its device is, and down when its serving group lost a rank. Where the layout refuses the degrees there are no
groups, and that is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.crossings import KindCrossing, crosses, crossings
from planner.failure import losses
from planner.layouts import LayoutRefusedError
from planner.layouts.base import ROLES
from planner.natural_order import natural
from planner.rankmap import TopologyGroups, serving_groups, topology_groups
from planner.records.base import UnsetType
from planner.records.contract import Contract, Fleet
from planner.records.evidence import Placement, Trial
from planner.site import Site
from planner.view import TrialView
from reviews.web.formats import count, quantity

LETTERS = {"tp": "T", "pp": "P", "ep": "E", "dp": "D", "cp": "C"}
ROLE_ORDER = ("tensor", "pipeline", "expert", "data", "context")
NAMES = {"tensor": "Tensor", "pipeline": "Pipeline", "expert": "Expert", "data": "Data", "context": "Context"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of process group; ``role`` decides hue and dash, ``letter`` begins the labels of its groups."""

    id: str
    role: str
    name: str
    letter: str
    groups: int
    largest: int

    @property
    def span(self) -> str:
        """The labels from the first group to the last."""
        return self.label(0) if self.groups < 2 else f"{self.label(0)} to {self.label(self.groups - 1)}"

    def label(self, index: int) -> str:
        """The label of one group."""
        return f"{self.letter}{index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A failure that is asked about: which devices go, and what goes down with them."""

    kind: str
    id: str
    devices: frozenset[str]
    ranks: frozenset[int]
    down: frozenset[int]
    groups: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class RankFacts:
    """One trial on the contract's hardware."""

    trial_id: str
    trial: Trial
    site: Site
    groups: TopologyGroups | None
    refusal: str

    @property
    def places(self) -> tuple[Placement, ...]:
        """Where each rank sits, in rank order."""
        return self.trial.rank_map

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of groups, tensor first; a special kind (attention, context) only where it has groups."""
        if self.groups is None:
            return ()
        roles = [ROLES.get(kind, "other") for kind in self.groups.groups]
        kinds: list[Kind] = []
        for kind, role in zip(self.groups.groups, roles, strict=True):
            found = self.groups.groups[kind]
            if kind not in LETTERS and max(map(len, found), default=0) < 2:
                continue
            base = NAMES.get(role, kind)
            kinds.append(
                Kind(
                    id=kind,
                    role=role if role in NAMES else "context",
                    name=base if roles.count(role) == 1 or kind in LETTERS else f"{base} ({kind})",
                    letter=LETTERS.get(kind) or "".join(part[0].upper() for part in kind.split("_") if part),
                    groups=len(found),
                    largest=max(map(len, found), default=0),
                )
            )
        return tuple(sorted(kinds, key=lambda kind: ROLE_ORDER.index(kind.role)))

    def kind(self, asked: str) -> Kind | None:
        """Return the kind with this id or role; the first one when nothing fits."""
        fits = [kind for kind in self.kinds if asked in (kind.id, kind.role)]
        return next(iter(fits or self.kinds), None)

    def coordinate(self, kind: str, rank: int) -> tuple[int, int] | None:
        """Return (index of the group, position in it) of a rank."""
        found = self.groups.coordinates.get(kind, ()) if self.groups else ()
        return found[rank] if rank < len(found) else None

    def members(self, kind: str, rank: int) -> tuple[int, ...]:
        """Return the ranks of the rank's group, in the group's order; none where it is in no group."""
        at = self.coordinate(kind, rank)
        return self.groups.groups[kind][at[0]] if self.groups and at else ()

    @cached_property
    def serving(self) -> tuple[tuple[int, ...], ...]:
        """Ranks that serve a request together."""
        return serving_groups(self.groups) if self.groups else ()

    @cached_property
    def serving_of(self) -> dict[int, int]:
        """The serving group of each rank."""
        return {rank: index for index, ranks in enumerate(self.serving) for rank in ranks}

    def island(self, device: str) -> str:
        """Return the islands of a device, or an empty text."""
        return ", ".join(sorted(self.site.device_islands.get(device, ())))

    def reach(self, ranks: Sequence[int]) -> str:
        """Say how far a group reaches: one of ``REACHES``. A boundary is crossed only where the contract says so."""
        places = [self.places[rank] for rank in ranks if rank < len(self.places)]
        if len(places) < 2:
            return "one rank"
        nowhere: frozenset[str] = frozenset()
        leaves_island = crosses({self.site.device_islands.get(place.device, nowhere) for place in places})
        if len({place.node for place in places}) > 1:
            if leaves_island is False:
                return "inside one island, across nodes"
            is_far = crosses({self._racks.get(place.device, nowhere) for place in places})
            return "crosses racks" if is_far else "crosses nodes"
        return {True: "crosses islands", False: "inside one island", None: "inside one node"}[leaves_island]

    @cached_property
    def _racks(self) -> dict[str, frozenset[str]]:
        """The racks that each device stands in."""
        found: dict[str, frozenset[str]] = {}
        for rack, devices in (self.site.domains("rack") or {}).items():
            for device in devices:
                found[device] = found.get(device, frozenset()) | {rack}
        return found

    @property
    def is_placed(self) -> bool:
        """Whether ranks and degrees fit together, without which nothing can be said of links and losses."""
        return self.groups is not None and len(self.places) == self.groups.ranks

    @cached_property
    def crossings(self) -> dict[str, KindCrossing]:
        """What the groups of each kind cross and by which links; empty where no link can be named."""
        return crossings(self.groups, self.places, self.site) if self.groups is not None and self.is_placed else {}

    @cached_property
    def lost_options(self) -> tuple[tuple[str, str], ...]:
        """Return (kind, id) of what may be lost: every node that holds a rank, every island that is no whole node, and
        every declared domain."""
        nodes = sorted({place.node for place in self.places}, key=natural)
        declared = self.site.fleet.failure_domains
        kinds = {} if isinstance(declared, UnsetType) else declared
        whole = set(self.site.node_devices.values())
        islands = [name for name, devices in (self.site.islands or {}).items() if devices not in whole]
        return (
            *(("node", node) for node in nodes),
            *(("island", island) for island in sorted(islands, key=natural)),
            *((kind, domain) for kind in sorted(kinds) for domain in sorted(kinds[kind])),
        )

    def lost(self, asked: str) -> Lost | None:
        """Return what a failure takes down; ``asked`` is an id, or ``kind:id``. None when there is no such thing."""
        kind, _, name = asked.rpartition(":")
        kinds = [kind] if kind else ["node", *sorted({k for k, _ in self.lost_options} - {"node"}), "device"]
        for candidate in kinds:
            devices = (self.site.domains(candidate) or {}).get(name)
            if devices is not None:
                return self._loss(candidate, name, devices)
        return None

    def _loss(self, kind: str, name: str, devices: frozenset[str]) -> Lost:
        rank_device = [place.device for place in self.places][: self.groups.ranks if self.groups else None]
        gone = frozenset(rank for rank, place in enumerate(self.places) if place.device in devices)
        hit = losses(self.serving, rank_device, {name: devices}) if self.serving else ()
        groups = hit[0].groups if hit else ()
        down = frozenset(rank for index in groups for rank in self.serving[index]) - gone
        return Lost(kind=kind, id=name, devices=devices, ranks=gone, down=down, groups=groups)


def rank_facts(contract: Contract, trial_id: str, trial: Trial) -> RankFacts:
    """Put a trial on its contract's hardware."""
    fleet = Fleet() if isinstance(contract.fleet, UnsetType) else contract.fleet
    site = Site(hardware=contract.identity.hardware, fleet=fleet)
    groups, refusal = None, ""
    try:
        groups = topology_groups(trial.topology, moe=contract.identity.model.architecture == "moe")
    except LayoutRefusedError as refused:
        refusal = refused.message
    return RankFacts(trial_id=trial_id, trial=trial, site=site, groups=groups, refusal=refusal)


def facts_of_view(view: TrialView) -> RankFacts:
    """Return the facts of a trial that the planner has a view of."""
    found = view.placed.groups
    return RankFacts(
        trial_id=view.id,
        trial=view.trial,
        site=view.site,
        groups=None if isinstance(found, LayoutRefusedError) else found,
        refusal=found.message if isinstance(found, LayoutRefusedError) else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingRow:
    """How far the groups of one kind reach, as a row of text."""

    role: str
    name: str
    groups: str
    reach: str
    links: str
    bandwidth: str
    shares: str


REACHES = (
    "crosses racks",
    "crosses nodes",
    "crosses islands",
    "inside one island, across nodes",
    "inside one island",
    "inside one node",
    "one rank",
)


def crossing_rows(facts: RankFacts) -> tuple[CrossingRow, ...]:
    """Make one row for each kind of group; links are those of ``planner.crossings``.

    Where ranks and degrees do not fit together no link can be named, only how far the groups reach.
    """
    if facts.groups is None:
        return ()
    return tuple(crossing_row(facts, kind, facts.crossings.get(kind.id)) for kind in facts.kinds)


def crossing_row(facts: RankFacts, kind: Kind, crossing: KindCrossing | None) -> CrossingRow:
    """Write how far the groups of one kind reach, and over which links."""
    groups = facts.groups.groups[kind.id] if facts.groups else ()
    reaches = [facts.reach(group) for group in groups]
    numbers = [(reach, reaches.count(reach)) for reach in REACHES if reach in reaches]
    slowest = crossing.slowest if crossing else None
    return CrossingRow(
        role=kind.role,
        name=kind.name,
        groups=f"{count(kind.groups, 'group')} of {kind.largest}",
        reach=", ".join(f"{number} {reach}" if len(numbers) > 1 else reach for reach, number in numbers),
        links=links_text(crossing) if crossing else "–",
        bandwidth=quantity(slowest.bytes_per_s_one_way, "bytes/s") if slowest else "–",
        shares=shares_text(facts, crossing) if crossing else "–",
    )


def carried_by(facts: RankFacts, kind: Kind) -> str:
    """Say over which links groups of a kind leave their node: how many, how fast the slowest, and what they share."""
    crossing = facts.crossings.get(kind.id)
    if crossing is None:
        return "no link declared"
    far = [use for use in crossing.links if use.sort != "island"]
    if not far:
        return "no link declared"
    slowest = min(use.bytes_per_s_one_way or 0 for use in far)
    links = sum(len(use.links) for use in far)
    domains = sorted(use.id for use in far if use.sort == "contention")
    shares = f", {domains[0]}" if len(domains) == 1 else f", {len(domains)} contention domains" if domains else ""
    return f"{count(links, 'link')}, {quantity(slowest, 'bytes/s')}{shares}"


def links_text(crossing: KindCrossing) -> str:
    """Count the links that leave a node, and the ranks that have none declared."""
    links = f"{sum(len(use.links) for use in crossing.links if use.sort != 'island'):,}"
    missing = f", none declared for {count(len(crossing.unlinked), 'rank')}" if crossing.unlinked else ""
    return links + missing


def shares_text(facts: RankFacts, crossing: KindCrossing) -> str:
    """Name the contention domains that a kind of group uses, and the other kinds that use the same links."""
    domains = sorted(use.id for use in crossing.links if use.sort == "contention")
    names = {kind.id: kind.name.lower() for kind in facts.kinds}
    others = sorted({names.get(kind, kind) for use in crossing.links for kind in use.shared_by})
    parts = [", ".join(domains)] * bool(domains) + [f"with {', '.join(others)}"] * bool(others)
    return " ".join(parts) or "–"
