"""KV capacity: how many whole requests of the contract's own context the replicas hold at once.

Rules kept: a request is held whole by one replica, so fractions are rounded down before they are added up; the rank
that holds least decides a replica; nothing is interpolated from another context; a replica of a prefill pool holds
no request that decodes. Not handled: credit for shared prefixes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import Ask, Finding, Limit, compared, gate, unknown
from planner.gates.wording import count, counted, no_window, unjudged, why
from planner.readings import Reading, Sample, Side, Unfit, WindowView, bounded, number, number_at, other_groups
from planner.records.base import UNSET, Count, Id, PositiveCount, UnsetType
from planner.records.evidence import PerRank, Replica
from planner.view import TrialView

FAMILY = "memory"
METRIC = "kv_capacity_tokens"
MEASURED_AT = "kv_measured_at_context_tokens"


class KvCapacityLimit(Limit, frozen=True, kw_only=True):
    """A floor for what the KV caches hold: the load point's concurrent_requests, or ``min_tokens`` where given.

    ``block_tokens`` is the engine's block: a context is rounded up to whole blocks.
    """

    load_point: Id = "saturated"
    min_tokens: Count | UnsetType = UNSET
    block_tokens: PositiveCount = 1

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the capacity; it may stand per rank or per replica, which the rule itself looks for."""
        return (Ask(metric=f"replicas.{METRIC}", load_point=self.load_point, conditional=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What one replica holds: tokens where they are recorded, and requests of the whole context."""

    requests: Fraction | None = None
    tokens: Fraction | None = None
    side: Side = "exact"
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()


@gate(
    "kv_capacity",
    family=FAMILY,
    title="The KV caches hold the promised requests",
    limit=KvCapacityLimit,
    reads=(
        f"replicas.{METRIC}",
        "replicas.kv_max_concurrent_requests",
        f"replicas.{MEASURED_AT}",
        f"per_rank.{METRIC}",
        f"load.{MEASURED_AT}",
    ),
    unit="requests",
    comparator=">=",
    needs=("groups", "devices"),
    hint="Compress the KV cache, shard it over more ranks, or add replicas.",
)
def kv_capacity(view: TrialView, limit: KvCapacityLimit) -> Finding:
    """Whole requests of context_tokens, rounded up to blocks, that each replica's emptiest rank holds, added up over
    the replicas that decode, are at least the load point's concurrent_requests; or the tokens of all replicas are at
    least min_tokens. Capacity measured at another context than the contract's answers nothing."""
    context = view.workload.context_tokens
    if isinstance(context, UnsetType):
        return unknown("The contract has no context_tokens.")
    floor, in_tokens = _floor(view, limit)
    if floor is None:
        return unknown(f"Load point {limit.load_point} has no concurrent_requests to hold.")
    block = -(-context // limit.block_tokens) * limit.block_tokens
    samples = tuple(_sample(view, window, context, block, in_tokens) for window in view.windows(limit.load_point))
    reading = view.qualified(Reading(samples=samples, worst_is="lowest"), limit.load_point)
    result = compare(reading, ">=", floor)
    sentence = _sentence(view, limit, result, block, in_tokens)
    if not in_tokens:
        return compared(result, sentence)
    return replace(compared(result, sentence, limit_field="min_tokens"), unit="tokens")


def _floor(view: TrialView, limit: KvCapacityLimit) -> tuple[Fraction | None, bool]:
    """Return the floor and whether it counts tokens."""
    if not isinstance(limit.min_tokens, UnsetType):
        return Fraction(limit.min_tokens), True
    point = view.workload.load_points.get(limit.load_point)
    return (None if point is None else number(point.concurrent_requests)), False


def _sample(view: TrialView, window: WindowView, context: int, block: int, in_tokens: bool) -> Sample:
    held = [_held(view, window, group, context, block) for group in _decoding(view)]
    values = [each.tokens if in_tokens else each.requests for each in held]
    known = [value for value in values if value is not None]
    whole = sum(known, Fraction(0)) if len(known) == len(values) and known else None
    missing = tuple(dict.fromkeys(at for each in held for at in each.missing))
    side: Side = next((each.side for each in held if each.side != "exact"), "exact")
    unfit = tuple(dict.fromkeys(each.unfit for each in held if each.unfit))
    if missing or (whole is None and known):
        side = "none"
    low, high = (None, None) if whole is None else bounded(whole, side)
    read = tuple(dict.fromkeys(at for each in held for at in each.read))
    return Sample(
        value=whole,
        low=low,
        high=high,
        where=(("window", window.id), *_least(view, values)),
        read=read,
        missing=missing or (() if whole is not None or unfit else (f"{window.at}/replicas",)),
        doubts=window.doubts(at.removeprefix(window.at) for at in read),
        notes=tuple(dict.fromkeys(note for each in held for note in each.notes)),
        unfit=unfit[0] if unfit else (),
    )


def _decoding(view: TrialView) -> list[int]:
    """Return the serving groups that hold requests while they decode."""
    return [index for index, role in enumerate(view.group_roles) if role != "prefill"]


def _least(view: TrialView, values: Sequence[Fraction | None]) -> tuple[tuple[str, str], ...]:
    """Name the first rank of the replica that holds least, where there are several."""
    known = [(value, group) for value, group in zip(values, _decoding(view), strict=True) if value is not None]
    if len(values) < 2 or not known:
        return ()
    return (("rank", str(view.serving_groups[min(known)[1]][0])),)


def _held(view: TrialView, window: WindowView, group: int, context: int, block: int) -> Held:
    replicas = view.replicas(window.record)
    if replicas is not None:
        name, replica = replicas[group]
        if number(replica.kv_capacity_tokens) is not None or number(replica.kv_max_concurrent_requests) is not None:
            return _by_replica(f"{window.at}/replicas/{name}", replica, context, block)
    metric = {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
    if METRIC not in metric and replicas is None and not isinstance(window.record.replicas, UnsetType):
        return Held(unfit=(other_groups(window),))
    if METRIC not in metric:
        return Held(missing=(f"{window.at}/replicas",), notes=("KV capacity is not recorded for every replica.",))
    return _by_ranks(view, window, metric[METRIC], group, context, block)


def _by_replica(at: str, replica: Replica, context: int, block: int) -> Held:
    tokens, stated = number(replica.kv_capacity_tokens), number(replica.kv_max_concurrent_requests)
    missing, notes = _other_context(f"{at}/{MEASURED_AT}", replica.kv_measured_at_context_tokens, context)
    # The engine's own count is the only right one where layers hold different spans of the context.
    field = METRIC if stated is None else "kv_max_concurrent_requests"
    requests = Fraction(stated // 1) if stated is not None else None if tokens is None else Fraction(tokens // block)
    return Held(requests=requests, tokens=tokens, read=(f"{at}/{field}",), missing=missing, notes=notes)


def _by_ranks(view: TrialView, window: WindowView, metric: PerRank, group: int, context: int, block: int) -> Held:
    at = f"{window.at}/per_rank/{METRIC}"
    ranks = view.serving_groups[group]
    load = window.record.load
    measured = UNSET if isinstance(load, UnsetType) else load.kv_measured_at_context_tokens
    missing, notes = _other_context(f"{window.at}/load/{MEASURED_AT}", measured, context)
    values = [(number_at(metric.values, rank), rank) for rank in ranks]
    absent = tuple(f"{at}/values/{rank}" for value, rank in values if value is None)
    if absent:
        return Held(missing=absent, notes=("KV capacity is not recorded for every rank.",))
    copies = _shards(view, group, metric)
    if copies is None:
        sentence = "The document does not say whether a rank's figure is its own shard or the whole replica's."
        return Held(missing=(f"{at}/scope",), unfit=(Unfit(at=(f"{at}/values",), sentence=sentence),))
    least, rank = min((value, rank) for value, rank in values if value is not None)
    tokens = least * copies
    return Held(
        requests=Fraction(tokens // block),
        tokens=tokens,
        side="exact" if isinstance(metric.bound, UnsetType) else metric.bound,
        read=(f"{at}/values/{rank}",),
        missing=missing,
        notes=notes,
    )


def _shards(view: TrialView, group: int, metric: PerRank) -> int | None:
    """Return how many shards a sequence has over the group's ranks; None where the scope leaves it open."""
    dcp = max((1 if isinstance(i.dcp, UnsetType) else i.dcp) for i in view.group_instances[group])
    if dcp == 1 or metric.scope == "replica":
        return 1
    return dcp if metric.scope in ("rank", "device") else None


def _other_context(at: str, measured: object, context: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (missing, notes) of a capacity that was not measured at the contract's context."""
    found = number(measured)
    if found == context:
        return (), ()
    if found is None:
        return (at,), ("The context at which KV capacity was measured is not recorded.",)
    return (at,), (f"Measured at a context of {count(found)} tokens, not {context:,}.",)


def _sentence(view: TrialView, limit: KvCapacityLimit, result: Comparison, block: int, in_tokens: bool) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    where = f"in window {decides.place['window']}"
    if decides.value is None or result.limit is None:
        said = unjudged(decides, "KV capacity", where)
        return said if decides.unfit else f"{said}{why(result)}"
    if in_tokens:
        return f"The KV caches hold {count(decides.value)} tokens {where}; at least {count(result.limit)}.{why(result)}"
    held = f"The KV caches hold {counted(int(decides.value), 'whole request')} of {block:,} tokens {where}"
    least = f"at least {count(result.limit)} ({count(result.limit * block)} tokens)"
    return f"{held}{_fractions(view, limit, decides, block)}; {least}.{why(result)}"


def _fractions(view: TrialView, limit: KvCapacityLimit, decides: Sample, block: int) -> str:
    """Say the tokens behind whole requests of one replica, where they are recorded."""
    (window,) = (each for each in view.windows(limit.load_point) if each.id == decides.place["window"])
    groups = _decoding(view)
    context = view.workload.context_tokens
    if len(groups) != 1 or isinstance(context, UnsetType):
        return ""
    tokens = _held(view, window, groups[0], context, block).tokens
    if tokens is None:
        return ""
    return f" ({count(tokens)} tokens, {grouped(tokens / block, 4)} requests)"
