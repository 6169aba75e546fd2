"""What crosses what: the groups of a candidate with the links they run on, and bytes at every boundary as hypotheses.

Rules kept: groups and crossings are those of the rank map page; bytes are those of ``planner.hypotheses`` at the
load point that readings decide at. What the contract does not state is named, never assumed.
"""

from collections.abc import Iterable, Iterator

from planner.crossings import crossings
from planner.hypotheses.boundaries import Boundary, boundaries
from planner.hypotheses.contract import shape_of_model
from planner.hypotheses.facts import MissingFactsError, SplitRefusedError
from planner.hypotheses.splits import instance_split
from planner.hypotheses.steps import steps_of
from planner.layouts import LayoutRefusedError
from planner.rankmap import degrees_of
from planner.records.matrix import BoundaryBytes, GroupReach
from planner.view import TrialView

__all__ = ["boundary_bytes", "group_reach"]


def group_reach(view: TrialView) -> tuple[GroupReach, ...]:
    """Return the kinds of groups with more than one rank, in the layout's order."""
    found = crossings(view.topology_groups, view.trial.rank_map, view.site)
    return tuple(
        GroupReach(
            kind=kind,
            role=crossing.role,
            groups=crossing.count,
            sizes=crossing.sizes,
            widest=crossing.widest,
            link=None if crossing.slowest is None else f"{crossing.slowest.link_class} {crossing.slowest.id}",
            link_bytes_per_s=None if crossing.slowest is None else crossing.slowest.bytes_per_s_one_way,
        )
        for kind, crossing in found.items()
        if max(crossing.sizes, default=1) > 1
    )


def boundary_bytes(view: TrialView, load_point: str) -> tuple[BoundaryBytes, ...]:
    """Return the bytes at every boundary of a step; none where the layout or the model cannot be counted at all."""
    identity, topology = view.contract.identity, view.trial.topology
    shape = shape_of_model(identity.model)
    try:
        split = instance_split(topology.layout, degrees_of(topology.instances[0], moe=shape.moe), shape)
    except (LayoutRefusedError, MissingFactsError, SplitRefusedError):
        return ()
    (steps,) = steps_of(identity.workload, load_point, [("serve", split)])
    found = boundaries(shape, identity.precision, topology.layout, split, steps, instance=0, hands_off=False)
    return tuple(_bytes(found))


def _bytes(found: Iterable[Boundary]) -> Iterator[BoundaryBytes]:
    for boundary in found:
        payload = boundary.payload
        yield BoundaryBytes(
            kind=boundary.kind,
            phase=boundary.phase,
            times=boundary.times,
            bytes=payload.bytes,
            formula=payload.formula,
            missing=payload.missing or ((payload.refused,) if payload.refused else ()),
        )
