"""Two placed topologies side by side: which ranks moved, which groups changed, which boundaries are newly crossed.

Rules kept: ranks are the same when their numbers are, groups when they hold the same ranks in the same order; a group
that stayed may still cross what it did not, because its ranks moved. A boundary that is not declared for a group
counts as not crossed. Equal maps give an empty difference.

Not handled: which of the two is better, and topologies of different layouts beyond their ranks: kinds that only one
has are listed whole.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.crossings import boundaries_of, reach_of
from planner.layouts import LayoutRefusedError
from planner.layouts.base import Group
from planner.rankmap import TopologyGroups, topology_groups
from planner.records.base import UnsetType, stated
from planner.records.contract import Contract, Fleet
from planner.records.evidence import Placement, Trial
from planner.site import Site

__all__ = ["GroupChange", "MapDiff", "MovedRank", "NewCrossing", "PlacedMap", "map_diff", "placed_map"]

Reached = Mapping[str, Mapping[Group, frozenset[str]]]
"""By kind and group the boundaries that the group crosses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedMap:
    """Groups of a topology, a rank map of exactly their ranks, and the site they stand on."""

    groups: TopologyGroups
    places: Sequence[Placement]
    site: Site


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRank:
    """A rank that stands elsewhere; None where one side does not have the rank. ``what`` names what changed."""

    rank: int
    before: Placement | None
    after: Placement | None
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """Groups of a kind that only one side has, in order of their ranks."""

    kind: str
    only_before: tuple[Group, ...]
    only_after: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCrossing:
    """A group that crosses ``boundary`` after and did not before; ``is_new`` where the group itself is new."""

    kind: str
    members: Group
    boundary: str
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MapDiff:
    """The difference.

    ``crossings`` are those that came, ``ended`` those that went; ``counts`` per kind and boundary are the groups that
    cross it, before and after, where the numbers differ.
    """

    moved: tuple[MovedRank, ...]
    groups: tuple[GroupChange, ...]
    crossings: tuple[NewCrossing, ...]
    ended: tuple[NewCrossing, ...]
    counts: Mapping[tuple[str, str], tuple[int, int]]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.moved or self.groups or self.crossings or self.ended)


def placed_map(contract: Contract, trial: Trial) -> PlacedMap | None:
    """Put a trial on its contract's hardware; None where ranks and degrees do not fit together."""
    fleet = Fleet() if isinstance(contract.fleet, UnsetType) else contract.fleet
    try:
        groups = topology_groups(trial.topology, moe=contract.identity.model.architecture == "moe")
    except LayoutRefusedError:
        return None
    if len(trial.rank_map) != groups.ranks:
        return None
    return PlacedMap(groups=groups, places=trial.rank_map, site=Site(hardware=contract.identity.hardware, fleet=fleet))


def map_diff(before: PlacedMap, after: PlacedMap) -> MapDiff:
    """Return what changed from one map to the other, ranks and kinds in order. Linear in ranks x group kinds."""
    kinds = tuple(dict.fromkeys((*before.groups.groups, *after.groups.groups)))
    old, new = _crossed(before), _crossed(after)
    return MapDiff(
        moved=tuple(_moved(before.places, after.places)),
        groups=tuple(change for kind in kinds for change in _changed(kind, before.groups, after.groups)),
        crossings=tuple(_came(kinds, old, new)),
        ended=tuple(_came(kinds, new, old)),
        counts=_counts(kinds, old, new),
    )


def _moved(before: Sequence[Placement], after: Sequence[Placement]) -> Iterator[MovedRank]:
    for rank in range(max(len(before), len(after))):
        old = before[rank] if rank < len(before) else None
        new = after[rank] if rank < len(after) else None
        what = ("rank",) if old is None or new is None else _differing(old, new)
        if what:
            yield MovedRank(rank=rank, before=old, after=new, what=what)


def _differing(old: Placement, new: Placement) -> tuple[str, ...]:
    nics = [stated(place.nic) for place in (old, new)]
    pairs = {"node": (old.node, new.node), "device": (old.device, new.device), "nic": (nics[0], nics[1])}
    return tuple(name for name, (one, other) in pairs.items() if one != other)


def _changed(kind: str, before: TopologyGroups, after: TopologyGroups) -> Iterator[GroupChange]:
    old, new = set(before.groups.get(kind, ())), set(after.groups.get(kind, ()))
    if old != new:
        yield GroupChange(kind=kind, only_before=tuple(sorted(old - new)), only_after=tuple(sorted(new - old)))


def _crossed(placed: PlacedMap) -> Reached:
    boundaries = boundaries_of(placed.places, placed.site)
    names = tuple(boundaries)
    return {
        kind: {
            group: frozenset(name for name, crosses in zip(names, reach_of(group, boundaries), strict=True) if crosses)
            for group in found
        }
        for kind, found in placed.groups.groups.items()
    }


def _came(kinds: Sequence[str], old: Reached, new: Reached) -> Iterator[NewCrossing]:
    for kind in kinds:
        known = old.get(kind, {})
        for group, crossed in sorted(new.get(kind, {}).items()):
            for boundary in sorted(crossed - known.get(group, frozenset())):
                yield NewCrossing(kind=kind, members=group, boundary=boundary, is_new=group not in known)


def _counts(kinds: Sequence[str], old: Reached, new: Reached) -> dict[tuple[str, str], tuple[int, int]]:
    found = {}
    for kind in kinds:
        sides = [Counter(name for crossed in side.get(kind, {}).values() for name in crossed) for side in (old, new)]
        for boundary in sorted({*sides[0], *sides[1]}):
            if sides[0][boundary] != sides[1][boundary]:
                found[kind, boundary] = (sides[0][boundary], sides[1][boundary])
    return found
