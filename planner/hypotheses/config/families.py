"""What a ``model_type`` says about tensors and layers that no key of its ``config.json`` states.

From the modelling code of each type in Hugging Face Transformers and vLLM 0.33.0. A type that is not listed has tensors
that are not known here, so its weights are asked for, not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planner.hypotheses.facts import Trait

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """``traits`` None: tensors not known. ``all_sparse``: without a key that says otherwise every layer has experts.

    ``no_shared``: there are no shared experts. ``expert_width`` is the key of an expert's width where it is not
    ``moe_intermediate_size``; ``all_sliding``: a ``sliding_window`` holds for every layer.
    """

    traits: frozenset[Trait] | None = None
    all_sparse: bool = False
    no_shared: bool = False
    expert_width: str = "moe_intermediate_size"
    all_sliding: bool = False


_PLAIN: frozenset[Trait] = frozenset()
_QK_NORM: frozenset[Trait] = frozenset({"qk_norm"})
_ROUTER_BIAS: frozenset[Trait] = frozenset({"router_bias"})

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "llama": Family(traits=_PLAIN),
        "mistral": Family(traits=_PLAIN, all_sliding=True),
        "qwen2": Family(traits=frozenset({"qkv_bias"})),
        "qwen3": Family(traits=_QK_NORM),
        "qwen3_moe": Family(traits=_QK_NORM, no_shared=True),
        "qwen3_vl_moe_text": Family(traits=_QK_NORM, no_shared=True),
        "mixtral": Family(
            traits=_PLAIN, all_sparse=True, no_shared=True, expert_width="intermediate_size", all_sliding=True
        ),
        "deepseek_v3": Family(traits=_ROUTER_BIAS),
        "kimi_k2": Family(traits=_ROUTER_BIAS),
        "gpt_oss": Family(
            traits=frozenset({"sinks", "expert_bias"}),
            all_sparse=True,
            no_shared=True,
            expert_width="intermediate_size",
        ),
        "llama4_text": Family(expert_width="intermediate_size"),
    }
)
