"""What the process groups of a placed topology cross, and by which links.

Rules kept: an island, node or failure domain is crossed when the members of a group have none in common; where the
contract does not say in which one a member stands, the answer is None, never a guess from names. A group inside one
island runs on that island's peer links, also when the island spans nodes; a group that leaves island and node runs on
the links of its members' NICs. Linear in ranks x group kinds.

Not handled: how many bytes go over a link, and which route a library really chose (that is evidence: ``transport``).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from planner.layouts.base import ROLES, Group, Groups, Role
from planner.link_use import NOWHERE, Carrier, LinkUse, Use, Uses, link_uses, nic_links, on_nics
from planner.rankmap import Source, TopologyGroups, once_each
from planner.records.base import UnsetType
from planner.records.evidence import Placement
from planner.site import Site

__all__ = [
    "Boundaries",
    "KindCrossing",
    "LinkUse",
    "Reach",
    "boundaries_of",
    "crosses",
    "crossings",
    "reach_of",
    "widest_of",
]

Standing = Sequence[frozenset[str]]
"""For every rank the domains of one kind that it stands in; none where that is not declared."""

Boundaries = Mapping[str, Standing]
"""Standing by kind of domain, from the narrowest to the widest."""

Reach = tuple[bool | None, ...]
"""For one group, whether it crosses each boundary."""

UNUSED = Use(())

NOT_DECLARED: frozenset[str] = frozenset()
"""Where a rank stands that the contract puts in no domain of a kind."""

UNDECLARED = 2**53
"""Stands for the number of domains of a kind that is not declared, so that it comes first and is never the widest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCrossing:
    """What the groups of one kind cross.

    ``sizes`` are the different numbers of members. ``crosses`` says per boundary, from the narrowest to the widest,
    whether any group crosses it (None: not declared), ``crossing_groups`` how many do. ``widest_of`` names for every
    group the widest boundary that it crosses: ``device`` when it crosses none, None when it has one member; ``widest``
    is the widest of all. ``unlinked`` are ranks of groups that leave island and node, with no declared link.
    """

    kind: str
    role: Role
    source: Source
    sizes: tuple[int, ...]
    count: int
    crosses: Mapping[str, bool | None]
    crossing_groups: Mapping[str, int]
    widest_of: tuple[str | None, ...]
    widest: str | None
    links: tuple[LinkUse, ...]
    unlinked: tuple[int, ...]

    @property
    def slowest(self) -> LinkUse | None:
        """The links with the lowest declared rate, the first of several; None when no rate is declared."""
        rated = [link for link in self.links if link.bytes_per_s_one_way is not None]
        return min(rated, key=lambda link: link.bytes_per_s_one_way or 0, default=None)


def crossings(groups: TopologyGroups, places: Sequence[Placement], site: Site) -> dict[str, KindCrossing]:
    """Return what each kind of group crosses, in the layout's order of kinds.

    Expects a rank map of exactly the ranks of ``groups``, rank by rank.
    """
    boundaries = boundaries_of(places, site)
    nics = nic_links(places, site)
    seen: dict[bytes, Uses] = {}

    def spanned(members: Groups) -> tuple[Span, Uses]:
        if len(members) == groups.ranks:
            return _alone(members, tuple(boundaries)), {}
        reaches = [reach_of(group, boundaries) for group in members]
        crossing, inside = _carried(members, reaches, boundaries, groups.ranks)
        # Many kinds are crossed by the same ranks; their NICs are looked up once.
        if crossing not in seen:
            seen[crossing] = on_nics(crossing, nics, site)
        return _span(members, reaches, tuple(boundaries)), {**seen[crossing], **inside}

    found = once_each(groups.groups, spanned)
    links = link_uses({kind: used for kind, (_, used) in found.items()}, site)
    return {
        kind: KindCrossing(
            kind=kind,
            role=ROLES.get(kind, "other"),
            source=groups.sources[kind],
            sizes=span.sizes,
            count=len(groups.groups[kind]),
            crosses=span.crosses,
            crossing_groups=span.crossing_groups,
            widest_of=span.widest_of,
            widest=span.widest,
            links=links[kind],
            unlinked=used.get(NOWHERE, UNUSED).ranks,
        )
        for kind, (span, used) in found.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How far the groups of one kind reach; fields as in ``KindCrossing``."""

    sizes: tuple[int, ...]
    crosses: Mapping[str, bool | None]
    crossing_groups: Mapping[str, int]
    widest_of: tuple[str | None, ...]
    widest: str | None


def _alone(members: Groups, names: tuple[str, ...]) -> Span:
    """Say of groups of one rank each that they reach nowhere."""
    return Span(
        sizes=(1,) if members else (),
        crosses=dict.fromkeys(names, False),
        crossing_groups=dict.fromkeys(names, 0),
        widest_of=(None,) * len(members),
        widest=None,
    )


def _span(members: Groups, reaches: Sequence[Reach], names: tuple[str, ...]) -> Span:
    columns = dict(zip(names, zip(*reaches, strict=True), strict=True)) if reaches else dict.fromkeys(names, ())
    # Few different reaches stand for many groups.
    widest = {reach: widest_of(names, reach) for reach in set(reaches)}
    each = tuple([widest[reach] if len(group) > 1 else None for reach, group in zip(reaches, members, strict=True)])
    order = (None, "device", *names)
    return Span(
        sizes=tuple(sorted(set(map(len, members)))),
        crosses={name: _any(column) for name, column in columns.items()},
        crossing_groups={name: column.count(True) for name, column in columns.items()},
        widest_of=each,
        widest=max(set(each), key=order.index, default=None),
    )


def boundaries_of(places: Sequence[Placement], site: Site) -> Boundaries:
    """Islands, nodes and declared failure domains, those of which there are most first: they are the narrowest."""
    declared = () if isinstance(site.fleet.failure_domains, UnsetType) else sorted(site.fleet.failure_domains)
    kinds = dict.fromkeys(("island", "node", *declared))
    numbers = {kind: len(site.domains(kind) or ()) or UNDECLARED for kind in kinds}
    return {kind: _standing(kind, places, site) for kind in sorted(kinds, key=lambda kind: -numbers[kind])}


def _standing(kind: str, places: Sequence[Placement], site: Site) -> Standing:
    if kind == "node":
        nodes = {place.node: frozenset({place.node}) for place in places}
        return [nodes[place.node] for place in places]
    # One set for each combination: sets of the same object are compared at once.
    alike: dict[frozenset[str], frozenset[str]] = {}
    of_device = {device: alike.setdefault(domains, domains) for device, domains in site.standing(kind).items()}
    return [of_device.get(place.device, NOT_DECLARED) for place in places]


def reach_of(group: Group, boundaries: Boundaries) -> Reach:
    """Say of every boundary whether the group crosses it."""
    if len(group) == 1:
        return (False,) * len(boundaries)
    standings = [set(map(standing.__getitem__, group)) for standing in boundaries.values()]
    # Most groups stand in one domain, which is the quickest to see.
    return tuple([False if len(here) == 1 and NOT_DECLARED not in here else crosses(here) for here in standings])


def crosses(members: Set[frozenset[str]]) -> bool | None:
    """Say whether a group crosses a boundary, from the domains that each of its members stands in.

    True when the members that stand somewhere share no domain, None when one that stands nowhere decides.
    """
    known = [here for here in members if here]
    if known and not frozenset.intersection(*known):
        return True
    return False if len(known) == len(members) else None


def _any(column: Iterable[bool | None]) -> bool | None:
    found = set(column)
    if True in found:
        return True
    return None if None in found else False


def widest_of(names: Sequence[str], reach: Reach) -> str:
    """Return the widest boundary that a group of several ranks crosses, ``device`` where it crosses none."""
    return next((name for name, crosses in zip(reversed(names), reversed(reach), strict=True) if crosses), "device")


def _carried(
    groups: Iterable[Group], reaches: Iterable[Reach], boundaries: Boundaries, ranks: int
) -> tuple[bytes, Uses]:
    """Return a mark on every rank that uses its NIC, and the ranks of groups that an island carries."""
    names = tuple(boundaries)
    island, node, standing = names.index("island"), names.index("node"), boundaries["island"]
    marks = bytearray(ranks)
    inside: dict[Carrier, set[int]] = {}
    for group, reach in zip(groups, reaches, strict=True):
        if len(group) == 1:
            continue
        if reach[island] is False:
            shared = frozenset.intersection(*{standing[rank] for rank in group})
            inside.setdefault(("island", min(shared)), set()).update(group)
        elif reach[node]:
            for rank in group:
                marks[rank] = 1
    return bytes(marks), {carrier: Use(tuple(sorted(found))) for carrier, found in inside.items()}
