"""Bytes of one step at every boundary that an instance has, each with its formula.

Tensor: the array of one all-reduce and how many a forward pass has. Pipeline: what one stage passes to the next.
Experts: what one scheduler's tokens send to the experts of one layer, and get back. Hand-off: the KV cache of a prompt.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from planner.hypotheses.expected import Expected, expected
from planner.hypotheses.facts import Shape, known
from planner.hypotheses.formats import width_of
from planner.hypotheses.kv_cache import cached_elements, caches_of
from planner.hypotheses.payloads import reduced_per_forward, token_bytes
from planner.hypotheses.splits import InstanceSplit
from planner.hypotheses.steps import Steps
from planner.layouts import LAYOUTS
from planner.records.contract import Precision

__all__ = ["Boundary", "BoundaryKind", "boundaries"]

BoundaryKind = Literal["tensor", "pipeline", "expert_dispatch", "expert_combine", "handoff"]
Phase = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """``payload`` crosses ``times`` in one step of ``phase`` (of a hand-off: for one request, once)."""

    instance: int
    kind: BoundaryKind
    phase: Phase
    times: int | None
    payload: Expected


def boundaries(
    shape: Shape,
    precision: Precision,
    layout: str,
    split: InstanceSplit,
    steps: Steps,
    *,
    instance: int,
    hands_off: bool,
) -> Iterator[Boundary]:
    """Yield every boundary of one instance for each kind of step that it runs."""
    phases: list[tuple[Phase, Callable[[], int]]] = []
    if steps.prefills:
        phases.append(("prefill", steps.prefill_tokens))
    if steps.decodes:
        phases.append(("decode", steps.decode_tokens))
    for phase, tokens in phases:
        for kind, times, factor, formula in _crossed(shape, layout, split):
            payload = expected(formula, shape, _moved(precision, tokens, factor, kind))
            yield Boundary(instance=instance, kind=kind, phase=phase, times=times, payload=payload)
    if hands_off:
        yield Boundary(
            instance=instance,
            kind="handoff",
            phase="prefill",
            times=1,
            payload=expected(
                "KV cache of one prompt, every layer, no copies",
                shape,
                lambda shape: _handed_off(shape, precision, steps),
            ),
        )


def _crossed(shape: Shape, layout: str, split: InstanceSplit) -> Iterator[tuple[BoundaryKind, int | None, int, str]]:
    """Yield kind, times in a step, factor and formula of the boundaries that the degrees make."""
    if split.shares.attention > 1:
        times = reduced_per_forward(sum(split.layers))
        yield "tensor", times, 1, "tokens * hidden * bytes for each all-reduce; two a layer and one for the embedding"
    if len(split.layers) > 1:
        both = LAYOUTS[layout].residual_apart
        text = f"; {LAYOUTS[layout].title} sends hidden states and residual" if both else ""
        yield "pipeline", len(split.layers) - 1, 2 if both else 1, f"tokens * hidden * bytes{text}"
    if split.expert_ranks > 1:
        sparse = _sparse_layers(shape)
        text = "tokens * experts per token * hidden * bytes a layer, no copy spared"
        yield "expert_dispatch", sparse, 1, text
        yield "expert_combine", sparse, 1, text


def _sparse_layers(shape: Shape) -> int | None:
    if shape.feed_forward is None and shape.dense_layers is None:
        return None
    return shape.feed_forwards().count("experts")


def _moved(
    precision: Precision, tokens: Callable[[], int], factor: int, kind: BoundaryKind
) -> Callable[[Shape], Fraction]:
    def counted(shape: Shape) -> Fraction:
        expert = kind.startswith("expert")
        hidden, *visited = known(shape, "hidden_size", *(["experts_per_token"] if expert else []))
        copies = visited[0] if expert else 1
        width = width_of(precision.activations, "/identity/precision/activations")
        return factor * copies * token_bytes(tokens(), hidden, width)

    return counted


def _handed_off(shape: Shape, precision: Precision, steps: Steps) -> Fraction:
    caches = caches_of(shape)
    elements = cached_elements(caches, steps.prefill_tokens())
    return elements * width_of(precision.kv_cache, "/identity/precision/kv_cache")
