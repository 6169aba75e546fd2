"""The dimensions of a ``config.json``: heads, widths, experts, and what differs from layer to layer."""

from dataclasses import replace
from typing import Any

from planner.hypotheses.config.families import FAMILIES, Family
from planner.hypotheses.config.keys import Keys, Missing
from planner.hypotheses.config.layers import caches, feed_forwards, pattern_kinds
from planner.hypotheses.config.section import MODEL, WIDTHS
from planner.hypotheses.facts import MOST_LAYERS, Cache, Shape, Trait

__all__ = ["read_shape"]
VISITED = ("num_experts_per_tok", "experts_per_token", "top_k_experts")
EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts")


def read_shape(keys: Keys) -> tuple[Shape, list[Missing]]:
    """Return the shape that the keys of a ``config.json`` state, and what differs by layer but is not stated."""
    family = FAMILIES.get(str(keys.value("model_type")), Family())
    shape = _dimensions(keys)
    shape = replace(shape, **_experts(keys, family)) if keys.has(*EXPERTS) else shape
    asked: list[Missing] = []
    if shape.layers:
        found = caches(keys, shape.layers, _full(shape), family)
        kinds = feed_forwards(keys, shape.layers, moe=shape.moe, family=family)
        asked += [part for part in (found, kinds) if isinstance(part, Missing)]
        shape = replace(
            shape,
            caches=None if isinstance(found, Missing) else found,
            feed_forward=None if isinstance(kinds, Missing) else kinds,
        )
        shape = _kv_of_blocks(keys, shape)
    return replace(shape, traits=_traits(keys, family, latent=shape.latent)), asked


def _traits(keys: Keys, family: Family, *, latent: bool) -> frozenset[Trait] | None:
    """Return the family's small tensors, with the biases that keys switch on; None where they are not known."""
    if family.traits is None or keys.value("mlp_bias"):
        return None
    if not keys.value("attention_bias"):
        return family.traits
    return None if latent else family.traits | {"qkv_bias", "o_bias"}


def _dimensions(keys: Keys) -> Shape:
    pattern = pattern_kinds(keys)
    layers = keys.count(f"{MODEL}/layers", "num_hidden_layers", most=MOST_LAYERS)
    if pattern is not None and layers is not None and len(pattern) != layers:
        keys.refuse(keys.pointer("hybrid_override_pattern"), "document/length", f"{layers} letters", len(pattern))
    heads = keys.count(f"{MODEL}/attention_heads", "num_attention_heads")
    hidden = keys.count(f"{MODEL}/hidden_size", "hidden_size")
    latent = keys.has("kv_lora_rank")
    shape = Shape(
        layers=layers,
        hidden_size=hidden,
        vocab_size=keys.count(f"{MODEL}/vocab_size", "vocab_size"),
        tied_embeddings=keys.flag(f"{MODEL}/tied_embeddings", "tie_word_embeddings"),
        intermediate_size=_dense_width(keys),
        attention_heads=heads,
        kv_heads=_kv_heads(keys, heads),
        head_dim=None if latent else _head_dim(keys, heads, hidden),
        latent=latent,
        q_lora_rank=keys.count(f"{WIDTHS}/q_lora_rank", "q_lora_rank", least=0),
        rope_head_dim=keys.count(f"{WIDTHS}/rope_head_dim", "qk_rope_head_dim"),
    )
    if not latent:
        return shape
    return replace(
        shape,
        kv_lora_rank=keys.count(f"{WIDTHS}/kv_lora_rank", "kv_lora_rank"),
        nope_head_dim=keys.count(f"{WIDTHS}/nope_head_dim", "qk_nope_head_dim"),
        value_head_dim=keys.count(f"{WIDTHS}/value_head_dim", "v_head_dim"),
    )


def _dense_width(keys: Keys) -> int | None:
    if keys.has("intermediate_size_mlp"):
        return keys.count(f"{MODEL}/intermediate_size", "intermediate_size_mlp")
    if keys.has(*EXPERTS) and not keys.has("moe_intermediate_size"):
        return None  # then intermediate_size is the width of an expert
    return keys.count(f"{MODEL}/intermediate_size", "intermediate_size")


def _kv_heads(keys: Keys, heads: int | None) -> int | None:
    if keys.has("num_key_value_heads") or keys.has("block_configs") or heads is None:
        return keys.count(f"{MODEL}/kv_heads", "num_key_value_heads")
    keys.ruled(f"{MODEL}/kv_heads", "num_key_value_heads is absent: as many as heads", "num_attention_heads")
    return heads


def _head_dim(keys: Keys, heads: int | None, hidden: int | None) -> int | None:
    if keys.has("head_dim") or heads is None or hidden is None or hidden % heads:
        return keys.count(f"{MODEL}/head_dim", "head_dim")
    keys.ruled(f"{MODEL}/head_dim", "head_dim is absent: hidden size / heads", "hidden_size", "num_attention_heads")
    return hidden // heads


def _full(shape: Shape) -> Cache | None:
    if shape.latent:
        if shape.kv_lora_rank is None or shape.rope_head_dim is None:
            return None
        return Cache(elements=shape.kv_lora_rank + shape.rope_head_dim, kv_heads=None)
    if shape.kv_heads is None or shape.head_dim is None:
        return None
    return Cache(elements=2 * shape.head_dim, kv_heads=shape.kv_heads)


def _kv_of_blocks(keys: Keys, shape: Shape) -> Shape:
    """Give the key-value heads of blocks that all have the same number, where no key states them."""
    heads = {cache.kv_heads for cache in shape.caches or () if cache is not None}
    if shape.kv_heads is not None or len(heads) != 1:
        return shape
    rule = "attention heads / n_heads_in_group, the same in every block with attention"
    keys.ruled(f"{MODEL}/kv_heads", rule, "block_configs", "num_attention_heads")
    return replace(shape, kv_heads=heads.pop())


def _experts(keys: Keys, family: Family) -> dict[str, Any]:
    width_key = "moe_intermediate_size" if keys.has("moe_intermediate_size") else family.expert_width
    width = keys.count(f"{MODEL}/expert_intermediate_size", width_key)
    experts = keys.count(f"{MODEL}/experts", *EXPERTS)
    visited = keys.count(f"{MODEL}/experts_per_token", *VISITED)
    if experts is not None and visited is not None and visited > experts:
        keys.refuse(keys.pointer(*VISITED), "document/range", f"at most the {experts} experts", visited)
    return {
        "moe": True,
        "experts": experts,
        "experts_per_token": visited,
        "expert_intermediate_size": width,
        "shared_experts": _shared(keys, family, width),
    }


def _shared(keys: Keys, family: Family, width: int | None) -> int | None:
    field = f"{MODEL}/shared_experts"
    shared = keys.count("", "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if shared is not None and width is not None and shared % width == 0:
        rule = "width of the shared expert / width of a routed one"
        keys.ruled(field, rule, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
        return shared // width
    if keys.has("n_shared_experts"):
        return keys.count(field, "n_shared_experts", least=0)
    if family.no_shared:
        keys.ruled(field, "models of this type have none", "model_type")
        return 0
    return None
