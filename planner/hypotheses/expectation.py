"""What one topology lets one expect for a contract: bytes of every part on every rank, bytes at every boundary.

Rules kept: a figure has its formula, or the names of the fields it needs; integers are exact; ranks that hold the same
stand together. The result is for pages beside measurements; gates never see it.

Not handled: time, and how requests really spread: they are taken as even over schedulers, rounded up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from planner.hypotheses.boundaries import Boundary, boundaries
from planner.hypotheses.contract import formats_of_precision, shape_of_model
from planner.hypotheses.expected import Expected
from planner.hypotheses.facts import Shape
from planner.hypotheses.formats import WeightFormat
from planner.hypotheses.parts import PARTS, PartName, activations_part, stage_parts, stages_of
from planner.hypotheses.splits import InstanceSplit, instance_split
from planner.hypotheses.steps import Steps, steps_of
from planner.rankmap import TopologyGroups, degrees_of, topology_groups
from planner.records.base import stated
from planner.records.contract import Identity
from planner.records.evidence import Topology

__all__ = ["PARTS", "Boundary", "Expectation", "Expected", "PartName", "RankShare", "expectation"]

Role = Literal["serve", "prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankShare:
    """What each of ``ranks`` (global numbers) holds: one stage of one instance, with the same number of experts."""

    instance: int
    role: Role
    stage: int
    experts: int
    ranks: tuple[int, ...]
    parts: Mapping[PartName, Expected]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Hypotheses for one topology under one load point."""

    shares: tuple[RankShare, ...]
    boundaries: tuple[Boundary, ...]


def expectation(
    identity: Identity,
    topology: Topology,
    load_point: str | None = None,
    *,
    shape: Shape | None = None,
    formats: WeightFormat | None = None,
) -> Expectation:
    """Return the hypotheses for a contract's identity and a topology.

    ``load_point`` names the load whose requests in flight fill the KV cache and a decode step. ``shape`` and
    ``formats`` take the place of what the contract states, where a ``config.json`` says more. Bytes throughout.

    Raises:
        LayoutRefusedError: the layout refuses the degrees, or layers or experts do not split over them.
        MissingFactsError: the number of experts of a mixture of experts.
        SplitRefusedError: more experts than are placed one by one.
    """
    shape = shape or shape_of_model(identity.model)
    formats = formats or formats_of_precision(identity.precision)
    groups = topology_groups(topology, moe=shape.moe)
    splits = [
        instance_split(topology.layout, degrees_of(instance, moe=shape.moe), shape) for instance in topology.instances
    ]
    roles: list[Role] = [stated(instance.role) or "serve" for instance in topology.instances]
    steps = steps_of(identity.workload, load_point, list(zip(roles, splits, strict=True)))
    shares = []
    for place, split in enumerate(splits):
        stages = stages_of(split.layers)
        activations = activations_part(shape, identity.precision, split, steps[place])
        for (stage, experts), ranks in _alike(groups, place, split).items():
            parts = {
                **stage_parts(shape, formats, identity.precision, split, stages[stage], experts, steps[place]),
                "activations": activations,
            }
            shares.append(
                RankShare(
                    instance=place, role=roles[place], stage=stage, experts=experts, ranks=tuple(ranks), parts=parts
                )
            )
    crossing = _boundaries(shape, identity, topology, splits, steps, roles)
    return Expectation(shares=tuple(shares), boundaries=tuple(crossing))


def _boundaries(
    shape: Shape,
    identity: Identity,
    topology: Topology,
    splits: list[InstanceSplit],
    steps: list[Steps],
    roles: list[Role],
) -> Iterator[Boundary]:
    for place, (split, step, role) in enumerate(zip(splits, steps, roles, strict=True)):
        yield from boundaries(
            shape, identity.precision, topology.layout, split, step, instance=place, hands_off=role == "prefill"
        )


def _alike(groups: TopologyGroups, place: int, split: InstanceSplit) -> dict[tuple[int, int], list[int]]:
    """Return the ranks of an instance by stage and number of experts held, in order of rank."""
    start = groups.starts[place]
    stages = groups.coordinates["pp"]
    expert_kind = next((kind for kind in ("moe_ep", "ep") if kind in groups.coordinates), None)
    found: dict[tuple[int, int], list[int]] = {}
    for rank in range(start, start + groups.world_sizes[place]):
        stage = stages[rank]
        seat = groups.coordinates[expert_kind][rank] if expert_kind else None
        held = 0
        if split.experts_held:
            # With expert parallelism off the group holds slices of every expert: all positions hold all of them.
            held = split.experts_held[seat[1] if seat and len(split.experts_held) > 1 else 0]
        found.setdefault((stage[1] if stage else 0, held), []).append(rank)
    return found
