"""What is left after a loss: by arithmetic on measured rates, or as an injection measured it.

Rules kept (domain rules, section 4): a rate measured while a domain of the kind was down replaces arithmetic for every
domain that takes down the same; what comes back is known from injections alone, and what has no device left to run on
does not come back. Spares count where the loss leaves them, on an island of the group. Not handled: comparing with a
limit (``planner.gates.failure``).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter, itemgetter

from msgspec import Struct

from planner.failure import Loss, Range, capacity_left, distinct, parts_lost, pools_left, pools_left_bounds
from planner.figures import grouped
from planner.gates.wording import counted
from planner.numbers import times
from planner.readings import Unfit, WindowView, number, other_groups, throughput, zero
from planner.records.base import UnsetType
from planner.records.evidence import Handoff, Injection
from planner.view import TrialView

__all__ = [
    "Capacity",
    "Left",
    "all_after_recovery",
    "capacity",
    "distinct_in",
    "heaviest",
    "injected",
    "left_after_recovery",
    "left_at_once",
]

IMPLIED_DOMAIN = {"rank_loss": "device", "node_loss": "node"}
"""Kind of domain that an injection hits where it names none; other kinds of injection take no domain down."""
POOL_RATES = {"prefill": "prefill_requests_per_s", "decode": "decode_requests_per_s"}

_TOKENS_OF = attrgetter("output_tokens_total")

Injections = Sequence[tuple[str, Injection]]


class Capacity(Struct, frozen=True, kw_only=True, gc=False):
    """Measured rates of the serving groups in one window, in tokens per second, or what is missing or unfit for them.

    Group g has the rate ``parts[g]`` x ``part``: whole numbers are added up for every loss. ``pools`` holds the group
    indices of each pool where the topology has prefill and decode pools; ``rates`` are then those of whole pools, or
    the one of the whole service where they were not measured.
    """

    parts: tuple[int, ...] = ()
    part: Fraction = Fraction(0)
    rates: tuple[Fraction, ...] = ()
    pools: tuple[tuple[int, ...], ...] = ()
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()
    note: str = ""

    @property
    def is_known(self) -> bool:
        """Say whether the rates are there."""
        return not self.missing and not self.unfit

    @property
    def total(self) -> Fraction:
        """The rate of the whole deployment; of pools, that of the slower one."""
        return min(self.rates) if self.pools else times(sum(self.parts), self.part)


class Left(Struct, frozen=True, kw_only=True, gc=False):
    """What is left after one loss, in tokens per second. ``injection`` names what measured it, if anything did."""

    rate: Range | None
    injection: str = ""
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def capacity(view: TrialView, window: WindowView) -> Capacity:
    """Read the rate of each serving group or pool, or split the total over groups of one shape."""
    pools = view.placed.kept.once("pools", lambda: _pools(view))
    if not pools and not isinstance(window.record.replicas, UnsetType):
        return _replica_rates(view, window)
    shapes = view.group_shapes
    (whole,) = throughput((window,)).samples
    alike = all(len({shapes[group] for group in pool}) == 1 for pool in pools.values() or (range(len(shapes)),))
    if not alike:
        note = "Serving groups differ in shape, and no rate of each is recorded."
        return Capacity(missing=(f"{window.at}/replicas",), note=note)
    if whole.value is None:
        return Capacity(missing=whole.missing, unfit=whole.unfit)
    if pools:
        return _pool_rates(view, window, pools) or Capacity(
            rates=(whole.value,),
            pools=tuple(pools.values()),
            read=whole.read,
            doubts=whole.doubts,
            note="Pool rates are not measured: bounds.",
        )
    return Capacity(
        parts=(1,) * len(shapes),
        part=whole.value / len(shapes),
        read=whole.read,
        doubts=whole.doubts,
        note="The total is split evenly over groups of one shape.",
    )


def _pools(view: TrialView) -> dict[str, tuple[int, ...]]:
    """Return the groups of each pool where roles differ; a topology of one role has no pools."""
    by_role: dict[str, list[int]] = {}
    for group, role in enumerate(view.group_roles):
        by_role.setdefault(role, []).append(group)
    return {role: tuple(by_role[role]) for role in sorted(by_role)} if len(by_role) > 1 else {}


def _pool_rates(view: TrialView, window: WindowView, pools: Mapping[str, tuple[int, ...]]) -> Capacity | None:
    """Turn the pools' own request rates into tokens per second; None where one of them was not measured."""
    handoff = Handoff() if isinstance(window.record.handoff, UnsetType) else window.record.handoff
    if pools.keys() != POOL_RATES.keys():
        return None
    rates = [number(getattr(handoff, POOL_RATES[role])) for role in pools]
    load = window.record.load
    tokens = None if isinstance(load, UnsetType) else number(load.output_tokens_total)
    completed = None if isinstance(load, UnsetType) or isinstance(load.requests, UnsetType) else load.requests.completed
    requests = number(completed)
    known = [rate for rate in rates if rate is not None]
    if tokens is None or not requests or len(known) < len(rates):
        return None
    fields = (*(f"/handoff/{POOL_RATES[role]}" for role in pools), "/load/output_tokens_total")
    every = (*fields, "/load/requests/completed")
    return Capacity(
        rates=tuple(rate * tokens / requests for rate in known),
        pools=tuple(pools.values()),
        read=tuple(window.at + field for field in every),
        doubts=window.doubts(every),
    )


def _replica_rates(view: TrialView, window: WindowView) -> Capacity:
    replicas = view.replicas(window.record)
    if replicas is None:
        return Capacity(unfit=(other_groups(window),))
    load = window.record.load
    duration = None if isinstance(load, UnsetType) else number(load.duration_s)
    fields = _token_fields(tuple(map(itemgetter(0), replicas)))
    tokens = tuple(map(_TOKENS_OF, map(itemgetter(1), replicas)))
    every = (*fields, "/load/duration_s")
    if not duration or set(map(type, tokens)) != {int}:
        missing = [window.at + field for field, value in zip(fields, tokens, strict=True) if type(value) is not int]
        return Capacity(
            missing=(*missing, *((window.at + every[-1],) if duration is None else ())),
            unfit=zero(window.at, every[-1], no="rate") if duration == 0 else (),
        )
    return Capacity(
        parts=tokens,
        part=Fraction(duration.denominator, duration.numerator),
        read=tuple(map(window.at.__add__, every)),
        doubts=window.doubts(every),
    )


@lru_cache(maxsize=1024)
def _token_fields(replicas: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"/replicas/{name}/output_tokens_total" for name in replicas)


# Injections


def injected(view: TrialView, kind: str, load_point: str, found: Sequence[Loss]) -> Mapping[str, Injections]:
    """Return the injections that speak for each domain of a kind.

    One that hit a domain speaks for all that take down groups of the same shapes with as many ranks and spares of
    their own; one that names no domain speaks only where all domains are alike.
    """
    failures = _failures(view)
    if not failures:
        return {}
    counts = _counts(view, kind)
    likeness = {loss.domain: (_shapes(view, loss), counts(loss)) for loss in found}
    speaks: dict[Hashable, list[tuple[str, Injection]]] = {}
    for name, entry in failures:
        if entry.load_point != load_point or _domain_kind(entry) != kind:
            continue
        if isinstance(entry.domain, str):
            hit = {likeness[entry.domain]} if entry.domain in likeness else set()
        else:
            hit = set(likeness.values()) if len(set(likeness.values())) == 1 else set()
        for like in hit:
            speaks.setdefault(like, []).append((name, entry))
    return {domain: tuple(speaks.get(like, ())) for domain, like in likeness.items()}


def _domain_kind(entry: Injection) -> str | None:
    if entry.kind not in IMPLIED_DOMAIN:
        return None
    return IMPLIED_DOMAIN[entry.kind] if isinstance(entry.domain_kind, UnsetType) else entry.domain_kind


def _failures(view: TrialView) -> list[tuple[str, Injection]]:
    return [] if isinstance(view.trial.failures, UnsetType) else sorted(view.trial.failures.items())


def distinct_in(view: TrialView, kind: str, found: Sequence[Loss]) -> tuple[Loss, ...]:
    """Keep the first loss of those that take down the same groups with as many ranks and spares of their own."""
    return view.placed.kept.once(("distinct losses", kind), lambda: distinct(found, _counts(view, kind)))


def heaviest(found: Sequence[Loss], known: Capacity) -> Sequence[Loss]:
    """Leave only the first of those that take the most capacity away, where arithmetic alone says what is left.

    The others have the same evidence and leave more, so that they decide nothing.
    """
    if len(found) < 2 or not any(known.parts):
        return found
    return [max(found, key=lambda loss: parts_lost(known.parts, loss))]


def _counts(view: TrialView, kind: str) -> Callable[[Loss], tuple[int, int]]:
    """Return how to count the ranks and the spares that stand in a lost domain itself."""
    domains, used = view.site.domains(kind) or {}, set(view.rank_device)

    def counts(loss: Loss) -> tuple[int, int]:
        devices = domains[loss.domain]
        return len(devices & used), len(devices & view.site.spares)

    return counts


def _shapes(view: TrialView, loss: Loss) -> Hashable:
    return frozenset(Counter((view.group_roles[group], view.group_shapes[group]) for group in loss.groups).items())


# What is left


def left_at_once(view: TrialView, loss: Loss, found: Capacity, injections: Injections) -> Left:
    """Return what the survivors carry: the lowest rate that an injection measured, else arithmetic."""
    measured = [(rate, name) for name, entry in injections if (rate := number(entry.output_tokens_per_s)) is not None]
    if measured:
        rate, name = min(measured)
        return _measured(view, name, "output_tokens_per_s", rate)
    notes = (*[each.sentence for each in found.unfit], *((found.note,) if found.note else ()))
    return Left(rate=_survivors(found, loss) if found.is_known else None, missing=found.missing, notes=notes)


def _survivors(found: Capacity, loss: Loss) -> Range:
    if found.pools:
        shares = [Fraction(sum(group not in loss.groups for group in pool), len(pool)) for pool in found.pools]
        if len(found.rates) < len(found.pools):
            return pools_left_bounds(found.total, shares)
        left = pools_left(found.rates, shares)
    else:
        left = capacity_left(found.parts, loss, found.part)
    return Range(low=left, high=left)


def left_after_recovery(
    view: TrialView, loss: Loss, at_once: Left, injections: Injections, *, kind: str, most_s: Fraction | None
) -> Left:
    """Return the lowest rate that came back, what is not known before any other; see ``all_after_recovery``."""
    return min(all_after_recovery(view, loss, at_once, injections, kind=kind, most_s=most_s), key=_lowest)


def all_after_recovery(
    view: TrialView, loss: Loss, at_once: Left, injections: Injections, *, kind: str, most_s: Fraction | None
) -> tuple[Left, ...]:
    """Return what came back in time after each injection, else what is certain without one.

    Without an injection nothing is known to come back; where no lost group has enough devices left to run on, that
    is certain, and what is left at once stays all there is.
    """
    if injections:
        return tuple(_recovered(view, name, entry, at_once, most_s) for name, entry in injections)
    return (_without_injection(view, loss, at_once, kind),)


def _without_injection(view: TrialView, loss: Loss, at_once: Left, kind: str) -> Left:
    shortage = _shortage(view, loss, (view.site.domains(kind) or {})[loss.domain])
    if shortage is not None:
        return Left(rate=at_once.rate, read=at_once.read, missing=at_once.missing, notes=(shortage, *at_once.notes))
    unsaid = (
        f"{view.at}/failures/{name}/load_point"
        for name, entry in _failures(view)
        if isinstance(entry.load_point, UnsetType) and _domain_kind(entry) == kind
    )
    note = "No recovery from it was measured."
    return Left(rate=None, missing=tuple(unsaid) or (f"{view.at}/failures",), notes=(note,))


def _lowest(left: Left) -> tuple[bool, Fraction]:
    """Put what is not known first: an injection that does not say how it went is not passed over."""
    return left.rate is not None, Fraction(0) if left.rate is None else left.rate.low


def _recovered(view: TrialView, name: str, entry: Injection, at_once: Left, most_s: Fraction | None) -> Left:
    at = f"{view.at}/failures/{name}"
    rate, seconds = number(entry.recovered_output_tokens_per_s), number(entry.recovered_s)
    if most_s is not None and seconds is not None and seconds > most_s:
        late = f"Injection {name} recovered after {grouped(seconds, 3)} s; at most {grouped(most_s, 3)} s."
        return Left(
            rate=at_once.rate,
            injection=at_once.injection,
            read=(*at_once.read, f"{at}/recovered_s"),
            missing=at_once.missing,
            notes=(late, *at_once.notes),
        )
    wanted = {"recovered_output_tokens_per_s": rate, **({} if most_s is None else {"recovered_s": seconds})}
    missing = tuple(f"{at}/{field}" for field, value in wanted.items() if value is None)
    if rate is None or missing:
        return Left(rate=None, injection=name, missing=missing, notes=("No recovery from it was measured.",))
    unbounded = ("No longest recovery is declared.",) if most_s is None else ()
    found = _measured(view, name, "recovered_output_tokens_per_s", rate)
    read = found.read if seconds is None else (*found.read, f"{at}/recovered_s")
    return Left(rate=found.rate, injection=name, read=read, notes=(*found.notes, *unbounded))


def _measured(view: TrialView, name: str, field: str, rate: Fraction) -> Left:
    note = f"Measured with injection {name}, not arithmetic."
    at = f"{view.at}/failures/{name}/{field}"
    return Left(rate=Range(low=rate, high=rate), injection=name, read=(at,), notes=(note,))


def _shortage(view: TrialView, loss: Loss, gone: frozenset[str]) -> str | None:
    """Say that no lost group has devices enough left to be restarted on; None where one may have."""
    least: tuple[int, int] | None = None
    for index in loss.groups:
        ranks = view.serving_groups[index]
        own = {view.rank_device[rank] for rank in ranks}
        spares = {spare for spare in view.site.spares - gone - set(view.rank_device) if _near(view, spare, own)}
        left = len(own - gone) + len(spares)
        if left >= len(ranks):
            return None
        least = max(least or (left, len(ranks)), (left, len(ranks)))
    if least is None:
        return None
    return f"No lost group can be restarted: {counted(least[0], 'device')} left for {counted(least[1], 'rank')}."


def _near(view: TrialView, spare: str, own: set[str]) -> bool:
    """Say whether a spare shares an island with the group; without declared islands any spare may."""
    islands = view.site.device_islands
    if view.site.islands is None:
        return True
    return any(islands.get(spare, frozenset()) & islands.get(device, frozenset()) for device in own)
