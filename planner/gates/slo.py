"""Service levels: tails and rate at the load points that the contract names.

Rules kept: the same counted windows answer the tail limits and the rate of one load point; the worst window decides;
a percentile needs samples behind it; a figure without a definition answers no limit that has one.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Literal

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import Ask, Finding, Limit, compared, gate
from planner.gates.wording import apart, ms, no_window, rate, share, unjudged, why
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView, number, unusable
from planner.records.base import UNSET, Id, Number, Share, UnsetType
from planner.records.evidence import Statistics
from planner.request_shares import CEILINGS, good_share
from planner.shown import shown
from planner.view import TrialView

FAMILY = "slo"
SUSPICIOUS = 100
"""A latency this many times its ceiling may be in another unit."""
Statistic = Literal["mean", "p50", "p90", "p95", "p99", "p99_9", "max"]


class LatencyLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for one statistic of a latency at one load point."""

    load_point: Id
    statistic: Statistic
    max_ms: Number


class TtftLimit(LatencyLimit, frozen=True, kw_only=True):
    """A ceiling for the time to the first token."""

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the statistic and its sample count."""
        return _asks("load.ttft_ms", self)


class TpotLimit(LatencyLimit, frozen=True, kw_only=True):
    """A ceiling for the time per output token, by one definition."""

    definition: Literal["(e2e-ttft)/(n-1)", "e2e/n"] = "(e2e-ttft)/(n-1)"

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the statistic, its sample count and its definition."""
        return _asks("load.tpot_ms", self, "definition")


class ItlLimit(LatencyLimit, frozen=True, kw_only=True):
    """A ceiling for the time between two tokens."""

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the statistic, its sample count and its definition."""
        return _asks("load.itl_ms", self, "definition")


class E2eLimit(LatencyLimit, frozen=True, kw_only=True):
    """A ceiling for the time to the last token."""

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the statistic and its sample count."""
        return _asks("load.e2e_ms", self)


def _asks(metric: str, limit: LatencyLimit, *more: str) -> tuple[Ask, ...]:
    return (Ask(metric=metric, load_point=limit.load_point, fields=("n", limit.statistic, *more)),)


class ThroughputLimit(Limit, frozen=True, kw_only=True):
    """A floor for the output tokens per second of the whole deployment at one load point."""

    load_point: Id
    scope: Literal["deployment"] = "deployment"
    min_output_tokens_per_s: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the totals that the rate is made of."""
        return tuple(
            Ask(metric=metric, load_point=self.load_point, fields=fields) for metric, fields in THROUGHPUT_READS
        )


class GoodputLimit(Limit, frozen=True, kw_only=True):
    """A floor for the share of requests that met every ceiling named here, each in milliseconds."""

    load_point: Id
    min_good_share: Share
    ttft_ms: Number | UnsetType = UNSET
    tpot_ms: Number | UnsetType = UNSET
    itl_ms: Number | UnsetType = UNSET
    e2e_ms: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for what was sent, what was good, and what made a request good."""
        return (
            Ask(metric="load.requests", load_point=self.load_point, fields=("sent", "good")),
            Ask(metric="load.good_if", load_point=self.load_point),
        )


THROUGHPUT_READS = (
    ("load.output_tokens_total", ()),
    ("load.duration_s", ()),
    ("load.requests", ("completed",)),
)


@gate(
    "ttft",
    family=FAMILY,
    title="Time to first token stays under its ceiling",
    limit=TtftLimit,
    reads=("load.ttft_ms",),
    unit="ms",
    comparator="<=",
    hint="Smaller batches, more tensor ranks inside one island, or replicas with admission control.",
)
def ttft(view: TrialView, limit: TtftLimit) -> Finding:
    """The statistic of TTFT in the worst counted window of the load point is at most the ceiling. In open loop it
    counts from the scheduled send time; counted from the real send it is only a lower bound."""
    reading = view.statistic("ttft_ms", limit.statistic, limit.load_point)
    return _latency("TTFT", reading, limit)


@gate(
    "tpot",
    family=FAMILY,
    title="Time per output token stays under its ceiling",
    limit=TpotLimit,
    reads=("load.tpot_ms",),
    unit="ms",
    comparator="<=",
    hint="More tensor ranks inside one island, or fewer requests in flight per replica.",
)
def tpot(view: TrialView, limit: TpotLimit) -> Finding:
    """The statistic of TPOT, by the contract's definition, is at most the ceiling in the worst counted window. A
    figure by another definition, or by none, answers nothing."""
    reading = _defined(view, limit, "tpot_ms", limit.definition)
    return _latency("TPOT", reading, limit)


@gate(
    "itl",
    family=FAMILY,
    title="Inter-token latency stays under its ceiling",
    limit=ItlLimit,
    reads=("load.itl_ms",),
    unit="ms",
    comparator="<=",
    hint="Chunked prefill, fewer requests in flight per replica, or separate prefill.",
)
def itl(view: TrialView, limit: ItlLimit) -> Finding:
    """The statistic of ITL per token is at most the ceiling in the worst counted window. ITL per chunk, or without
    a definition, answers nothing."""
    reading = _defined(view, limit, "itl_ms", "per_token")
    return _latency("ITL", reading, limit)


@gate(
    "e2e",
    family=FAMILY,
    title="End-to-end latency stays under its ceiling",
    limit=E2eLimit,
    reads=("load.e2e_ms",),
    unit="ms",
    comparator="<=",
    hint="Replicas with admission control, or load shedding before the queue grows.",
)
def e2e(view: TrialView, limit: E2eLimit) -> Finding:
    """The statistic of end-to-end latency in the worst counted window of the load point is at most the ceiling. In
    open loop it counts from the scheduled send time, as TTFT does."""
    reading = view.statistic("e2e_ms", limit.statistic, limit.load_point)
    return _latency("E2E", reading, limit)


@gate(
    "throughput",
    family=FAMILY,
    title="Output rate reaches its floor",
    limit=ThroughputLimit,
    reads=tuple(metric for metric, _ in THROUGHPUT_READS),
    unit="tok/s",
    comparator=">=",
    hint="More replicas with admission control, or load shedding.",
)
def throughput(view: TrialView, limit: ThroughputLimit) -> Finding:
    """Output tokens of completed requests over the window's wall time, for the whole deployment, reach the floor in
    the worst counted window. A rate that a tool states is not read."""
    reading = _with_completed(view, limit.load_point)
    floor = exact(limit.min_output_tokens_per_s)
    result = compare(reading, ">=", floor)
    return compared(result, partial(_rate_sentence, result, limit, floor), limit_field="min_output_tokens_per_s")


@gate(
    "goodput",
    family=FAMILY,
    title="Requests meet all their ceilings",
    limit=GoodputLimit,
    reads=("load.requests", "load.good_if"),
    unit="share",
    comparator=">=",
    hint="Admission control in front of the replicas, or more of them.",
)
def goodput(view: TrialView, limit: GoodputLimit) -> Finding:
    """Requests that completed within every ceiling of the limit, over those sent without those cut off, reach the
    floor in the worst counted window. A count made with other ceilings than the limit's answers nothing."""
    wanted = {name: exact(value) for name in CEILINGS if not isinstance(value := getattr(limit, name), UnsetType)}
    reading = view.qualified(good_share(view.windows(limit.load_point), wanted), limit.load_point)
    floor = exact(limit.min_good_share)
    result = compare(reading, ">=", floor)
    decides = result.decides
    if decides is None:
        sentence = no_window(limit.load_point)
    elif decides.value is None:
        sentence = unjudged(decides, "Requests sent and good", f"in window {decides.place['window']}", "are")
    else:
        found, least = apart(share, decides.value, floor, 3)
        where = f"at {limit.load_point} in window {decides.place['window']}"
        sentence = f"{found} of the requests met every ceiling {where}; at least {least}.{why(result)}"
    return compared(result, sentence, limit_field="min_good_share")


def _latency(name: str, reading: Reading, limit: LatencyLimit) -> Finding:
    ceiling = exact(limit.max_ms)
    result = compare(reading, "<=", ceiling)
    value = None if result.decides is None else result.decides.value
    notes = () if value is None or result.outcome == "PASS" else _far_off(value, ceiling)
    sentence = partial(_latency_sentence, name, result, limit, ceiling)
    return compared(result, sentence, limit_field="max_ms", notes=notes)


def _latency_sentence(name: str, result: Comparison, limit: LatencyLimit, ceiling: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    what = f"{name} {limit.statistic.replace('_', '.')} at {limit.load_point}"
    window = decides.place["window"]
    if decides.value is None:
        return f"{what} is not recorded in window {window}."
    measured, most = apart(ms, decides.value, ceiling, 2)
    return f"{what} is {measured} in window {window}; at most {most}.{why(result)}"


def _far_off(value: Fraction, ceiling: Fraction) -> Iterator[str]:
    """Say so where a latency is so far above its ceiling that its unit may be another; nothing is corrected."""
    (top, bottom), (most, per) = value.as_integer_ratio(), ceiling.as_integer_ratio()
    if most and top * per >= SUSPICIOUS * most * bottom:
        yield f"That is {grouped(value / ceiling, 0)} × the limit: compare the unit with the tool's."


def _rate_sentence(result: Comparison, limit: ThroughputLimit, floor: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    window = decides.place["window"]
    if decides.value is None:
        return unjudged(decides, f"Output rate at {limit.load_point}", f"in window {window}")
    measured, least = apart(rate, decides.value, floor, 1)
    return f"Output rate at {limit.load_point} is {measured} in window {window}; at least {least}.{why(result)}"


def _with_completed(view: TrialView, load_point: str) -> Reading:
    """The shared reading, where the window also says how many requests completed."""
    reading = view.throughput(load_point)
    pairs = zip(reading.samples, view.windows(load_point), strict=True)
    return replace(reading, samples=tuple([_needing_completed(sample, window) for sample, window in pairs]))


def _needing_completed(sample: Sample, window: WindowView) -> Sample:
    load = window.record.load
    requests = UNSET if isinstance(load, UnsetType) else load.requests
    if not isinstance(requests, UnsetType) and number(requests.completed) is not None:
        field = "/load/requests/completed"
        return replace(sample, read=(*sample.read, window.at + field))
    return unusable(sample, missing=f"{window.at}/load/requests/completed", note="Completed requests are not recorded.")


def _defined(view: TrialView, limit: LatencyLimit, field: str, definition: str) -> Reading:
    """Use only figures of the wanted definition."""
    reading = view.statistic(field, limit.statistic, limit.load_point)
    pairs = zip(reading.samples, view.windows(limit.load_point), strict=True)
    return replace(
        reading, samples=tuple([_by_definition(sample, window, field, definition) for sample, window in pairs])
    )


def _by_definition(sample: Sample, window: WindowView, field: str, definition: str) -> Sample:
    load = window.record.load
    recorded = UNSET if isinstance(load, UnsetType) else getattr(load, field)
    found = recorded.definition if isinstance(recorded, Statistics) else UNSET
    if found == definition:
        return sample
    what = "without a definition" if isinstance(found, UnsetType) else f"as {shown(found)}"
    return unusable(
        sample, missing=f"{window.at}/load/{field}/definition", note=f"Recorded {what}; the limit is for {definition}."
    )
