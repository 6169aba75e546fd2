"""Read the degrees of a question by the engine's own table of keys.

Rules kept: every value is checked by name and range before anything is built; an unknown key is refused, because
ignoring it would answer another question. ``null`` is the same as absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from planner.layouts.base import Extra, Launch, LayoutRefusedError, check_count
from planner.shown import shown

Ask = Mapping[str, Any]
Facts = dict[str, Extra]
Kinds = tuple[type[int] | type[bool] | type[str], ...]
WORDS = {int: "a whole number", bool: "true or false", str: "text"}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of ``degrees``: the name it is known by here, and what it holds.

    ``unset`` is the value by which an engine says that it derives the degree itself; it is the same as absent.
    """

    name: str
    kinds: Kinds = (int,)
    least: int = 1
    unset: int | None = None


def _keys(**spelled: Key | str) -> Mapping[str, Key]:
    return MappingProxyType({name: key if isinstance(key, Key) else Key(key) for name, key in spelled.items()})


LAUNCH_KEYS = {"nnodes": Key("nnodes"), "gpus_per_node": Key("gpus_per_node")}

VLLM_KEYS = _keys(
    tp="tp",
    tensor_parallel_size="tp",
    pp="pp",
    pipeline_parallel_size="pp",
    dp="dp",
    data_parallel_size="dp",
    pcp="pcp",
    prefill_context_parallel_size="pcp",
    dcp="dcp",
    decode_context_parallel_size="dcp",
    external_dp="external_dp",
    enable_expert_parallel=Key("enable_expert_parallel", (bool,)),
    enable_eplb=Key("enable_eplb", (bool,)),
    num_redundant_experts=Key("redundant_experts", least=0),
    ep=Key("ep", (bool, int)),
    model_kind=Key("model_kind", (str,)),
    model=Key("model", (str,)),
    supports_pp=Key("supports_pp", (bool,)),
    mla=Key("mla", (bool,)),
    use_mla=Key("mla", (bool,)),
    world="world",
    heads="heads",
    kv_heads="kv_heads",
    num_experts=Key("experts", least=0),
    gpus_on_node="gpus_per_node",
    distributed_executor_backend=Key("orchestrator", (str,)),
    **LAUNCH_KEYS,
)
SGLANG_KEYS = _keys(
    tp="tp",
    tp_size="tp",
    pp="pp",
    pp_size="pp",
    attn_dp="attn_dp",
    attn_dp_size="attn_dp",
    attn_cp="attn_cp",
    attn_cp_size="attn_cp",
    moe_ep="moe_ep",
    ep_size="moe_ep",
    moe_dp="moe_dp",
    moe_dp_size="moe_dp",
    dcp=Key("dcp", least=0),
    dcp_size=Key("dcp", least=0),
    dp_replicas="dp_replicas",
    dp_size="dp_replicas",
    enable_dp_attention=Key("enable_dp_attention", (bool,)),
    base_gpu_id=Key("base_gpu_id", least=0),
    gpu_id_step="gpu_id_step",
    num_experts="experts",
    num_redundant_experts=Key("redundant_experts", least=0),
    **LAUNCH_KEYS,
)
MEGATRON_KEYS = _keys(
    tp="tp",
    tensor_model_parallel_size="tp",
    pp="pp",
    pipeline_model_parallel_size="pp",
    cp="cp",
    context_parallel_size="cp",
    dp="dp",
    data_parallel_size="dp",
    ep="ep",
    expert_model_parallel_size="ep",
    etp="etp",
    expert_tensor_parallel_size="etp",
    gtp_remat="gtp_remat",
    vpp="vpp",
    virtual_pipeline_model_parallel_size="vpp",
    order=Key("order", (str,)),
    use_tp_pp_dp_mapping=Key("use_tp_pp_dp_mapping", (bool,)),
    num_attention_heads="heads",
    num_query_groups="kv_heads",
    num_layers="layers",
    num_moe_experts="experts",
    num_layers_in_first_pipeline_stage="num_layers_in_first_pipeline_stage",
    num_layers_in_last_pipeline_stage="num_layers_in_last_pipeline_stage",
    **LAUNCH_KEYS,
)
TRTLLM_KEYS = _keys(
    tp="tp",
    tp_size="tp",
    pp="pp",
    pp_size="pp",
    cp="cp",
    cp_size="cp",
    moe_tp_size=Key("moe_tp", unset=-1),
    moe_ep_size=Key("moe_ep", unset=-1),
    moe_cluster_size=Key("moe_cluster", unset=-1),
    attn_tp_size=Key("attn_tp", unset=-1),
    attn_cp_size=Key("attn_cp", unset=-1),
    cp_type=Key("cp_type", (str,)),
    enable_attention_dp=Key("enable_attention_dp", (bool,)),
    enable_lm_head_tp_in_adp=Key("enable_lm_head_tp_in_adp", (bool,)),
    rank=Key("rank", least=0),
    num_experts="experts",
    **LAUNCH_KEYS,
)
CLOSED_KEYS = _keys(tp="tp", pp="pp", ep="ep", dp="dp", **LAUNCH_KEYS)


def read_facts(ask: Ask, keys: Mapping[str, Key]) -> Facts:
    """Return ``degrees`` and what the launcher says, by our own names.

    Raises:
        LayoutRefusedError: a value is of the wrong kind or out of range, a key is not one of the engine's, or one
            degree is given twice with different values.
    """
    degrees = ask["degrees"]
    if not isinstance(degrees, Mapping):
        raise LayoutRefusedError("degrees", f"degrees is an object; found {shown(degrees)}")
    facts: Facts = {}
    for spelled, value in degrees.items():
        if spelled not in keys:
            raise LayoutRefusedError("unknown_degree", f"{ask['engine']} has no degree {shown(spelled)}")
        if value is not None and (isinstance(value, bool) or value != keys[spelled].unset):
            _put(facts, keys[spelled].name, spelled, _value(spelled, value, keys[spelled]))
    for name in ("nnodes", "gpus_per_node", "world_size"):
        if ask.get(name) is not None:
            _put(facts, name, name, check_count(name, ask[name]))
    if ask.get("orchestrator") is not None:
        _value("orchestrator", ask["orchestrator"], Key("orchestrator", (str,)))
    return facts


def _put(facts: Facts, name: str, spelled: str, value: Extra) -> None:
    if facts.setdefault(name, value) != value:
        raise LayoutRefusedError(
            "contradiction", f"{spelled} {shown(value)} contradicts the same degree given as {shown(facts[name])}"
        )


def _value(spelled: str, value: object, key: Key) -> Extra:
    if bool in key.kinds and isinstance(value, bool):
        return value
    if str in key.kinds and isinstance(value, str):
        return value
    if int in key.kinds:
        return check_count(spelled, value, least=key.least)
    wanted = " or ".join(WORDS[kind] for kind in key.kinds)
    raise LayoutRefusedError("degree", f"{spelled} is {wanted}; found {shown(value)}")


def count(facts: Facts, name: str, default: int = 1) -> int:
    """Return a whole number, or the default where it is absent."""
    value = facts.get(name)
    return value if isinstance(value, int) else default


def optional(facts: Facts, name: str) -> int | None:
    """Return a whole number, or None where it is absent."""
    value = facts.get(name)
    return value if isinstance(value, int) else None


def extra(facts: Facts, *names: str) -> Mapping[str, Extra]:
    """Return those of the named facts that are there."""
    return MappingProxyType({name: facts[name] for name in names if name in facts})


def launch(facts: Facts, orchestrator: object = None) -> Launch:
    """Return how the engine is started."""
    return Launch(
        nnodes=optional(facts, "nnodes"),
        gpus_per_node=optional(facts, "gpus_per_node"),
        orchestrator=orchestrator if isinstance(orchestrator, str) else "",
    )
