"""A decomposition as a topology, and as a trial that nobody measured: what gates that read no measurement can judge."""

from datetime import UTC, datetime

from planner.contract_view import ContractView
from planner.gates import GATES
from planner.gates.base import Gate, Standing
from planner.identity import compare_identity
from planner.layouts import Degrees
from planner.records.base import UNSET
from planner.records.evidence import Instance, LayoutName, ObservedIdentity, Placement, Topology, Trial
from planner.view import TrialView

__all__ = ["refused_by_map", "topology_of", "unmeasured"]

NEVER = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of a trial that was not measured; nothing that is asked of it reads a time."""


def topology_of(layout: LayoutName, degrees: Degrees, world: int) -> Topology:
    """Return the topology of one engine instance; degrees of 1 that may be left out are."""
    extra = {name: value for name, value in degrees.extra.items() if value is not None}
    instance = Instance(
        tp=degrees.tp,
        pp=degrees.pp,
        ep=degrees.ep,
        dp=degrees.dp,
        cp=degrees.cp if degrees.cp > 1 else UNSET,
        dcp=degrees.dcp if degrees.dcp > 1 else UNSET,
        engine_degrees=extra or UNSET,
        world_size=world,
    )
    return Topology(layout=layout, instances=(instance,))


def unmeasured(ground: ContractView, name: str, topology: Topology, rank_map: tuple[Placement, ...]) -> TrialView:
    """Return the view of a trial without a window."""
    return TrialView(
        id=name,
        trial=Trial(topology=topology, rank_map=rank_map, identity_id="planned", windows={}),
        content_id="",
        ground=ground,
        identity=compare_identity({}, ObservedIdentity(), ()),
        as_of=NEVER,
    )


def refused_by_map(view: TrialView) -> tuple[str, str] | None:
    """Return what fails whatever is measured: the limit (or gate) and its sentence; None where nothing does.

    Of the gates without a limit only ``placement`` is asked: what the others test, the layouts have tested.
    """
    for gate in GATES:
        for name, limit in _of_placement(gate, view):
            finding = gate.rule(view, limit)
            if finding.outcome == "FAIL":
                return (f"{gate.id}.{name}" if name else gate.id), finding.text
    return None


def _of_placement(gate: Gate, view: TrialView) -> list[tuple[str, object]]:
    """Return the gate's limits that read topology, map and contract alone."""
    if gate.limit is None:
        return [("", Standing())] if gate.grounds == "devices" else []
    limits = view.limits.get(gate.id, {}).items()
    if callable(gate.of_placement):
        return [(name, limit) for name, limit in limits if gate.of_placement(limit)]
    return list(limits) if gate.of_placement else []
