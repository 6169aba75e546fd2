"""Service under particular load: overload, request shapes apart, all-to-all under a mix of tokens.

Rules kept: tails of each shape are limited by themselves, because one percentile over all hides the rare shape; an
overloaded deployment is judged by its queue and by what it refuses; percentiles need samples here as everywhere.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Literal

from msgspec.structs import replace

from planner.compare import Comparator, Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.slo import Statistic
from planner.gates.wording import apart, count, ms, no_window, share, unjudged, why
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView, absent, number, statistic_at, unusable
from planner.records.base import UNSET, Count, Id, Number, Share, UnsetType
from planner.records.evidence import Collective, Phase, ShapeLoad, Statistics
from planner.request_shares import request_share
from planner.shown import shown
from planner.view import TrialView

FAMILY = "service"
DEFINITIONS = {"tpot_ms": "(e2e-ttft)/(n-1)", "itl_ms": "per_token"}
"""What a latency must be defined as; the others have one meaning."""


class OverloadLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the deepest queue at the overload point, or a bound of the share of requests refused there."""

    one_of: ClassVar[tuple[str, ...]] = ("max_queued_requests", "max_refused_share", "min_refused_share")

    load_point: Id
    max_queued_requests: Count | UnsetType = UNSET
    max_refused_share: Share | UnsetType = UNSET
    min_refused_share: Share | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the queue, or for what was sent and refused."""
        if self.given != "max_queued_requests":
            return (Ask(metric="load.requests", load_point=self.load_point, fields=("sent", "refused")),)
        return (Ask(metric="load.queued_requests_max", load_point=self.load_point),)


class TailsByShapeLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for one statistic of a latency of the requests of one shape of the contract."""

    load_point: Id
    shape: Id
    latency: Literal["ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"]
    statistic: Statistic
    max_ms: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the shapes; the rule itself looks for its own among them."""
        return (Ask(metric="load.shapes", load_point=self.load_point),)


class AllToAllTailLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for one statistic of the time of all-to-all operations, under one mix of tokens or under all."""

    load_point: Id
    statistic: Statistic
    token_mix: Id | UnsetType = UNSET
    phase: Phase | UnsetType = UNSET
    max_ms: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the times, where there are expert groups; an instrumented window does."""
        return (Ask(metric="collectives.time_ms", load_point=self.load_point, conditional=True),)


@gate(
    "overload",
    family=FAMILY,
    title="Overload is bounded and refused as declared",
    limit=OverloadLimit,
    reads=("load.requests", "load.queued_requests_max"),
    hint="Admission control and load shedding before the queue grows.",
)
def overload(view: TrialView, limit: OverloadLimit) -> Finding:
    """At the overload point the deepest queue of the worst counted window is at most the ceiling; or the share of
    requests refused, of those sent without those cut off, is at most or at least what is declared."""
    field = limit.given
    comparator: Comparator = ">=" if field == "min_refused_share" else "<="
    windows = view.windows(limit.load_point)
    if field == "max_queued_requests":
        found = Reading(samples=tuple(map(_queue, windows)), worst_is="highest")
    else:
        found = request_share(windows, "refused", worst_is="lowest" if comparator == ">=" else "highest")
    bound = exact(getattr(limit, field))
    result = compare(view.qualified(found, limit.load_point), comparator, bound)
    finding = compared(result, _overload_sentence(result, limit, field, bound), limit_field=field)
    return replace(finding, comparator=comparator, unit="requests" if field == "max_queued_requests" else "share")


def _queue(window: WindowView) -> Sample:
    load, at = window.record.load, "/load/queued_requests_max"
    deepest = None if isinstance(load, UnsetType) else number(load.queued_requests_max)
    return Sample(
        value=deepest,
        low=deepest,
        high=deepest,
        where=(("window", window.id),),
        read=(window.at + at,) if deepest is not None else (),
        missing=(window.at + at,) if deepest is None else (),
        doubts=window.doubts((at,)),
    )


def _overload_sentence(result: Comparison, limit: OverloadLimit, field: str, bound: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    where = f"at {limit.load_point} in window {decides.place['window']}"
    if field == "max_queued_requests":
        if decides.value is None:
            return f"The deepest queue is not recorded {where}."
        return f"Up to {count(decides.value)} requests wait {where}; at most {count(bound)}.{why(result)}"
    if decides.value is None:
        return unjudged(decides, "Requests sent and refused", where, "are")
    found, allowed = apart(share, decides.value, bound, 3)
    side = "at least" if field == "min_refused_share" else "at most"
    return f"{found} of the requests are refused {where}; {side} {allowed}.{why(result)}"


@gate(
    "tails_by_shape",
    family=FAMILY,
    title="Tails hold for every declared request shape",
    limit=TailsByShapeLimit,
    reads=("load.shapes",),
    unit="ms",
    comparator="<=",
    hint="Serve long prompts apart, or chunk their prefill.",
)
def tails_by_shape(view: TrialView, limit: TailsByShapeLimit) -> Finding:
    """The statistic of a latency over the requests of one shape is at most the ceiling in the worst counted window,
    with enough samples of that shape. TPOT and ITL count only by their per-token definitions."""
    samples = tuple(_of_shape(view, window, limit) for window in view.windows(limit.load_point))
    reading = view.qualified(Reading(samples=samples, worst_is="highest"), limit.load_point)
    result = compare(reading, "<=", exact(limit.max_ms))
    name = f"{limit.latency.removesuffix('_ms').upper()} {limit.statistic.replace('_', '.')} of shape {limit.shape}"
    return compared(result, _tail_sentence(name, result, limit), limit_field="max_ms")


def _of_shape(view: TrialView, window: WindowView, limit: TailsByShapeLimit) -> Sample:
    load = window.record.load
    shapes = {} if isinstance(load, UnsetType) or isinstance(load.shapes, UnsetType) else load.shapes
    at = f"/load/shapes/{limit.shape}/{limit.latency}"
    recorded = getattr(shapes.get(limit.shape, ShapeLoad()), limit.latency)
    sample = statistic_at(window, at, recorded, limit.statistic, view.beyond)
    wanted = DEFINITIONS.get(limit.latency)
    found = recorded.definition if isinstance(recorded, Statistics) else UNSET
    if wanted is None or sample.value is None or found == wanted:
        return sample
    what = "without a definition" if isinstance(found, UnsetType) else f"as {shown(found)}"
    note = f"Recorded {what}; the limit is for {wanted}."
    return unusable(sample, missing=f"{window.at}{at}/definition", note=note)


def _tail_sentence(name: str, result: Comparison, limit: TailsByShapeLimit | AllToAllTailLimit) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    where = f"at {limit.load_point} in window {decides.place['window']}"
    if decides.value is None:
        return f"{name} is not recorded {where}.{why(result)}"
    found, most = apart(ms, decides.value, exact(limit.max_ms), 2)
    return f"{name} is {found} {where}; at most {most}.{why(result)}"


@gate(
    "all_to_all_tail",
    family=FAMILY,
    title="All-to-all stays quick under the declared token mixes",
    limit=AllToAllTailLimit,
    reads=("collectives.time_ms",),
    unit="ms",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Expert groups inside faster links, or another expert placement.",
)
def all_to_all_tail(view: TrialView, limit: AllToAllTailLimit) -> Finding:
    """The statistic of the time of all-to-all operations, under the declared mix of tokens and in the declared
    phase, is at most the ceiling in every window that records it, for every message size recorded."""
    kinds = ("ep", "moe_ep")
    if not any(len(group) > 1 for kind in kinds for group in view.topology_groups.groups.get(kind, ())):
        return not_applicable("No expert group has more than one rank.")
    windows = view.traced(limit.load_point, "collectives", "time_ms")
    samples = tuple(sample for window in windows for sample in _all_to_all(view, window, limit))
    reading = Reading(samples=samples, worst_is="highest")
    result = compare(reading if samples else view.qualified(reading, limit.load_point), "<=", exact(limit.max_ms))
    mix = "" if isinstance(limit.token_mix, UnsetType) else f" under {limit.token_mix}"
    name = f"All-to-all {limit.statistic.replace('_', '.')}{mix}"
    return compared(result, _tail_sentence(name, result, limit), limit_field="max_ms")


def _all_to_all(view: TrialView, window: WindowView, limit: AllToAllTailLimit) -> Iterator[Sample]:
    records = {} if isinstance(window.record.collectives, UnsetType) else window.record.collectives
    wanted = {name: entry for name, entry in sorted(records.items()) if _is_wanted(entry, limit)}
    if not wanted:
        yield absent(window, "/collectives")
    for name, entry in wanted.items():
        at = f"/collectives/{name}/time_ms"
        sample = statistic_at(window, at, entry.time_ms, limit.statistic, view.beyond)
        yield replace(sample, where=(*sample.where, ("collective", name)))


def _is_wanted(entry: Collective, limit: AllToAllTailLimit) -> bool:
    if entry.operation != "all_to_all":
        return False
    phase = "mixed" if isinstance(entry.phase, UnsetType) else entry.phase
    if not isinstance(limit.phase, UnsetType) and phase != limit.phase:
        return False
    return isinstance(limit.token_mix, UnsetType) or entry.token_mix == limit.token_mix
