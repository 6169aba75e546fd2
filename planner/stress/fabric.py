"""A link that is full, and a link that is slow."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from planner.rank_times import MOVE
from planner.readings import number, number_at
from planner.records.base import UnsetType
from planner.records.evidence import Collective, LinkCounters, Phase, Window
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection, size, written
from planner.stress.changes import metrics, scaled, scaled_number, scaled_values, with_values, with_windows
from planner.view import TrialView

BESIDE_MOVE = ("step_ms", "collective_ms", "collective_exposed_ms")
"""Times of a rank that grow when its collectives move bytes for longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """One link in one phase of one window, and the share of it that the busier direction used at its peak."""

    window: str
    link: str
    phase: Phase
    counters: LinkCounters
    most_bytes: Fraction
    used: Fraction


def _busy(view: TrialView) -> Iterator[Busy]:
    for name, window in sorted(view.trial.windows.items()):
        recorded = {} if isinstance(window.links, UnsetType) else window.links
        for link, phases in sorted(recorded.items()):
            for phase, counters in sorted(phases.items()) if link in view.site.links else ():
                interval = number(counters.sample_interval_s)
                peaks = [number(counters.peak_tx_bytes), number(counters.peak_rx_bytes)]
                known = [peak for peak in peaks if peak is not None]
                if interval and known:
                    most = interval * view.site.links[link].bytes_per_s_one_way
                    yield Busy(
                        window=name, link=link, phase=phase, counters=counters, most_bytes=most, used=max(known) / most
                    )


@injection(
    "saturated_link",
    title="Saturated link",
    fault="the busiest link is {link_peak_utilization} full at the peak of one phase",
    gates=("link_utilization",),
)
def saturated_link(case: Case) -> Fault:
    """The peak of the busier direction of the busiest link, in its phase and window, is set to a share of what the
    link carries in a sample interval. Totals stay: a burst."""
    view = case.view
    busiest = max(_busy(view), key=lambda busy: busy.used, default=None)
    if busiest is None:
        return NotInjectable(sentence="No link of the contract has recorded counters.")
    target = size(case.sizes.link_peak_utilization)
    if busiest.used >= target:
        return NotInjectable(sentence=f"Link {busiest.link} is as full as that already.")
    counters = busiest.counters
    sent, received = number(counters.peak_tx_bytes), number(counters.peak_rx_bytes)
    field = "peak_rx_bytes" if sent is None or (received is not None and received > sent) else "peak_tx_bytes"
    full = msgspec.structs.replace(counters, **{field: -(-busiest.most_bytes * target // 1)})
    if not isinstance(full.utilization, UnsetType):
        full = msgspec.structs.replace(full, utilization=written(target))
    window = view.trial.windows[busiest.window]
    links = {} if isinstance(window.links, UnsetType) else window.links
    links = {**links, busiest.link: {**links[busiest.link], busiest.phase: full}}
    return Injected(
        trial=with_windows(view.trial, {busiest.window: msgspec.structs.replace(window, links=links)}),
        changed=(f"{view.at}/windows/{busiest.window}/links/{busiest.link}/{busiest.phase}/{field}",),
    )


@injection(
    "slow_link",
    title="Slow link",
    fault="groups over one link move bytes {slow_link_time_factor} times as long, at {slow_link_bandwidth_share} of "
    "the bandwidth",
    gates=("link_bandwidth", "communication_share", "all_to_all_tail", "kv_handoff"),
    needs=("groups", "devices"),
)
def slow_link(case: Case) -> Fault:
    """Ranks of every group that crosses nodes over the busiest link, or over the first one owed where no counters
    are recorded, take longer to move bytes, and their steps grow by it; collectives and the hand-off between nodes
    take as much longer and reach a part of their bandwidth."""
    view = case.view
    link = _slow_one(view)
    if link is None:
        return NotInjectable(sentence="No group crosses a node over a link that the contract declares.")
    ranks = _ranks_over(view, link)
    slowed = {
        name: changed
        for name, window in sorted(view.trial.windows.items())
        if (changed := _slowed(case, window, ranks)) != window
    }
    if not slowed:
        return NotInjectable(sentence="No moving time, collective or hand-off is recorded.")
    return Injected(
        trial=with_windows(view.trial, slowed), changed=tuple(f"{view.at}/windows/{name}" for name in slowed)
    )


def _slow_one(view: TrialView) -> str | None:
    nics = {view.trial.rank_map[rank].nic for rank in view.crossing_ranks}
    usable = [name for name, link in sorted(view.site.links.items()) if not isinstance(link.nic, UnsetType)]
    used = [name for name in usable if view.site.links[name].nic in nics]
    busiest = max((busy for busy in _busy(view) if busy.link in used), key=lambda busy: busy.used, default=None)
    return busiest.link if busiest is not None else next(iter(used), None)


def _ranks_over(view: TrialView, link: str) -> frozenset[int]:
    """Return the ranks of request-path groups that cross nodes with a member on the link's NIC."""
    found, nic = view.topology_groups, view.site.links[link].nic
    return frozenset(
        rank
        for kind in found.joins & found.groups.keys()
        for group in found.groups[kind]
        if len({view.rank_node[member] for member in group}) > 1
        and any(view.trial.rank_map[member].nic == nic for member in group)
        for rank in group
    )


def _slowed(case: Case, window: Window, ranks: frozenset[int]) -> Window:
    window = _longer_moves(window, ranks, size(case.sizes.slow_link_time_factor))
    factor, left = size(case.sizes.slow_link_time_factor), size(case.sizes.slow_link_bandwidth_share)
    if not isinstance(window.collectives, UnsetType):
        slowed = {
            name: _slow_collective(entry, ranks, factor, left) if _crosses(case.view, entry) else entry
            for name, entry in window.collectives.items()
        }
        window = msgspec.structs.replace(window, collectives=slowed)
    if not isinstance(window.handoff, UnsetType):
        route = scaled_number(window.handoff.route_bytes_per_s, left)
        window = msgspec.structs.replace(
            window, handoff=msgspec.structs.replace(window.handoff, route_bytes_per_s=route)
        )
    return window


def _longer_moves(window: Window, ranks: frozenset[int], factor: Fraction) -> Window:
    recorded = metrics(window)
    if MOVE not in recorded:
        return window
    moves = {rank: number_at(recorded[MOVE].values, rank) for rank in ranks}
    more = {rank: move * (factor - 1) for rank, move in moves.items() if move is not None}
    grown = {
        name: {
            rank: value + extra
            for rank, extra in more.items()
            if (value := number_at(recorded[name].values, rank)) is not None
        }
        for name in (MOVE, *BESIDE_MOVE)
        if name in recorded and recorded[name].phase == recorded[MOVE].phase
    }
    return with_values(window, grown)


def _crosses(view: TrialView, entry: Collective) -> bool:
    """Say whether a collective ran between nodes: by the nodes it names, else by the groups of its kind."""
    if not isinstance(entry.nodes, UnsetType):
        return len(entry.nodes) > 1
    groups = () if isinstance(entry.group_kind, UnsetType) else view.topology_groups.groups.get(entry.group_kind, ())
    return any(len({view.rank_node[rank] for rank in group}) > 1 for group in groups)


def _slow_collective(entry: Collective, ranks: frozenset[int], factor: Fraction, left: Fraction) -> Collective:
    by_rank = entry.bus_bytes_per_s_by_rank
    return msgspec.structs.replace(
        entry,
        time_ms=scaled(entry.time_ms, factor),
        bus_bytes_per_s=scaled_number(entry.bus_bytes_per_s, left),
        bus_bytes_per_s_by_rank=by_rank if isinstance(by_rank, UnsetType) else scaled_values(by_rank, left, ranks),
    )
