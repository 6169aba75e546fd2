"""What lies in the memory of a rank: parameters and bytes of weights, experts, embedding and head, by pipeline stage.

Formulas: sums over ``planner.hypotheses.tensors``. The embedding is on the first stage; final norm and head are on the
last one, which holds a copy of the table where it is tied and there is more than one stage. Results are exact.
"""

from collections.abc import Iterator
from itertools import accumulate

from planner.hypotheses.facts import MissingFactsError, Shape, known
from planner.hypotheses.formats import Placed, WeightFormat, tensors_bytes
from planner.hypotheses.tensors import (
    Shares,
    embedding,
    final_norm,
    head,
    layer_tensors,
    next_token_tensors,
)

__all__ = [
    "WHOLE",
    "active_parameters",
    "layers_tensors",
    "next_token_bytes",
    "parameters",
    "weight_bytes",
]

WHOLE = Shares()
"""Nothing is split."""


def layers_tensors(shape: Shape, shares: Shares, layers: range) -> list[Placed]:
    """Return the tensors of some layers as one rank holds them.

    Raises:
        MissingFactsError: a dimension, or which layers have experts, is not stated.
        SplitRefusedError: a dimension does not split.
    """
    kinds = shape.feed_forwards()
    return [(f"model.layers.{at}.", tensor) for at in layers for tensor in layer_tensors(shape, kinds[at], shares)]


def _stage_tensors(shape: Shape, shares: Shares, layers: tuple[int, ...]) -> Iterator[tuple[Placed, ...]]:
    """Yield for every pipeline stage the tensors of one of its ranks; ``layers`` are the layers of each stage.

    Raises:
        MissingFactsError: a dimension is not stated, or whether embedding and head are tied.
        SplitRefusedError: a dimension does not split.
    """
    if shape.tied_embeddings is None:
        raise MissingFactsError(["tied_embeddings"])
    last = len(layers) - 1
    starts = accumulate(layers[:-1], initial=0)
    for stage, (start, count) in enumerate(zip(starts, layers, strict=True)):
        placed = [("model.", embedding(shape, shares))] if stage == 0 else []
        placed += layers_tensors(shape, shares, range(start, start + count))
        if stage == last:
            placed.append(("model.", final_norm(shape)))
            if last > 0 or not shape.tied_embeddings:
                placed.append(("", head(shape, shares)))
        yield tuple(placed)


def parameters(shape: Shape, shares: Shares = WHOLE, layers: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Return the parameters of one rank of every stage; of the whole model without ``shares`` and ``layers``.

    Raises:
        MissingFactsError: a dimension is not stated.
        SplitRefusedError: a dimension does not split.
    """
    stages = _stage_tensors(shape, shares, layers or known(shape, "layers"))
    return tuple(sum(tensor.size for _, tensor in placed) for placed in stages)


def active_parameters(shape: Shape) -> int:
    """Return the parameters that one token visits.

    Formula: ``total - (experts - experts per token) / experts * parameters of routed experts``; an expert without
    biases has ``3 * hidden * width`` in each layer.

    Raises:
        MissingFactsError: a dimension is not stated.
    """
    (placed,) = _stage_tensors(shape, WHOLE, known(shape, "layers"))
    total = sum(tensor.size for _, tensor in placed)
    routed = sum(tensor.size for _, tensor in placed if tensor.part == "experts")
    if not routed:
        return total
    experts, visited = known(shape, "experts", "experts_per_token")
    return total - routed // experts * (experts - visited)


def weight_bytes(shape: Shape, formats: WeightFormat) -> int:
    """Return the bytes of all weights, scales included.

    Raises:
        MissingFactsError: a dimension or a format is not stated.
    """
    names = list(formats.missing())
    placed: tuple[Placed, ...] = ()
    try:
        (placed,) = _stage_tensors(shape, WHOLE, known(shape, "layers"))
    except MissingFactsError as missing:
        names += missing.names
    if names:
        raise MissingFactsError(names)
    return tensors_bytes(placed, formats)


def next_token_bytes(shape: Shape, formats: WeightFormat) -> int:
    """Return the bytes of one layer for multi-token prediction, with its copies of embedding and head.

    Raises:
        MissingFactsError: a dimension or a format is not stated.
    """
    return tensors_bytes((("", tensor) for tensor in next_token_tensors(shape, WHOLE)), formats)
