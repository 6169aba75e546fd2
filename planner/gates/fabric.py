"""Fabric: which group crosses which boundary, and how full the links are that carry the crossings.

Rules kept: an island is what the contract declares, never "same node" in its place; utilisation is computed from
byte counters and the contract's one-way rate, a tool's own percentage is shown and never read; low utilisation is
not called headroom. Where tensor groups may lie is this project's policy: no engine refuses a crossing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from planner.compare import Comparison, compare
from planner.crossings import crosses
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable, unknown
from planner.gates.wording import apart, counted, no_window, share, why
from planner.layouts.base import ROLES
from planner.links import Sought, counted_links, owed_links, utilizations
from planner.needs import reserved_bandwidth
from planner.numbers import exact
from planner.readings import Reading, WindowView, number_at
from planner.records.base import UNSET, Id, Number, Share, Text, UnsetType
from planner.view import TrialView

FAMILY = "fabric"
CROSSING_TIME = "collective_move_ms"
POLICY = "Where tensor groups may lie is a policy of this contract; no engine refuses a crossing."


class TensorLocalityLimit(Limit, frozen=True, kw_only=True):
    """Where tensor-like groups may lie.

    ``allowed_if_measured`` lets them leave the island where crossing time and link counters were recorded at
    ``load_point``.
    """

    rule: Literal["inside_island", "inside_node", "allowed_if_measured"]
    load_point: Id = "saturated"

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the crossing time where crossings are allowed: the rule itself says which trial owes it."""
        if self.rule != "allowed_if_measured":
            return ()
        return (Ask(metric=f"per_rank.{CROSSING_TIME}", load_point=self.load_point, conditional=True),)


class LinkUtilizationLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the peak utilisation of every link of a class, before the bandwidth reserve.

    Left out, ``phase`` means every phase recorded. Samples longer than ``max_sample_interval_s`` hide peaks.
    """

    link_class: Text
    load_point: Id
    phase: Literal["prefill", "decode", "mixed"] | UnsetType = UNSET
    max_utilization: Share
    max_sample_interval_s: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for both directions of every link that owes evidence."""
        phase = None if isinstance(self.phase, UnsetType) else self.phase
        return tuple(
            Ask(metric=metric, load_point=self.load_point, phase=phase, link_class=self.link_class)
            for metric in LINK_READS
        )


LINK_READS = ("links.peak_tx_bytes", "links.peak_rx_bytes", "links.sample_interval_s")


@gate(
    "tensor_locality",
    family=FAMILY,
    title="Tensor groups stay where the contract lets them",
    limit=TensorLocalityLimit,
    reads=(f"per_rank.{CROSSING_TIME}", *LINK_READS),
    unit="groups",
    comparator="<=",
    needs=("groups", "devices"),
    of_placement=lambda limit: limit.rule != "allowed_if_measured",
    hint="Keep tensor groups inside one island: fewer tensor ranks, or another map of the same degrees.",
)
def tensor_locality(view: TrialView, limit: TensorLocalityLimit) -> Finding:
    """Every tensor-like group of more than one rank lies inside one island (inside_island) or on one node
    (inside_node); with allowed_if_measured a group may cross where its crossing time and its links were recorded."""
    groups = view.placed.kept.once("tensor_groups", lambda: _tensor_groups(view))
    if not groups:
        return not_applicable("No tensor-like group has more than one rank.")
    if limit.rule == "inside_node":
        outside = [group for group in groups if len({view.rank_node[rank] for rank in group[1]}) > 1]
        return _located(view, groups, outside, [], "node", limit)
    if view.site.islands is None:
        return unknown("The contract declares no islands.", missing=(), notes=(POLICY,))
    leaves = view.placed.kept.once(
        "leaves_island", lambda: [crosses({_islands(view, rank) for rank in ranks}) for _, ranks in groups]
    )
    outside = [group for group, left in zip(groups, leaves, strict=True) if left]
    undeclared = [group for group, left in zip(groups, leaves, strict=True) if left is None]
    if limit.rule == "allowed_if_measured" and outside:
        return _measured_crossing(view, limit, outside)
    return _located(view, groups, outside, undeclared, "island", limit)


Kinded = tuple[str, tuple[int, ...]]


def _tensor_groups(view: TrialView) -> list[Kinded]:
    found = view.topology_groups
    return [
        (kind, group) for kind in sorted(found.tensor_like) for group in found.groups.get(kind, ()) if len(group) > 1
    ]


def _islands(view: TrialView, rank: int) -> frozenset[str]:
    return view.site.device_islands.get(view.rank_device[rank], frozenset())


def _located(
    view: TrialView,
    groups: list[Kinded],
    outside: list[Kinded],
    undeclared: list[Kinded],
    place: str,
    limit: TensorLocalityLimit,
) -> Finding:
    if undeclared and not outside:
        kind, ranks = undeclared[0]
        lone = next(rank for rank in ranks if not _islands(view, rank))
        return unknown(f"Device {view.rank_device[lone]} of rank {lone} is in no declared island.", notes=(POLICY,))
    if not outside:
        sentence = f"{counted(len(groups), 'tensor group')}, each inside one {place}."
    else:
        kind, ranks = outside[0]
        sentence = (
            f"{counted(len(outside), 'tensor group')} of {len(groups):,} leave{'s' if len(outside) == 1 else ''} the "
            f"{place}, first {kind} group {_listed(ranks)} on {_listed(_places(view, ranks, place))}."
        )
    return Finding(
        outcome="FAIL" if outside else "PASS",
        sentence=sentence,
        measured=Fraction(len(outside)),
        limit=Fraction(0),
        margin=Fraction(-len(outside)),
        worst=(("group", f"{outside[0][0]} {_listed(outside[0][1])}"),) if outside else (),
        measured_at=(f"{view.at}/rank_map",),
        notes=(POLICY,),
        limit_field="rule",
    )


def _places(view: TrialView, ranks: Sequence[int], place: str) -> list[str]:
    if place == "node":
        return sorted({view.rank_node[rank] for rank in ranks})
    return sorted({", ".join(sorted(_islands(view, rank))) for rank in ranks if _islands(view, rank)})


def _listed(items: Sequence[object]) -> str:
    return ", ".join(str(item) for item in items)


def _measured_crossing(view: TrialView, limit: TensorLocalityLimit, outside: list[Kinded]) -> Finding:
    ranks = sorted({rank for _, group in outside for rank in group})
    windows = view.windows(limit.load_point)
    missing = [at for window in windows for at in _crossing_missing(view, window, ranks)]
    what = f"{counted(len(outside), 'tensor group')} cross{'es' if len(outside) == 1 else ''} islands"
    unmeasured = view.unmeasured(limit.load_point)
    if unmeasured:
        return unknown(f"{what}. {view.too_few_windows(limit.load_point)[0]}", missing=unmeasured, notes=(POLICY,))
    if missing:
        return unknown(
            f"{what}; crossing time or link counters are not recorded.", missing=tuple(missing), notes=(POLICY,)
        )
    return Finding(
        outcome="PASS",
        sentence=f"{what}; crossing time and link counters are recorded.",
        measured=Fraction(len(outside)),
        measured_at=tuple(f"{window.at}/per_rank/{CROSSING_TIME}" for window in windows),
        notes=(POLICY,),
        limit_field="rule",
    )


def _crossing_missing(view: TrialView, window: WindowView, ranks: list[int]) -> Iterator[str]:
    """Yield what a crossing owes and does not have: its time for each rank, and counters of some link of its NIC."""
    metrics = {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
    metric = metrics.get(CROSSING_TIME)
    nics = {view.site.links[link].nic for link in counted_links(window) if link in view.site.links}
    for rank in ranks:
        if metric is None or number_at(metric.values, rank) is None:
            yield f"{window.at}/per_rank/{CROSSING_TIME}/values/{rank}"
        nic = view.trial.rank_map[rank].nic
        if len(set(view.rank_node)) > 1 and (isinstance(nic, UnsetType) or nic not in nics):
            yield f"{window.at}/links"


class GroupSpanLimit(Limit, frozen=True, kw_only=True):
    """Boundaries that groups of a kind may not cross.

    Island, node, socket, pcie_switch, or a kind under ``fleet.failure_domains``.
    """

    kind: Id
    may_not_cross: Annotated[tuple[Id, ...], Meta(min_length=1)]


@gate(
    "group_span",
    family=FAMILY,
    title="Groups cross only permitted boundaries",
    limit=GroupSpanLimit,
    unit="groups",
    comparator="<=",
    needs=("groups", "devices"),
    of_placement=True,
    hint="Another map of the same degrees, or degrees whose groups fit inside the boundary.",
)
def group_span(view: TrialView, limit: GroupSpanLimit) -> Finding:
    """No group of the kind with more than one rank crosses a boundary that the limit lists. Boundaries are no chain:
    an island may be larger than a node, so each is tested by itself. A group with a member that stands in no declared
    one is UNKNOWN."""
    found = view.topology_groups.groups
    if limit.kind not in ROLES and limit.kind not in found:
        return unknown(f"No layout names a group kind {limit.kind}, and the engine reported none.")
    groups = [group for group in found.get(limit.kind, ()) if len(group) > 1]
    if not groups:
        return not_applicable(f"No {limit.kind} group has more than one rank.")
    undeclared = [kind for kind in limit.may_not_cross if view.site.domains(kind) is None]
    reach = [
        (kind, group, crosses({standing.get(view.rank_device[rank], NOWHERE) for rank in group}))
        for kind in limit.may_not_cross
        if kind not in undeclared
        for standing in (view.site.standing(kind),)
        for group in groups
    ]
    crossed = [(kind, group) for kind, group, leaves in reach if leaves]
    untold = [(kind, group) for kind, group, leaves in reach if leaves is None]
    if not crossed and undeclared:
        return unknown(f"The contract declares no {undeclared[0]}, so no crossing of one can be told.")
    if not crossed and untold:
        return unknown(_untold(view, *untold[0]))
    crossing = {group for _, group in crossed}
    sentence = f"{counted(len(groups), f'{limit.kind} group')} inside every {' and '.join(limit.may_not_cross)}."
    if crossed:
        kind, group = crossed[0]
        verb = "crosses" if len(crossing) == 1 else "cross"
        sentence = (
            f"{counted(len(crossing), f'{limit.kind} group')} of {len(groups):,} {verb} a boundary, first the {kind} "
            f"by ranks {_listed(group)}."
        )
    return Finding(
        outcome="FAIL" if crossed else "PASS",
        sentence=sentence,
        measured=Fraction(len(crossing)),
        limit=Fraction(0),
        margin=Fraction(-len(crossing)),
        worst=(("boundary", crossed[0][0]), ("group", f"{limit.kind} {_listed(crossed[0][1])}")) if crossed else (),
        measured_at=(f"{view.at}/rank_map",),
        limit_field="may_not_cross",
    )


NOWHERE: frozenset[str] = frozenset()


def _untold(view: TrialView, kind: str, ranks: Sequence[int]) -> str:
    standing = view.site.standing(kind)
    lone = next(rank for rank in ranks if view.rank_device[rank] not in standing)
    return f"Device {view.rank_device[lone]} of rank {lone} is in no declared {kind}."


class NicMapLimit(Limit, frozen=True, kw_only=True):
    """Devices may share a NIC only as far as the node's fabric NICs are too few for one each."""


@gate(
    "nic_map",
    family=FAMILY,
    title="No NIC is shared while another idles",
    limit=NicMapLimit,
    unit="devices",
    comparator="<=",
    needs=("groups", "devices"),
    of_placement=True,
    hint="Spread the ranks that cross over all fabric NICs of their node.",
)
def nic_map(view: TrialView, limit: NicMapLimit) -> Finding:
    """On each node, the devices whose groups cross the node use its fabric NICs evenly: no NIC serves more of them
    than devices / fabric NICs, rounded up. Storage and front-end NICs do not count."""
    if not view.crossing_ranks:
        return not_applicable("No group crosses a node.")
    unnamed = [rank for rank in view.crossing_ranks if isinstance(view.trial.rank_map[rank].nic, UnsetType)]
    nodes = [_nic_load(view, node) for node in sorted({view.rank_node[rank] for rank in view.crossing_ranks})]
    worst = min(nodes, key=lambda node: (node.most - node.used, node.node))
    crowded = worst.used > worst.most
    if unnamed and not crowded:
        return unknown(
            f"Rank {unnamed[0]} crosses its node and names no NIC.",
            missing=tuple(f"{view.at}/rank_map/{rank}/nic" for rank in unnamed),
        )
    return Finding(
        outcome="FAIL" if crowded else "PASS",
        sentence=f"NIC {worst.nic} of {worst.node} serves {counted(worst.used, 'device')}; at most {worst.most:,} with "
        f"{counted(worst.devices, 'crossing device')} on {counted(worst.nics, 'fabric NIC')}.",
        measured=Fraction(worst.used),
        limit=Fraction(worst.most),
        margin=Fraction(worst.most - worst.used),
        worst=(("node", worst.node), ("nic", worst.nic)),
        measured_at=(f"{view.at}/rank_map",),
        missing=tuple(f"{view.at}/rank_map/{rank}/nic" for rank in unnamed),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NicLoad:
    """The busiest NIC of a node: devices that use it, and the most that an even spread would give it."""

    node: str
    nic: str
    used: int
    most: int
    devices: int
    nics: int


def _nic_load(view: TrialView, node: str) -> NicLoad:
    ranks = [rank for rank in view.crossing_ranks if view.rank_node[rank] == node]
    uses = Counter(nic for rank in ranks for nic in (view.trial.rank_map[rank].nic,) if not isinstance(nic, UnsetType))
    nic, used = min(uses.items(), key=lambda use: (-use[1], use[0]), default=("none", 0))
    fabric = view.site.fabric_nics.get(node, 0)
    return NicLoad(
        node=node,
        nic=nic,
        used=used,
        most=-(-len(ranks) // fabric) if fabric else 0,
        devices=len(ranks),
        nics=fabric,
    )


@gate(
    "link_utilization",
    family=FAMILY,
    title="Links keep their bandwidth reserve",
    limit=LinkUtilizationLimit,
    reads=LINK_READS,
    unit="share",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Move the crossing to a boundary with less traffic, spread ranks over more NICs, or compress what crosses.",
)
def link_utilization(view: TrialView, limit: LinkUtilizationLimit) -> Finding:
    """The busiest sample interval of the busiest link of the class, in each phase and counted window, is at most
    max_utilization after the bandwidth reserve: max(tx, rx) bytes over interval x one-way rate. Every link on a NIC
    of a rank in a group that crosses the node owes evidence."""
    ceiling = exact(limit.max_utilization) * (1 - reserved_bandwidth(view.contract))
    owed, unplaced = owed_links(view, limit.link_class)
    windows = view.windows(limit.load_point)
    sought = Sought(
        links=view.site.links,
        link_class=limit.link_class,
        phase=None if isinstance(limit.phase, UnsetType) else limit.phase,
        max_sample_interval_s=limit.max_sample_interval_s,
    )
    samples = tuple(sample for window in windows for sample in utilizations(window, sought, owed))
    if not owed and not unplaced and not samples:
        return not_applicable(f"No group crosses a node and no {limit.link_class} link is recorded.")
    nowhere = (f"Ranks that cross a node name no NIC with a link of class {limit.link_class}.",) if unplaced else ()
    whole = Reading(samples=samples, worst_is="highest", missing=unplaced, notes=nowhere)
    reading = view.qualified(whole, limit.load_point)
    result = compare(reading, "<=", ceiling)
    notes = (_reserve_note(view, limit, ceiling), "Low utilisation is not headroom: read it beside waiting time.")
    return compared(result, _link_sentence(result, limit, ceiling, windows), limit_field="max_utilization", notes=notes)


def _reserve_note(view: TrialView, limit: LinkUtilizationLimit, ceiling: Fraction) -> str:
    reserve = reserved_bandwidth(view.contract)
    if reserve == 0:
        return "No bandwidth reserve is declared: 0 is used."
    declared = share(exact(limit.max_utilization))
    return f"Declared ceiling {declared}; a reserve of {share(reserve)} leaves {share(ceiling)}."


def _link_sentence(
    result: Comparison, limit: LinkUtilizationLimit, ceiling: Fraction, windows: Sequence[WindowView]
) -> str:
    decides = result.decides
    if not windows:
        return no_window(limit.load_point)
    if decides is None:
        return result.notes[0]
    place = decides.place
    link = f"Link {place['link']} ({place['phase']})"
    if decides.value is None:
        return f"{link} is not recorded in window {place['window']}."
    used, most = apart(share, decides.value, ceiling, 3)
    return f"{link} peaks at {used} of its rate in window {place['window']}; at most {most}.{why(result)}"
