"""Failure: what one failure takes down at once, and what is left.

Rules kept: serving groups are lost whole; capacity is measured per group, or split evenly over groups of one shape,
else UNKNOWN; what is left is compared with the required load, after the replica reserve; the worst domain of the
kind in the worst counted window decides. Arithmetic on measured rates says so; what an injection measured replaces it.
Not handled: how long recovery takes by itself (``recovery``).
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import ClassVar, Literal

from planner.compare import Comparator, Comparison, compare
from planner.failure import Loss, Range, distinct, losses
from planner.figures import with_commas
from planner.gates.base import Ask, Finding, Limit, compared, gate, unknown
from planner.gates.failure_capacity import (
    Capacity,
    Left,
    all_after_recovery,
    capacity,
    distinct_in,
    heaviest,
    injected,
    left_at_once,
)
from planner.gates.slo import THROUGHPUT_READS
from planner.gates.wording import apart, count, counted, rate, share, why
from planner.needs import required_rate, reserved_capacity
from planner.numbers import exact
from planner.readings import Reading, Sample, Unfit, WindowView, zero
from planner.records.base import UNSET, Count, Id, Number, Share, UnsetType
from planner.view import TrialView

FAMILY = "failure"
COUNTS = ("max_groups_lost", "max_ranks_lost")
SHARE_LOST = "max_capacity_share_lost"
NOTHING = Fraction(0)
ARITHMETIC = "Arithmetic on measured rates, not a measurement of the degraded service."


class FailureDomainLimit(Limit, frozen=True, kw_only=True):
    """How much one domain of a kind may take down; exactly one of the four limits.

    ``min_capacity_left_of_required`` is a ratio to needs.capacity x its peak factor; capacity is read at
    ``load_point``. ``domain`` is device, node, island, socket, pcie_switch, or a kind under
    ``fleet.failure_domains``. ``max_recovery_s`` is the longest time after which what came back still counts for
    ``after_recovery``.
    """

    one_of: ClassVar[tuple[str, ...]] = (*COUNTS, SHARE_LOST, "min_capacity_left_of_required")

    domain: Id
    horizon: Literal["immediate", "after_recovery"]
    load_point: Id = "saturated"
    max_recovery_s: Number | UnsetType = UNSET
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
    reads=(
        "load.output_tokens_total",
        "load.duration_s",
        "replicas.output_tokens_total",
        "handoff.prefill_requests_per_s",
        "handoff.decode_requests_per_s",
        "failures.output_tokens_per_s",
        "failures.recovered_output_tokens_per_s",
    ),
    needs=("groups", "devices"),
    hint="More and smaller serving groups, each inside one failure domain.",
)
def failure_domain(view: TrialView, limit: FailureDomainLimit) -> Finding:
    """For every domain of the kind: serving groups with a rank in it are lost whole. Groups or ranks lost, or the
    share of measured capacity lost, are at most the limit; capacity left after the replica reserve is at least the
    floor times the required load. A rate that an injection into a like domain measured replaces arithmetic; after
    recovery nothing else counts. The worst domain decides, ties by id."""
    domains = view.site.domains(limit.domain)
    if domains is None:
        return unknown(f"The contract declares no failure domains of kind {limit.domain}.")
    field = limit.given
    if limit.horizon == "after_recovery" and field in COUNTS:
        return unknown("What comes back is measured as a rate, not as groups or ranks: limit the capacity.")
    kept = view.placed.kept
    found = kept.once(("losses", limit.domain), lambda: losses(view.serving_groups, view.rank_device, domains))
    outside = kept.once(("outside", limit.domain), lambda: _outside(view, limit, domains))
    comparator, unit = KINDS[field]
    floor = exact(getattr(limit, field))
    samples = (*_samples(view, limit, field, found), *outside)
    reading = Reading(samples=samples, worst_is="highest" if comparator == "<=" else "lowest")
    if field not in COUNTS:
        reading = view.qualified(reading, limit.load_point)
    result = compare(reading, comparator, floor)
    measured = result.decides is not None and "injection" in result.decides.place
    notes = () if measured else (ARITHMETIC,)
    return compared(
        result,
        partial(_sentence, view, limit, field, found, result),
        limit_field=field,
        notes=notes,
        unit=unit,
        comparator=comparator,
    )


KINDS: dict[str, tuple[Comparator, str]] = {
    "max_groups_lost": ("<=", "groups"),
    "max_ranks_lost": ("<=", "ranks"),
    "max_capacity_share_lost": ("<=", "share"),
    "min_capacity_left_of_required": (">=", "ratio"),
}
"""Comparator and unit of each field."""


def _samples(view: TrialView, limit: FailureDomainLimit, field: str, found: Sequence[Loss]) -> Iterator[Sample]:
    if field in COUNTS:
        for loss in distinct(found):
            value = Fraction(len(loss.groups) if field == "max_groups_lost" else loss.ranks)
            yield Sample(
                value=value, low=value, high=value, where=(("domain", loss.domain),), read=(f"{view.at}/rank_map",)
            )
        return
    for window in view.windows(limit.load_point):
        yield from _capacity_samples(view, limit, field, found, window)


def _outside(view: TrialView, limit: FailureDomainLimit, domains: Mapping[str, frozenset[str]]) -> tuple[Sample, ...]:
    """Return a sample without a value for a device that no domain of the kind holds: its loss can not be judged."""
    inside = view.ground.kept.once(("in a domain", limit.domain), lambda: frozenset().union(*domains.values()))
    for rank, device in enumerate(view.rank_device):
        if device not in inside:
            note = f"Device {device} of rank {rank} is in no {limit.domain} that the contract declares."
            return (Sample(value=None, low=None, high=None, where=(("device", device),), notes=(note,)),)
    return ()


def _capacity_samples(
    view: TrialView, limit: FailureDomainLimit, field: str, found: Sequence[Loss], window: WindowView
) -> Iterator[Sample]:
    known = capacity(view, window)
    injections = injected(view, limit.domain, limit.load_point, found)
    most = None if isinstance(limit.max_recovery_s, UnsetType) else exact(limit.max_recovery_s)
    differing: Sequence[Loss] = distinct_in(view, limit.domain, found)
    if limit.horizon == "immediate" and not injections and reserved_capacity(view.contract) < 1:
        differing = heaviest(differing, known)
    for loss in differing:
        spoken = injections.get(loss.domain, ())
        lefts: tuple[Left, ...] = (left_at_once(view, loss, known, spoken),)
        if limit.horizon == "after_recovery":
            lefts = all_after_recovery(view, loss, lefts[0], spoken, kind=limit.domain, most_s=most)
        for left in lefts:
            yield _sample(view, loss, window, known, left, is_share=field == SHARE_LOST)


def _sample(view: TrialView, loss: Loss, window: WindowView, known: Capacity, left: Left, *, is_share: bool) -> Sample:
    # A measured rate needs no arithmetic on those of the groups; only a share is of their total.
    needs_total = not left.injection or is_share
    lacking = (*left.missing, *(known.missing if needs_total else ()))
    unfit = known.unfit if needs_total else ()
    total = known.total if is_share and known.is_known else None
    if left.rate is not None and total is not None and total.numerator == 0:
        unfit = _no_capacity(known)
    bounds = None if left.rate is None or lacking or unfit else _measure(view, total, left.rate)
    return Sample(
        value=None if bounds is None else bounds.high if is_share else bounds.low,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        where=(
            ("window", window.id),
            ("domain", loss.domain),
            *((("injection", left.injection),) if left.injection else ()),
        ),
        read=() if bounds is None else (*left.read, *(known.read if needs_total else ())),
        missing=tuple(dict.fromkeys(lacking)),
        doubts=known.doubts if needs_total else (),
        notes=tuple(dict.fromkeys((*[each.sentence for each in unfit], *left.notes))),
        unfit=unfit,
    )


def _no_capacity(known: Capacity) -> tuple[Unfit, ...]:
    """Say that a share of nothing is none; of pools, the rate of one is 0 or their tokens are."""
    if known.pools:
        return (Unfit(at=known.read, sentence="The rate of a pool is 0: no share of capacity follows from it."),)
    return zero("", *(at for at in known.read if at.endswith("/output_tokens_total")), no="share of capacity")


def _measure(view: TrialView, total: Fraction | None, left: Range) -> Range | None:
    """Turn what is left into the share lost of a total (above 0), or without one into a ratio to what is needed; None
    where nothing is needed."""
    if total is not None:
        most = _lost(left.low, total)
        return Range(low=most if left.high is left.low else _lost(left.high, total), high=most)
    required = required_rate(view.contract)
    return None if not required else left.scaled((1 - reserved_capacity(view.contract)) / required)


def _lost(left: Fraction, total: Fraction) -> Fraction:
    """Return the share of a total that is not left; more than all of it, after a recovery, is nothing lost."""
    all_of_it = total.numerator * left.denominator
    lost = all_of_it - left.numerator * total.denominator
    return Fraction(lost, all_of_it) if lost > 0 else NOTHING


def _sentence(view: TrialView, limit: FailureDomainLimit, field: str, found: Sequence[Loss], result: Comparison) -> str:
    decides = result.decides
    if decides is None:
        return "".join(result.notes[:1])
    domain = decides.place.get("domain")
    loss = next((loss for loss in found if loss.domain == domain), None)
    if loss is None:
        return decides.notes[0]
    groups = counted(len(view.serving_groups), "serving group")
    lost = f"{limit.domain.capitalize()} {loss.domain} takes down {with_commas(len(loss.groups))} of {groups}"
    if decides.value is None or result.limit is None:
        what = "what comes back" if limit.horizon == "after_recovery" else "the capacity of each"
        return f"{lost}; {what} is not known.{why(result)}"
    return f"{lost}{_figure(view, limit, field, decides, result.limit, loss)}{why(result)}"


def _figure(
    view: TrialView, declared: FailureDomainLimit, field: str, decides: Sample, limit: Fraction, loss: Loss
) -> str:
    value = decides.value or NOTHING
    if field == "max_groups_lost":
        return f"; at most {count(limit)}."
    if field == "max_ranks_lost":
        return f", {counted(loss.ranks, 'rank')}; at most {count(limit)}."
    found, allowed = apart(share, value, limit, 3)
    later = " after recovery" if declared.horizon == "after_recovery" else ""
    by = f" (injection {decides.place['injection']})" if "injection" in decides.place else ""
    if field == SHARE_LOST:
        return f" and {found} of capacity{later}{by}; at most {allowed}."
    left = value * (required_rate(view.contract) or 0)
    reserve = reserved_capacity(view.contract)
    kept = f" after a reserve of {share(reserve)}" if reserve else ""
    is_left = f"is left{later}{by}"
    return f"; {rate(left)}{kept} {is_left}, {found} of the required load; at least {allowed}."
