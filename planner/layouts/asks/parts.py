"""Answer one question about a part: layers over stages, experts over ranks, heads over ranks."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from planner.layouts import LAYOUTS, experts, layers
from planner.layouts.asks.facts import Ask
from planner.layouts.base import Degrees, ExpertPlacement, LayoutRefusedError, check_count
from planner.shown import shown

Answer = dict[str, Any]

BY_HAND = frozenset({"vllm", "sglang"})
"""The engines that take a partition written by hand."""


def _layer_part(engine: str, ask: Ask) -> Answer:
    count, stages = check_count("num_layers", ask["num_layers"]), check_count("pp", ask.get("pp", 1))
    given = ask.get("env_partition")
    degrees = Degrees(pp=stages)
    if given is not None:
        if not isinstance(given, str):
            raise LayoutRefusedError("layer_partition", f"env_partition is text; found {shown(given)}")
        if engine not in BY_HAND:
            raise LayoutRefusedError("layer_partition", f"{engine} takes no partition by hand; found {shown(given)}")
        degrees = Degrees(pp=stages, extra=MappingProxyType({"layer_partition": given}))
    counts = LAYOUTS[engine].layer_split(degrees)(count, stages)
    return {"ranges": layers.ranges(counts)}


def _expert_part(engine: str, ask: Ask) -> Answer:
    count, ep = check_count("num_experts", ask["num_experts"]), check_count("ep", ask.get("ep", 1))
    place = _strategy(engine, ask.get("strategy"))
    by_rank = place(count, ep)
    counts = [len(held) for held in by_rank]
    return {
        "counts": counts,
        "experts_by_ep_rank": by_rank,
        "divisible": count % ep == 0,
        "experts_dropped": count - sum(counts),
    }


def _strategy(engine: str, strategy: object) -> ExpertPlacement:
    """Return the engine's placement; vLLM alone is asked for another one."""
    if engine != "vllm" or strategy in (None, "linear"):
        return LAYOUTS[engine].place_experts
    if strategy == "round_robin":
        return experts.place_round_robin
    raise LayoutRefusedError("strategy", f"strategy is linear or round_robin; found {shown(strategy)}")


def _head_part(engine: str, ask: Ask) -> Answer:
    heads, tp = check_count("heads", ask["heads"]), check_count("tp", ask.get("tp", 1))
    kv_heads = check_count("kv_heads", ask.get("kv_heads", heads))
    if engine == "trtllm":
        share = experts.share_heads_up(heads, kv_heads, tp)
    else:
        share = experts.share_heads(heads, kv_heads, tp)
    return {
        "q_heads_per_rank": share.query_heads,
        "kv_heads_per_rank": share.kv_heads,
        "kv_replication": share.kv_heads * tp / kv_heads,
    }


PARTS: Mapping[str, Callable[[str, Ask], Answer]] = MappingProxyType(
    {"num_layers": _layer_part, "num_experts": _expert_part, "heads": _head_part}
)
"""Each part by the key that asks for it."""
