"""A tensor group that reaches across nodes."""

import msgspec

from planner.records.evidence import Placement
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection

Group = tuple[int, ...]


@injection(
    "cross_node_tensor",
    title="Cross-node tensor group",
    fault="the last rank of the first tensor group swaps devices with a rank of another node",
    gates=("tensor_locality", "group_span"),
    needs=("groups", "devices"),
)
def cross_node_tensor(case: Case) -> Fault:
    """The last rank of tensor group 0 swaps node, device and NIC with the first rank of the lowest-numbered group
    that starts on another node. Figures stay as they were measured."""
    view = case.view
    found = view.topology_groups
    kind = next((kind for kind in sorted(found.tensor_like) if any(map(_several, found.groups.get(kind, ())))), None)
    if kind is None:
        return NotInjectable(sentence="No tensor group has more than one rank.")
    groups = [group for group in found.groups[kind] if _several(group)]
    last = groups[0][-1]
    other = next((group[0] for group in groups[1:] if view.rank_node[group[0]] != view.rank_node[last]), None)
    if other is None:
        return NotInjectable(sentence="No other tensor group starts on another node.")
    places = list(view.trial.rank_map)
    places[last], places[other] = _moved(places[last], places[other]), _moved(places[other], places[last])
    return Injected(
        trial=msgspec.structs.replace(view.trial, rank_map=tuple(places)),
        changed=tuple(f"{view.at}/rank_map/{rank}" for rank in (last, other)),
    )


def _several(group: Group) -> bool:
    return len(group) > 1


def _moved(place: Placement, to: Placement) -> Placement:
    return msgspec.structs.replace(to, rank=place.rank)
