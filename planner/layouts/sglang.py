"""SGLang: ranks = pipeline x tensor, and ``tp`` is the whole stage; every other degree is cut out of it.

Rules kept: those of SGLang 0.5.23 (``srt/distributed/parallel_state.py``, ``entrypoints/engine.py``, argument checks).
Attention order inside a stage is (attn_dp, attn_cp, attn_tp), expert order (moe_dp, moe_ep, moe_tp), last fastest.
``Degrees.cp`` is attn_cp, ``Degrees.ep`` is moe_ep. ``Degrees.dp`` is plain replicas, each a world of its own; with
``enable_dp_attention`` it is the old spelling of attn_dp and adds no ranks.

Not handled: elastic expert parallelism, which changes groups at run time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from planner.layouts import checks, layers
from planner.layouts.base import (
    TENSOR_LIKE,
    Degrees,
    DivisibilityCheck,
    Group,
    Groups,
    InstanceGroups,
    Launch,
    LayerSplit,
    Layout,
    LayoutRefusedError,
    Seats,
    Shards,
    check_extra,
    check_world,
    chunks,
    extra_count,
    extra_flag,
    extra_text,
    grid,
    never_launched,
)
from planner.layouts.experts import place_even
from planner.records.contract import Model

EXTRA = (
    "attn_dp",
    "base_gpu_id",
    "enable_dp_attention",
    "gpu_id_step",
    "layer_partition",
    "moe_dp",
    "redundant_experts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """Every width of one replica; ``replicas`` are further worlds of the same shape."""

    tp: int
    pp: int
    attn_dp: int
    attn_cp: int
    moe_ep: int
    moe_dp: int
    dcp: int
    replicas: int

    @property
    def attn_tp(self) -> int:
        """Ranks that share the heads of one attention layer."""
        return self.tp // self.attn_dp // self.attn_cp

    @property
    def moe_tp(self) -> int:
        """Ranks that share one expert; floored where the engine floors."""
        return self.tp // self.moe_ep // self.moe_dp


def build(degrees: Degrees) -> InstanceGroups:
    """Groups of all replicas; one replica's ranks follow the other's."""
    check_extra(degrees, EXTRA, "sglang")
    widths = _widths(degrees)
    world = check_world({"tp": widths.tp, "pp": widths.pp})
    total = check_world({"replicas": widths.replicas, "tp": widths.tp, "pp": widths.pp})
    _check_attention(widths)
    _check_experts(widths)
    _check_decode_context(widths)
    _check_unsplit(degrees)
    one = _groups(widths)
    built = InstanceGroups(
        world_size=total,
        groups={kind: _repeat(groups, world, widths.replicas) for kind, groups in one.items()},
        tensor_like=TENSOR_LIKE & set(one),
        joins=frozenset(one),
        notices=_notices(widths),
        engines=widths.replicas,
        sizes={
            "attn_dp": widths.attn_dp,
            "attn_tp": widths.attn_tp,
            "moe_ep": widths.moe_ep,
            "moe_tp": widths.moe_tp,
            "moe_dp": widths.moe_dp,
        },
    )
    _check_cover(one, world, built)
    return built


def _widths(degrees: Degrees) -> Widths:
    old_spelling = extra_flag(degrees, "enable_dp_attention")
    attn_dp = extra_count(degrees, "attn_dp")
    if not old_spelling and attn_dp > 1 and degrees.dp > 1:
        raise LayoutRefusedError(
            "attn_dp",
            f"--dp-size {degrees.dp} with --attn-dp-size {attn_dp}: data-parallel replicas combined with attention "
            "data parallelism are not supported.",
        )
    if old_spelling and attn_dp > 1 and degrees.dp > 1 and attn_dp != degrees.dp:
        raise LayoutRefusedError("attn_dp", f"dp {degrees.dp} with enable_dp_attention contradicts attn_dp {attn_dp}")
    widths = Widths(
        tp=degrees.tp,
        pp=degrees.pp,
        attn_dp=max(attn_dp, degrees.dp) if old_spelling else attn_dp,
        attn_cp=degrees.cp,
        moe_ep=degrees.ep,
        moe_dp=extra_count(degrees, "moe_dp"),
        dcp=degrees.dcp,
        replicas=1 if old_spelling else degrees.dp,
    )
    if degrees.dcp < 1:
        raise LayoutRefusedError("decode_context", f"decode_context_parallel_size ({degrees.dcp}) must be at least 1")
    for name in ("attn_dp", "attn_cp", "moe_ep", "dcp"):
        check_world({name: getattr(widths, name)})
    return widths


def _check_attention(widths: Widths) -> None:
    if widths.attn_cp > 1:
        if widths.tp % widths.attn_cp:
            raise LayoutRefusedError("attn_cp", "tp_size must be divisible by attn_cp_size")
        if widths.tp % (widths.attn_dp * widths.attn_cp):
            raise LayoutRefusedError("attn_cp", "tp_size must be divisible by attn_dp_size * attn_cp_size")
    if widths.tp % widths.attn_dp:
        raise LayoutRefusedError(
            "attn_dp", f"tp_size % attn_dp_size == 0 fails: tp_size {widths.tp}, attn_dp_size {widths.attn_dp}"
        )


def _check_experts(widths: Widths) -> None:
    if widths.moe_dp > 1:
        if widths.tp % widths.moe_dp:
            raise LayoutRefusedError("moe_dp", "tp_size must be divisible by moe_dp_size")
        if widths.moe_ep * widths.moe_dp > widths.tp:
            raise LayoutRefusedError("moe_dp", "ep_size * moe_dp_size must be less than or equal to tp_size")
        if widths.pp != 1:
            raise LayoutRefusedError("moe_dp", "PP is not supported with context parallelism")
        if widths.moe_ep > 1 and widths.moe_ep * widths.moe_dp != widths.tp:
            raise LayoutRefusedError("moe_dp", "ep_size * moe_dp_size must be equal to tp_size")
    if widths.moe_dp not in (1, widths.attn_cp):
        raise LayoutRefusedError("moe_dp", "attn_cp_size != moe_dp_size is only supported when moe_dp_size == 1")
    if widths.moe_ep > widths.tp:
        raise LayoutRefusedError("moe_ep", f"ep_size ({widths.moe_ep}) is larger than tp_size ({widths.tp})")


def _check_decode_context(widths: Widths) -> None:
    if widths.tp % widths.dcp:
        raise LayoutRefusedError(
            "decode_context",
            f"tensor_model_parallel_size ({widths.tp}) must be divisible by "
            f"decode_context_parallel_size ({widths.dcp})",
        )


def _check_unsplit(degrees: Degrees) -> None:
    """Refuse wrong values of what no group depends on, so that later steps need not."""
    extra_count(degrees, "redundant_experts", 0, least=0)
    extra_count(degrees, "gpu_id_step")
    extra_count(degrees, "base_gpu_id", 0, least=0)
    layer_split(degrees)


def layer_split(degrees: Degrees) -> LayerSplit:
    """Return the split of layers: by rule, or by ``SGLANG_PP_LAYER_PARTITION`` ("15,15,15,16")."""
    partition = extra_text(degrees, "layer_partition", "")
    if not partition or degrees.pp == 1:
        # A single stage owns every layer, whatever the partition says.
        return layers.split_last
    return partial(layers.split_given, given=layers.partition_of(partition))


def _groups(widths: Widths) -> dict[str, Groups]:
    stage = (widths.pp, widths.tp)
    attention = (widths.pp, widths.attn_dp, widths.attn_cp, widths.attn_tp)
    groups = {
        "tp": grid(stage, (1,)),
        "pp": grid(stage, (0,)),
        "attn_tp": grid(attention, (3,)),
        "attn_cp": grid(attention, (2,)),
        "moe_ep": tuple(_expert_groups(widths)),
        "moe_tp": tuple(_expert_tensor_groups(widths)),
    }
    # Partners in context hold parts of the same tokens, so they stand in for the expert data group when wider.
    shared = widths.attn_cp > widths.moe_dp
    groups["moe_dp"] = groups["attn_cp"] if shared else tuple(_expert_data_groups(widths))
    if widths.dcp > 1:
        groups["dcp"] = chunks(groups["tp"], widths.dcp)
    return groups


def _blocks(widths: Widths) -> Iterator[int]:
    """First rank of every expert block: one for each stage and expert data rank."""
    block = widths.moe_ep * widths.moe_tp
    for stage in range(widths.pp):
        for data in range(widths.moe_dp):
            yield stage * widths.tp + data * block


def _expert_groups(widths: Widths) -> Iterator[Group]:
    block = widths.moe_ep * widths.moe_tp
    for start in _blocks(widths):
        for first in range(start, start + widths.moe_tp):
            yield tuple(range(first, start + block, widths.moe_tp))


def _expert_tensor_groups(widths: Widths) -> Iterator[Group]:
    for start in _blocks(widths):
        for first in range(start, start + widths.moe_ep * widths.moe_tp, widths.moe_tp):
            yield tuple(range(first, first + widths.moe_tp))


def _expert_data_groups(widths: Widths) -> Iterator[Group]:
    block = widths.moe_ep * widths.moe_tp
    for stage in range(widths.pp):
        for offset in range(block):
            start = stage * widths.tp + offset
            yield tuple(range(start, start + widths.tp, block))


def _check_cover(groups: dict[str, Groups], world: int, built: InstanceGroups) -> None:
    """Refuse what only fails when the engine makes its communicators: ranks that are in no group."""
    left = {}
    for kind in ("moe_ep", "moe_tp"):
        inside = {rank for group in groups[kind] for rank in group}
        missing = [rank for rank in range(world) if rank not in inside]
        if missing:
            left[kind] = missing
    if left:
        raise LayoutRefusedError(
            "moe_ep", f"assert self.cpu_group is not None (ranks in no group: {left})", built=built
        )


def _repeat(groups: Groups, world: int, replicas: int) -> Groups:
    if replicas == 1:
        return groups
    return tuple(tuple([rank + replica * world for rank in group]) for replica in range(replicas) for group in groups)


def _notices(widths: Widths) -> tuple[str, ...]:
    notices = []
    if widths.replicas > 1:
        notices.append(
            f"dp {widths.replicas} is {widths.replicas} independent engines of {widths.tp * widths.pp} ranks, "
            "and no process group joins them"
        )
    if widths.attn_dp > 1:
        notices.append(
            f"attention data parallelism {widths.attn_dp}: attention weights are held {widths.attn_dp} times"
        )
    return tuple(notices)


def shards(degrees: Degrees, sizes: Mapping[str, int]) -> Shards:
    """Heads by attn_tp, dense widths by tp, expert width by moe_tp, physical experts by moe_ep."""
    attention = sizes["attn_tp"]
    return Shards(
        attention=attention,
        dense=degrees.tp,
        shared=degrees.tp,
        expert_width=sizes["moe_tp"],
        expert_ranks=sizes["moe_ep"],
        kv_copies_of_mla=max(1, attention // degrees.dcp),
        schedulers=_widths(degrees).replicas * sizes["attn_dp"],
        attention_data=sizes["attn_dp"],
    )


def divisibility(model: Model, degrees: Degrees, block: int | None = None) -> tuple[DivisibilityCheck, ...]:
    """Equal shares of everything but layers; redundant experts count."""
    split = shards(degrees, build(degrees).sizes)
    return (
        *checks.attention_checks(model, split),
        checks.layers(model.layers, degrees.pp, layer_split(degrees)),
        *checks.expert_checks(model, split.expert_ranks, extra_count(degrees, "redundant_experts", 0, least=0)),
        *checks.width_checks(model, split, block),
    )


def seats(degrees: Degrees, launch: Launch) -> Seats:
    """Processes that the launcher starts for one replica, node by node; further replicas follow on the same node.

    Raises:
        LayoutRefusedError: the argument checks refuse the number of nodes.
    """
    widths = _widths(degrees)
    nodes = launch.nnodes or 1
    if widths.replicas > 1 and nodes > 1:
        raise LayoutRefusedError(
            "nnodes",
            "multi-node data-parallel replicas are not supported; use attention DP (--attn-dp-size) across nodes",
        )
    if widths.tp * widths.pp % nodes:
        raise LayoutRefusedError(
            "nnodes",
            f"tp_size must be divisible by number of nodes (tp_size * pp_size {widths.tp * widths.pp}, nodes {nodes})",
        )
    step = extra_count(degrees, "gpu_id_step")
    base = extra_count(degrees, "base_gpu_id", 0, least=0)
    placed = tuple(seat for node in range(nodes) for seat in _node_seats(widths, node, nodes, base, step))
    return Seats(
        seats=placed, dangers=(*_crowded(placed, launch), *_shared(placed)), refused=_never_complete(placed, widths)
    )


def _node_seats(widths: Widths, node: int, nodes: int, base: int, step: int) -> Iterator[dict[str, int]]:
    stages = max(widths.pp // nodes, 1)
    nodes_per_stage = max(nodes // widths.pp, 1)
    ranks = widths.tp // nodes_per_stage
    for stage in range(stages * (node // nodes_per_stage), stages * (node // nodes_per_stage + 1)):
        for tensor in range(ranks * (node % nodes_per_stage), ranks * (node % nodes_per_stage + 1)):
            yield {
                "rank": stage * widths.tp + tensor,
                "pp_rank": stage,
                "tp_rank": tensor,
                "node": node,
                "device": base + stage % stages * ranks + tensor % ranks * step,
            }


def _never_complete(placed: tuple[dict[str, int], ...], widths: Widths) -> LayoutRefusedError | None:
    """Say which ranks are never started, or started beyond the world: the engine waits for them without an error."""
    world = widths.tp * widths.pp
    started = {seat["rank"] for seat in placed}
    return never_launched(
        [rank for rank in range(world) if rank not in started], sorted(rank for rank in started if rank >= world)
    )


def _crowded(placed: tuple[dict[str, int], ...], launch: Launch) -> tuple[str, ...]:
    devices = launch.gpus_per_node
    highest = max((seat["device"] for seat in placed), default=0)
    if devices is None or highest < devices:
        return ()
    return (f"device {highest} is used on a node of {devices} devices; the engine does not check",)


def _shared(placed: tuple[dict[str, int], ...]) -> Iterator[str]:
    """Say the first device that two ranks are given: stages are laid out without the step between devices."""
    holders: dict[tuple[int, int], int] = {}
    for seat in placed:
        first = holders.setdefault((seat["node"], seat["device"]), seat["rank"])
        if first != seat["rank"]:
            yield (
                f"ranks {first} and {seat['rank']} are given the same device {seat['device']} of node {seat['node']}; "
                "the engine does not check"
            )
            return


LAYOUT = Layout(
    id="sglang",
    title="SGLang",
    statement="SGLang 0.5: ranks = pp x tp, where tp is the whole stage; all other degrees are cut out of tp",
    build=build,
    divisibility=divisibility,
    seats=seats,
    shards=shards,
    layer_split=layer_split,
    place_experts=place_even,
)
