"""Which rank, device, link or serving group a name in a file means.

Files name devices by an index of one node (``gpu-3``), ranks by their coordinates (``dp0-tp1``) and ports by the
kernel's name (``mlx5_0-1``). Ranks follow from the layout; devices and links only a person can tell, once for all
files of a machine. A name that leads nowhere, or to several, leads nowhere.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from planner.layouts import LayoutRefusedError
from planner.rankmap import TopologyGroups, serving_groups, topology_groups
from planner.records.base import UnsetType
from planner.records.evidence import Topology

__all__ = ["Names", "is_device", "topology_from"]

_DEVICE = re.compile(r"(?:gpu|node-[0-9]+-gpu|device)-?[0-9]+(?:-mig-[0-9]+)?")
_COORDINATE = re.compile(r"([a-z]+)([0-9]{1,9})(?![0-9])")
_GROUP = re.compile(r"(?:dp|engine-|replica-)([0-9]{1,9})")
_ROLE = re.compile(r"(prefill|decode)-([0-9]{1,9})")


def is_device(of: str) -> bool:
    """Say whether a name is one of a device on some machine."""
    return _DEVICE.fullmatch(of) is not None


@dataclass(frozen=True)
class Names:
    """Names of one trial. ``topology`` and ``rank_map`` are None while they are open or wrong."""

    topology: Topology | None
    rank_device: tuple[str, ...] | None
    devices: Mapping[str, str]
    links: Mapping[str, str]
    moe: bool

    @cached_property
    def groups(self) -> TopologyGroups | None:
        """The process groups, None where the degrees do not make any."""
        if self.topology is None:
            return None
        try:
            return topology_groups(self.topology, moe=self.moe)
        except LayoutRefusedError:
            return None

    @cached_property
    def ranks(self) -> int | None:
        """How many ranks there are, None while that is open."""
        return None if self.groups is None else self.groups.ranks

    @cached_property
    def serving(self) -> tuple[tuple[int, ...], ...]:
        """The serving groups, none while that is open."""
        return () if self.groups is None else serving_groups(self.groups)

    @cached_property
    def _ranks_on(self) -> Mapping[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for rank, device in enumerate(self.rank_device or ()):
            found[device] = (*found.get(device, ()), rank)
        return found

    @cached_property
    def _group_at(self) -> Mapping[int, int]:
        return {rank: number for number, group in enumerate(self.serving) for rank in group}

    @cached_property
    def _found(self) -> dict[str, tuple[int, ...]]:
        return {}

    def ranks_of(self, of: str) -> tuple[int, ...]:
        """Return the ranks that a name means: those on a device, or the one of some coordinates."""
        if of not in self._found:
            self._found[of] = self._looked_up(of)
        return self._found[of]

    def _looked_up(self, of: str) -> tuple[int, ...]:
        if is_device(of):
            return self._ranks_on.get(self.devices.get(of, ""), ())
        if of == "":
            return (0,) if self.ranks == 1 else ()
        rank = re.fullmatch(r"rank-([0-9]{1,9})", of)
        if rank is not None:
            return (int(rank[1]),) if self.ranks is not None and int(rank[1]) < self.ranks else ()
        found = self._by_coordinates({kind: int(at) for kind, at in _COORDINATE.findall(of)})
        return found if len(found) == 1 else ()

    def _by_coordinates(self, wanted: Mapping[str, int]) -> tuple[int, ...]:
        if self.groups is None or self.topology is None or len(self.topology.instances) != 1:
            return ()
        return tuple(rank for rank in range(self.groups.ranks) if self._sits(rank, wanted))

    def _sits(self, rank: int, wanted: Mapping[str, int]) -> bool:
        """Say whether a rank has the coordinates; kinds that the layout does not have prove nothing."""
        groups = self.groups
        if groups is None:
            return False
        for kind, at in wanted.items():
            if kind == "dp" and self._dp_is_serving:
                place = self._group_at[rank]
            else:
                coordinates = groups.coordinates[kind][rank] if kind in groups.groups else None
                if coordinates is None:
                    continue
                place = coordinates[1]
            if place != at:
                return False
        return True

    @property
    def _dp_is_serving(self) -> bool:
        """Say whether every data parallel rank serves by itself."""
        return self.topology is not None and len(self.serving) == self.topology.instances[0].dp > 1

    def group_of(self, of: str) -> int | None:
        """Return the serving group that a name means, by its place in the layout's order."""
        if len(self.serving) == 1 and (of == "" or _ROLE.fullmatch(of) is not None):
            return 0
        numbered = _GROUP.fullmatch(of)
        if numbered is not None:
            # A single group of several data parallel engines holds what all of them hold, not what one prints.
            several = self.topology is not None and len(self.serving) == sum(self._dps)
            return int(numbered[1]) if several and int(numbered[1]) < len(self.serving) else None
        role = _ROLE.fullmatch(of)
        return None if role is None else self._of_role(role[1], int(role[2]))

    @property
    def _dps(self) -> Sequence[int]:
        return () if self.topology is None else [instance.dp for instance in self.topology.instances]

    def _of_role(self, role: str, number: int) -> int | None:
        if self.topology is None or self.groups is None:
            return None
        instances = [
            at
            for at, instance in enumerate(self.topology.instances)
            if not isinstance(instance.role, UnsetType) and instance.role == role
        ]
        if number >= len(instances):
            return None
        start = self.groups.starts[instances[number]]
        size = self.groups.world_sizes[instances[number]]
        own = range(start, start + size)
        inside = [at for at, group in enumerate(self.serving) if all(rank in own for rank in group)]
        return inside[0] if len(inside) == 1 else None


def topology_from(tree: object) -> Topology | None:
    """Return a topology that is sound, else None."""
    try:
        return msgspec.convert(tree, Topology)
    except msgspec.ValidationError:
        return None
