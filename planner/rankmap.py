"""Global ranks: the process groups of a whole topology, what serves a request together, names and digests.

Rules kept: a global rank is instance order, then local rank; groups that an engine exported are authoritative and a
difference from the layout's rule is said, but their sizes are those of the degrees; every result is ordered. All of
it is linear in ranks x group kinds.

Not handled: where ranks sit (``planner.crossings``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from types import MappingProxyType
from typing import Literal, TypeVar

import msgspec

from planner.canonical import file_sha256
from planner.layouts import LAYOUTS, Degrees, InstanceGroups, LayoutRefusedError
from planner.layouts.base import MAX_RANKS, REQUEST_PATH, TENSOR_LIKE, Groups
from planner.records.base import UnsetType
from planner.records.evidence import Instance, Placement, Topology

Coordinate = tuple[int, int]
Source = Literal["rule", "engine"]
Computed = TypeVar("Computed")

_ENCODER = msgspec.json.Encoder(order="sorted")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyGroups:
    """Process groups in global ranks.

    ``world_sizes`` are the products of the layout, one per instance; ``starts`` the first global rank of each.
    ``sources`` says per kind whether the rule or the engine gave the groups. ``coordinates[kind][rank]`` is (index of
    the group, position in it), or None where the rank is in no group of the kind.
    """

    layout: str
    world_sizes: tuple[int, ...]
    starts: tuple[int, ...]
    groups: Mapping[str, Groups]
    coordinates: Mapping[str, tuple[Coordinate | None, ...]]
    tensor_like: frozenset[str]
    joins: frozenset[str]
    source: Source
    sources: Mapping[str, Source]
    differences: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def ranks(self) -> int:
        """Ranks of all instances."""
        return sum(self.world_sizes)


class Coordinates(Mapping[str, tuple[Coordinate | None, ...]]):
    """Coordinates by kind, worked out when a kind is first asked for: most readers ask for one of many."""

    def __init__(self, groups: Mapping[str, Groups], ranks: int) -> None:
        self._groups = groups
        self._ranks = ranks
        self._found: dict[str, tuple[Coordinate | None, ...]] = {}

    def __getitem__(self, kind: str) -> tuple[Coordinate | None, ...]:
        if kind not in self._found:
            self._found[kind] = _coordinates(self._groups[kind], self._ranks)
        return self._found[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def degrees_of(instance: Instance, *, moe: bool) -> Degrees:
    """Return the degrees of an instance; an absent context degree is 1."""
    extra = {} if isinstance(instance.engine_degrees, UnsetType) else dict(instance.engine_degrees)
    return Degrees(
        tp=instance.tp,
        pp=instance.pp,
        ep=instance.ep,
        dp=instance.dp,
        cp=_or_one(instance.cp),
        dcp=_or_one(instance.dcp),
        extra=MappingProxyType(extra),
        moe=moe,
    )


def topology_groups(topology: Topology, *, moe: bool) -> TopologyGroups:
    """Build every process group of a topology.

    Raises:
        LayoutRefusedError: an instance's degrees are refused, or exported groups contradict themselves or the
            degrees (``process_groups``).
    """
    instances = tuple(_instances(topology, moe=moe))
    sizes = tuple(instance.world_size for instance in instances)
    starts = tuple(accumulate(sizes[:-1], initial=0))
    ruled = _merge(instances, starts)
    ranks = sum(sizes)
    exported = _exported(topology, ranks)
    _check_sizes(ruled, exported)
    groups = {**ruled, **exported}
    return TopologyGroups(
        layout=topology.layout,
        world_sizes=sizes,
        starts=starts,
        groups=MappingProxyType(groups),
        coordinates=Coordinates(groups, ranks),
        tensor_like=_kinds(instances, "tensor_like") | (TENSOR_LIKE & (exported.keys() - ruled.keys())),
        joins=_kinds(instances, "joins") | (REQUEST_PATH & (exported.keys() - ruled.keys())),
        source="engine" if exported else "rule",
        sources=MappingProxyType({kind: "engine" if kind in exported else "rule" for kind in groups}),
        differences=tuple(_differences(ruled, exported, ranks)),
        notices=tuple(dict.fromkeys(notice for instance in instances for notice in instance.notices)),
    )


def once_each(groups: Mapping[str, Groups], compute: Callable[[Groups], Computed]) -> dict[str, Computed]:
    """Compute something of every kind's groups; kinds that hold the very same groups share one result."""
    computed: dict[int, Computed] = {}
    for found in groups.values():
        if id(found) not in computed:
            computed[id(found)] = compute(found)
    return {kind: computed[id(found)] for kind, found in groups.items()}


def serving_groups(groups: TopologyGroups) -> Groups:
    """Return the connected components of ranks that a request needs together, sorted.

    Ranks are joined by every group, of a kind that runs in the request path or in lock-step, that has more than one
    member.
    """
    parent = list(range(groups.ranks))
    for kind in sorted(groups.joins & groups.groups.keys()):
        for group in groups.groups[kind]:
            for member in group[1:]:
                _join(parent, group[0], member)
    found: dict[int, list[int]] = {}
    for rank in range(groups.ranks):
        found.setdefault(_root(parent, rank), []).append(rank)
    return tuple(tuple(ranks) for ranks in found.values())


def derived_name(topology: Topology) -> str:
    """Return the name made of degrees: ``tp4-pp2-ep2-dp1``, ``3x(tp4-...)``, ``prefill:...+decode:...``."""
    parts = []
    for role, instances in groupby(topology.instances, key=_role):
        runs = [_counted(name, len(list(same))) for name, same in groupby(map(_instance_name, instances))]
        parts.append(f"{role}:{'+'.join(runs)}" if role in {"prefill", "decode"} else "+".join(runs))
    return "+".join(parts)


def rank_map_digest(rank_map: Iterable[Placement]) -> str:
    """Return the content id of a rank map as the document has it."""
    # Names are ASCII and numbers whole, so the encoder writes the canonical form by itself.
    return file_sha256(_ENCODER.encode(tuple(rank_map)))


def _or_one(value: int | UnsetType) -> int:
    return 1 if isinstance(value, UnsetType) else value


def _instances(topology: Topology, *, moe: bool) -> Iterator[InstanceGroups]:
    """Build each instance, and stop as soon as there are too many ranks."""
    layout = LAYOUTS[topology.layout]
    ranks = 0
    for instance in topology.instances:
        built = layout.build(degrees_of(instance, moe=moe))
        ranks += built.world_size
        if ranks > MAX_RANKS:
            raise LayoutRefusedError("rank_limit", f"the instances hold more than {MAX_RANKS} ranks")
        yield built


def _exported(topology: Topology, ranks: int) -> dict[str, Groups]:
    """Return the groups that the engine reported, by kind in order of name; none when it reported none."""
    if isinstance(topology.process_groups, UnsetType):
        return {}
    for kind, groups in topology.process_groups.items():
        _check_exported(kind, groups, ranks)
    return dict(sorted(topology.process_groups.items()))


def _merge(instances: Sequence[InstanceGroups], starts: Sequence[int]) -> dict[str, Groups]:
    """Shift local ranks; kinds keep the order in which the layout names them."""
    if len(instances) == 1:
        return dict(instances[0].groups)
    merged: dict[str, list[tuple[int, ...]]] = {}
    for instance, start in zip(instances, starts, strict=True):
        for kind, groups in instance.groups.items():
            merged.setdefault(kind, []).extend(
                groups if start == 0 else [tuple([start + rank for rank in group]) for group in groups]
            )
    return {kind: tuple(groups) for kind, groups in merged.items()}


def _kinds(instances: Iterable[InstanceGroups], field: Literal["tensor_like", "joins"]) -> frozenset[str]:
    return frozenset[str]().union(*(getattr(instance, field) for instance in instances))


def _coordinates(groups: Groups, ranks: int) -> tuple[Coordinate | None, ...]:
    found: list[Coordinate | None] = [None] * ranks
    for index, group in enumerate(groups):
        for position, rank in enumerate(group):
            found[rank] = (index, position)
    return tuple(found)


def _check_exported(kind: str, groups: Iterable[Sequence[int]], ranks: int) -> None:
    """Every member exists and no rank is in two groups of one kind; a group has members."""
    seen = bytearray(ranks)
    for group in groups:
        if not group:
            raise LayoutRefusedError("process_groups", f"{kind}: a group has no member")
        for rank in group:
            if rank >= ranks:
                raise LayoutRefusedError("process_groups", f"{kind}: rank {rank} is not one of {ranks} ranks")
            if seen[rank]:
                raise LayoutRefusedError("process_groups", f"{kind}: rank {rank} is in two groups, or twice in one")
            seen[rank] = 1


def _check_sizes(ruled: Mapping[str, Groups], exported: Mapping[str, Groups]) -> None:
    """The engine may place a kind's groups elsewhere than the rule, but as many of the same sizes.

    Groups of other sizes are not what the degrees say, and groups left out would hide what they cross.
    """
    for kind in exported.keys() & ruled.keys():
        reported, given = (sorted(map(len, groups)) for groups in (exported[kind], ruled[kind]))
        if reported != given:
            found, expected = _sizes(reported), _sizes(given)
            raise LayoutRefusedError(
                "process_groups", f"{kind}: the engine reports {found}; the degrees give {expected}"
            )


def _sizes(sizes: Sequence[int]) -> str:
    """Say sizes in words, for instance ``2 groups of 4 ranks``."""
    runs = [(size, len(list(same))) for size, same in groupby(sizes)]
    texts = [f"{many} group{'s' if many > 1 else ''} of {size} rank{'s' if size > 1 else ''}" for size, many in runs]
    return " and ".join(texts) or "no group"


def _differences(ruled: Mapping[str, Groups], exported: Mapping[str, Groups], ranks: int) -> Iterator[str]:
    for kind, groups in exported.items():
        if kind not in ruled:
            yield f"{kind}: the engine reports this kind; the rule has none"
        elif set(groups) != set(ruled[kind]):
            first = min(set(groups) ^ set(ruled[kind]))
            yield f"{kind}: engine and rule differ, first in the group of rank {first[0]}"
        if sum(map(len, groups)) < ranks:
            yield f"{kind}: the engine's groups hold {sum(map(len, groups))} of {ranks} ranks"


def _root(parent: list[int], rank: int) -> int:
    while parent[rank] != rank:
        parent[rank] = parent[parent[rank]]
        rank = parent[rank]
    return rank


def _join(parent: list[int], one: int, other: int) -> None:
    """Keep the smallest rank as root, so that components come out in order."""
    low, high = sorted((_root(parent, one), _root(parent, other)))
    parent[high] = low


def _role(instance: Instance) -> str:
    return "serve" if isinstance(instance.role, UnsetType) else instance.role


def _instance_name(instance: Instance) -> str:
    name = f"tp{instance.tp}-pp{instance.pp}-ep{instance.ep}-dp{instance.dp}"
    optional = (("cp", _or_one(instance.cp)), ("dcp", _or_one(instance.dcp)))
    return name + "".join(f"-{label}{value}" for label, value in optional if value > 1)


def _counted(name: str, count: int) -> str:
    return name if count == 1 else f"{count}x({name})"
