"""Whether a decomposition may fit, as a hypothesis: weights of the fullest rank, and KV caches of whole requests.

Rules kept: a decomposition is ruled out only by figures that cannot be too high: weights without activations, buffers
and workspaces, and as many requests as would fit if those took nothing. Where tensors cannot be counted, but
``parameters`` and a format are stated, the mean over the ranks that share a copy bounds the fullest rank from below.
What is not stated rules nothing out. The limit is the smallest device less the contract's reserve.

Not handled: adapters, draft models, co-tenants; they come on top.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from planner.contract_view import ContractView
from planner.figures import grouped
from planner.gates.memory import ceiling
from planner.gates.wording import gib
from planner.hypotheses.contract import formats_of_precision, shape_of_model
from planner.hypotheses.expected import Expected
from planner.hypotheses.facts import FeedForward, MissingFactsError, SplitRefusedError
from planner.hypotheses.parts import PartName, Stage, stage_parts, stages_of
from planner.hypotheses.splits import InstanceSplit, instance_split
from planner.hypotheses.steps import Steps
from planner.layouts import Degrees, LayoutRefusedError
from planner.records.base import UnsetType, stated
from planner.records.evidence import LayoutName
from planner.records.matrix import Basis, Residency
from planner.widths import WIDTHS

__all__ = ["RuledOut", "Weighing"]

MOST_NAMED = 3
WEIGHTS: tuple[PartName, ...] = ("weights", "experts", "embedding", "head")
COUNTED: Mapping[str, str] = {
    "tensors": "",
    "some_tensors": " of the tensors that can be counted",
    "parameters": " (parameters over the ranks of a copy)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """Why a decomposition cannot fit, by its hypothesis."""

    reason: Literal["memory", "kv"]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rank:
    """What one kind of rank holds at least; ``complete`` says that nothing of the weights is left out."""

    weights: int
    complete: bool
    sequence: int | None
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighing:
    """Hypotheses of one contract for devices of ``memory_bytes``; equal splits are weighed once."""

    ground: ContractView
    memory_bytes: int
    _kept: dict[object, tuple[_Rank, ...]] = field(default_factory=dict, repr=False)
    _pieces: dict[object, _Rank] = field(default_factory=dict, repr=False)

    @property
    def limit(self) -> Fraction:
        """The most bytes that a rank may use: of all ``memory_headroom`` limits the lowest, else the whole device."""
        limits = self.ground.limits.get("memory_headroom", {}).values()
        ceilings = [ceiling(self.ground.contract, self.memory_bytes, limit.max_used_bytes) for limit in limits]
        return min(ceilings, default=Fraction(self.memory_bytes))

    def weigh(self, layout: LayoutName, degrees: Degrees, world: int) -> tuple[Residency, RuledOut | None]:
        """Return the hypothesis for a decomposition that its layout accepts, and whether it rules it out."""
        ranks, schedulers = self._ranks(layout, degrees)
        weights, basis = self._heaviest(ranks, _copy_ranks(layout, degrees, world))
        requests = self._requests(ranks, weights, schedulers)
        missing = tuple(dict.fromkeys(name for rank in ranks for name in rank.missing))
        ruled_out = self._ruled_out(ranks, weights, basis, requests)
        context = stated(self.ground.workload.context_tokens)
        sequences = [rank.sequence for rank in ranks if rank.sequence is not None]
        return (
            Residency(
                limit_bytes=int(self.limit),
                weights_bytes=weights,
                basis=basis,
                sequence_bytes=max(sequences) if sequences and len(sequences) == len(ranks) else None,
                requests=requests,
                tokens=None if requests is None or context is None else requests * context,
                missing=missing,
                sentence=self._sentence(weights, basis, requests, context, missing),
            ),
            ruled_out,
        )

    def _ranks(self, layout: LayoutName, degrees: Degrees) -> tuple[tuple[_Rank, ...], int]:
        identity = self.ground.contract.identity
        shape = shape_of_model(identity.model)
        try:
            split = instance_split(layout, degrees, shape)
        except (LayoutRefusedError, MissingFactsError, SplitRefusedError) as unknown:
            names = unknown.names if isinstance(unknown, MissingFactsError) else (unknown.message,)
            return (_Rank(weights=0, complete=False, sequence=None, missing=tuple(names)),), 1
        held = max(split.experts_held, default=0)
        key = (split.shares, split.layers, held, split.cache_ranks, split.context_ranks, split.whole_tables)
        if key not in self._kept:
            self._kept[key] = tuple(dict.fromkeys(self._weighed(split)))
        return self._kept[key], split.schedulers

    def _weighed(self, split: InstanceSplit) -> Iterator[_Rank]:
        """Yield every kind of rank that may be the fullest: one of each stage, with the most experts that one holds."""
        shape = shape_of_model(self.ground.contract.identity.model)
        try:
            kinds = shape.feed_forwards()
        except (MissingFactsError, SplitRefusedError):
            kinds = ()
        for stage in stages_of(split.layers):
            if kinds and not shape.sliding_layers:
                yield self._summed(split, stage, [kinds[at] for at in stage.layers], kinds)
            else:
                yield self._piece(split, stage)

    def _summed(
        self, split: InstanceSplit, stage: Stage, own: Sequence[FeedForward], kinds: Sequence[FeedForward]
    ) -> _Rank:
        """Add up a stage of its ends and its layers: layers of one kind are alike."""
        total = self._piece(split, Stage(layers=range(0), first=stage.first, last=stage.last))
        for kind, count in Counter(own).items():
            at = kinds.index(kind)
            layer = self._piece(split, Stage(layers=range(at, at + 1), first=False, last=False))
            total = _Rank(
                weights=total.weights + count * layer.weights,
                complete=total.complete and layer.complete,
                sequence=None
                if total.sequence is None or layer.sequence is None
                else total.sequence + count * layer.sequence,
                missing=(*total.missing, *layer.missing),
            )
        return total

    def _piece(self, split: InstanceSplit, stage: Stage) -> _Rank:
        """Return what a stage, or a part of one, holds; equal parts of equal splits are weighed once."""
        experts = max(split.experts_held, default=0)
        key = (split.shares, experts, split.cache_ranks, split.context_ranks, split.whole_tables, stage)
        if key not in self._pieces:
            identity = self.ground.contract.identity
            context = stated(self.ground.workload.context_tokens)
            steps = Steps(sequences=1, context_tokens=context, prompt_tokens=context, decodes=True, prefills=True)
            shape, formats = shape_of_model(identity.model), formats_of_precision(identity.precision)
            self._pieces[key] = _rank(stage_parts(shape, formats, identity.precision, split, stage, experts, steps))
        return self._pieces[key]

    def _heaviest(self, ranks: tuple[_Rank, ...], copy_ranks: int) -> tuple[int | None, Basis]:
        """Return what the fullest rank holds at least, and how that was counted."""
        heaviest = max(rank.weights for rank in ranks)
        if all(rank.complete for rank in ranks):
            return heaviest, "tensors"
        mean = self._mean(copy_ranks) or 0
        if mean > heaviest:
            return mean, "parameters"
        return (heaviest, "some_tensors") if heaviest else (None, "none")

    def _mean(self, ranks: int) -> int | None:
        """Return the least that the fullest of ``ranks`` ranks that share one copy can hold."""
        identity = self.ground.contract.identity
        parameters = stated(identity.model.parameters)
        width = WIDTHS.get(identity.precision.weights.strip().lower())
        return None if parameters is None or width is None else int(-(-(parameters * width) // ranks))

    def _requests(self, ranks: tuple[_Rank, ...], weights: int | None, schedulers: int) -> int | None:
        """Return the whole requests that fit beside the weights, over all schedulers."""
        pairs = _pairs(ranks, weights)
        left = [(self.limit - held) // sequence for held, sequence in pairs or () if sequence]
        return max(0, min(left)) * schedulers if left else None

    def _ruled_out(
        self, ranks: tuple[_Rank, ...], weights: int | None, basis: Basis, requests: int | None
    ) -> RuledOut | None:
        if weights is None:
            return None
        if weights > self.limit:
            counted = f"weights{COUNTED[basis]}"
            return RuledOut(
                reason="memory",
                sentence=f"Hypothesis: {counted} of {gib(weights)} on the fullest rank exceed {gib(self.limit)} by "
                f"{gib(weights - self.limit)}.",
            )
        if requests is None:
            return None
        if requests == 0:
            return self._no_request(ranks, weights)
        wanted = self._wanted()
        if wanted is None or requests >= wanted[1]:
            return None
        return RuledOut(
            reason="kv",
            sentence=f"Hypothesis: KV caches of at most {requests:,} requests of the contract's context fit; "
            f"kv_capacity.{wanted[0]} asks for {wanted[1]:,}.",
        )

    def _no_request(self, ranks: tuple[_Rank, ...], weights: int) -> RuledOut:
        context = stated(self.ground.workload.context_tokens) or 0
        pairs = _pairs(ranks, weights) or ()
        short, held, sequence = max((held + sequence - self.limit, held, sequence) for held, sequence in pairs)
        return RuledOut(
            reason="kv",
            sentence=f"Hypothesis: weights of {gib(held)} and the KV cache of one request of {context:,} tokens, "
            f"{gib(sequence)}, exceed {gib(self.limit)} by {gib(short)}.",
        )

    def _wanted(self) -> tuple[str, int] | None:
        """Return the limit that asks for most requests, and how many."""
        points = self.ground.workload.load_points
        asked = [
            (number, name)
            for name, limit in self.ground.limits.get("kv_capacity", {}).items()
            if isinstance(limit.min_tokens, UnsetType) and limit.load_point in points
            for number in (stated(points[limit.load_point].concurrent_requests),)
            if number is not None
        ]
        return (max(asked)[1], max(asked)[0]) if asked else None

    def _sentence(
        self,
        weights: int | None,
        basis: Basis,
        requests: int | None,
        context: int | None,
        missing: tuple[str, ...],
    ) -> str:
        if weights is None:
            return f"Hypothesis: not known, because the contract does not state {_named(missing)}."
        least = "" if basis == "tensors" else "at least "
        text = f"Hypothesis: weights of {least}{gib(weights)} on the fullest rank, of {gib(self.limit)}"
        if requests is None or context is None:
            return f"{text}; KV caches are not known."
        return f"{text}; KV caches of at most {grouped(requests)} requests of {context:,} tokens fit beside them."


def _named(missing: tuple[str, ...]) -> str:
    """Name fields shortly, the first few."""
    names = [name.removeprefix("/identity/").replace("/", ".") for name in missing[:MOST_NAMED]]
    others = len(missing) - len(names)
    more = f" and {others} more field{'s' if others > 1 else ''}" if others else ""
    return f"{', '.join(names)}{more}" if names else "how many parameters the model has"


def _rank(parts: Mapping[PartName, Expected]) -> _Rank:
    figures = [parts[name] for name in WEIGHTS]
    known = [figure.bytes for figure in figures if figure.bytes is not None]
    lacking = [name for figure in (*figures, parts["kv"]) for name in (*figure.missing, figure.refused) if name]
    return _Rank(
        weights=sum(known),
        complete=len(known) == len(figures),
        sequence=parts["kv"].bytes,
        missing=tuple(dict.fromkeys(lacking)),
    )


def _pairs(ranks: tuple[_Rank, ...], weights: int | None) -> list[tuple[int, int]] | None:
    """Return (weights, KV cache of a sequence) of the ranks that may be the fullest; None where one is not known.

    Where only the mean of the weights is known, the fullest rank is none in particular, so the smallest cache counts.
    """
    sequences = [rank.sequence for rank in ranks if rank.sequence is not None]
    if weights is None or len(sequences) < len(ranks):
        return None
    if weights > max(rank.weights for rank in ranks):
        return [(weights, min(sequences))]
    return [(rank.weights, rank.sequence or 0) for rank in ranks]


def _copy_ranks(layout: LayoutName, degrees: Degrees, world: int) -> int:
    """Return how many ranks hold one copy of the model among them; more where some tensors are held by fewer."""
    if layout == "closed":
        return degrees.tp * degrees.pp * degrees.ep
    if layout in ("vllm", "sglang") and not (layout == "vllm" and degrees.moe):
        return degrees.tp * degrees.pp
    return world
