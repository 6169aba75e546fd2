"""TensorRT-LLM: ranks = pipeline x context x tensor, tensor fastest; expert degrees are cut out of tensor.

Rules kept: those of ``mapping.py`` at b35ac1b6. MPI rank = (pp * CP + cp) * TP + tp; the Ray orchestrator builds a
device mesh (cp, pp, tp) instead, so with cp > 1 and pp > 1 its groups differ. Inside the expert block the order is
(moe_tp, moe_cluster, moe_ep), moe_ep fastest: the opposite of SGLang and Megatron. ``Degrees.ep`` is moe_ep; moe_tp is
the rest of the block unless given. Attention data parallelism makes every tensor rank a data rank and adds none.

Not handled: draft models with a mapping of their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.layouts import checks, layers
from planner.layouts.base import (
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
    short_of_nodes,
)
from planner.layouts.experts import place_floor
from planner.records.base import stated
from planner.records.contract import Model
from planner.shown import shown

EXTRA = (
    "attn_cp",
    "attn_tp",
    "cp_type",
    "enable_attention_dp",
    "enable_lm_head_tp_in_adp",
    "moe_cluster",
    "moe_tp",
    "orchestrator",
)
CP_TYPES = ("ULYSSES", "STAR", "RING", "HELIX")
ORCHESTRATORS = ("mpi", "ray")
GPUS_PER_NODE = 8
"""The engine's own default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Every size of a mapping; ``block`` is the ranks of a stage that share a mixture-of-experts layer."""

    tp: int
    pp: int
    cp: int
    moe_tp: int
    moe_ep: int
    moe_cluster: int
    attn_tp: int
    attn_cp: int
    block: int
    cp_type: str

    @property
    def moe_used(self) -> bool:
        """Say whether the expert groups cover the ranks: with context parallelism only Helix uses them."""
        return self.cp == 1 or self.cp_type != "ULYSSES"


def build(degrees: Degrees) -> InstanceGroups:
    """Groups of one mapping, by the orchestrator's own order of axes."""
    check_extra(degrees, EXTRA, "trtllm")
    world = check_world({"tp": degrees.tp, "pp": degrees.pp, "cp": degrees.cp})
    attention_dp = _attention_dp(degrees)
    sizes = sizes_of(degrees)
    groups = ray_groups(sizes) if _orchestrator(degrees) == "ray" else mpi_groups(sizes)
    moe = degrees.moe and sizes.moe_used
    moe_kinds = groups.keys() - {"tp", "pp", "cp"}
    return InstanceGroups(
        world_size=world,
        groups=groups,
        tensor_like=frozenset({"tp", "moe_tp"} & groups.keys()) if moe else frozenset({"tp"}),
        joins=frozenset({"tp", "pp", "cp"} | (moe_kinds if moe else set())),
        notices=tuple(_notices(degrees, sizes, attention_dp)),
        sizes={
            "moe_tp": sizes.moe_tp,
            "moe_ep": sizes.moe_ep,
            "moe_cluster": sizes.moe_cluster,
            "attn_tp": sizes.attn_tp,
            "attn_cp": sizes.attn_cp,
            "attention_dp": degrees.tp if attention_dp else 1,
        },
    )


def sizes_of(degrees: Degrees) -> Sizes:
    """Resolve every size and refuse what ``Mapping`` refuses, in its order."""
    cp_type = _word(degrees, "cp_type", "ULYSSES", CP_TYPES)
    tp, pp, cp = degrees.tp, degrees.pp, degrees.cp
    stage = tp * cp
    block = tp if cp_type == "ULYSSES" else stage
    cluster = extra_count(degrees, "moe_cluster")
    moe_ep = check_count("ep", degrees.ep)
    moe_tp = extra_count(degrees, "moe_tp", block // (moe_ep * cluster), least=0)
    attn_tp, attn_cp = _attention(degrees, stage, cp_type)
    if attn_cp != 1 and cp_type == "ULYSSES":
        raise LayoutRefusedError(
            "attn_cp", f"attn_cp_size must be 1 for now for ulysses, but got {attn_tp}, {attn_cp}."
        )
    if moe_tp * moe_ep * cluster != block:
        raise LayoutRefusedError(
            "moe_sizes",
            "moe_tp_size * moe_ep_size * moe_cluster_size must equal to moe_world_size, "
            f"but got {moe_tp * moe_ep * cluster} != {block}",
        )
    if attn_tp * attn_cp != stage:
        raise LayoutRefusedError(
            "attn_sizes",
            "tp_size * cp_size must equal to attn_tp_size * attn_cp_size, "
            f"but got {tp} * {cp} != {attn_tp} * {attn_cp}",
        )
    if moe_ep != 1 and cp > 1 and cp_type != "HELIX":
        raise LayoutRefusedError(
            "context_experts", f"CP {CP_TYPES.index(cp_type)} doesn't support MoE tp/ep yet ({cp_type})"
        )
    if cluster > 1 and moe_ep != 1:
        raise LayoutRefusedError("moe_cluster", f"moe_cluster_size {cluster} needs moe_ep_size 1, but got {moe_ep}")
    return Sizes(
        tp=tp,
        pp=pp,
        cp=cp,
        moe_tp=moe_tp,
        moe_ep=moe_ep,
        moe_cluster=cluster,
        attn_tp=attn_tp,
        attn_cp=attn_cp,
        block=block,
        cp_type=cp_type,
    )


def _attention(degrees: Degrees, stage: int, cp_type: str) -> tuple[int, int]:
    attn_tp = extra_count(degrees, "attn_tp", 0, least=0)
    attn_cp = extra_count(degrees, "attn_cp", 0, least=0)
    if not attn_tp and not attn_cp:
        return (stage, 1) if cp_type == "ULYSSES" else (degrees.tp, degrees.cp)
    return attn_tp or stage // attn_cp, attn_cp or stage // attn_tp


def _attention_dp(degrees: Degrees) -> bool:
    on = extra_flag(degrees, "enable_attention_dp")
    if extra_flag(degrees, "enable_lm_head_tp_in_adp") and not on:
        raise LayoutRefusedError("attention_dp", "enable_lm_head_tp_in_adp requires enable_attention_dp")
    if degrees.dcp != 1:
        raise LayoutRefusedError("unknown_degree", "trtllm has no decode context parallelism; dcp must be 1")
    if degrees.dp != 1 and not (on and degrees.dp == degrees.tp):
        raise LayoutRefusedError(
            "data_parallel",
            f"dp {degrees.dp}: one engine has no replicas; list each as an instance, or set enable_attention_dp",
        )
    return on


def _orchestrator(degrees: Degrees) -> str:
    return _word(degrees, "orchestrator", "mpi", ORCHESTRATORS)


def _word(degrees: Degrees, name: str, default: str, allowed: tuple[str, ...]) -> str:
    word = extra_text(degrees, name, default)
    for known in allowed:
        if word.lower() == known.lower():
            return known
    raise LayoutRefusedError(name, f"{name} is one of {', '.join(allowed)}; found {shown(word)}")


def mpi_groups(sizes: Sizes) -> dict[str, Groups]:
    """Groups of the MPI mapping. Expert groups are cut from the first ``block`` ranks for every stage."""
    shape = (sizes.pp, sizes.cp, sizes.tp)
    experts = (sizes.pp, sizes.moe_tp, sizes.moe_cluster, sizes.moe_ep)
    return {
        "tp": grid(shape, (2,)),
        "pp": grid(shape, (0,)),
        "cp": grid(shape, (1,)),
        "moe_tp": grid(experts, (1,)),
        "moe_ep": grid(experts, (3,)),
        "moe_cluster": grid(experts, (2, 3)),
    }


def ray_groups(sizes: Sizes) -> dict[str, Groups]:
    """Groups of the device mesh (cp, pp, tp), or (cp, pp, moe_tp, moe_ep) with expert parallelism.

    Raises:
        LayoutRefusedError: the mesh has another number of ranks than the world, as with Helix.
    """
    shape = (sizes.cp, sizes.pp, sizes.tp)
    groups = {"cp": grid(shape, (0,)), "pp": grid(shape, (1,)), "tp": grid(shape, (2,))}
    if sizes.moe_ep == 1:
        return groups
    if sizes.moe_tp * sizes.moe_ep != sizes.tp:
        raise LayoutRefusedError(
            "device_mesh",
            f"the mesh cp {sizes.cp} x pp {sizes.pp} x moe_tp {sizes.moe_tp} x moe_ep {sizes.moe_ep} "
            f"is not the world of {sizes.cp * sizes.pp * sizes.tp} ranks",
        )
    experts = (sizes.cp, sizes.pp, sizes.moe_tp, sizes.moe_ep)
    return {**groups, "moe_tp": grid(experts, (2,)), "moe_ep": grid(experts, (3,))}


def _notices(degrees: Degrees, sizes: Sizes, attention_dp: bool) -> Iterator[str]:
    if sizes.cp > 1 and sizes.pp > 1:
        yield "cp and pp are both above 1: the MPI and Ray orchestrators build different pipeline and context groups"
    if not sizes.moe_used and _orchestrator(degrees) == "mpi":
        yield "the expert groups do not cover all ranks with Ulysses context parallelism; they are not used"
    if attention_dp and degrees.tp > 1:
        yield f"attention data parallelism: attention weights are held {degrees.tp} times"


def shards(degrees: Degrees, sizes: Mapping[str, int]) -> Shards:
    """Attention by tp, or by nothing with attention data parallelism; expert width by moe_tp, experts by moe_ep."""
    attention_data = sizes["attention_dp"]
    attention = 1 if attention_data > 1 else degrees.tp
    return Shards(
        attention=attention,
        dense=degrees.tp,
        shared=degrees.tp,
        expert_width=sizes["moe_tp"],
        expert_ranks=sizes["moe_ep"],
        kv_copies_of_mla=attention,
        schedulers=attention_data,
        attention_data=attention_data,
        kv_rounded_up=True,
    )


def layer_split(degrees: Degrees) -> LayerSplit:
    """Return the split of layers: the first stages hold one more."""
    return layers.split_first


def divisibility(model: Model, degrees: Degrees, block: int | None = None) -> tuple[DivisibilityCheck, ...]:
    """Query heads split over cp too, key-value heads are rounded up, experts floored."""
    split = shards(degrees, build(degrees).sizes)
    ranks = split.attention
    return (
        checks.attention_heads(model.attention_heads, ranks * degrees.cp),
        checks.latent_kv(ranks) if model.attention == "mla" else checks.kv_heads_up(model.kv_heads, ranks),
        *_context(degrees),
        checks.layers(model.layers, degrees.pp, layer_split(degrees)),
        *_experts(model, split.expert_ranks),
        *checks.width_checks(model, split, block),
    )


def _context(degrees: Degrees) -> Iterator[DivisibilityCheck]:
    if degrees.cp == 1:
        return
    cp_type = _word(degrees, "cp_type", "ULYSSES", CP_TYPES)
    yield DivisibilityCheck(
        name="context",
        passed=cp_type == "HELIX",
        sentence=f"attention accepts context parallelism only as HELIX; found {cp_type}",
    )


def _experts(model: Model, ep: int) -> Iterator[DivisibilityCheck]:
    experts = stated(model.experts)
    if model.architecture == "dense":
        if ep > 1:
            yield checks.dense_with_experts(ep)
    elif experts is not None:
        yield checks.experts_floored(experts, ep)


def seats(degrees: Degrees, launch: Launch) -> Seats:
    """Ranks fill nodes in order, 8 on each unless the launch says otherwise; coordinates are the orchestrator's."""
    world = degrees.tp * degrees.pp * degrees.cp
    sizes = sizes_of(degrees)
    per_node = launch.gpus_per_node or GPUS_PER_NODE
    axes = ("cp", "pp", "tp") if _orchestrator(degrees) == "ray" else ("pp", "cp", "tp")
    ranks = [_coordinates(rank, [(axis, getattr(sizes, axis)) for axis in axes]) for rank in range(world)]
    return Seats(
        seats=tuple(
            [{"rank": rank, "node": rank // per_node, "device": rank % per_node} | at for rank, at in enumerate(ranks)]
        ),
        dangers=short_of_nodes(world, per_node, launch),
    )


def _coordinates(rank: int, axes: list[tuple[str, int]]) -> dict[str, int]:
    found = {}
    for axis, size in reversed(axes):
        rank, found[f"{axis}_rank"] = divmod(rank, size)
    return {name: found[name] for name in ("tp_rank", "pp_rank", "cp_rank")}


LAYOUT = Layout(
    id="trtllm",
    title="TensorRT-LLM",
    statement="TensorRT-LLM: ranks = pp x cp x tp; expert degrees are cut out of tp, moe_ep fastest",
    build=build,
    divisibility=divisibility,
    seats=seats,
    shards=shards,
    layer_split=layer_split,
    place_experts=place_floor,
)
