"""Activations: the tensors of one layer that are live at once for the tokens of a step.

Formula, an own derivation: tokens x width x (2 x hidden for residual and normed input + the widest of attention's
projections, the feed-forward part's gate, up and product, and those of the experts that a token visits). It leaves out
logits, workspaces, graphs and what an allocator keeps, so it is the least of the figures here.
"""

from collections.abc import Iterator

from planner.hypotheses.facts import FeedForward, Shape, known
from planner.hypotheses.tensors import Shares, kv_heads_of_rank, split

__all__ = ["activation_elements"]


def activation_elements(shape: Shape, shares: Shares) -> int:
    """Return the elements that one token holds on a rank in the widest layer.

    Raises:
        MissingFactsError: a dimension is not stated.
        SplitRefusedError: a dimension does not split.
    """
    (hidden,) = known(shape, "hidden_size")
    kinds = sorted(set(shape.feed_forwards()))
    widest = max([_attention(shape, shares), *_feed_forward(shape, shares, kinds)])
    return 2 * hidden + widest


def _attention(shape: Shape, shares: Shares) -> int:
    (heads,) = known(shape, "attention_heads")
    own = split("attention_heads", heads, shares.attention)
    if shape.latent:
        rope, nope, value = known(shape, "rope_head_dim", "nope_head_dim", "value_head_dim")
        return own * (nope + rope + nope + value)
    kv_heads, dim = known(shape, "kv_heads", "head_dim")
    return (own + 2 * kv_heads_of_rank(kv_heads, shares.attention, rounded_up=shares.kv_rounded_up)) * dim


def _feed_forward(shape: Shape, shares: Shares, kinds: list[FeedForward]) -> Iterator[int]:
    if "dense" in kinds:
        (width,) = known(shape, "intermediate_size")
        yield 3 * split("intermediate_size", width, shares.dense)
    if "experts" in kinds:
        width, visited = known(shape, "expert_intermediate_size", "experts_per_token")
        yield 3 * visited * split("expert_intermediate_size", width, shares.expert_width)
