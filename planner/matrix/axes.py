"""Every decomposition of a number of ranks, by layout: the degrees that multiply, and those that are cut out of them.

Rules kept: degrees that an engine derives are never enumerated against it (vLLM's expert group is on or off); what is
enumerated is said in ``docs/documents/benchmark-matrix.md``. Order is plain first: fewest axes, then more tensor and
less pipeline. Left out of every layout: hand-written layer partitions, redundant experts, other rank orders.

Not handled: whether a decomposition is valid (``planner.matrix.search``).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from planner.layouts import Degrees
from planner.layouts.base import Extra
from planner.records.evidence import LayoutName

__all__ = ["AXES", "attention_ranks", "canonical", "decompositions", "named"]

AXES = ("tp", "pp", "ep", "dp", "cp", "dcp")
"""Degrees that all layouts share, in the order of a topology's name."""
MOST = 8_000
"""Decompositions of one number of ranks that are looked at; 4,096 ranks of vLLM have fewer."""


def decompositions(layout: LayoutName, world: int, *, moe: bool) -> tuple[list[Degrees], bool]:
    """Return the decompositions of ``world`` ranks, plain ones first, and whether there are more than ``MOST``."""
    found = list(islice(_LAYOUTS[layout](world, moe), MOST + 1))
    return sorted(found[:MOST], key=_plainness), len(found) > MOST


def named(degrees: Degrees) -> str:
    """Return what tells a decomposition from others: its topology's name, then the engine's own degrees."""
    name = f"tp{degrees.tp}-pp{degrees.pp}-ep{degrees.ep}-dp{degrees.dp}"
    name += "".join(f"-{axis}{value}" for axis, value in (("cp", degrees.cp), ("dcp", degrees.dcp)) if value > 1)
    return name + "".join(f"-{_extra(key, value)}" for key, value in sorted(degrees.extra.items()))


def canonical(layout: LayoutName, degrees: Degrees) -> Degrees:
    """Return the degrees as ``decompositions`` spells them: what an engine derives, or has two words for, once."""
    extra = {name: value for name, value in degrees.extra.items() if value not in (None, False, 0)}
    dp = degrees.dp
    if layout == "vllm":
        extra.pop("enable_expert_parallel", None)
    elif layout == "sglang":
        if extra.pop("enable_dp_attention", None):
            extra, dp = {**extra, "attn_dp": max(dp, _count(degrees, "attn_dp"))}, 1
    elif layout == "trtllm" and extra.get("enable_attention_dp"):
        dp = 1
    elif layout == "megatron" and extra.get("etp") == degrees.tp:
        del extra["etp"]
    kept = {name: value for name, value in extra.items() if value is True or value != 1 or name == "etp"}
    return replace(degrees, dp=dp, extra=MappingProxyType(kept))


def attention_ranks(layout: LayoutName, degrees: Degrees) -> int:
    """Return over how many ranks query heads split, without building a group."""
    if layout == "sglang":
        return degrees.tp // (_count(degrees, "attn_dp") * degrees.cp)
    if layout == "trtllm":
        return (1 if degrees.extra.get("enable_attention_dp") else degrees.tp) * degrees.cp
    return degrees.tp


def _extra(key: str, value: Extra) -> str:
    short = key.removeprefix("enable_")
    return short if value is True else f"{short}{value}".lower()


def _count(degrees: Degrees, name: str) -> int:
    value = degrees.extra.get(name, 1)
    return value if isinstance(value, int) else 1


def _plainness(degrees: Degrees) -> tuple[int, int, int, int, int, str]:
    axes = sum(getattr(degrees, axis) > 1 for axis in AXES) + len(degrees.extra)
    return (axes, degrees.cp * degrees.dcp, degrees.pp, -degrees.tp, degrees.dp, named(degrees))


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a number, the smallest first."""
    low = [divisor for divisor in range(1, int(number**0.5) + 1) if number % divisor == 0]
    return tuple(dict.fromkeys((*low, *(number // divisor for divisor in reversed(low)))))


def _factored(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every ordered way to write a number as a product of ``parts`` factors."""
    if parts == 1:
        yield (number,)
        return
    for first in divisors(number):
        for rest in _factored(number // first, parts - 1):
            yield (first, *rest)


def _closed(world: int, moe: bool) -> Iterator[Degrees]:
    for tp, pp, ep, dp in _factored(world, 4):
        if moe or ep == 1:
            yield Degrees(tp=tp, pp=pp, ep=ep, dp=dp, moe=moe)


def _vllm(world: int, moe: bool) -> Iterator[Degrees]:
    for tp, pp, dp, cp in _factored(world, 4):
        width = tp * dp * cp
        shared = divisors(tp) if cp == 1 else tuple(sorted({1, cp, tp * cp}))
        for ep in (1, width) if moe and width > 1 else (1,):
            for dcp in shared:
                yield Degrees(tp=tp, pp=pp, ep=ep, dp=dp, cp=cp, dcp=dcp, moe=moe)


def _sglang(world: int, moe: bool) -> Iterator[Degrees]:
    """Context degrees stand beside expert ranks, not beside attention data parallelism."""
    for tp, pp, dp in _factored(world, 3):
        cuts = divisors(tp)
        for ep in cuts if moe else (1,):
            for attn_dp in cuts:
                extra = MappingProxyType({"attn_dp": attn_dp} if attn_dp > 1 else {})
                yield Degrees(tp=tp, pp=pp, ep=ep, dp=dp, extra=extra, moe=moe)
            for cut in cuts[1:]:
                yield Degrees(tp=tp, pp=pp, ep=ep, dp=dp, cp=cut, moe=moe)
                yield Degrees(tp=tp, pp=pp, ep=ep, dp=dp, dcp=cut, moe=moe)


def _trtllm(world: int, moe: bool) -> Iterator[Degrees]:
    """Context parallelism is Helix, the only kind that attention accepts."""
    for tp, pp, cp in _factored(world, 3):
        helix: dict[str, Extra] = {"cp_type": "HELIX"} if cp > 1 else {}
        for ep in divisors(tp * cp) if moe else (1,):
            yield Degrees(tp=tp, pp=pp, ep=ep, cp=cp, extra=MappingProxyType(helix), moe=moe)
            if tp > 1 and cp == 1:
                yield Degrees(tp=tp, pp=pp, ep=ep, extra=MappingProxyType({"enable_attention_dp": True}), moe=moe)


def _megatron(world: int, moe: bool) -> Iterator[Degrees]:
    """Experts are split over ``ep`` with the tensor degree of the dense grid, or with none."""
    for tp, pp, dp, cp in _factored(world, 4):
        if not moe:
            yield Degrees(tp=tp, pp=pp, dp=dp, cp=cp)
            continue
        for etp in dict.fromkeys((tp, 1)):
            extra = MappingProxyType({} if etp == tp else {"etp": etp})
            rest = world // pp
            for ep in divisors(rest // etp) if rest % etp == 0 else ():
                yield Degrees(tp=tp, pp=pp, dp=dp, cp=cp, ep=ep, extra=extra, moe=True)


_LAYOUTS: Mapping[LayoutName, Callable[[int, bool], Iterator[Degrees]]] = {
    "closed": _closed,
    "vllm": _vllm,
    "sglang": _sglang,
    "trtllm": _trtllm,
    "megatron": _megatron,
}
