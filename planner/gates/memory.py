"""Memory: does the worst rank's peak, with the contract's context reached, leave the reserve of its own device?

Rules kept: each rank is compared with its own device; a peak seen without the longest context is a lower bound; a
sampled peak is exact only as the limit's sampling interval allows; component peaks need not be simultaneous, so
their sum may be above the peak, but memory that no component explains puts the peak in doubt.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter, itemgetter
from typing import cast

from planner.compare import Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.memory_parts import EVERY_COMPONENT, PEAK, metrics_of, unexplained
from planner.gates.wording import apart, gib, no_window, share, why
from planner.numbers import exact
from planner.readings import (
    Reading,
    Sample,
    Side,
    Unfit,
    WindowView,
    absent,
    bounded,
    number,
    number_at,
    other_groups,
    peak_bound,
)
from planner.records.base import UNSET, Bytes, Id, Number, Share, UnsetType
from planner.records.contract import Contract
from planner.records.evidence import PerRank
from planner.view import TrialView

FAMILY = "memory"
_LONGEST_OF = attrgetter("longest_sequence_tokens")


class RankBalanceLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for (highest - lowest) / highest of the peaks of ranks with the same role."""

    load_point: Id
    max_spread_share: Share
    max_sample_interval_s: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the peak of every rank."""
        return (Ask(metric=f"per_rank.{PEAK}", load_point=self.load_point),)


class MemoryHeadroomLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the peak memory of every rank: the reserve under ``headroom.memory``, or bytes, or both.

    ``max_sample_interval_s`` is the longest interval at which sampled peaks still count as the peak; left out, a
    sampled peak is a lower bound.
    """

    load_point: Id
    max_used_bytes: Bytes | UnsetType = UNSET
    max_sample_interval_s: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the peak of every rank and the longest sequence reached."""
        return (
            Ask(metric=f"per_rank.{PEAK}", load_point=self.load_point),
            Ask(metric="load.longest_sequence_tokens", load_point=self.load_point),
        )


SAMPLED = {
    "lower": ("The recorded peak is a lower bound.",),
    "upper": ("The recorded peak is an upper bound.",),
    "none": ("The recorded peak is an upper bound of samples that are too far apart: it bounds nothing.",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindrance:
    """What keeps peaks from answering a limit on a side, with the fields and the words for it."""

    may_fail: bool = True
    may_pass: bool = True
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()


UNHINDERED = Hindrance()


@gate(
    "memory_headroom",
    family=FAMILY,
    title="Every rank keeps its memory reserve",
    limit=MemoryHeadroomLimit,
    reads=(f"per_rank.{PEAK}", "load.longest_sequence_tokens", "replicas.longest_sequence_tokens"),
    unit="bytes",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Partition the weights further, compress weights or KV cache, or offload within bounds.",
)
def memory_headroom(view: TrialView, limit: MemoryHeadroomLimit) -> Finding:
    """The peak memory used on each rank's device, in every counted window and with the contract's context reached,
    is at most the device's memory minus the reserve, and at most max_used_bytes where declared. Components that sum
    to less than the peak beyond tolerance leave memory unexplained: UNKNOWN."""
    most = ceilings(view, limit)
    samples = tuple([each for window in view.windows(limit.load_point) for each in _peaks(view, window, limit, most)])
    reading = view.qualified(Reading(samples=samples, worst_is="highest"), limit.load_point)
    result = compare(reading, "<=")
    return compared(result, partial(_sentence, result, limit), notes=_notes(view, limit))


def ceilings(view: TrialView, limit: MemoryHeadroomLimit) -> tuple[Fraction, ...]:
    """Return the most bytes that each rank may use; an undeclared device does not come here (placement fails)."""
    return view.placed.kept.once(("ceilings", limit), lambda: _ceilings(view, limit))


def _ceilings(view: TrialView, limit: MemoryHeadroomLimit) -> tuple[Fraction, ...]:
    devices = view.site.hardware.devices
    memory = [devices[device].memory_bytes for device in view.rank_device]
    by_size = {size: ceiling(view.contract, size, limit.max_used_bytes) for size in set(memory)}
    return tuple(by_size[size] for size in memory)


def ceiling(contract: Contract, device_bytes: int, max_used_bytes: int | UnsetType = UNSET) -> Fraction:
    """Return the most bytes that a rank may use of its device: what the contract's reserve leaves, and at most
    ``max_used_bytes`` where a limit states it."""
    headroom = contract.headroom
    reserve = UNSET if isinstance(headroom, UnsetType) else headroom.memory
    most = Fraction(device_bytes)
    if not isinstance(reserve, UnsetType):
        if not isinstance(reserve.reserved_share, UnsetType):
            most = device_bytes * (1 - exact(reserve.reserved_share))
        elif not isinstance(reserve.reserved_bytes, UnsetType):
            most = Fraction(device_bytes - reserve.reserved_bytes)
    return most if isinstance(max_used_bytes, UnsetType) else min(most, Fraction(max_used_bytes))


def _peaks(
    view: TrialView, window: WindowView, limit: MemoryHeadroomLimit, ceilings: tuple[Fraction, ...]
) -> list[Sample]:
    """Return a sample of every rank that can decide, or one for the window where the metric is not there at all."""
    at = f"/per_rank/{PEAK}"
    metric = metrics_of(window).get(PEAK)
    if metric is None:
        return [absent(window, at)]
    side = peak_bound(window, metric, limit.max_sample_interval_s)
    hindrance = _hindrance(view, window, metric)
    doubts, doubted = window.doubts((at,)), unexplained(view, window)
    found = []
    for rank in _deciding(metric, ceilings, doubted):
        own = (*doubts, doubted[rank]) if rank in doubted else doubts
        found.append(_peak(view, window, rank, number_at(metric.values, rank), ceilings[rank], side, hindrance, own))
    return found


def _deciding(metric: PerRank, ceilings: tuple[Fraction, ...], doubted: Mapping[int, str]) -> list[int]:
    """Name the ranks without a value or with one in doubt, and of each ceiling the first with the highest peak.

    All others have the same evidence and more room, so that they decide nothing; leaving them out keeps a trial of
    many ranks cheap.
    """
    if not doubted and len(metric.values) == len(ceilings) == ceilings.count(ceilings[0]) and None not in metric.values:
        values = cast("Sequence[int | float]", metric.values)
        return [values.index(max(values))]
    deciding: list[int] = []
    fullest: dict[Fraction, tuple[int, int | float]] = {}
    for rank, ceiling in enumerate(ceilings):
        value = metric.values[rank] if rank < len(metric.values) else None
        if value is None or rank in doubted:
            deciding.append(rank)
        elif ceiling not in fullest or value > fullest[ceiling][1]:
            fullest[ceiling] = (rank, value)
    return sorted([*deciding, *(rank for rank, _ in fullest.values())])


def _peak(
    view: TrialView,
    window: WindowView,
    rank: int,
    value: Fraction | None,
    ceiling: Fraction,
    side: Side,
    hindrance: Hindrance,
    doubts: tuple[str, ...],
) -> Sample:
    at = f"{window.at}/per_rank/{PEAK}/values/{rank}"
    where = (
        ("window", window.id),
        ("rank", str(rank)),
        ("node", view.rank_node[rank]),
        ("device", view.rank_device[rank]),
    )
    if value is None:
        return Sample(value=None, low=None, high=None, where=where, missing=(at,), limit=ceiling)
    low, high = bounded(value, side)
    return Sample(
        value=value,
        low=low if hindrance.may_fail else None,
        high=high if hindrance.may_pass else None,
        where=where,
        read=(at,),
        missing=hindrance.missing,
        doubts=doubts,
        notes=(*hindrance.notes, *SAMPLED.get(side, ())),
        unfit=hindrance.unfit,
        limit=ceiling,
    )


def _hindrance(view: TrialView, window: WindowView, metric: PerRank) -> Hindrance:
    """Say what keeps the window's peaks from being the peaks that the limit is about."""
    if not isinstance(metric.scope, UnsetType) and metric.scope not in ("rank", "device"):
        return Hindrance(
            may_fail=False,
            may_pass=False,
            missing=(f"{window.at}/per_rank/{PEAK}/scope",),
            notes=(f"Recorded per {metric.scope}, which says nothing of one device.",),
        )
    shared = _first_shared(view) if view.site.shared_devices else None
    if shared is not None and metric.scope != "device":
        note = f"Device {shared} is shared, and the figure may leave out who shares it: a lower bound."
        return Hindrance(may_pass=False, missing=(f"{window.at}/per_rank/{PEAK}/scope",), notes=(note,))
    return _context(view, window)


def _first_shared(view: TrialView) -> str | None:
    return view.placed.kept.once(
        "first shared device",
        lambda: next((name for name in view.rank_device if name in view.site.shared_devices), None),
    )


def _context(view: TrialView, window: WindowView) -> Hindrance:
    """A peak seen before the contract's longest context is a lower bound (settled question 23)."""
    wanted = view.workload.context_tokens
    if not isinstance(wanted, UnsetType) and _all_reach(view, window, wanted):
        return UNHINDERED
    found = _longest_sequences(view, window)
    missing = tuple(at for at, tokens in found if tokens is None)
    if isinstance(wanted, UnsetType):
        return Hindrance(may_pass=False, notes=("The contract has no context_tokens to reach.",))
    if missing == (f"{window.at}/replicas",) and not isinstance(window.record.replicas, UnsetType):
        unfit = other_groups(window)
        return Hindrance(may_pass=False, notes=(unfit.sentence,), unfit=(unfit,))
    if missing:
        return Hindrance(may_pass=False, missing=missing, notes=("The longest sequence reached is not recorded.",))
    short = [(at, tokens) for at, tokens in found if tokens is not None and tokens < wanted]
    note = f"Longest sequence {int(short[0][1]):,} of {wanted:,} tokens: the peak is a lower bound."
    return Hindrance(may_pass=False, missing=tuple(at for at, _ in short), notes=(note,))


def _all_reach(view: TrialView, window: WindowView, wanted: int) -> bool:
    """Say whether a sequence as long as wanted is recorded for every serving group."""
    if len(view.serving_groups) == 1:
        load = window.record.load
        tokens = None if isinstance(load, UnsetType) else load.longest_sequence_tokens
        return type(tokens) is int and tokens >= wanted
    replicas = view.replicas(window.record)
    if replicas is None:
        return False
    reached = set(map(_LONGEST_OF, map(itemgetter(1), replicas)))
    return all(type(tokens) is int and tokens >= wanted for tokens in reached)


def _longest_sequences(view: TrialView, window: WindowView) -> list[tuple[str, Fraction | None]]:
    """List (pointer, tokens) of every serving group; a deployment figure answers for one group only."""
    if len(view.serving_groups) == 1:
        load = window.record.load
        tokens = None if isinstance(load, UnsetType) else number(load.longest_sequence_tokens)
        return [(f"{window.at}/load/longest_sequence_tokens", tokens)]
    replicas = view.replicas(window.record)
    if replicas is None:
        return [(f"{window.at}/replicas", None)]
    return [
        (f"{window.at}/replicas/{name}/longest_sequence_tokens", number(replica.longest_sequence_tokens))
        for name, replica in replicas
    ]


def _sentence(result: Comparison, limit: MemoryHeadroomLimit) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    if "rank" not in place:
        return f"{PEAK} is not recorded in window {place['window']}."
    rank = f"Rank {place['rank']} on {place['node']}"
    if decides.value is None or result.limit is None:
        return f"{rank} has no recorded peak in window {place['window']}."
    used, most = apart(gib, decides.value, result.limit, 1)
    return f"{rank} uses {used} of {most}.{why(result)}"


def _notes(view: TrialView, limit: MemoryHeadroomLimit) -> tuple[str, ...]:
    """Say what was not tested."""
    for window in view.windows(limit.load_point):
        recorded = metrics_of(window).keys()
        if not recorded >= EVERY_COMPONENT and not recorded.isdisjoint(EVERY_COMPONENT):
            return ("The breakdown is partial, so the sum of components is not tested.",)
    return ()


@gate(
    "rank_balance",
    family=FAMILY,
    title="Ranks of one role use memory evenly",
    limit=RankBalanceLimit,
    reads=(f"per_rank.{PEAK}",),
    unit="share",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Spread layers and experts evenly, and move what only one rank holds.",
)
def rank_balance(view: TrialView, limit: RankBalanceLimit) -> Finding:
    """Among ranks of the same pool, pipeline stage and device type, (highest - lowest) / highest of the peak memory
    is at most the ceiling in every counted window. Ranks of different roles rightly differ and are not compared. A
    peak that is only a bound says nothing of a difference."""
    roles = [ranks for ranks in _by_role(view).values() if len(ranks) > 1]
    if not roles:
        return not_applicable("No two ranks have the same role.")
    ceiling = exact(limit.max_spread_share)
    samples = tuple(
        sample for window in view.windows(limit.load_point) for sample in _spreads(window, limit, roles, view)
    )
    reading = view.qualified(Reading(samples=samples, worst_is="highest"), limit.load_point)
    result = compare(reading, "<=", ceiling)
    return compared(result, _spread_sentence(result, limit, ceiling), limit_field="max_spread_share")


def _by_role(view: TrialView) -> dict[tuple[str, int, str], list[int]]:
    """Map (pool, stage, device type) to its ranks."""
    pools = {rank: role for group, role in zip(view.serving_groups, view.group_roles, strict=True) for rank in group}
    stages = view.topology_groups.coordinates.get("pp", (None,) * view.ranks)
    found: dict[tuple[str, int, str], list[int]] = {}
    for rank, device in enumerate(view.rank_device):
        stage = stages[rank]
        role = (pools[rank], 0 if stage is None else stage[1], view.site.hardware.devices[device].type)
        found.setdefault(role, []).append(rank)
    return found


def _spreads(
    window: WindowView, limit: RankBalanceLimit, roles: Sequence[Sequence[int]], view: TrialView
) -> Iterator[Sample]:
    at = f"/per_rank/{PEAK}"
    metric = metrics_of(window).get(PEAK)
    if metric is None:
        yield absent(window, at)
        return
    side = peak_bound(window, metric, limit.max_sample_interval_s)
    for ranks in roles:
        values = {rank: number_at(metric.values, rank) for rank in ranks}
        missing = tuple(f"{window.at}{at}/values/{rank}" for rank, value in values.items() if value is None)
        known = [(value, rank) for rank, value in values.items() if value is not None]
        if missing or not known:
            where = (("window", window.id), ("rank", str(ranks[0])))
            yield Sample(value=None, low=None, high=None, where=where, missing=missing)
            continue
        (lowest, _), (highest, fullest) = min(known), max(known, key=lambda entry: (entry[0], -entry[1]))
        spread = (highest - lowest) / highest if highest else Fraction(0)
        yield Sample(
            value=spread,
            low=spread if side == "exact" else None,
            high=spread if side == "exact" else None,
            where=(("window", window.id), ("rank", str(fullest)), ("node", view.rank_node[fullest])),
            read=tuple(f"{window.at}{at}/values/{rank}" for rank in ranks),
            doubts=window.doubts((at,)),
            notes=SAMPLED.get(side, ()),
        )


def _spread_sentence(result: Comparison, limit: RankBalanceLimit, ceiling: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    if decides.value is None:
        return f"{PEAK} is not recorded for every rank in window {place['window']}."
    found, most = apart(share, decides.value, ceiling, 3)
    peers = f"Ranks of the role of rank {place['rank']} on {place['node']}, which is fullest, differ by {found}"
    return f"{peers} in window {place['window']}; at most {most}.{why(result)}"
