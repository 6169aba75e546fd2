"""The tensors of a model, whole or as one rank holds them.

Formulas: the sharding rules of vLLM 0.33.0 (``linear.py``, ``vocab_parallel_embedding.py``, ``fused_moe/layer.py``).
Query, output and feed-forward projections are split over tensor ranks; key and value projections by whole heads, of
which a rank holds ``max(1, kv_heads // ranks)``, so that they are copied where ranks outnumber heads; norms, router and
the latent's down projections are copied; the vocabulary is padded to a multiple of 64 and then split.

Sizes are in elements. Not handled: vision and audio towers, adapters, draft models.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from planner.hypotheses.facts import FeedForward, MissingFactsError, Shape, SplitRefusedError, known

__all__ = [
    "VOCABULARY_BLOCK",
    "Part",
    "Shares",
    "Tensor",
    "embedding",
    "final_norm",
    "head",
    "kv_heads_of_rank",
    "layer_tensors",
    "next_token_tensors",
    "split",
]

VOCABULARY_BLOCK = 64
"""Entries to a multiple of which a vocabulary is padded (``DEFAULT_VOCAB_PADDING_SIZE``)."""

Part = Literal["weights", "experts", "embedding", "head"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """``copies`` matrices of ``rows`` x ``columns`` elements; vectors have one column.

    ``name`` is the module's name inside its layer, as checkpoints write it. ``matrix`` says that a quantiser may take
    it; ``always`` names a number format that it has whatever the rest has.
    """

    name: str
    part: Part
    rows: int
    columns: int = 1
    copies: int = 1
    matrix: bool = True
    always: str | None = None

    @property
    def size(self) -> int:
        """Elements."""
        return self.rows * self.columns * self.copies


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Over how many ranks each dimension is split.

    ``experts_held`` routed experts of a layer sit on the rank (None: all of them). ``kv_rounded_up`` is TensorRT-LLM's
    rule for key-value heads; the others round down and keep at least one.
    """

    attention: int = 1
    dense: int = 1
    shared: int = 1
    expert_width: int = 1
    vocabulary: int = 1
    experts_held: int | None = None
    kv_rounded_up: bool = False


def split(name: str, size: int, ranks: int, label: str = "") -> int:
    """Return an even share; ``label`` says in words what is split, where that is not ``name`` itself.

    Raises:
        SplitRefusedError: ``size`` is no multiple of ``ranks``.
    """
    if size % ranks:
        raise SplitRefusedError(name, f"{label or name} {size} does not split evenly over {ranks} ranks")
    return size // ranks


def kv_heads_of_rank(kv_heads: int, ranks: int, *, rounded_up: bool = False) -> int:
    """Return the key-value heads that one tensor rank holds: ``max(1, kv_heads // ranks)``.

    Source: vLLM 0.33.0 ``ModelConfig.get_num_kv_heads``, the same in SGLang; TensorRT-LLM rounds up.

    Raises:
        SplitRefusedError: heads neither a multiple nor a divisor of ranks, where they are not rounded up.
    """
    if rounded_up:
        return -(-kv_heads // ranks)
    if kv_heads % ranks and ranks % kv_heads:
        raise SplitRefusedError(
            "kv_heads", f"{kv_heads} key-value heads are neither a multiple nor a divisor of {ranks} tensor ranks"
        )
    return max(1, kv_heads // ranks)


def layer_tensors(shape: Shape, kind: FeedForward, shares: Shares) -> Iterator[Tensor]:
    """Yield the tensors of one layer, with this kind of feed-forward part, as a rank holds them.

    Raises:
        MissingFactsError: a dimension, or the family's tensors, are not stated.
        SplitRefusedError: a dimension does not split.
    """
    if shape.traits is None:
        raise MissingFactsError(["tensors of the model's family"])
    (hidden,) = known(shape, "hidden_size")
    yield Tensor(name="input_layernorm", part="weights", rows=hidden, matrix=False)
    yield Tensor(name="post_attention_layernorm", part="weights", rows=hidden, matrix=False)
    yield from _latent_attention(shape, shares) if shape.latent else _attention(shape, shares)
    if kind == "dense":
        (width,) = known(shape, "intermediate_size")
        yield from _gated("mlp", "weights", hidden, split("intermediate_size", width, shares.dense))
    elif kind == "experts":
        yield from _experts(shape, shares)


def _attention(shape: Shape, shares: Shares) -> Iterator[Tensor]:
    hidden, heads, kv_heads, dim = known(shape, "hidden_size", "attention_heads", "kv_heads", "head_dim")
    query = split("attention_heads", heads, shares.attention) * dim
    kv = kv_heads_of_rank(kv_heads, shares.attention, rounded_up=shares.kv_rounded_up) * dim
    yield Tensor(name="self_attn.q_proj", part="weights", rows=query, columns=hidden)
    yield Tensor(name="self_attn.k_proj", part="weights", rows=kv, columns=hidden)
    yield Tensor(name="self_attn.v_proj", part="weights", rows=kv, columns=hidden)
    yield Tensor(name="self_attn.o_proj", part="weights", rows=hidden, columns=query)
    traits = shape.traits or frozenset()
    if "qk_norm" in traits:
        yield Tensor(name="self_attn.q_norm", part="weights", rows=dim, matrix=False)
        yield Tensor(name="self_attn.k_norm", part="weights", rows=dim, matrix=False)
    if "qkv_bias" in traits:
        yield Tensor(name="self_attn.qkv_bias", part="weights", rows=query + 2 * kv, matrix=False)
    if "o_bias" in traits:
        yield Tensor(name="self_attn.o_bias", part="weights", rows=hidden, matrix=False)
    if "sinks" in traits:
        yield Tensor(name="self_attn.sinks", part="weights", rows=query // dim, matrix=False)


def _latent_attention(shape: Shape, shares: Shares) -> Iterator[Tensor]:
    hidden, heads, query, latent, rope, nope, value = known(
        shape,
        "hidden_size",
        "attention_heads",
        "q_lora_rank",
        "kv_lora_rank",
        "rope_head_dim",
        "nope_head_dim",
        "value_head_dim",
    )
    own = split("attention_heads", heads, shares.attention)
    if query:
        yield Tensor(name="self_attn.q_a_proj", part="weights", rows=query, columns=hidden)
        yield Tensor(name="self_attn.q_a_layernorm", part="weights", rows=query, matrix=False)
    name = "self_attn.q_b_proj" if query else "self_attn.q_proj"
    yield Tensor(name=name, part="weights", rows=own * (nope + rope), columns=query or hidden)
    yield Tensor(name="self_attn.kv_a_proj_with_mqa", part="weights", rows=latent + rope, columns=hidden)
    yield Tensor(name="self_attn.kv_a_layernorm", part="weights", rows=latent, matrix=False)
    yield Tensor(name="self_attn.kv_b_proj", part="weights", rows=own * (nope + value), columns=latent)
    yield Tensor(name="self_attn.o_proj", part="weights", rows=hidden, columns=own * value)


def _experts(shape: Shape, shares: Shares) -> Iterator[Tensor]:
    hidden, experts, width = known(shape, "hidden_size", "experts", "expert_intermediate_size")
    (shared,) = known(shape, "shared_experts")
    yield Tensor(name="mlp.gate", part="weights", rows=experts, columns=hidden)
    if "router_bias" in (shape.traits or ()):
        yield Tensor(name="mlp.gate.e_score_correction_bias", part="weights", rows=experts, matrix=False, always="fp32")
    held = experts if shares.experts_held is None else shares.experts_held
    own = split("expert_intermediate_size", width, shares.expert_width)
    yield from _gated("mlp.experts", "experts", hidden, own, copies=held)
    if "expert_bias" in (shape.traits or ()):
        yield Tensor(name="mlp.gate.bias", part="weights", rows=experts, matrix=False)
        yield Tensor(name="mlp.experts.bias", part="experts", rows=2 * own + hidden, copies=held, matrix=False)
    if shared:
        own = split("expert_intermediate_size", width * shared, shares.shared, "width of the shared experts")
        yield from _gated("mlp.shared_experts", "weights", hidden, own)


def _gated(name: str, part: Part, hidden: int, width: int, *, copies: int = 1) -> Iterator[Tensor]:
    yield Tensor(name=f"{name}.gate_proj", part=part, rows=width, columns=hidden, copies=copies)
    yield Tensor(name=f"{name}.up_proj", part=part, rows=width, columns=hidden, copies=copies)
    yield Tensor(name=f"{name}.down_proj", part=part, rows=hidden, columns=width, copies=copies)


def embedding(shape: Shape, shares: Shares) -> Tensor:
    """Return the token embedding of one rank: padded vocabulary / ranks x hidden."""
    rows = _vocabulary(shape, shares)
    # Quantisers take projections; a table that is looked up is none, and lists of exceptions may leave it out.
    return Tensor(name="embed_tokens", part="embedding", rows=rows, columns=_hidden(shape), matrix=False)


def head(shape: Shape, shares: Shares) -> Tensor:
    """Return the output head of one rank: padded vocabulary / ranks x hidden."""
    return Tensor(name="lm_head", part="head", rows=_vocabulary(shape, shares), columns=_hidden(shape))


def final_norm(shape: Shape) -> Tensor:
    """Return the norm before the output head."""
    return Tensor(name="norm", part="weights", rows=_hidden(shape), matrix=False)


def next_token_tensors(shape: Shape, shares: Shares) -> Iterator[Tensor]:
    """Yield the tensors of one layer that predicts a further token (multi-token prediction).

    Source: DeepSeek-V3 ``README_WEIGHTS.md``: a layer like the last one, norms of both inputs, their projection from
    2 x hidden, the head's norm, and copies of embedding and head.
    """
    hidden = _hidden(shape)
    yield from layer_tensors(shape, shape.feed_forwards()[-1], shares)
    for name in ("enorm", "hnorm", "shared_head.norm"):
        yield Tensor(name=name, part="weights", rows=hidden, matrix=False)
    yield Tensor(name="eh_proj", part="weights", rows=hidden, columns=2 * hidden)
    yield embedding(shape, shares)
    yield head(shape, shares)


def _hidden(shape: Shape) -> int:
    (hidden,) = known(shape, "hidden_size")
    return hidden


def _vocabulary(shape: Shape, shares: Shares) -> int:
    (entries,) = known(shape, "vocab_size")
    padded = -(-entries // VOCABULARY_BLOCK) * VOCABULARY_BLOCK
    return split("vocab_size", padded, shares.vocabulary, "vocabulary, padded to a multiple of 64,")
