"""Answer one question about an engine's groups: its own words for degrees in, groups and placement out."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from planner.layouts import LAYOUTS, checks, experts, megatron, trtllm, vllm
from planner.layouts.asks.facts import (
    CLOSED_KEYS,
    MEGATRON_KEYS,
    SGLANG_KEYS,
    TRTLLM_KEYS,
    VLLM_KEYS,
    Ask,
    Facts,
    count,
    extra,
    launch,
    optional,
    read_facts,
)
from planner.layouts.base import (
    Degrees,
    DivisibilityCheck,
    Groups,
    InstanceGroups,
    Launch,
    Layout,
    LayoutRefusedError,
    Seats,
)

Answer = dict[str, Any]


def _placed(layout: Layout, degrees: Degrees, how: Launch) -> Answer:
    """Groups and placement of one engine: what ``engines`` > 1 repeats is answered once."""
    try:
        built = layout.build(degrees)
    except LayoutRefusedError as refused:
        if refused.built is None:
            raise
        return {**_answer(refused.built, layout.seats(degrees, how)), **_refusal(refused)}
    seats = layout.seats(degrees, how)
    return _answer(built, seats) | ({} if seats.refused is None else _refusal(seats.refused))


def _answer(built: InstanceGroups, seats: Seats) -> Answer:
    world = built.world_size // built.engines
    found: Answer = {"world_size": world, "total_gpus": built.world_size}
    if built.engines > 1:
        found["replicas"] = built.engines
    found["groups"] = {kind: _first_engine(groups, world, built.engines) for kind, groups in built.groups.items()}
    found["sizes"] = dict(built.sizes)
    if seats.seats:
        found["placement"] = seats.seats
    found["notices"] = [*built.notices, *seats.notices]
    found["dangers"] = [*seats.dangers]
    return found


def _with_dangers(placed: Answer, checked: DivisibilityCheck) -> Answer:
    """Add what a split of the model costs that the engine accepts without a word."""
    if not checked.danger:
        return placed
    cost = checked.notice or "it raises no error"
    return {**placed, "dangers": [*placed["dangers"], f"{checked.sentence}; {cost}"]}


def _first_engine(groups: Groups, world: int, engines: int) -> Groups:
    return groups if engines == 1 else tuple([group for group in groups if group[0] < world])


def _refusal(refused: LayoutRefusedError) -> Answer:
    return {"valid": False, "constraint": refused.constraint, "error": refused.message}


def _check_world(facts: Facts, name: str, expected: int, message: str) -> None:
    """Refuse a world that the launcher states otherwise than the degrees give it."""
    if name in facts and facts[name] != expected:
        raise LayoutRefusedError("world_size", message)


def _closed(ask: Ask) -> Answer:
    facts = read_facts(ask, CLOSED_KEYS)
    tp, pp, ep, dp = (count(facts, name) for name in ("tp", "pp", "ep", "dp"))
    degrees = Degrees(tp=tp, pp=pp, ep=ep, dp=dp, moe=True)
    return _placed(LAYOUTS["closed"], degrees, launch(facts))


def _vllm(ask: Ask) -> Answer:
    facts = read_facts(ask, VLLM_KEYS)
    if isinstance(facts.get("ep"), bool):
        facts["enable_expert_parallel"] = facts.pop("ep")
    _check_vllm_model(facts)
    degrees = _vllm_degrees(facts)
    _check_vllm_world(facts, degrees)
    how = launch(facts, facts.get("orchestrator") or ask.get("orchestrator"))
    if ask.get("kind") == "check":
        if "ep" not in facts:
            LAYOUTS["vllm"].build(degrees)
        vllm.check_nodes(degrees, how)
        return {}
    if "heads" in facts and "kv_heads" in facts and facts.get("mla") is not True:
        # The configuration accepts this; the model's attention does not.
        experts.share_heads(count(facts, "heads"), count(facts, "kv_heads"), degrees.tp)
    placed = _placed(LAYOUTS["vllm"], degrees, how)
    experts_count, ep = count(facts, "experts", 0), placed["sizes"].get("moe_ep", 1)
    if not experts_count or ep == 1:
        return placed
    if facts.get("enable_eplb"):
        vllm.check_balanced(experts_count + count(facts, "redundant_experts", 0), ep)
    return _with_dangers(placed, checks.experts_uneven(experts_count, ep))


def _vllm_degrees(facts: Facts) -> Degrees:
    tp, dp, pcp = (count(facts, name) for name in ("tp", "dp", "pcp"))
    on = facts.get("enable_expert_parallel") is True
    return Degrees(
        tp=tp,
        pp=count(facts, "pp"),
        dp=dp,
        cp=pcp,
        dcp=count(facts, "dcp"),
        ep=dp * pcp * tp if on else 1,
        extra=extra(facts, "enable_expert_parallel", "enable_eplb", "redundant_experts", "external_dp"),
        moe=facts.get("model_kind", "moe") == "moe",
    )


def _check_vllm_model(facts: Facts) -> None:
    heads, tp, experts_count = optional(facts, "heads"), count(facts, "tp"), count(facts, "experts", 0)
    if heads is not None:
        dense = not experts_count and facts.get("model_kind") != "moe"
        kv_heads = count(facts, "kv_heads", heads)
        if facts.get("enable_expert_parallel") and dense:
            vllm.check_model(heads, kv_heads, tp, 1)
            raise LayoutRefusedError("experts", vllm.NO_EXPERTS)
        vllm.check_model(heads, kv_heads, tp, count(facts, "dcp"), mla=facts.get("mla") is True)
    if facts.get("supports_pp") is False and count(facts, "pp") > 1:
        raise LayoutRefusedError("pipeline", vllm.NO_PIPELINE)
    if experts_count and "model" in facts and tp > experts_count:
        raise LayoutRefusedError(
            "experts", f"Tensor parallel size {tp} is greater than the number of experts {experts_count}."
        )
    redundant = count(facts, "redundant_experts", 0)
    if not facts.get("enable_eplb"):
        vllm.check_redundant(redundant)
    elif experts_count and "ep" in facts:
        vllm.check_balanced(experts_count + redundant, count(facts, "ep"))


def _check_vllm_world(facts: Facts, degrees: Degrees) -> None:
    stage = degrees.dp * degrees.pp * degrees.cp * degrees.tp
    world = optional(facts, "world")
    if world is not None and world % stage:
        raise LayoutRefusedError(
            "world_size",
            f"shape '[-1, {degrees.dp}, {degrees.pp}, {degrees.cp}, {degrees.tp}]' is invalid for input of size "
            f"{world}",
        )


def _sglang(ask: Ask) -> Answer:
    facts = read_facts(ask, SGLANG_KEYS)
    tp, pp = count(facts, "tp"), count(facts, "pp")
    _check_world(
        facts,
        "world_size",
        tp * pp,
        f"world_size ({facts.get('world_size')}) is not equal to tensor_model_parallel_size ({tp}) x "
        f"pipeline_model_parallel_size ({pp})",
    )
    degrees = Degrees(
        tp=tp,
        pp=pp,
        dp=count(facts, "dp_replicas"),
        cp=count(facts, "attn_cp"),
        ep=count(facts, "moe_ep"),
        dcp=count(facts, "dcp"),
        extra=extra(
            facts, "attn_dp", "moe_dp", "base_gpu_id", "gpu_id_step", "redundant_experts", "enable_dp_attention"
        ),
        moe=True,
    )
    if "experts" in facts:
        experts.place_even(count(facts, "experts") + count(facts, "redundant_experts", 0), degrees.ep)
    return _placed(LAYOUTS["sglang"], degrees, launch(facts))


def _megatron(ask: Ask) -> Answer:
    facts = read_facts(ask, MEGATRON_KEYS)
    tp, pp, cp, ep = (count(facts, name) for name in ("tp", "pp", "cp", "ep"))
    switches = extra(facts, *megatron.EXTRA)
    _check_megatron_model(facts, tp, Degrees(pp=pp, extra=switches))
    if ask.get("kind") == "model_check":
        return {}
    model = tp * pp * cp
    world = count(facts, "world_size", model * count(facts, "dp"))
    if world % model:
        raise LayoutRefusedError("world_size", f"world_size ({world}) is not divisible by {model}")
    dp = world // model
    if count(facts, "dp", dp) != dp:
        raise LayoutRefusedError("world_size", f"world_size ({world}) gives dp {dp}; found {facts['dp']}")
    degrees = Degrees(tp=tp, pp=pp, cp=cp, ep=ep, dp=dp, extra=switches, moe=True)
    return _placed(LAYOUTS["megatron"], degrees, launch(facts))


def _check_megatron_model(facts: Facts, tp: int, degrees: Degrees) -> None:
    heads, layers = optional(facts, "heads"), optional(facts, "layers")
    if heads is not None:
        megatron.check_heads(heads, optional(facts, "kv_heads"), tp)
    if layers is not None:
        megatron.check_layers(layers, degrees)
    if "experts" in facts:
        megatron.check_experts(count(facts, "experts"), count(facts, "ep"))


def _trtllm(ask: Ask) -> Answer:
    facts = read_facts(ask, TRTLLM_KEYS)
    tp, pp, cp = (count(facts, name) for name in ("tp", "pp", "cp"))
    world = tp * pp * cp
    _check_world(
        facts,
        "world_size",
        world,
        "world_size must equal to tp_size * pp_size * cp_size, "
        f"but got {facts.get('world_size')} != {tp} * {pp} * {cp}.",
    )
    names = [name for name in trtllm.EXTRA if name != "orchestrator"]
    orchestrator = ask.get("orchestrator") or "mpi"
    degrees = Degrees(
        tp=tp,
        pp=pp,
        cp=cp,
        ep=_moe_ep(facts),
        extra=MappingProxyType({**extra(facts, *names), "orchestrator": orchestrator}),
        moe=True,
    )
    placed = _placed(LAYOUTS["trtllm"], degrees, launch(facts))
    if "rank" in facts and count(facts, "rank") >= world and not facts.get("enable_attention_dp"):
        raise LayoutRefusedError(
            "rank", f"Rank should be an integer between 0 and {world - 1}, but got {facts['rank']}."
        )
    if "experts" in facts:
        placed = _with_dangers(placed, checks.experts_floored(count(facts, "experts"), placed["sizes"]["moe_ep"]))
    return placed | _device_mesh(degrees)


def _moe_ep(facts: Facts) -> int:
    """Where only the expert-tensor size is given, the rest of the block is the expert size."""
    if "moe_ep" in facts or "moe_tp" not in facts:
        return count(facts, "moe_ep")
    context = 1 if str(facts.get("cp_type", "ULYSSES")).upper() == "ULYSSES" else count(facts, "cp")
    return max(1, count(facts, "tp") * context // (count(facts, "moe_tp") * count(facts, "moe_cluster")))


def _device_mesh(degrees: Degrees) -> Answer:
    """The same degrees under Ray, for comparison with MPI; nothing where Ray cannot build its mesh."""
    if degrees.extra["orchestrator"] != "mpi":
        return {}
    try:
        return {"groups_ray_device_mesh": trtllm.ray_groups(trtllm.sizes_of(degrees))}
    except LayoutRefusedError:
        return {}


ENGINES: Mapping[str, Callable[[Ask], Answer]] = MappingProxyType(
    {"closed": _closed, "vllm": _vllm, "sglang": _sglang, "megatron": _megatron, "trtllm": _trtllm}
)
"""How each engine is asked."""
