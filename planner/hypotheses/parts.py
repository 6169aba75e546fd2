"""Bytes of every part on one rank of one pipeline stage, each with its formula."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from typing import Literal

from planner.hypotheses.activations import activation_elements
from planner.hypotheses.expected import Expected, expected
from planner.hypotheses.facts import MissingFactsError, Shape
from planner.hypotheses.formats import WeightFormat, tensors_bytes, width_of
from planner.hypotheses.kv_cache import cached_elements, caches_of, places_known
from planner.hypotheses.residency import layers_tensors
from planner.hypotheses.splits import InstanceSplit
from planner.hypotheses.steps import Steps
from planner.hypotheses.tensors import Part, Shares, embedding, final_norm, head
from planner.records.contract import Precision

__all__ = ["PARTS", "PartName", "Stage", "activations_part", "stage_parts", "stages_of"]

PartName = Literal["weights", "experts", "embedding", "head", "kv", "activations"]
PARTS: tuple[PartName, ...] = ("weights", "experts", "embedding", "head", "kv", "activations")

FORMULAS: Mapping[PartName, str] = {
    "weights": "projections / tensor ranks, key and value heads max(1, kv heads // ranks), norms and router whole; "
    "biases and query-key norms left out",
    "experts": "layers of the stage * experts held * 3 * hidden * expert width / expert-tensor ranks",
    "embedding": "first stage: vocabulary to a multiple of 64 / tensor ranks * hidden",
    "head": "last stage: vocabulary to a multiple of 64 / tensor ranks * hidden; tied on one stage: the embedding's",
    "kv": "layers of the stage * 2 * kv heads of the rank * head dim, or the whole latent, * bytes * sequences * "
    "context tokens / decode-context ranks",
    "activations": "tokens of the largest step * bytes * (2 * hidden + the widest of attention and feed-forward)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A pipeline stage: its layers, and whether it is the first or the last."""

    layers: range
    first: bool
    last: bool


def stages_of(counts: tuple[int, ...]) -> tuple[Stage, ...]:
    """Return the stages that hold so many layers each."""
    last = len(counts) - 1
    cuts = enumerate(pairwise(accumulate(counts, initial=0)))
    return tuple(Stage(layers=range(start, end), first=place == 0, last=place == last) for place, (start, end) in cuts)


def stage_parts(
    shape: Shape,
    formats: WeightFormat,
    precision: Precision,
    split: InstanceSplit,
    stage: Stage,
    experts: int,
    steps: Steps,
) -> Mapping[PartName, Expected]:
    """Return what one rank of a stage holds of every part but activations, which all stages have alike.

    ``experts`` are those of a layer that the rank holds.
    """
    shares = replace(split.shares, experts_held=experts)

    def layer_part(part: Part, shape: Shape) -> int:
        tensors = layers_tensors(shape, shares, stage.layers)
        if part == "weights" and stage.last:
            tensors.append(("model.", final_norm(shape)))
        return tensors_bytes([item for item in tensors if item[1].part == part], formats)

    counted: dict[PartName, Callable[[Shape], Fraction | int]] = {
        "weights": partial(layer_part, "weights"),
        "experts": lambda shape: layer_part("experts", shape) if shape.moe else 0,
        "embedding": lambda shape: _table(shape, shares, split, formats) if stage.first else 0,
        "head": lambda shape: _head(shape, shares, split, stage, formats) if stage.last else 0,
        "kv": lambda shape: _kv(shape, precision, split, stage, steps),
    }
    return {part: expected(FORMULAS[part], shape, count) for part, count in counted.items()}


def activations_part(shape: Shape, precision: Precision, split: InstanceSplit, steps: Steps) -> Expected:
    """Return what any rank of an instance holds of activations."""

    def counted(shape: Shape) -> Fraction:
        elements = activation_elements(shape, split.shares)
        return elements * steps.largest_tokens() * width_of(precision.activations, "/identity/precision/activations")

    return expected(FORMULAS["activations"], shape, counted)


def _table(shape: Shape, shares: Shares, split: InstanceSplit, formats: WeightFormat) -> int:
    _check_tables(split)
    return tensors_bytes([("model.", embedding(shape, shares))], formats)


def _head(shape: Shape, shares: Shares, split: InstanceSplit, stage: Stage, formats: WeightFormat) -> int:
    if shape.tied_embeddings is None:
        raise MissingFactsError(["tied_embeddings"])
    if shape.tied_embeddings and stage.first:
        return 0
    _check_tables(split)
    return tensors_bytes([("", head(shape, shares))], formats)


def _check_tables(split: InstanceSplit) -> None:
    if not split.whole_tables:
        raise MissingFactsError(["placement of embedding and head under attention data parallelism"])


def _kv(shape: Shape, precision: Precision, split: InstanceSplit, stage: Stage, steps: Steps) -> Fraction:
    if split.context_ranks > 1:
        raise MissingFactsError(["placement of the KV cache under context parallelism"])
    if not (stage.first and stage.last) and not places_known(shape):
        raise MissingFactsError(["places of the sliding layers"])
    caches = caches_of(shape)[stage.layers.start : stage.layers.stop]
    sequences, tokens = steps.cached_tokens()
    rounded_up = split.shares.kv_rounded_up
    elements = cached_elements(caches, tokens, split.shares.attention, sharing=split.cache_ranks, rounded_up=rounded_up)
    return sequences * elements * width_of(precision.kv_cache, "/identity/precision/kv_cache")
