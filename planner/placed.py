"""What follows from a topology and its rank map under one contract: computed once for all trials placed alike.

Rules kept: nothing here reads a measurement, a trial id or another trial, so sharing it between trials is safe. Not
handled: what was measured there (``planner.view``).
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from planner import rankmap
from planner.layouts import LayoutRefusedError
from planner.rankmap import TopologyGroups
from planner.records.base import UnsetType
from planner.records.evidence import Instance, Placement, Topology
from planner.site import Charge, Site, charge, usd_per_hour

__all__ = ["Kept", "Placed"]

T = TypeVar("T")

MISSING: Any = object()


class Kept(dict[Hashable, Any]):
    """Results of pure functions of one thing, by a key that names the function and its other arguments."""

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` gave the first time the key was asked for."""
        # Most keys are asked for once or twice, so that a missing one must not cost an exception.
        found: T = self.get(key, MISSING)
        if found is MISSING:
            found = self[key] = make()
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """A topology on its devices. ``kept`` holds what gates that read nothing else found.

    ``shared`` is one for all placements under a contract: what follows from the topology alone, or from the rank map
    alone, is worked out once for all that have the very same one.
    """

    topology: Topology
    rank_map: tuple[Placement, ...]
    moe: bool
    site: Site
    kept: Kept = field(default_factory=Kept, repr=False)
    shared: Kept = field(default_factory=Kept, repr=False)

    @cached_property
    def name(self) -> str:
        """The name made of degrees."""
        return rankmap.derived_name(self.topology)

    @cached_property
    def rank_map_digest(self) -> str:
        """The content id of the rank map."""
        return self._once_for(self.rank_map, "digest", lambda: rankmap.rank_map_digest(self.rank_map))

    @cached_property
    def rank_device(self) -> tuple[str, ...]:
        """The device of each rank."""
        return tuple([place.device for place in self.rank_map])

    @cached_property
    def rank_node(self) -> tuple[str, ...]:
        """The node of each rank."""
        return tuple([place.node for place in self.rank_map])

    @cached_property
    def ranks_per_node(self) -> Mapping[str, int]:
        """Ranks on each node that holds one, in node id order."""
        return dict(sorted(Counter(self.rank_node).items()))

    @cached_property
    def groups(self) -> TopologyGroups | LayoutRefusedError:
        """The process groups in global ranks, or the layout's refusal of the degrees."""
        return self._once_for(self.topology, "groups", self._groups)

    def _groups(self) -> TopologyGroups | LayoutRefusedError:
        try:
            return rankmap.topology_groups(self.topology, moe=self.moe)
        except LayoutRefusedError as refusal:
            return refusal

    @property
    def topology_groups(self) -> TopologyGroups:
        """The process groups, for gates that need them.

        Raises:
            LayoutRefusedError: the layout refuses the degrees; ``rank_count`` has failed then and such gates do
                not run.
        """
        if isinstance(self.groups, LayoutRefusedError):
            raise self.groups
        return self.groups

    @cached_property
    def serving_groups(self) -> tuple[tuple[int, ...], ...]:
        """Ranks that serve a request together. Raises as ``topology_groups`` does."""
        groups = self.topology_groups
        return self._once_for(self.topology, "serving groups", lambda: rankmap.serving_groups(groups))

    @cached_property
    def largest_group(self) -> int | None:
        """Ranks of the largest serving group; None where the layout refuses the degrees."""
        if isinstance(self.groups, LayoutRefusedError):
            return None
        return max(map(len, self.serving_groups), default=None)

    @cached_property
    def serving_group_set(self) -> frozenset[tuple[int, ...]]:
        """The same, to ask which there are."""
        return frozenset(self.serving_groups)

    @cached_property
    def group_instances(self) -> tuple[tuple[Instance, ...], ...]:
        """The engine instances that each serving group has ranks in. Raises as ``topology_groups`` does."""
        starts, instances = self.topology_groups.starts, self.topology.instances
        return tuple(
            tuple(instances[at] for at in sorted({bisect_right(starts, rank) - 1 for rank in group}))
            for group in self.serving_groups
        )

    @cached_property
    def group_shapes(self) -> tuple[Hashable, ...]:
        """What makes serving groups equal: ranks, degrees and device types. Raises as ``topology_groups`` does."""
        devices = self.site.hardware.devices
        return tuple(
            (len(group), repr(instances), tuple(sorted(devices[self.rank_device[rank]].type for rank in group)))
            for group, instances in zip(self.serving_groups, self.group_instances, strict=True)
        )

    @cached_property
    def group_roles(self) -> tuple[str, ...]:
        """The role of each serving group: serve, prefill or decode. Raises as ``topology_groups`` does."""
        return tuple(
            "serve" if isinstance(instances[0].role, UnsetType) else instances[0].role
            for instances in self.group_instances
        )

    @cached_property
    def crossing_ranks(self) -> tuple[int, ...]:
        """Ranks of a request-path group that crosses a node, in order. Raises as ``topology_groups`` does."""
        found = self.topology_groups
        crossing: set[int] = set()
        for kind in found.joins & found.groups.keys():
            for group in found.groups[kind]:
                if len({self.rank_node[rank] for rank in group}) > 1:
                    crossing.update(group)
        return tuple(sorted(crossing))

    @cached_property
    def charge(self) -> Charge:
        """The devices that the trial is charged for."""
        return charge(self.site, frozenset(self.rank_device))

    @cached_property
    def usd_per_hour(self) -> Fraction | None:
        """The price of all charged devices; None where the charge or the price of a device is not known."""
        return usd_per_hour(self.site, self.charge)

    def _once_for(self, part: object, what: str, make: Callable[[], T]) -> T:
        """Return what follows from the topology or the rank map, made once; the part is kept, so its id stays its."""
        return self.shared.once((what, id(part)), lambda: (make(), part))[0]
