"""vLLM: ranks = data x pipeline x prefill-context x tensor, tensor fastest; expert parallelism adds none.

Rules kept: those of vLLM 0.33.0 (``distributed/parallel_state.py``, ``config/parallel.py``, ``config/model.py``).
``Degrees.cp`` is prefill context parallelism. ``Degrees.ep`` is the size of the expert group when expert parallelism
is on (data x context x tensor) and 1 when it is off, so a contradiction with the switch is refused.

Not handled: Ray's node order, which follows node id strings; ranks of another launcher (``external_dp``) have no seat.
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
    check_extra,
    check_world,
    chunks,
    extra_count,
    extra_flag,
    extra_text,
    grid,
    never_launched,
    singles,
)
from planner.layouts.experts import place_linear
from planner.records.base import stated
from planner.records.contract import Model

EXTRA = (
    "enable_eplb",
    "enable_expert_parallel",
    "external_dp",
    "layer_partition",
    "redundant_experts",
)
EXTERNAL, DP, PP, PCP, TP = range(5)
NODE_BACKENDS = ("", "mp", "uni", "external_launcher")
"""How processes may be started on several nodes; nothing said means ``mp``."""

NO_PIPELINE = (
    "Pipeline parallelism is not supported for this model. Supported models implement the `SupportsPP` interface."
)
NO_EXPERTS = "Number of experts in the model must be greater than 0 when expert parallelism is enabled."


def build(degrees: Degrees) -> InstanceGroups:
    """Groups of one instance; dense replicas are engines of their own and share no group."""
    check_extra(degrees, EXTRA, "vllm")
    world = _world(degrees)
    expert_parallel = _expert_parallel(degrees)
    _check_balancer(degrees, expert_parallel)
    _check_decode_context(degrees)
    layer_split(degrees)
    shape = (extra_count(degrees, "external_dp"), degrees.dp, degrees.pp, degrees.cp, degrees.tp)
    groups = {
        "tp": grid(shape, (TP,)),
        "dcp": _decode_context(shape, degrees.dcp),
        "pcp": grid(shape, (PCP,)),
        "pp": grid(shape, (PP,)),
        "dp": grid(shape, (DP,)) if degrees.moe else singles(world),
    }
    if not degrees.moe:
        return _dense(degrees, world, groups)
    groups["ep"] = grid(shape, (DP, PCP, TP))
    if extra_flag(degrees, "enable_eplb"):
        groups["eplb"] = groups["ep"]
    return _mixture(degrees, world, groups, expert_parallel)


def _world(degrees: Degrees) -> int:
    external = extra_count(degrees, "external_dp")
    check_world({"dcp": degrees.dcp})
    return check_world(
        {"external_dp": external, "dp": degrees.dp, "pp": degrees.pp, "pcp": degrees.cp, "tp": degrees.tp}
    )


def _dense(degrees: Degrees, world: int, groups: dict[str, Groups]) -> InstanceGroups:
    notices: tuple[str, ...] = ()
    if degrees.dp > 1:
        notices = (
            f"the model is dense: dp {degrees.dp} is {degrees.dp} independent engines of {world // degrees.dp} ranks, "
            "and no process group joins them",
        )
    return InstanceGroups(
        world_size=world,
        groups=groups,
        tensor_like=TENSOR_LIKE & set(groups),
        joins=frozenset({"tp", "dcp", "pcp", "pp"}),
        notices=notices,
        engines=degrees.dp,
    )


def _mixture(degrees: Degrees, world: int, groups: dict[str, Groups], expert_parallel: bool) -> InstanceGroups:
    width = degrees.dp * degrees.cp * degrees.tp
    tensor_like = TENSOR_LIKE & set(groups)
    notices: tuple[str, ...] = ()
    if not expert_parallel and width > 1:
        # The group that could carry experts then carries slices of every expert instead.
        tensor_like |= {"ep"}
        notices = (f"expert parallelism is off: every expert is cut into {width} tensor shards over dp x pcp x tp",)
    return InstanceGroups(
        world_size=world,
        groups=groups,
        tensor_like=tensor_like,
        joins=frozenset({"tp", "dcp", "pcp", "pp", "ep", "dp"}),
        notices=notices,
        sizes={"moe_tp": 1 if expert_parallel else width, "moe_ep": width if expert_parallel else 1},
    )


def _expert_parallel(degrees: Degrees) -> bool:
    """Say whether expert parallelism is on, and refuse a degree that contradicts it."""
    on = extra_flag(degrees, "enable_expert_parallel", default=degrees.ep > 1)
    if on and not degrees.moe:
        raise LayoutRefusedError("experts", NO_EXPERTS)
    size = degrees.dp * degrees.cp * degrees.tp if on else 1
    if degrees.ep != size:
        state = "on: ep is dp x pcp x tp" if on else "off: ep is 1"
        raise LayoutRefusedError(
            "expert_degree", f"expert parallelism is {state}; expected ep {size}, found {degrees.ep}"
        )
    return on


def _check_balancer(degrees: Degrees, expert_parallel: bool) -> None:
    redundant = extra_count(degrees, "redundant_experts", 0, least=0)
    if not extra_flag(degrees, "enable_eplb"):
        check_redundant(redundant)
        return
    if not expert_parallel:
        raise LayoutRefusedError("eplb", "enable_expert_parallel must be True to use EPLB.")
    if degrees.tp * degrees.cp * degrees.dp <= 1:
        raise LayoutRefusedError(
            "eplb",
            "EPLB requires tensor, prefill-context, or data parallelism, "
            f"but got TP={degrees.tp}, PCP={degrees.cp}, DP={degrees.dp}.",
        )


def check_redundant(redundant: int) -> None:
    """Refuse redundant experts without the balancer (EPLB) that would place them."""
    if redundant:
        raise LayoutRefusedError(
            "redundant_experts",
            f"num_redundant_experts is set to {redundant} but EPLB is not enabled. "
            "Either enable EPLB or unset num_redundant_experts.",
        )


def _check_decode_context(degrees: Degrees) -> None:
    tp, pcp, dcp = degrees.tp, degrees.cp, degrees.dcp
    if pcp == 1 and tp % dcp:
        raise LayoutRefusedError("decode_context", f"tp_size={tp} must be divisible by dcp_size={dcp}.")
    allowed = sorted({1, pcp, tp * pcp})
    if pcp > 1 and dcp not in allowed:
        raise LayoutRefusedError(
            "decode_context",
            "When PCP is enabled, DCP must be disabled, span the PCP axis, or span the full TP x PCP axis. "
            f"Got TP={tp}, PCP={pcp}, DCP={dcp}; valid DCP sizes are {allowed}.",
        )


def _decode_context(shape: tuple[int, ...], dcp: int) -> Groups:
    """Decode context reuses tensor ranks; with prefill context that axis is the faster one."""
    return chunks(grid(shape, (TP, PCP)), dcp)


def shards(degrees: Degrees, sizes: Mapping[str, int]) -> Shards:
    """Attention and dense widths by tp, expert width by moe_tp, experts by moe_ep.

    A shared expert is whole on every rank where the experts run sequence-parallel.
    """
    expert_ranks = sizes.get("moe_ep", 1)
    sequence_parallel = expert_ranks > 1 and degrees.tp > 1 and degrees.dp > 1
    return Shards(
        attention=degrees.tp,
        dense=degrees.tp,
        shared=1 if sequence_parallel else degrees.tp,
        expert_width=sizes.get("moe_tp", 1),
        expert_ranks=expert_ranks,
        kv_copies_of_mla=max(1, degrees.tp // degrees.dcp),
        schedulers=degrees.dp * extra_count(degrees, "external_dp"),
    )


def divisibility(model: Model, degrees: Degrees, block: int | None = None) -> tuple[DivisibilityCheck, ...]:
    """Equal shares, but for experts without the balancer, which may be uneven; and what decode context asks."""
    split = shards(degrees, build(degrees).sizes)
    return (
        *checks.attention_checks(model, split),
        *_decode_context_checks(model, degrees),
        checks.layers(model.layers, degrees.pp, layer_split(degrees)),
        *_expert_checks(model, degrees, split.expert_ranks),
        *checks.width_checks(model, split, block),
    )


def layer_split(degrees: Degrees) -> LayerSplit:
    """Return the split of layers: by rule, or by ``VLLM_PP_LAYER_PARTITION`` ("15,15,16,15")."""
    partition = extra_text(degrees, "layer_partition", "")
    return partial(layers.split_given, given=layers.partition_of(partition)) if partition else layers.split_before_last


def check_model(heads: int, kv_heads: int, tp: int, dcp: int, *, mla: bool = False) -> None:
    """Refuse what ``ModelConfig.verify_with_parallel_config`` refuses.

    Raises:
        LayoutRefusedError: heads do not split over tp, or decode context is wider than the copies of KV heads.
    """
    if heads % tp:
        raise LayoutRefusedError(
            "attention_heads",
            f"Total number of attention heads ({heads}) must be divisible by tensor parallel size ({tp}).",
        )
    if mla or dcp == 1:
        return
    if tp <= kv_heads:
        raise LayoutRefusedError(
            "decode_context",
            f"Decode context parallelism for GQA/MQA requires `--tensor-parallel-size` ({tp}) to be greater than the "
            f"model's total number of KV heads ({kv_heads}). Increase `--tensor-parallel-size` or set "
            "`--decode-context-parallel-size 1`.",
        )
    if dcp > tp // kv_heads:
        raise LayoutRefusedError(
            "decode_context",
            f"`--decode-context-parallel-size` ({dcp}) exceeds the maximum supported value ({tp // kv_heads}) for "
            f"`--tensor-parallel-size` ({tp}) and {kv_heads} model KV heads.",
        )
    if heads // kv_heads % dcp:
        raise LayoutRefusedError(
            "decode_context",
            f"The model's number of query heads per KV head ({heads // kv_heads}) must be divisible by "
            f"`--decode-context-parallel-size` ({dcp}) for GQA/MQA.",
        )


def check_balanced(experts: int, ep: int) -> None:
    """Refuse physical experts that the balancer (EPLB) cannot spread evenly."""
    if experts % ep:
        raise LayoutRefusedError(
            "experts",
            "EPLB currently only supports even distribution of experts across ranks. "
            f"Got {experts} experts and {ep} EP ranks.",
        )


def _decode_context_checks(model: Model, degrees: Degrees) -> Iterator[DivisibilityCheck]:
    if degrees.dcp == 1 or model.attention == "mla" or model.attention_heads % degrees.tp:
        return
    try:
        check_model(model.attention_heads, model.kv_heads, degrees.tp, degrees.dcp)
    except LayoutRefusedError as refused:
        yield DivisibilityCheck(name="decode_context", passed=False, sentence=refused.message)


def _expert_checks(model: Model, degrees: Degrees, ep: int) -> Iterator[DivisibilityCheck]:
    experts = stated(model.experts)
    if experts is None or ep == 1:
        return
    if extra_flag(degrees, "enable_eplb"):
        yield checks.experts_even(experts, extra_count(degrees, "redundant_experts", 0, least=0), ep)
    else:
        yield checks.experts_uneven(experts, ep)


def seats(degrees: Degrees, launch: Launch) -> Seats:
    """Ranks fill nodes in order, ``world / nnodes`` on each, whatever number of devices a node has.

    A node starts whole replicas; where its share is no whole number of them, the last replicas are started nowhere.

    Raises:
        LayoutRefusedError: the launcher refuses the number of nodes or of devices.
    """
    world = _world(degrees)
    replica = degrees.tp * degrees.pp * degrees.cp
    if world != degrees.dp * replica:
        return Seats(seats=(), notices=("external_dp: another launcher places the ranks",))
    if launch.orchestrator == "ray":
        return Seats(seats=(), notices=("ray: nodes are ordered by node id, driver first; ranks have no fixed node",))
    check_nodes(degrees, launch)
    nodes = launch.nnodes or 1
    per_node = world // nodes
    # A replica that spans nodes is started by ranks; otherwise a node starts whole replicas from its share's begin on.
    whole = per_node // replica * replica or per_node
    unit = min(replica, per_node)
    placed = tuple(
        [
            {
                "dp_rank": rank // replica,
                "rank_in_replica": rank % replica,
                "global_rank": rank,
                "node": node,
                "device": device,
            }
            for node in range(nodes)
            for device, rank in enumerate(range(node * per_node // unit * unit, node * per_node // unit * unit + whole))
        ]
    )
    started = {seat["global_rank"] for seat in placed}
    return Seats(
        seats=placed,
        dangers=_crowded(whole, launch),
        refused=never_launched([rank for rank in range(world) if rank not in started]),
    )


def check_nodes(degrees: Degrees, launch: Launch) -> None:
    """Refuse what the launcher refuses about nodes (``engine/arg_utils.py``, ``config/parallel.py``)."""
    replica = degrees.tp * degrees.pp * degrees.cp
    world, nodes = degrees.dp * replica, launch.nnodes or 1
    if nodes == 1:
        _check_devices(replica, launch)
        return
    if launch.orchestrator not in NODE_BACKENDS:
        raise LayoutRefusedError(
            "orchestrator",
            "nnodes > 1 can only be set when distributed executor backend is mp, uni or external_launcher.",
        )
    if world % nodes:
        raise LayoutRefusedError(
            "nnodes",
            f"Invalid data-parallel launch options: `--nnodes {nodes}` must evenly divide the total world size "
            f"({world}). Adjust `--nnodes`, `--data-parallel-size`, `--pipeline-parallel-size`, "
            "`--tensor-parallel-size`, or `--prefill-context-parallel-size`.",
        )
    local = max(1, world // nodes // replica)
    node_groups = degrees.dp // local
    if nodes % node_groups:
        raise LayoutRefusedError(
            "nnodes",
            f"Invalid data parallel configuration: nnodes ({nodes}) must be divisible by the number of "
            f"data parallel node groups ({node_groups} = data_parallel_size {degrees.dp} / "
            f"data_parallel_size_local {local})",
        )


def _check_devices(replica: int, launch: Launch) -> None:
    """Only where the engine chooses how to start its processes does it count devices."""
    if launch.gpus_per_node is not None and replica > launch.gpus_per_node and not launch.orchestrator:
        raise LayoutRefusedError(
            "devices",
            f"World size ({replica}) is larger than the number of available GPUs ({launch.gpus_per_node}) in this "
            "node. If this is intentional and you are using:\n- ray, set '--distributed-executor-backend ray'.\n"
            "- multiprocessing, set '--nnodes' appropriately.",
        )


def _crowded(per_node: int, launch: Launch) -> tuple[str, ...]:
    if launch.gpus_per_node is None or per_node <= launch.gpus_per_node:
        return ()
    return (f"{per_node} ranks are started on each node of {launch.gpus_per_node} devices; the engine does not check",)


LAYOUT = Layout(
    id="vllm",
    title="vLLM",
    statement="vLLM 0.33: ranks = dp x pp x pcp x tp; the expert group reuses the ranks of dp x pcp x tp",
    build=build,
    divisibility=divisibility,
    seats=seats,
    shards=shards,
    layer_split=layer_split,
    place_experts=place_linear,
    residual_apart=True,
)
