"""Every single group of a placed topology: how far it reaches, its slowest link, and which groups contend for that.

Rules kept: those of ``planner.crossings`` on boundaries and of ``planner.link_use`` on links. A group inside an island
has the island's peer links; one that leaves island and node has the links of its own members' NICs, of which the
slowest is named; one that leaves its island inside a node has no declared link. Contending are all other groups, of
any kind, with a member on a link of the same contention domain. Linear in ranks x group kinds.

Not handled: a summary of a kind (``planner.crossings``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.crossings import Boundaries, Reach, boundaries_of, reach_of, widest_of
from planner.layouts.base import Group, Groups
from planner.link_use import Carrier, NicLinks, island_rate, nic_links
from planner.rankmap import TopologyGroups, once_each
from planner.records.evidence import Placement
from planner.site import Site

__all__ = ["GroupLink", "Route", "group_links", "rate_of", "routes_of", "slowest_first"]

Route = tuple[Carrier, str | None]
"""What carries a member's traffic, with the link; no link is named for an island."""

NOT_RATED = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLink:
    """One group.

    ``widest`` is the widest boundary that it crosses, ``device`` when it crosses none, None when it has one member;
    ``undeclared`` are boundaries that the contract does not state for every member. ``sort``, ``id``, ``link`` and
    ``bytes_per_s_one_way`` are of its slowest link, None where no link is declared. ``contending`` counts by kind the
    other groups on the same contention domain. ``unlinked`` are members whose NIC has no declared link.
    """

    kind: str
    members: Group
    widest: str | None
    undeclared: tuple[str, ...]
    sort: str | None
    id: str | None
    link: str | None
    link_class: str | None
    bytes_per_s_one_way: int | None
    contending: Mapping[str, int]
    unlinked: tuple[int, ...]


def group_links(groups: TopologyGroups, places: Sequence[Placement], site: Site, kind: str) -> tuple[GroupLink, ...]:
    """Return every group of a kind, in the order of the groups.

    Expects a rank map of exactly the ranks of ``groups``, rank by rank.

    Raises:
        KeyError: the topology has no groups of this kind.
    """
    boundaries, nics = boundaries_of(places, site), nic_links(places, site)
    reaches = once_each(groups.groups, lambda found: [reach_of(group, boundaries) for group in found])
    users = _users(groups.groups, reaches, boundaries, nics)
    return tuple(
        [
            _group_link(kind, group, reach, boundaries, nics, users, site)
            for group, reach in zip(groups.groups[kind], reaches[kind], strict=True)
        ]
    )


def _users(
    groups: Mapping[str, Groups], reaches: Mapping[str, list[Reach]], boundaries: Boundaries, nics: NicLinks
) -> Mapping[Carrier, Counter[str]]:
    """Count the groups on each carrier by kind."""
    users: dict[Carrier, Counter[str]] = {}
    for kind, found in groups.items():
        for group, reach in zip(found, reaches[kind], strict=True):
            for carrier in {carrier for carrier, _ in routes_of(group, reach, boundaries, nics)}:
                users.setdefault(carrier, Counter())[kind] += 1
    return users


def routes_of(group: Group, reach: Reach, boundaries: Boundaries, nics: NicLinks) -> Iterator[Route]:
    """Yield what carries a group: its island, or the links of its members' NICs; nothing where none is declared."""
    if len(group) == 1:
        return
    crossed = dict(zip(boundaries, reach, strict=True))
    if crossed["island"] is False:
        standing = boundaries["island"]
        yield ("island", min(frozenset.intersection(*{standing[rank] for rank in group}))), None
    elif crossed["node"]:
        for rank in group:
            yield from nics[rank]


def _group_link(
    kind: str,
    group: Group,
    reach: Reach,
    boundaries: Boundaries,
    nics: NicLinks,
    users: Mapping[Carrier, Counter[str]],
    site: Site,
) -> GroupLink:
    names = tuple(boundaries)
    routes = sorted(set(routes_of(group, reach, boundaries, nics)), key=lambda route: slowest_first(route, site))
    carrier, link = routes[0] if routes else (None, None)
    on_nic = len(group) > 1 and (carrier is None or carrier[0] != "island") and reach[names.index("node")] is True
    return GroupLink(
        kind=kind,
        members=group,
        widest=widest_of(names, reach) if len(group) > 1 else None,
        undeclared=tuple(name for name, crossed in zip(names, reach, strict=True) if crossed is None),
        sort=None if carrier is None else carrier[0],
        id=None if carrier is None else carrier[1],
        link=link,
        link_class="island" if carrier and link is None else link and site.links[link].link_class,
        bytes_per_s_one_way=None if carrier is None else rate_of((carrier, link), site),
        contending={} if carrier is None else dict(+(users[carrier] - Counter({kind: 1}))),
        unlinked=tuple(rank for rank in group if not nics[rank]) if on_nic else (),
    )


def rate_of(route: Route, site: Site) -> int | None:
    """Return the declared rate of a route in bytes per second and direction, None for an island without one."""
    carrier, link = route
    return island_rate(carrier[1], site) if link is None else site.links[link].bytes_per_s_one_way


def slowest_first(route: Route, site: Site) -> tuple[int, str]:
    """Order routes by rate, then by name; those without a rate come last."""
    rate = rate_of(route, site)
    return (NOT_RATED if rate is None else rate, route[1] or "")
