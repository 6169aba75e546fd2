"""Facts of a model's shape, each of them there or asked for by name.

Rules kept: names are those of the contract's model section where it has them; ``None`` is "not stated", never a
default. Not handled: reading documents (``planner.hypotheses.contract``, ``planner.hypotheses.config``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from planner.errors import PlannerError

__all__ = [
    "MOST_LAYERS",
    "Cache",
    "FeedForward",
    "MissingFactsError",
    "Shape",
    "SplitRefusedError",
    "Trait",
    "all_missing",
    "counted_layers",
    "known",
]

FeedForward = Literal["dense", "experts", "none"]
Trait = Literal["qk_norm", "qkv_bias", "o_bias", "sinks", "router_bias", "expert_bias"]
"""Small tensors that only some families have: norms of query and key heads, biases of the attention's projections, a
sink for each head, the bias that corrects the router's scores, biases of router and experts."""


MOST_LAYERS = 10_000
"""Layers that are counted one by one; no model has a tenth of them, a typing error may have any number."""


class MissingFactsError(PlannerError):
    """A figure needs facts that are not stated; ``names`` are all of them."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"not stated: {', '.join(names)}")
        self.names = tuple(names)


class SplitRefusedError(PlannerError):
    """A dimension does not split over the ranks; ``name`` is the dimension, ``message`` is for people."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """What one layer keeps of a token: ``elements`` for each of ``kv_heads`` heads.

    ``kv_heads`` None is a latent that has no heads and is held whole by every tensor rank. ``window_tokens`` is the
    reach of a sliding layer; older tokens are dropped.
    """

    elements: int
    kv_heads: int | None
    window_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Dimensions of a model, in elements and counts.

    ``dense_layers`` counts the leading layers without experts. ``feed_forward`` and ``caches`` hold one entry a layer
    where layers differ in another way; a layer without a KV cache has the entry None. ``sliding_layers`` says how many
    layers have a window where their places are not stated. ``traits`` None means that the family's tensors are not
    known, so that weights cannot be counted.
    """

    layers: int | None = None
    hidden_size: int | None = None
    vocab_size: int | None = None
    tied_embeddings: bool | None = None
    intermediate_size: int | None = None
    attention_heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    latent: bool = False
    q_lora_rank: int | None = None
    kv_lora_rank: int | None = None
    rope_head_dim: int | None = None
    nope_head_dim: int | None = None
    value_head_dim: int | None = None
    sliding_window_tokens: int | None = None
    sliding_layers: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    shared_experts: int | None = None
    expert_intermediate_size: int | None = None
    dense_layers: int | None = None
    moe: bool = False
    feed_forward: tuple[FeedForward, ...] | None = None
    caches: tuple[Cache | None, ...] | None = None
    traits: frozenset[Trait] | None = field(default_factory=frozenset)

    def feed_forwards(self) -> tuple[FeedForward, ...]:
        """Return the kind of feed-forward part of every layer.

        Raises:
            MissingFactsError: layers, or for a mixture of experts how many of them are dense.
            SplitRefusedError: more than ``MOST_LAYERS``, or more dense layers than layers.
        """
        if self.feed_forward is not None:
            return self.feed_forward
        kinds: tuple[FeedForward, FeedForward] = ("dense", "experts")
        if not self.moe:
            return kinds[:1] * counted_layers(self)
        layers, dense = known(self, "layers", "dense_layers")
        if dense > layers:
            raise SplitRefusedError("dense_layers", f"{dense} dense layers are more than the {layers} layers")
        return kinds[:1] * dense + kinds[1:] * (counted_layers(self) - dense)


def counted_layers(shape: Shape) -> int:
    """Return the number of layers.

    Raises:
        MissingFactsError: it is not stated.
        SplitRefusedError: it is more than ``MOST_LAYERS``.
    """
    (layers,) = known(shape, "layers")
    if layers > MOST_LAYERS:
        raise SplitRefusedError("layers", f"{layers} layers are more than the {MOST_LAYERS} that are counted")
    return layers


def known(shape: Shape, *names: str) -> tuple[int, ...]:
    """Return facts of a shape that all have to be there.

    Raises:
        MissingFactsError: with every name that is not stated.
    """
    values = [getattr(shape, name) for name in names]
    missing = [name for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        raise MissingFactsError(missing)
    return tuple(values)


STAND_IN: Mapping[str, Any] = MappingProxyType({"layers": 2, "dense_layers": 0, "tied_embeddings": False})
"""Stands for a missing fact while others are looked for; any other is a number that splits over many ranks."""


def all_missing(shape: Shape, counted: Callable[[Shape], object]) -> tuple[str, ...]:
    """Return every fact that ``counted`` needs and does not find, not only the first one it meets.

    Facts that are missing get a stand-in and the figure is tried again; its value is never used.
    """
    names: dict[str, None] = {}
    while True:
        try:
            counted(shape)
        except MissingFactsError as missing:
            found = [name for name in missing.names if name not in names]
            facts = {name: STAND_IN.get(name, 2**16) for name in found if hasattr(shape, name)}
            names |= dict.fromkeys(found)
            if not facts:
                return tuple(names)
            shape = replace(shape, **facts)
        except SplitRefusedError:
            return tuple(names)
        else:
            return tuple(names)
