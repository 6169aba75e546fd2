"""What each layer of a ``config.json`` caches, and which layers have experts.

Rules kept: layers that differ are read one by one (``layer_types``, ``block_configs``, ``hybrid_override_pattern``);
where keys say that layers differ but not how, the answer is a name to ask for.
"""

from collections.abc import Callable
from typing import Any

from planner.hypotheses.config.families import Family
from planner.hypotheses.config.keys import LARGEST, Keys, Missing
from planner.hypotheses.config.section import MODEL, WIDTHS
from planner.hypotheses.facts import MOST_LAYERS, Cache, FeedForward
from planner.pointers import joined

__all__ = ["Caches", "FeedForwards", "caches", "feed_forwards", "pattern_kinds"]

Caches = tuple[Cache | None, ...]
FeedForwards = tuple[FeedForward, ...]

PATTERN: dict[str, tuple[bool, FeedForward]] = {
    "*": (True, "none"),
    "M": (False, "none"),
    "E": (False, "experts"),
    "-": (False, "dense"),
}
"""Nemotron-H: what a letter of ``hybrid_override_pattern`` is: whether it caches keys and values, its feed-forward."""

WITHOUT_CACHE = ("linear_attention", "mamba", "recurrent")
SLIDING = ("sliding_attention",)
FULL = ("full_attention",)
SPARSE_KEYS = (
    *("first_k_dense_replace", "moe_layer_freq", "decoder_sparse_step", "mlp_only_layers"),
    *("interleave_moe_layer_step", "mlp_layer_types"),
)


def pattern_kinds(keys: Keys) -> tuple[tuple[bool, FeedForward], ...] | None:
    """Return what every letter of a pattern of layers means; None without one."""
    text = keys.text("", "hybrid_override_pattern")
    if text is None:
        return None
    if len(text) > MOST_LAYERS:
        keys.refuse(
            keys.pointer("hybrid_override_pattern"), "document/length", f"at most {MOST_LAYERS} letters", len(text)
        )
        return None
    unknown = set(text) - set(PATTERN)
    if unknown:
        keys.refuse(
            keys.pointer("hybrid_override_pattern"), "document/pattern", f"letters {' '.join(PATTERN)}", unknown.pop()
        )
        return None
    return tuple(PATTERN[letter] for letter in text)


def caches(keys: Keys, layers: int, full: Cache | None, family: Family) -> Caches | Missing:
    """Return the cache of every layer; ``full`` is that of a layer without a window, where heads and widths say it."""
    unclear = [Missing(field=f"KV cache ({key})", asked=asked) for key, asked in NOT_DERIVED.items() if keys.value(key)]
    if unclear:
        return unclear[0]
    if keys.has("block_configs"):
        return _of_blocks(keys, layers)
    if full is None:
        return Missing(field="KV cache", asked="key-value heads and head dim, or the latent's widths")
    pattern = pattern_kinds(keys)
    if pattern is not None:
        return tuple(full if cached else None for cached, _ in pattern)
    return _of_types(keys, layers, full) if keys.has("layer_types") else _alike(keys, layers, full, family)


def _alike(keys: Keys, layers: int, full: Cache, family: Family) -> Caches | Missing:
    """Return equal caches, with the window that holds for all layers of the type where there is one."""
    window = (
        None
        if keys.value("use_sliding_window") is False
        else keys.count(f"{WIDTHS}/sliding_window_tokens", "sliding_window", most=2**40)
    )
    if window is None:
        return (full,) * layers
    if family.all_sliding:
        return (_windowed(full, window),) * layers
    return Missing(field="layer_types", asked="which layers the sliding window holds for")


NOT_DERIVED = {
    "compress_ratios": "bytes that a token leaves in each layer: ratios alone do not say what is cached",
    "num_kv_shared_layers": "which layers use the cache of another one",
    "attention_k_eq_v": "whether keys and values of global layers are cached once or twice",
    "attention_chunk_size": "which layers attend inside chunks",
}
"""Keys that change what is cached in a way that no formula here follows."""


def _windowed(full: Cache, window: int) -> Cache:
    return Cache(elements=full.elements, kv_heads=full.kv_heads, window_tokens=window)


def _of_types(keys: Keys, layers: int, full: Cache) -> Caches | Missing:
    types = keys.texts("", "layer_types")
    if types is not None and len(types) != layers:
        keys.refuse(keys.pointer("layer_types"), "document/length", f"{layers} entries, one a layer", len(types))
    if types is None or len(types) != layers:
        return Missing(field="layer_types", asked="one entry for every layer")
    unknown = sorted(set(types) - {*FULL, *SLIDING, *WITHOUT_CACHE})
    if unknown:
        return Missing(field="layer_types", asked=f"what a layer of type {', '.join(unknown)} caches")
    sliding = bool(set(types) & set(SLIDING))
    window = keys.count(f"{WIDTHS}/sliding_window_tokens", "sliding_window", most=2**40) if sliding else None
    if sliding and window is None:
        return Missing(field="sliding_window", asked="reach of a sliding layer in tokens")
    if sliding:
        keys.ruled(f"{WIDTHS}/sliding_layers", "layers of type sliding_attention", "layer_types")
    kinds = dict.fromkeys(FULL, full) | dict.fromkeys(SLIDING, _windowed(full, window or 1))
    return tuple(kinds.get(kind) for kind in types)


def _of_blocks(keys: Keys, layers: int) -> Caches | Missing:
    """Nemotron-NAS: heads, or no attention at all, block by block."""
    blocks = keys.array("", "block_configs") or []
    heads, hidden = keys.count("", "num_attention_heads"), keys.count("", "hidden_size")
    if len(blocks) != layers or heads is None or hidden is None:
        return Missing(field="block_configs", asked="one entry for every layer, with num_attention_heads, hidden_size")
    dim = keys.count("", "head_dim") or hidden // heads
    found = [_of_block(keys, place, block, heads, dim) for place, block in enumerate(blocks)]
    return tuple(found)


def _of_block(keys: Keys, place: int, block: Any, heads: int, dim: int) -> Cache | None:
    attention = block.get("attention") if isinstance(block, dict) else None
    if isinstance(attention, dict) and (attention.get("no_op") or attention.get("replace_with_linear")):
        return None
    sharing = attention.get("n_heads_in_group") if isinstance(attention, dict) else None
    if isinstance(sharing, bool) or not isinstance(sharing, int) or not 1 <= sharing <= LARGEST or heads % sharing:
        pointer = keys.pointer("block_configs") + joined((place, "attention", "n_heads_in_group"))
        keys.refuse(pointer, "document/range", f"a divisor of the {heads} heads", sharing)
        return None
    window = attention.get("window_length") if isinstance(attention, dict) else None
    return Cache(elements=2 * dim, kv_heads=heads // sharing, window_tokens=window if type(window) is int else None)


def feed_forwards(keys: Keys, layers: int, *, moe: bool, family: Family) -> FeedForwards | Missing:
    """Return the kind of feed-forward part of every layer."""
    pattern = pattern_kinds(keys)
    if pattern is not None:
        return tuple(kind for _, kind in pattern)
    if not moe:
        dense: tuple[FeedForward] = ("dense",)
        return dense * layers
    sparse = _sparse(keys, layers)
    if sparse is None and not family.all_sparse:
        return Missing(field=f"{MODEL}/dense_layers", asked="which layers have no experts")
    if sparse is None:
        keys.ruled(f"{MODEL}/dense_layers", "every layer of this type has experts", "model_type")
        experts: tuple[FeedForward] = ("experts",)
        return experts * layers
    keys.ruled(f"{MODEL}/dense_layers", "leading layers without experts", *SPARSE_KEYS)
    return tuple("experts" if sparse(layer) else "dense" for layer in range(layers))


def _sparse(keys: Keys, layers: int) -> Callable[[int], bool] | None:
    """Return the rule by which a layer has experts, None where no key states one.

    DeepSeek: layers from ``first_k_dense_replace``, every ``moe_layer_freq``-th. Qwen: every
    ``decoder_sparse_step``-th that is not in ``mlp_only_layers``. Llama 4: every ``interleave_moe_layer_step``-th.
    Later files list ``mlp_layer_types``.
    """
    if keys.has("first_k_dense_replace"):
        first = keys.count("", "first_k_dense_replace", least=0) or 0
        every = keys.count("", "moe_layer_freq", most=layers) or 1
        return lambda layer: layer >= first and layer % every == 0
    if keys.has("mlp_layer_types"):
        types = keys.texts("", "mlp_layer_types") or ()
        if len(types) != layers or set(types) - {"dense", "sparse"}:
            expected = f"{layers} times dense or sparse"
            keys.refuse(keys.pointer("mlp_layer_types"), "document/enumeration", expected, len(types))
            return None
        return lambda layer: types[layer] == "sparse"
    if keys.has("decoder_sparse_step"):
        step = keys.count("", "decoder_sparse_step", most=layers) or 1
        dense = {layer for layer in keys.array("", "mlp_only_layers") or [] if type(layer) is int}
        return lambda layer: layer not in dense and (layer + 1) % step == 0
    if keys.has("interleave_moe_layer_step"):
        step = keys.count("", "interleave_moe_layer_step", most=layers) or 1
        return lambda layer: (layer + 1) % step == 0
    return None
