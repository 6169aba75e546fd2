"""How many tokens one scheduler of an instance has in a step, and how many sequences it keeps.

Requests in flight are taken as spread evenly over the schedulers that serve (with pools: the decode pool), rounded up.
A decode step has one token of each; a prefill step is one whole prompt. Chunked prefill is an engine's setting and is
not applied.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.hypotheses.facts import MissingFactsError
from planner.hypotheses.splits import InstanceSplit
from planner.records.base import stated
from planner.records.contract import Lengths, Workload

__all__ = ["Steps", "steps_of"]


REQUESTS = "/identity/workload/load_points (concurrent_requests of the load point)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Of one scheduler: sequences kept at once, tokens of a context, tokens of a prompt; None is "not stated".

    ``decodes`` and ``prefills`` say which steps the instance runs.
    """

    sequences: int | None
    context_tokens: int | None
    prompt_tokens: int | None
    decodes: bool
    prefills: bool

    def prefill_tokens(self) -> int:
        """Return the tokens of a prefill step.

        Raises:
            MissingFactsError: the length of a prompt is not stated.
        """
        return _needed(self.prompt_tokens, "/identity/workload/prompt_tokens (fixed or max)")

    def decode_tokens(self) -> int:
        """Return the tokens of a decode step.

        Raises:
            MissingFactsError: the load point states no requests in flight.
        """
        return _needed(self.sequences, REQUESTS if self.decodes else "requests that are in prefill at once")

    def cached_tokens(self) -> tuple[int, int]:
        """Return sequences kept and the tokens of each.

        Raises:
            MissingFactsError: one of them is not stated.
        """
        return self.decode_tokens(), _needed(self.context_tokens, "/identity/workload/context_tokens")

    def largest_tokens(self) -> int:
        """Return the tokens of the largest step that the instance runs.

        Raises:
            MissingFactsError: the tokens of one of its steps are not stated.
        """
        sizes = [self.prefill_tokens()] if self.prefills else []
        return max([*sizes, *([self.decode_tokens()] if self.decodes else [])])


def steps_of(workload: Workload, load_point: str | None, instances: Sequence[tuple[str, InstanceSplit]]) -> list[Steps]:
    """Return the steps of every instance; ``instances`` are pairs of role and split."""
    point = None if load_point is None else workload.load_points.get(load_point)
    requests = None if point is None else stated(point.concurrent_requests)
    schedulers = sum(split.schedulers for role, split in instances if role != "prefill")
    context = stated(workload.context_tokens)
    prompt = _longest(stated(workload.prompt_tokens) or Lengths())
    return [
        Steps(
            sequences=None if requests is None or role == "prefill" else -(-requests // max(1, schedulers)),
            context_tokens=context,
            prompt_tokens=prompt,
            decodes=role != "prefill",
            prefills=role != "decode",
        )
        for role, _ in instances
    ]


def _longest(lengths: Lengths) -> int | None:
    fixed = stated(lengths.fixed)
    return stated(lengths.max) if fixed is None else fixed


def _needed(value: int | None, name: str) -> int:
    if value is None:
        raise MissingFactsError([name])
    return value
