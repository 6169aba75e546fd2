"""The KV cache: elements that a token leaves in a layer, and bytes on one tensor rank.

Formulas: multi-head and grouped-query attention ``2 * kv_heads * head_dim`` a layer (keys and values; Ainslie et al.,
arXiv 2305.13245); latent attention ``kv_lora_rank + rope_head_dim`` (DeepSeek-V2, arXiv 2405.04434), held whole by
every tensor rank; a sliding layer keeps ``min(tokens, window)`` tokens. A tensor rank holds ``max(1, kv_heads //
ranks)`` heads (``kv_heads_of_rank``). Not handled: block rounding, scales of a quantised cache, recurrent states.
"""

from fractions import Fraction

from planner.hypotheses.facts import Cache, Shape, SplitRefusedError, counted_layers, known
from planner.hypotheses.tensors import kv_heads_of_rank

__all__ = ["cached_elements", "caches_of", "kv_bytes", "places_known"]


def caches_of(shape: Shape) -> tuple[Cache | None, ...]:
    """Return what every layer caches of a token.

    Where only the number of sliding layers is stated they are put first: sums over the whole model are right, places
    are not (``places_known``).

    Raises:
        MissingFactsError: a dimension is not stated.
        SplitRefusedError: more layers than are counted, or more sliding layers than layers.
    """
    if shape.caches is not None:
        return shape.caches
    layers = counted_layers(shape)
    if shape.latent:
        latent, rope = known(shape, "kv_lora_rank", "rope_head_dim")
        return (Cache(elements=latent + rope, kv_heads=None),) * layers
    heads, dim = known(shape, "kv_heads", "head_dim")
    full = Cache(elements=2 * dim, kv_heads=heads)
    if shape.sliding_layers is None and shape.sliding_window_tokens is None:
        return (full,) * layers
    sliding, window = known(shape, "sliding_layers", "sliding_window_tokens")
    if sliding > layers:
        raise SplitRefusedError("sliding_layers", f"{sliding} sliding layers are more than the {layers} layers")
    short = Cache(elements=2 * dim, kv_heads=heads, window_tokens=window)
    return (short,) * sliding + (full,) * (layers - sliding)


def places_known(shape: Shape) -> bool:
    """Say whether it is known which layers are sliding, so that stages can be told apart."""
    return shape.caches is not None or not shape.sliding_layers or shape.sliding_layers == shape.layers


def cached_elements(
    caches: tuple[Cache | None, ...], tokens: int, ranks: int = 1, *, sharing: int = 1, rounded_up: bool = False
) -> int:
    """Return the elements that ``tokens`` of one sequence leave on one of ``ranks`` tensor ranks, over ``caches``.

    ``sharing`` ranks divide the tokens among them (decode context). ``rounded_up`` is as in ``kv_heads_of_rank``.

    Raises:
        SplitRefusedError: key-value heads do not split over the ranks.
    """
    total = 0
    for cache in caches:
        if cache is not None:
            heads = 1 if cache.kv_heads is None else kv_heads_of_rank(cache.kv_heads, ranks, rounded_up=rounded_up)
            kept = min(tokens, cache.window_tokens or tokens)
            total += cache.elements * heads * -(-kept // sharing)
    return total


def kv_bytes(shape: Shape, width: Fraction, *, tokens: int = 1, ranks: int = 1) -> Fraction:
    """Return the bytes that ``tokens`` of one sequence occupy on one tensor rank, over all layers.

    ``width`` is bytes of an element. For ranks that hold a part of the layers see ``cached_elements``.

    Raises:
        MissingFactsError: a dimension is not stated.
        SplitRefusedError: key-value heads do not split over the ranks.
    """
    return cached_elements(caches_of(shape), tokens, ranks) * width
