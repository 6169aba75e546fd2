"""Prefill and decode pools: which ranks each holds, and what a hand-off between two of their groups runs on.

Rules kept: pools are the serving groups by the role of their instances; any prefill group may hand to any decode group,
so every pair is a path; a path is read like a process group that holds both. Its declared rate is the smaller of what
the links of its senders and of its receivers carry together, before anything contends for them; whether the hand-off
fits is judged by the measured route only, as the gate ``kv_handoff`` reads it.

Not handled: which group a router really chose, and verdicts.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from planner.crossings import Boundaries, boundaries_of, reach_of, widest_of
from planner.gates.handoff import KvHandoffLimit, route_need
from planner.group_links import Route, rate_of, routes_of, slowest_first
from planner.layouts.base import Group
from planner.link_use import Carrier, NicLinks, nic_links
from planner.needs import reserved_bandwidth
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import Placement
from planner.site import Site
from planner.view import TrialView

__all__ = ["HandoffPath", "HandoffUse", "Pool", "Pools", "pools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One pool: its serving groups by index, their ranks with the places of these, and the nodes that hold them."""

    role: Literal["prefill", "decode"]
    groups: tuple[int, ...]
    ranks: tuple[int, ...]
    places: tuple[Placement, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffPath:
    """A hand-off from one serving group to another, by index.

    ``widest`` is the widest boundary between them. ``link``, ``link_class`` and ``bytes_per_s_one_way`` are of the
    slowest link that either side uses, None where none is declared; ``declared_bytes_per_s`` is what all links of the
    narrower side carry together, None where a member has none. ``contending`` are the other paths on a carrier of this
    one.
    """

    sender: int
    receiver: int
    widest: str
    undeclared: tuple[str, ...]
    link: str | None
    link_class: str | None
    bytes_per_s_one_way: int | None
    declared_bytes_per_s: int | None
    contending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffUse:
    """The need of one counted window beside its measured route, in bytes per second; ``usable`` is after the reserve.

    ``share`` is need over usable; it and the numbers are None where ``missing`` names what is not recorded, or
    ``unfit`` says in sentences what is recorded and gives no use.
    """

    window: str
    load_point: str
    needed: Fraction | None
    route: Fraction | None
    usable: Fraction | None
    share: Fraction | None
    missing: tuple[str, ...]
    unfit: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """Both pools, every path between them, and the measured use in each counted window."""

    prefill: Pool
    decode: Pool
    paths: tuple[HandoffPath, ...]
    uses: tuple[HandoffUse, ...]


def pools(view: TrialView) -> Pools | None:
    """Return the pools of a trial; None where it has not both.

    Expects a rank map of exactly the topology's ranks.

    Raises:
        LayoutRefusedError: the layout refuses the degrees.
    """
    prefill, decode = _pool(view, "prefill"), _pool(view, "decode")
    if not prefill.groups or not decode.groups:
        return None
    return Pools(prefill=prefill, decode=decode, paths=_paths(view, prefill, decode), uses=tuple(_uses(view)))


def _pool(view: TrialView, role: Literal["prefill", "decode"]) -> Pool:
    groups = tuple([index for index, found in enumerate(view.group_roles) if found == role])
    ranks = tuple(sorted(rank for index in groups for rank in view.serving_groups[index]))
    places = tuple([view.trial.rank_map[rank] for rank in ranks])
    nodes = tuple(dict.fromkeys(place.node for place in places))
    return Pool(role=role, groups=groups, ranks=ranks, places=places, nodes=nodes)


@dataclass(frozen=True, slots=True)
class _Ground:
    boundaries: Boundaries
    nics: NicLinks
    site: Site


def _paths(view: TrialView, prefill: Pool, decode: Pool) -> tuple[HandoffPath, ...]:
    places = view.trial.rank_map
    ground = _Ground(boundaries_of(places, view.site), nic_links(places, view.site), view.site)
    pairs = [(sender, receiver) for sender in prefill.groups for receiver in decode.groups]
    routes = [_routes(view.serving_groups[sender], view.serving_groups[receiver], ground) for sender, receiver in pairs]
    users = Counter(carrier for found in routes for carrier in {carrier for carrier, _ in found})
    return tuple(
        [
            _path(view, sender, receiver, found, users, ground)
            for (sender, receiver), found in zip(pairs, routes, strict=True)
        ]
    )


def _routes(sender: Group, receiver: Group, ground: _Ground) -> tuple[Route, ...]:
    """Return what carries the hand-off between two groups, the slowest first."""
    both = (*sender, *receiver)
    found = set(routes_of(both, reach_of(both, ground.boundaries), ground.boundaries, ground.nics))
    return tuple(sorted(found, key=lambda route: slowest_first(route, ground.site)))


def _path(
    view: TrialView,
    sender: int,
    receiver: int,
    routes: tuple[Route, ...],
    users: Counter[Carrier],
    ground: _Ground,
) -> HandoffPath:
    sides = (view.serving_groups[sender], view.serving_groups[receiver])
    reach, names = reach_of((*sides[0], *sides[1]), ground.boundaries), tuple(ground.boundaries)
    slowest = routes[0] if routes else None
    link = None if slowest is None else slowest[1]
    sums = [_together(side, routes, ground) for side in sides]
    return HandoffPath(
        sender=sender,
        receiver=receiver,
        widest=widest_of(names, reach),
        undeclared=tuple(name for name, crossed in zip(names, reach, strict=True) if crossed is None),
        link=link,
        link_class="island" if slowest and link is None else link and ground.site.links[link].link_class,
        bytes_per_s_one_way=None if slowest is None else rate_of(slowest, ground.site),
        declared_bytes_per_s=None if sums[0] is None or sums[1] is None else min(sums[0], sums[1]),
        contending=max((users[carrier] - 1 for carrier, _ in routes), default=0),
    )


def _together(side: Group, routes: tuple[Route, ...], ground: _Ground) -> int | None:
    """Add the rates of one side's links, each once; of an island every member has its own peer links."""
    if not routes:
        return None
    if routes[0][1] is None:
        rate = rate_of(routes[0], ground.site)
        return None if rate is None else rate * len(side)
    if any(not ground.nics[rank] for rank in side):
        return None
    links = {link for rank in side for _, link in ground.nics[rank]}
    return sum(ground.site.links[link].bytes_per_s_one_way for link in links)


def _uses(view: TrialView) -> Iterator[HandoffUse]:
    kept = 1 - reserved_bandwidth(view.contract)
    per_token = _kv_bytes_per_token(view)
    for load_point, windows in sorted(view.counted.items()):
        for window in windows:
            figures, need = route_need(window, per_token)
            usable = None if need is None else need.route * kept
            yield HandoffUse(
                window=window.id,
                load_point=load_point,
                needed=None if need is None else need.needed,
                route=None if need is None else need.route,
                usable=usable,
                share=need.needed / usable if need is not None and usable else None,
                missing=figures.missing,
                unfit=tuple(each.sentence for each in figures.unfit),
            )


def _kv_bytes_per_token(view: TrialView) -> int | UnsetType:
    """Return what the contract's own limit counts with, the first that says it."""
    limits = view.limits.get("kv_handoff", {}).values()
    said = [limit.kv_bytes_per_token for limit in limits if isinstance(limit, KvHandoffLimit)]
    return next((value for value in said if not isinstance(value, UnsetType)), UNSET)
