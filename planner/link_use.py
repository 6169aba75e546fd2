"""Which links the groups of a placed topology run on, and who else runs on them.

Rules kept: links are put together by contention domain, because that is what ranks wait for; a link that declares
none stands alone; an island's peer links are one. Only declared links count. Linear in ranks x group kinds.

Not handled: bytes and rates that were measured (``gates.fabric``).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

from msgspec import Struct

from planner.records.base import UnsetType
from planner.records.evidence import Placement
from planner.site import Site

__all__ = [
    "NOWHERE",
    "Carrier",
    "LinkUse",
    "NicLinks",
    "Use",
    "Uses",
    "island_rate",
    "link_uses",
    "nic_links",
    "on_nics",
]

Carrier = tuple[str, str]
"""(``island``, its id), (``contention``, a contention domain) or (``link``, a link that declares none)."""

NOWHERE: Carrier = ("nowhere", "")
"""Stands for the links of a rank whose NIC has no declared one."""

NicLinks = Sequence[tuple[tuple[Carrier, str], ...]]
"""For every rank the carriers of its NIC, each with the link."""


class Use(Struct, frozen=True):
    """The ranks that use a carrier, and its links in use with the slowest of them."""

    ranks: tuple[int, ...]
    links: tuple[str, ...] = ()
    slowest: str | None = None


Uses = Mapping[Carrier, Use]


class LinkUse(Struct, frozen=True, kw_only=True):
    """Links that contend with each other, as groups of one kind use them.

    ``sort`` is ``island``, ``contention`` or ``link``, ``id`` its name. ``links`` are those in use (none named for an
    island); ``link_class`` and ``bytes_per_s_one_way`` are of the slowest of them. ``ranks`` use them in groups of
    this kind; ``shared_by`` are the other kinds whose groups use the same.
    """

    sort: str
    id: str
    links: tuple[str, ...]
    link_class: str
    bytes_per_s_one_way: int | None
    ranks: tuple[int, ...]
    shared_by: tuple[str, ...]


def nic_links(places: Sequence[Placement], site: Site) -> NicLinks:
    """Return what carries the traffic of each rank's NIC."""
    of_nic = site.nic_carriers
    return [() if isinstance(place.nic, UnsetType) else of_nic.get(place.nic, ()) for place in places]


def on_nics(marked: Sequence[int], nics: NicLinks, site: Site) -> Uses:
    """Return the carriers of every marked rank's NIC, ``NOWHERE`` for those without."""
    ranks: dict[Carrier, list[int]] = {}
    links: dict[Carrier, set[str]] = {}
    for rank in compress(range(len(marked)), marked):
        for carrier, link in nics[rank]:
            if carrier in ranks:
                ranks[carrier].append(rank)
                links[carrier].add(link)
            else:
                ranks[carrier], links[carrier] = [rank], {link}
        if not nics[rank]:
            ranks.setdefault(NOWHERE, []).append(rank)
    return {carrier: _use(found, links.get(carrier, ()), site) for carrier, found in ranks.items()}


def _use(ranks: Iterable[int], links: Iterable[str], site: Site) -> Use:
    named = tuple(sorted(links))
    slowest = min(named, key=lambda link: site.links[link].bytes_per_s_one_way, default=None)
    return Use(ranks=tuple(ranks), links=named, slowest=slowest)


def link_uses(uses: Mapping[str, Uses], site: Site) -> dict[str, tuple[LinkUse, ...]]:
    """Return the links of every kind in order of sort and id."""
    kinds: dict[Carrier, tuple[str, ...]] = {}
    for kind, used in uses.items():
        for carrier in used:
            kinds[carrier] = (*kinds.get(carrier, ()), kind)
    others = {
        (kind, users): tuple(name for name in users if name != kind) for users in set(kinds.values()) for kind in users
    }
    return {
        kind: tuple(
            [
                _link_use(carrier, use, others[kind, kinds[carrier]], site)
                for carrier, use in sorted(used.items(), key=lambda item: item[0])
                if carrier != NOWHERE
            ]
        )
        for kind, used in uses.items()
    }


def _link_use(carrier: Carrier, use: Use, shared_by: tuple[str, ...], site: Site) -> LinkUse:
    sort, name = carrier
    slowest = None if use.slowest is None else site.links[use.slowest]
    return LinkUse(
        sort=sort,
        id=name,
        links=use.links,
        link_class=sort if slowest is None else slowest.link_class,
        bytes_per_s_one_way=island_rate(name, site) if slowest is None else slowest.bytes_per_s_one_way,
        ranks=use.ranks,
        shared_by=shared_by,
    )


def island_rate(island: str, site: Site) -> int | None:
    """Return the declared rate of an island's peer links, in bytes per second and direction."""
    islands = {} if isinstance(site.hardware.islands, UnsetType) else site.hardware.islands
    rate = islands[island].bytes_per_s_one_way
    return None if isinstance(rate, UnsetType) else rate
