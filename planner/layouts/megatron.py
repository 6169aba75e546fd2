"""Megatron-LM: two grids over the same ranks, one for dense layers and one for experts.

Rules kept: those of Megatron-LM d98e8a64 (``core/parallel_state.py``). Axes are named in an order whose leftmost is
fastest, ``tp-cp-ep-dp-pp`` unless given. Dense grid: tp, cp, dp, pp. Expert grid: etp, ep, edp, pp. World =
tp x cp x dp x pp = etp x ep x edp x pp, so ``ep`` multiplies nothing; the parallelism guide of its documentation says
otherwise and is wrong. ``etp`` is ``tp`` unless given. The axis ``gtp_remat`` is left at 1, where it changes nothing.

Not handled: encoders with a grid of their own, hierarchical context parallelism.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from planner.layouts import checks, layers
from planner.layouts.base import (
    TENSOR_LIKE,
    Degrees,
    DivisibilityCheck,
    Groups,
    InstanceGroups,
    Launch,
    LayerSplit,
    Layout,
    LayoutRefusedError,
    Seats,
    Shards,
    check_count,
    check_extra,
    check_world,
    extra_count,
    extra_flag,
    extra_text,
    grid,
    seats_by_block,
)
from planner.layouts.experts import place_even
from planner.records.contract import Model
from planner.shown import shown

DEFAULT_ORDER = "tp-cp-ep-dp-pp"
DATA_LAST_ORDER = "tp-cp-ep-pp-dp"
AXES = ("tp", "pp", "dp", "ep", "cp", "gtp_remat")
EXTRA = (
    "etp",
    "gtp_remat",
    "num_layers_in_first_pipeline_stage",
    "num_layers_in_last_pipeline_stage",
    "order",
    "use_tp_pp_dp_mapping",
    "vpp",
)

DENSE_KINDS = {
    "dp_cp": ("dp", "cp"),
    "dp": ("dp",),
    "cp": ("cp",),
    "mp": ("tp", "pp"),
    "tp": ("tp",),
    "pp": ("pp",),
    "tp_dp_cp": ("tp", "dp", "cp"),
    "tp_dp": ("tp", "dp"),
    "tp_cp": ("tp", "cp"),
}
EXPERT_KINDS = {
    "ep": ("ep",),
    "etp": ("tp",),
    "etp_ep": ("tp", "ep"),
    "etp_ep_pp": ("tp", "ep", "pp"),
    "edp": ("dp",),
}


def build(degrees: Degrees) -> InstanceGroups:
    """Groups of both grids, and those that share embeddings between first and last stage."""
    check_extra(degrees, EXTRA, "megatron")
    world = check_world({"tp": degrees.tp, "cp": degrees.cp, "dp": degrees.dp, "pp": degrees.pp})
    _check_unused(degrees)
    layer_split(degrees)
    etp = extra_count(degrees, "etp", degrees.tp)
    expert_ranks = etp * check_count("ep", degrees.ep) * degrees.pp
    if world % expert_ranks:
        raise LayoutRefusedError(
            "expert_grid",
            f"world_size ({world}) is not divisible by expert_tensor_model_pipeline_parallel size ({expert_ranks})",
        )
    edp = world // expert_ranks
    order = order_of(degrees)
    dense = _Grid({"tp": degrees.tp, "cp": degrees.cp, "dp": degrees.dp, "pp": degrees.pp}, order, "tp")
    expert = _Grid({"tp": etp, "ep": degrees.ep, "dp": edp, "pp": degrees.pp}, order, "ep")
    _check_pipelines(degrees, order, dense, expert, edp)
    groups = {kind: dense.groups(axes) for kind, axes in DENSE_KINDS.items()}
    groups["embd"] = tuple([group if len(group) == 1 else (group[0], group[-1]) for group in groups["pp"]])
    groups["pos_embd"] = tuple([group[:1] for group in groups["pp"]])
    groups |= {kind: expert.groups(axes) for kind, axes in EXPERT_KINDS.items()}
    return InstanceGroups(
        world_size=world,
        groups=groups,
        tensor_like=TENSOR_LIKE & set(groups),
        joins=frozenset({"tp", "pp", "cp", "ep", "etp"}),
        sizes={"dp": degrees.dp, "edp": edp, "etp": etp},
    )


def order_of(degrees: Degrees) -> str:
    """Return the order of axes: given, or by the switch that puts data last, or the default."""
    default = DATA_LAST_ORDER if extra_flag(degrees, "use_tp_pp_dp_mapping") else DEFAULT_ORDER
    return extra_text(degrees, "order", default).lower()


class _Grid:
    """One grid of ranks with named axes, the leftmost of ``order`` fastest."""

    def __init__(self, sizes: Mapping[str, int], order: str, anchor: str) -> None:
        """Complete ``order`` with axes of size 1; ``anchor`` is the axis after which the engine puts ``gtp_remat``.

        Raises:
            LayoutRefusedError: the order repeats or invents an axis, or lacks one of more than 1.
        """
        axes = _with_remat(_axes_of(order), anchor)
        for name in AXES:
            size = sizes.get(name, 1)
            if name not in axes and (size != 1 or name == "tp"):
                # The engine's own words, which lack a blank.
                raise LayoutRefusedError(
                    "order",
                    f"The size of ({name}) is ({size}), but you haven'tspecified the order ({'-'.join(axes)}).",
                )
        axes += [name for name in AXES if name not in axes]
        # Row-major grids have their last axis fastest, so the order is turned round.
        self._axes = tuple(reversed(axes))
        self._shape = tuple([sizes.get(name, 1) for name in self._axes])
        self._built: dict[tuple[int, ...], Groups] = {}

    def groups(self, names: tuple[str, ...]) -> Groups:
        """Groups along the named axes, built once for all kinds that are the same; ranks ascend inside a group."""
        axes = sorted(self._axes.index(name) for name in names)
        split = tuple([axis for axis in axes if self._shape[axis] > 1])
        if split not in self._built:
            self._built[split] = grid(self._shape, split)
        return self._built[split]


def _axes_of(order: str) -> list[str]:
    axes = order.split("-")
    if len(set(axes)) != len(axes) or not set(axes) <= set(AXES):
        raise LayoutRefusedError("order", f"order is made of {', '.join(AXES[:5])}, each once; found {shown(order)}")
    return axes


def _with_remat(axes: list[str], anchor: str) -> list[str]:
    if "gtp_remat" in axes:
        return axes
    after = anchor if anchor in axes else "tp"
    at = axes.index(after) + 1 if after in axes else 0
    return [*axes[:at], "gtp_remat", *axes[at:]]


def _check_unused(degrees: Degrees) -> None:
    if degrees.dcp != 1:
        raise LayoutRefusedError("unknown_degree", "megatron has no decode context parallelism; dcp must be 1")
    remat = extra_count(degrees, "gtp_remat")
    if remat != 1:
        raise LayoutRefusedError("gtp_remat", f"gtp_remat is left at 1 by this layout; found {remat}")
    if degrees.extra.get("vpp") is not None and extra_count(degrees, "vpp") and degrees.pp == 1:
        raise LayoutRefusedError(
            "vpp", "pipeline-model-parallel size should be greater than 1 with interleaved schedule"
        )


def _check_pipelines(degrees: Degrees, order: str, dense: _Grid, expert: _Grid, edp: int) -> None:
    """Both grids must cut the ranks into the same pipelines."""
    if not (order.endswith("pp") or degrees.pp == 1 or edp == degrees.dp):
        raise LayoutRefusedError(
            "order",
            "When not using pp-last rank ordering, the data parallel size of the attention and moe layers "
            "must be the same",
        )
    if dense.groups(("pp",)) != expert.groups(("pp",)):
        raise LayoutRefusedError(
            "order", "Pipeline parallel groups are expected to be the same for Non-Expert and Expert part"
        )


def check_heads(heads: int, query_groups: int | None, tp: int) -> None:
    """Refuse what ``TransformerConfig.__post_init__`` refuses.

    Raises:
        LayoutRefusedError: heads do not split over tp, or query groups are neither a multiple nor a divisor of it.
    """
    if heads % tp:
        raise LayoutRefusedError(
            "attention_heads", f"num_attention_heads ({heads}) must be a multiple of tensor_model_parallel_size ({tp})."
        )
    if query_groups is not None and query_groups % tp and tp % query_groups:
        raise LayoutRefusedError(
            "kv_heads",
            f"num_query_groups ({query_groups}) must be a multiple or divisor of tensor_model_parallel_size ({tp}).",
        )


def check_experts(experts: int, ep: int) -> None:
    """Refuse experts that do not split evenly; the engine's own assertion has no message."""
    if experts % ep:
        raise LayoutRefusedError(
            "experts", f"num_moe_experts % ep_size == 0 fails: num_moe_experts {experts}, ep_size {ep}"
        )


def check_layers(count: int, degrees: Degrees) -> None:
    """Refuse layers that do not split over stages, or a stage's layers that do not split over virtual stages."""
    counts = layer_split(degrees)(count, degrees.pp)
    virtual = extra_count(degrees, "vpp", 1)
    uneven = next((layers for layers in counts if layers % virtual), None)
    if uneven is not None:
        raise LayoutRefusedError(
            "virtual_stages", f"{uneven} layers of a stage do not split over {virtual} virtual stages"
        )


def layer_split(degrees: Degrees) -> LayerSplit:
    """Return the split of layers, with the uneven first and last stage where they are given."""
    first = extra_count(degrees, "num_layers_in_first_pipeline_stage", 0, least=0)
    last = extra_count(degrees, "num_layers_in_last_pipeline_stage", 0, least=0)
    return partial(layers.split_with_ends, first=first, last=last) if first or last else layers.split_even


def shards(degrees: Degrees, sizes: Mapping[str, int]) -> Shards:
    """Heads and dense widths by tp, expert width by etp, experts by ep."""
    return Shards(
        attention=degrees.tp,
        dense=degrees.tp,
        shared=degrees.tp,
        expert_width=sizes["etp"],
        expert_ranks=degrees.ep,
        kv_copies_of_mla=degrees.tp,
        schedulers=degrees.dp,
    )


def divisibility(model: Model, degrees: Degrees, block: int | None = None) -> tuple[DivisibilityCheck, ...]:
    """Equal shares, of layers over virtual stages too."""
    split = shards(degrees, build(degrees).sizes)
    return (
        *checks.attention_checks(model, split),
        checks.layers(model.layers, degrees.pp, layer_split(degrees)),
        *_virtual_stages(model, degrees),
        *checks.expert_checks(model, split.expert_ranks, 0),
        *checks.width_checks(model, split, block),
    )


def _virtual_stages(model: Model, degrees: Degrees) -> Iterator[DivisibilityCheck]:
    try:
        check_layers(model.layers, degrees)
    except LayoutRefusedError as refused:
        if refused.constraint == "virtual_stages":
            yield DivisibilityCheck(name="virtual_stages", passed=False, sentence=refused.message)


def seats(degrees: Degrees, launch: Launch) -> Seats:
    """``torchrun`` fills nodes in order."""
    return seats_by_block(degrees.tp * degrees.cp * degrees.dp * degrees.pp, launch)


LAYOUT = Layout(
    id="megatron",
    title="Megatron-LM",
    statement="Megatron-LM: ranks = tp x cp x dp x pp; experts have a grid of their own, etp x ep x edp x pp",
    build=build,
    divisibility=divisibility,
    seats=seats,
    shards=shards,
    layer_split=layer_split,
    place_experts=place_even,
)
