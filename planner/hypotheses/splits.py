"""How each engine splits a model over the ranks of an instance: the degree that really shards each tensor.

The rules are those of the layouts (``planner.layouts``, ``docs/reference/layouts.md``), which ``model_divisibility``
tests: here a split gives shares, there a verdict.
"""

from dataclasses import dataclass

from planner.hypotheses.facts import MissingFactsError, Shape, SplitRefusedError, known
from planner.hypotheses.tensors import Shares
from planner.layouts import LAYOUTS, Degrees
from planner.layouts.base import ExpertPlacement, extra_count

__all__ = ["InstanceSplit", "instance_split"]

MOST_EXPERTS = 65_536
"""Experts of a layer that are placed one by one; the largest published number is below a hundredth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSplit:
    """Shares of one engine instance.

    ``schedulers`` is how many independent queues share its requests. ``cache_ranks`` ranks divide the tokens of a
    sequence among them (decode context). ``whole_tables`` False says that embedding and head are not split by the rule
    of ``shares``, and that no rule is known.
    """

    shares: Shares
    expert_ranks: int
    schedulers: int
    cache_ranks: int
    context_ranks: int
    whole_tables: bool
    experts_held: tuple[int, ...]
    layers: tuple[int, ...]


def instance_split(layout: str, degrees: Degrees, shape: Shape) -> InstanceSplit:
    """Return how a layout splits a model.

    Raises:
        LayoutRefusedError: the degrees are refused, or layers or experts do not split.
        MissingFactsError: the number of layers or of experts.
        SplitRefusedError: more than ``MOST_EXPERTS``.
    """
    engine = LAYOUTS[layout]
    shards = engine.shards(degrees, engine.build(degrees).sizes)
    (layers,) = known(shape, "layers")
    return InstanceSplit(
        shares=Shares(
            attention=shards.attention,
            dense=shards.dense,
            shared=shards.shared,
            expert_width=shards.expert_width,
            vocabulary=shards.dense,
            kv_rounded_up=shards.kv_rounded_up,
        ),
        expert_ranks=shards.expert_ranks,
        schedulers=shards.schedulers,
        cache_ranks=degrees.dcp,
        context_ranks=degrees.cp,
        whole_tables=shards.attention_data == 1,
        experts_held=_held(engine.place_experts, degrees, shape, shards.expert_ranks),
        layers=engine.layer_split(degrees)(layers, degrees.pp),
    )


def _held(place: ExpertPlacement, degrees: Degrees, shape: Shape, ranks: int) -> tuple[int, ...]:
    """Return the experts of a layer that each expert-parallel rank holds, redundant copies included."""
    if not shape.moe:
        return ()
    if shape.experts is None:
        raise MissingFactsError(["experts"])
    if shape.experts > MOST_EXPERTS:
        raise SplitRefusedError("experts", f"{shape.experts} experts are more than the {MOST_EXPERTS} that are placed")
    redundant = extra_count(degrees, "redundant_experts", 0, least=0)
    return tuple(len(experts) for experts in place(shape.experts + redundant, ranks))
