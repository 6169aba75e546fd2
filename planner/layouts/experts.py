"""How engines place experts on expert-parallel ranks, and key-value heads on tensor ranks.

Sources stand in ``docs/reference/layouts.md``. Not handled: a balancer that moves experts at run time; then the
placement is what the engine reports.
"""

from dataclasses import dataclass
from itertools import pairwise

from planner.layouts.base import Groups, LayoutRefusedError


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadShare:
    """Heads on one tensor rank."""

    query_heads: int
    kv_heads: int


def place_linear(experts: int, ep: int) -> Groups:
    """Consecutive experts, the first ``experts % ep`` ranks hold one more (vLLM ``linear``)."""
    base, rest = divmod(experts, ep)
    starts = [rank * base + min(rank, rest) for rank in range(ep + 1)]
    return tuple([tuple(range(start, end)) for start, end in pairwise(starts)])


def place_round_robin(experts: int, ep: int) -> Groups:
    """Expert e on rank e mod ep (vLLM ``round_robin``).

    Raises:
        LayoutRefusedError: fewer experts than ranks, which this strategy does not survive.
    """
    if experts < ep:
        raise LayoutRefusedError(
            "experts",
            f"round_robin needs an expert for every rank: {experts} experts, {ep} ranks "
            "(upper bound and lower bound inconsistent with step sign)",
        )
    return tuple([tuple(range(rank, experts, ep)) for rank in range(ep)])


def place_floor(experts: int, ep: int) -> Groups:
    """``experts // ep`` consecutive experts a rank; the remainder is held by no rank (TensorRT-LLM)."""
    base = experts // ep
    return tuple([tuple(range(rank * base, (rank + 1) * base)) for rank in range(ep)])


def place_even(experts: int, ep: int) -> Groups:
    """Equal shares only (SGLang, Megatron, ``closed``).

    Raises:
        LayoutRefusedError: ``experts`` is not a multiple of ``ep``.
    """
    if experts % ep:
        raise LayoutRefusedError("experts", f"num_experts ({experts}) must be divisible by ep_size ({ep})")
    return place_linear(experts, ep)


def share_heads(heads: int, kv_heads: int, tp: int) -> HeadShare:
    """Split attention heads over ``tp`` ranks: key-value heads are split, or copied when there are fewer than ranks.

    The rule of vLLM, SGLang, Megatron and ``closed``.

    Raises:
        LayoutRefusedError: heads are not a multiple of ``tp``, or key-value heads neither a multiple nor a divisor.
    """
    if heads % tp:
        raise LayoutRefusedError("attention_heads", f"{heads} attention heads do not split over {tp} tensor ranks")
    if kv_heads % tp and tp % kv_heads:
        raise LayoutRefusedError(
            "kv_heads", f"{kv_heads} key-value heads are neither a multiple nor a divisor of {tp} tensor ranks"
        )
    return HeadShare(query_heads=heads // tp, kv_heads=max(1, kv_heads // tp))


def share_heads_up(heads: int, kv_heads: int, tp: int) -> HeadShare:
    """Split attention heads over ``tp`` ranks, key-value heads rounded up (TensorRT-LLM).

    Raises:
        LayoutRefusedError: heads are not a multiple of ``tp``.
    """
    if heads % tp:
        raise LayoutRefusedError("attention_heads", f"{heads} attention heads do not split over {tp} tensor ranks")
    return HeadShare(query_heads=heads // tp, kv_heads=-(-kv_heads // tp))
