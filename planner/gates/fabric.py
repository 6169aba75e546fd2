"""Fabric: which group crosses which boundary, and how evenly crossings use the NICs of a node.

Rules kept: an island is what the contract declares, never "same node" in its place; what one island holds needs no NIC,
however many nodes it spans; storage and front-end NICs carry no group. Where tensor groups may lie is this project's
policy: no engine refuses a crossing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from planner.crossings import crosses
from planner.gates.base import Ask, Finding, Limit, gate, not_applicable, unknown
from planner.gates.wording import counted, named
from planner.layouts.base import ROLES
from planner.links import LINK_READS, counted_links
from planner.readings import WindowView, number_at
from planner.records.base import Id, UnsetType
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
    """On each node, the devices whose groups leave both their island and the node use its fabric NICs evenly: no NIC
    serves more of them than devices / fabric NICs, rounded up. What one island holds needs no NIC, however many nodes
    it spans; what no declared island holds does. A crossing rank on a storage or front-end NIC FAILs."""
    ranks = _ranks_on_nics(view)
    if not ranks:
        inside = view.crossing_ranks and "Every group that crosses a node lies inside one island."
        return not_applicable(inside or "No group crosses a node.")
    unnamed = [rank for rank in ranks if isinstance(view.trial.rank_map[rank].nic, UnsetType)]
    nodes = [_nic_load(view, node, ranks) for node in sorted({view.rank_node[rank] for rank in ranks})]
    worst = min(nodes, key=lambda node: (node.most - node.used, node.node))
    strayed = [rank for rank in ranks if _nic_of(view, rank)[1] not in ("", "fabric")]
    crowded = worst.used > worst.most
    if unnamed and not crowded and not strayed:
        return unknown(
            f"Rank {unnamed[0]} crosses its node and names no NIC.",
            missing=tuple(f"{view.at}/rank_map/{rank}/nic" for rank in unnamed),
        )
    serves = (
        f"NIC {worst.nic} of {worst.node} serves {counted(worst.used, 'device')}; at most {worst.most:,} with "
        f"{counted(worst.devices, 'crossing device')} on {counted(worst.nics, 'fabric NIC')}."
    )
    decides = worst if crowded or not strayed else _on_wrong_nic(view, strayed)
    said = [_strayed_sentence(view, strayed)] if strayed else []
    return Finding(
        outcome="FAIL" if crowded or strayed else "PASS",
        sentence=" ".join([*said, *([serves] if crowded or not strayed else [])]),
        measured=Fraction(decides.used),
        limit=Fraction(decides.most),
        margin=Fraction(decides.most - decides.used),
        worst=(("node", decides.node), ("nic", decides.nic)),
        measured_at=tuple(f"{view.at}/rank_map/{rank}/nic" for rank in strayed) or (f"{view.at}/rank_map",),
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


def _ranks_on_nics(view: TrialView) -> tuple[int, ...]:
    """Return the ranks of request-path groups that no island carries across their nodes, in order."""
    found, crossing = view.topology_groups, set[int]()
    for kind in found.joins & found.groups.keys():
        for group in found.groups[kind]:
            nodes = {view.rank_node[rank] for rank in group}
            if len(nodes) > 1 and crosses({_islands(view, rank) for rank in group}) is not False:
                crossing.update(group)
    return tuple(sorted(crossing))


def _nic_of(view: TrialView, rank: int) -> tuple[str, str]:
    """Return the NIC that a rank names with its use; empty where it names none.

    A NIC that the contract does not have does not come here: placement fails.
    """
    nic, nics = view.trial.rank_map[rank].nic, view.site.hardware.nics
    if isinstance(nic, UnsetType) or isinstance(nics, UnsetType):
        return "", ""
    return nic, nics[nic].use


def _nic_load(view: TrialView, node: str, crossing: Sequence[int]) -> NicLoad:
    # Pools may share a device, which crosses once.
    pairs = {(_nic_of(view, rank), view.rank_device[rank]) for rank in crossing if view.rank_node[rank] == node}
    uses = Counter(nic for (nic, use), _ in pairs if use == "fabric")
    nic, used = min(uses.items(), key=lambda use: (-use[1], use[0]), default=("none", 0))
    fabric, devices = view.site.fabric_nics.get(node, 0), len({device for _, device in pairs})
    return NicLoad(
        node=node, nic=nic, used=used, most=-(-devices // fabric) if fabric else 0, devices=devices, nics=fabric
    )


def _on_wrong_nic(view: TrialView, strayed: Sequence[int]) -> NicLoad:
    """Return the NIC of the first rank on one that carries no group, and the devices that cross on it; none may."""
    (nic, _), node = _nic_of(view, strayed[0]), view.rank_node[strayed[0]]
    used = len({view.rank_device[rank] for rank in strayed if _nic_of(view, rank)[0] == nic})
    return NicLoad(node=node, nic=nic, used=used, most=0, devices=used, nics=0)


def _strayed_sentence(view: TrialView, strayed: Sequence[int]) -> str:
    crossings = [(rank, view.rank_node[rank], *_nic_of(view, rank)) for rank in strayed]
    said = [
        f"Rank {rank} on {node} crosses on NIC {nic}, a {use.replace('_', '-')} NIC."
        for rank, node, nic, use in crossings
    ]
    return f"{named(said)} Groups cross on fabric NICs."
