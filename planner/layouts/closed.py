"""``closed``: this project's own decomposition, in which every degree multiplies the ranks.

Rules kept: world = tp x pp x ep x dp; rank = ((dp * EP + ep) * PP + pp) * TP + tp; a rank map places ranks and never
changes coordinates. It matches no engine; it exists so that rank accounting can be audited.
"""

from collections.abc import Mapping

from planner.layouts import checks, layers
from planner.layouts.base import (
    Degrees,
    DivisibilityCheck,
    InstanceGroups,
    Launch,
    LayerSplit,
    Layout,
    LayoutRefusedError,
    Seats,
    Shards,
    check_extra,
    check_world,
    grid,
    seats_by_block,
)
from planner.layouts.experts import place_even
from planner.records.contract import Model


def build(degrees: Degrees) -> InstanceGroups:
    """Tensor groups are consecutive; pipeline, expert and data groups are strided in that order."""
    check_extra(degrees, (), "closed")
    if degrees.cp != 1 or degrees.dcp != 1:
        raise LayoutRefusedError("unknown_degree", "closed has no context parallelism; cp and dcp must be 1")
    shape = {"dp": degrees.dp, "ep": degrees.ep, "pp": degrees.pp, "tp": degrees.tp}
    world = check_world(shape)
    sizes = tuple(shape.values())
    return InstanceGroups(
        world_size=world,
        groups={"tp": grid(sizes, (3,)), "pp": grid(sizes, (2,)), "ep": grid(sizes, (1,)), "dp": grid(sizes, (0,))},
        tensor_like=frozenset({"tp"}),
        joins=frozenset({"tp", "pp", "ep"}),
    )


def shards(degrees: Degrees, sizes: Mapping[str, int]) -> Shards:
    """Tensor ranks split every width, expert ranks the experts."""
    return Shards(
        attention=degrees.tp,
        dense=degrees.tp,
        shared=degrees.tp,
        expert_width=degrees.tp,
        expert_ranks=degrees.ep,
        kv_copies_of_mla=degrees.tp,
        schedulers=degrees.dp,
    )


def layer_split(degrees: Degrees) -> LayerSplit:
    """Return the split of layers: equal stages only."""
    return layers.split_even


def divisibility(model: Model, degrees: Degrees, block: int | None = None) -> tuple[DivisibilityCheck, ...]:
    """Everything splits evenly; there is no engine to accept less."""
    split = shards(degrees, {})
    return (
        *checks.attention_checks(model, split),
        checks.layers(model.layers, degrees.pp, layer_split(degrees)),
        *checks.expert_checks(model, split.expert_ranks, 0),
        *checks.width_checks(model, split, block),
    )


def seats(degrees: Degrees, launch: Launch) -> Seats:
    """Ranks fill nodes in order; a rank map in the evidence replaces this."""
    return seats_by_block(degrees.tp * degrees.pp * degrees.ep * degrees.dp, launch)


LAYOUT = Layout(
    id="closed",
    title="Closed decomposition",
    statement="closed: ranks = tp x pp x ep x dp, for auditing rank accounting; it matches no engine",
    build=build,
    divisibility=divisibility,
    seats=seats,
    shards=shards,
    layer_split=layer_split,
    place_experts=place_even,
)
