"""How each engine splits a model over the ranks of an instance: the degree that really shards each tensor.

The same rules as ``model_divisibility`` (``docs/reference/layouts.md``): attention by tp, in SGLang by attn_tp, in
TensorRT-LLM not at all with attention data parallelism; expert width by the expert-tensor degree; experts by the expert
group. A shared expert is whole on every rank where vLLM runs experts sequence-parallel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planner.hypotheses.facts import MissingFactsError, Shape, SplitRefusedError, known
from planner.hypotheses.tensors import Shares
from planner.layouts import LAYOUTS, Degrees, megatron, sglang, vllm
from planner.layouts.base import extra_count
from planner.layouts.experts import place_even, place_floor, place_linear
from planner.layouts.layers import Split, split_even, split_first

__all__ = ["InstanceSplit", "instance_split"]

Place = Callable[[int, int], tuple[tuple[int, ...], ...]]

MOST_EXPERTS = 65_536
"""Experts of a layer that are placed one by one; the largest published number is below a hundredth of it."""

LAYER_SPLITS: Mapping[str, Callable[[Degrees], Split]] = MappingProxyType(
    {
        "closed": lambda _: split_even,
        "vllm": vllm.layer_split,
        "sglang": sglang.layer_split,
        "megatron": megatron.layer_split,
        "trtllm": lambda _: split_first,
    }
)
PLACES: Mapping[str, Place] = MappingProxyType({"vllm": place_linear, "trtllm": place_floor})
"""Placement of experts that need not split evenly; the others refuse it."""


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
    sizes = LAYOUTS[layout].build(degrees).sizes
    attention_data = max(sizes.get("attn_dp", 1), sizes.get("attention_dp", 1))
    attention = sizes.get("attn_tp", degrees.tp) if layout == "sglang" else degrees.tp
    if layout == "trtllm" and attention_data > 1:
        attention = 1
    expert_ranks = sizes.get("moe_ep", degrees.ep)
    sequence_parallel = layout == "vllm" and expert_ranks > 1 and degrees.tp > 1 and degrees.dp > 1
    (layers,) = known(shape, "layers")
    return InstanceSplit(
        shares=Shares(
            attention=attention,
            dense=degrees.tp,
            shared=1 if sequence_parallel else degrees.tp,
            expert_width=_expert_width(layout, degrees, sizes),
            vocabulary=degrees.tp,
            kv_rounded_up=layout == "trtllm",
        ),
        expert_ranks=expert_ranks,
        schedulers=_schedulers(layout, degrees, attention_data),
        cache_ranks=degrees.dcp,
        context_ranks=degrees.cp,
        whole_tables=attention_data == 1,
        experts_held=_held(layout, degrees, shape, expert_ranks),
        layers=LAYER_SPLITS[layout](degrees)(layers, degrees.pp),
    )


def _expert_width(layout: str, degrees: Degrees, sizes: Mapping[str, int]) -> int:
    if layout == "closed":
        return degrees.tp
    return sizes.get("moe_tp", sizes.get("etp", 1))


def _schedulers(layout: str, degrees: Degrees, attention_data: int) -> int:
    plain = 1 if layout == "trtllm" else degrees.dp
    return plain * attention_data * (extra_count(degrees, "external_dp") if layout == "vllm" else 1)


def _held(layout: str, degrees: Degrees, shape: Shape, ranks: int) -> tuple[int, ...]:
    """Return the experts of a layer that each expert-parallel rank holds, redundant copies included."""
    if not shape.moe:
        return ()
    if shape.experts is None:
        raise MissingFactsError(["experts"])
    if shape.experts > MOST_EXPERTS:
        raise SplitRefusedError("experts", f"{shape.experts} experts are more than the {MOST_EXPERTS} that are placed")
    redundant = extra_count(degrees, "redundant_experts", 0, least=0)
    place = PLACES.get(layout, place_even)
    return tuple(len(experts) for experts in place(shape.experts + redundant, ranks))
