"""Failure: what one failure takes down at once, and what is left.

Rules kept: serving groups are lost whole; capacity is measured per group, or split evenly over groups of one shape,
else UNKNOWN; what is left is compared with the required load, after the replica reserve; the worst domain of the
kind in the worst counted window decides. It is arithmetic on measured rates and says so. Not handled: a measured
degraded rate and recovery, which need injection records.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from msgspec.structs import replace

from planner.compare import Comparator, Comparison, compare
from planner.failure import Loss, Range, capacity_left, distinct, equal_shares, losses, pools_left_bounds
from planner.gates.base import Ask, Finding, Limit, compared, gate, unknown
from planner.gates.slo import THROUGHPUT_READS
from planner.gates.wording import apart, count, counted, rate, share, why
from planner.needs import required_rate, reserved_capacity
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView, number, throughput
from planner.records.base import UNSET, Count, Id, Number, Share, UnsetType
from planner.view import TrialView

FAMILY = "failure"
COUNTS = ("max_groups_lost", "max_ranks_lost")
ARITHMETIC = "Arithmetic on measured rates, not a measurement of the degraded service."


class FailureDomainLimit(Limit, frozen=True, kw_only=True):
    """How much one domain of a kind may take down; exactly one of the four limits.

    ``min_capacity_left_of_required`` is a ratio to needs.capacity x its peak factor; capacity is read at
    ``load_point``. ``domain`` is device, node, island, or a kind under ``fleet.failure_domains``.
    """

    one_of: ClassVar[tuple[str, ...]] = (*COUNTS, "max_capacity_share_lost", "min_capacity_left_of_required")

    domain: Id
    horizon: Literal["immediate", "after_recovery"]
    load_point: Id = "saturated"
    max_groups_lost: Count | UnsetType = UNSET
    max_ranks_lost: Count | UnsetType = UNSET
    max_capacity_share_lost: Share | UnsetType = UNSET
    min_capacity_left_of_required: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the output rate where a capacity is limited; counts need no measurement."""
        if self.given in COUNTS:
            return ()
        return tuple(Ask(metric=metric, load_point=self.load_point) for metric, _ in THROUGHPUT_READS[:2])


@gate(
    "failure_domain",
    family=FAMILY,
    title="One failure takes down no more than permitted",
    limit=FailureDomainLimit,
    reads=("load.output_tokens_total", "load.duration_s", "replicas.output_tokens_total"),
    needs=("groups", "devices"),
    hint="More and smaller serving groups, each inside one failure domain.",
)
def failure_domain(view: TrialView, limit: FailureDomainLimit) -> Finding:
    """For every domain of the kind: serving groups with a rank in it are lost whole. Groups or ranks lost, or the
    share of measured capacity lost, are at most the limit; capacity left after the replica reserve is at least the
    floor times the required load. The worst domain decides, ties by id."""
    domains = view.site.domains(limit.domain)
    if domains is None:
        return unknown(f"The contract declares no failure domains of kind {limit.domain}.")
    if limit.horizon == "after_recovery":
        return unknown("No recovery was measured on this trial.", missing=(f"{view.at}/failures",))
    found = distinct(losses(view.serving_groups, view.rank_device, domains))
    field = limit.given
    comparator, unit = KINDS[field]
    floor = exact(getattr(limit, field))
    samples = (*_samples(view, limit, field, found), *_outside(view, limit, domains.values()))
    reading = Reading(samples=samples, worst_is="highest" if comparator == "<=" else "lowest")
    if limit.asks():
        reading = view.qualified(reading, limit.load_point)
    result = compare(reading, comparator, floor)
    finding = compared(result, _sentence(view, limit, field, found, result), limit_field=field, notes=(ARITHMETIC,))
    return replace(finding, unit=unit, comparator=comparator)


KINDS: dict[str, tuple[Comparator, str]] = {
    "max_groups_lost": ("<=", "groups"),
    "max_ranks_lost": ("<=", "ranks"),
    "max_capacity_share_lost": ("<=", "share"),
    "min_capacity_left_of_required": (">=", "ratio"),
}
"""Comparator and unit of each field."""


def _samples(view: TrialView, limit: FailureDomainLimit, field: str, found: Sequence[Loss]) -> Iterator[Sample]:
    if not limit.asks():
        for loss in found:
            value = Fraction(len(loss.groups) if field == "max_groups_lost" else loss.ranks)
            yield Sample(
                value=value, low=value, high=value, where=(("domain", loss.domain),), read=(f"{view.at}/rank_map",)
            )
        return
    for window in view.windows(limit.load_point):
        yield from _capacity_samples(view, limit, field, found, window)


def _outside(view: TrialView, limit: FailureDomainLimit, domains: Iterable[frozenset[str]]) -> Iterator[Sample]:
    """Yield a sample without a value for a device that no domain of the kind holds: its loss can not be judged."""
    inside = frozenset().union(*domains)
    for rank, device in enumerate(view.rank_device):
        if device not in inside:
            note = f"Device {device} of rank {rank} is in no {limit.domain} that the contract declares."
            yield Sample(value=None, low=None, high=None, where=(("device", device),), notes=(note,))
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Measured rates of the serving groups in one window, in tokens per second, or what is missing for them.

    ``pools`` holds the group indices of each pool where the topology has prefill and decode pools; only the whole
    service was measured then.
    """

    rates: tuple[Fraction, ...] = ()
    pools: tuple[tuple[int, ...], ...] = ()
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    note: str = ""


def _capacity_samples(
    view: TrialView, limit: FailureDomainLimit, field: str, found: Sequence[Loss], window: WindowView
) -> Iterator[Sample]:
    capacity = _capacity(view, window)
    for loss in found:
        where = (("window", window.id), ("domain", loss.domain))
        lost = None if capacity.missing else _left(capacity, loss)
        bounds = None if lost is None else _measure(view, limit, field, capacity, lost)
        yield Sample(
            value=None if bounds is None else bounds.high if field == "max_capacity_share_lost" else bounds.low,
            low=None if bounds is None else bounds.low,
            high=None if bounds is None else bounds.high,
            where=where,
            read=capacity.read,
            missing=capacity.missing,
            doubts=capacity.doubts,
            notes=(capacity.note,) if capacity.note else (),
        )


def _left(capacity: Capacity, loss: Loss) -> Range:
    if capacity.pools:
        shares = [Fraction(sum(group not in loss.groups for group in pool), len(pool)) for pool in capacity.pools]
        return pools_left_bounds(sum(capacity.rates, Fraction(0)), shares)
    left = capacity_left(capacity.rates, loss)
    return Range(low=left, high=left)


def _measure(view: TrialView, limit: FailureDomainLimit, field: str, capacity: Capacity, left: Range) -> Range | None:
    """Turn what is left into the limit's own quantity; None where there is nothing to compare it with."""
    total = sum(capacity.rates, Fraction(0))
    if field == "max_capacity_share_lost":
        return None if total == 0 else Range(low=1 - left.high / total, high=1 - left.low / total)
    required = required_rate(view.contract)
    return None if not required else left.scaled((1 - reserved_capacity(view.contract)) / required)


def _capacity(view: TrialView, window: WindowView) -> Capacity:
    """Read the rate of each serving group, or split the total over groups of one shape."""
    shapes = view.group_shapes
    pools = _pools(view)
    if not pools and not isinstance(window.record.replicas, UnsetType):
        return _replica_rates(view, window)
    (whole,) = throughput((window,)).samples
    alike = all(len({shapes[group] for group in pool}) == 1 for pool in pools or (range(len(shapes)),))
    if not alike:
        note = "Serving groups differ in shape, and no rate of each is recorded."
        return Capacity(missing=(f"{window.at}/replicas",), note=note)
    if whole.value is None:
        return Capacity(missing=whole.missing)
    rates = (whole.value,) if pools else equal_shares(whole.value, shapes) or ()
    note = "Pool rates are not measured: bounds." if pools else "The total is split evenly over groups of one shape."
    return Capacity(rates=rates, pools=pools, read=whole.read, doubts=whole.doubts, note=note)


def _pools(view: TrialView) -> tuple[tuple[int, ...], ...]:
    """Return the groups of each pool where roles differ; a topology of one role has no pools."""
    by_role: dict[str, list[int]] = {}
    for group, role in enumerate(view.group_roles):
        by_role.setdefault(role, []).append(group)
    return tuple(tuple(by_role[role]) for role in sorted(by_role)) if len(by_role) > 1 else ()


def _replica_rates(view: TrialView, window: WindowView) -> Capacity:
    replicas = view.replicas(window.record)
    if replicas is None:
        note = "The recorded replicas are not the serving groups."
        return Capacity(missing=(f"{window.at}/replicas",), note=note)
    load = window.record.load
    duration = None if isinstance(load, UnsetType) else number(load.duration_s)
    fields = tuple(f"/replicas/{name}/output_tokens_total" for name, _ in replicas)
    tokens = [number(replica.output_tokens_total) for _, replica in replicas]
    missing = [window.at + field for field, value in zip(fields, tokens, strict=True) if value is None]
    if not duration:
        missing.append(f"{window.at}/load/duration_s")
    if missing or not duration:
        return Capacity(missing=tuple(missing))
    every = (*fields, "/load/duration_s")
    return Capacity(
        rates=tuple(value / duration for value in tokens if value is not None),
        read=tuple(window.at + field for field in every),
        doubts=window.doubts(every),
    )


def _sentence(view: TrialView, limit: FailureDomainLimit, field: str, found: Sequence[Loss], result: Comparison) -> str:
    decides = result.decides
    if decides is None:
        return "".join(result.notes[:1])
    loss = next((loss for loss in found if loss.domain == decides.place.get("domain")), None)
    if loss is None:
        return decides.notes[0]
    groups = counted(len(view.serving_groups), "serving group")
    lost = f"{limit.domain.capitalize()} {loss.domain} takes down {len(loss.groups):,} of {groups}"
    if decides.value is None or result.limit is None:
        return f"{lost}; the capacity of each is not known.{why(result)}"
    return f"{lost}{_figure(view, field, decides.value, result.limit, loss)}{why(result)}"


def _figure(view: TrialView, field: str, value: Fraction, limit: Fraction, loss: Loss) -> str:
    if field == "max_groups_lost":
        return f"; at most {count(limit)}."
    if field == "max_ranks_lost":
        return f", {counted(loss.ranks, 'rank')}; at most {count(limit)}."
    found, allowed = apart(share, value, limit, 3)
    if field == "max_capacity_share_lost":
        return f" and {found} of capacity; at most {allowed}."
    left = value * (required_rate(view.contract) or 0)
    reserve = reserved_capacity(view.contract)
    kept = f" after a reserve of {share(reserve)}" if reserve else ""
    return f"; {rate(left)}{kept} is left, {found} of the required load; at least {allowed}."
