"""Identities that true figures of one window keep, and the figures that cannot both be true where one is broken.

Rules kept (domain rules 1a; settled questions 18 and 37): an identity is evaluated only when every field of it was
recorded and it is valid for the arrival, the definition and the lengths at hand; a breach says nothing about which
of its fields is wrong, so it puts all of them in doubt, and nothing else. Tolerances are relative and inclusive.
Not handled: what is UNKNOWN because of a breach (``planner.readings``, ``planner.evaluate``).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from planner.numbers import rounded
from planner.readings import number
from planner.records.base import UnsetType
from planner.records.contract import Link, LoadPoint, Workload
from planner.records.evidence import LinkCounters, Rate, Statistics, Window
from planner.times import window_seconds

TOLERANCE = Fraction(2, 100)
"""Starting value; a contract may declare another (``comparison.consistency_tolerance``)."""
OPEN_LOOP_TOLERANCE = Fraction(5, 100)
MILLISECONDS = 1000
PER_REQUEST_DECODE = "(e2e-ttft)/(n-1)"
PER_TOKEN = "per_token"  # noqa: S105 - the definition of a latency, not a credential
LATENCIES = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms")
ORDERED = ("p50", "p90", "p95", "p99", "p99_9", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One identity, evaluated: ``fields`` are pointers below the window, ``sentence`` says what does not fit."""

    id: str
    holds: bool
    fields: tuple[str, ...]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A window and what is needed to judge its figures. ``ranks`` is the number of ranks placed."""

    window: Window
    workload: Workload
    load_point: LoadPoint | None
    links: Mapping[str, Link]
    ranks: int
    tolerance: Fraction = TOLERANCE

    def get(self, at: str) -> Fraction | None:
        """Return a number of the window by its pointer below it, None where it was not recorded."""
        found: object = self.window
        for step in at.split("/")[1:]:
            found = getattr(found, step, None)
        return number(found)

    def values(self, *fields: str) -> tuple[Fraction, ...] | None:
        """Return all numbers, or None where one was not recorded."""
        found = tuple(value for value in map(self.get, fields) if value is not None)
        return found if len(found) == len(fields) else None


def checks(facts: Facts) -> tuple[Check, ...]:
    """Evaluate every identity that the window's figures allow."""
    return tuple(check for identity in IDENTITIES for check in identity(facts))


def _equal(left: Fraction, right: Fraction, tolerance: Fraction) -> bool:
    return abs(left - right) <= tolerance * max(abs(left), abs(right))


def _at_most(left: Fraction, right: Fraction, tolerance: Fraction) -> bool:
    return left <= right * (1 + tolerance)


def _shown(value: Fraction) -> str:
    text = rounded(value, 3)
    return text.rstrip("0").rstrip(".")


def _little_closed(facts: Facts) -> Iterator[Check]:
    """C1: with so many requests allowed in flight, rate x mean E2E stays at or below that many."""
    point = facts.load_point
    if point is None or point.arrival != "closed" or isinstance(point.concurrent_requests, UnsetType):
        return
    fields = ("/load/requests/completed", "/load/duration_s", "/load/e2e_ms/mean")
    found = facts.values(*fields)
    if found is None or found[1] == 0:
        return
    in_flight = found[0] / found[1] * found[2] / MILLISECONDS
    yield Check(
        id="C1",
        holds=_at_most(in_flight, Fraction(point.concurrent_requests), facts.tolerance),
        fields=fields,
        sentence=f"Request rate × mean E2E is {_shown(in_flight)} in flight; "
        f"the load point allows {point.concurrent_requests:,}.",
    )


def _token_form(facts: Facts) -> Iterator[Check]:
    """C2: output rate minus request rate stays at or below in-flight / mean ITL, for per-token ITL only."""
    point, load = facts.load_point, facts.window.load
    if point is None or point.arrival != "closed" or isinstance(point.concurrent_requests, UnsetType):
        return
    if isinstance(load, UnsetType) or not isinstance(load.itl_ms, Statistics) or load.itl_ms.definition != PER_TOKEN:
        return
    fields = ("/load/output_tokens_total", "/load/requests/completed", "/load/duration_s", "/load/itl_ms/mean")
    found = facts.values(*fields)
    if found is None or found[2] == 0 or found[3] == 0 or _samples_several(facts.workload):
        return
    # What breaks is the claim of a figure per token, so every figure of that distribution is in doubt, not its mean.
    doubtful = (*fields[:3], "/load/itl_ms")
    rate = (found[0] - found[1]) / found[2]
    most = point.concurrent_requests * MILLISECONDS / found[3]
    yield Check(
        id="C2",
        holds=_at_most(rate, most, facts.tolerance),
        fields=doubtful,
        sentence=f"{_shown(rate)} tok/s after the first token; mean ITL with {point.concurrent_requests:,} in flight "
        f"allows {_shown(most)}.",
    )


def _samples_several(workload: Workload) -> bool:
    """Say whether a request may produce several outputs, which multiplies what is in flight."""
    if isinstance(workload.sampling, UnsetType):
        return False
    counts = (workload.sampling.get(name, 1) for name in ("n", "best_of", "beam_width", "num_beams"))
    return any(count != 1 for count in counts)


def _little_measured(facts: Facts) -> Iterator[Check]:
    """C3: measured mean in-flight equals rate x mean E2E within 5 %."""
    fields = ("/load/in_flight_mean", "/load/requests/completed", "/load/duration_s", "/load/e2e_ms/mean")
    found = facts.values(*fields)
    if found is None or found[2] == 0:
        return
    in_flight = found[1] / found[2] * found[3] / MILLISECONDS
    yield Check(
        id="C3",
        holds=_equal(found[0], in_flight, max(OPEN_LOOP_TOLERANCE, facts.tolerance)),
        fields=fields,
        sentence=f"Mean in flight is {_shown(found[0])}; request rate × mean E2E is {_shown(in_flight)}.",
    )


def _percentile_order(facts: Facts) -> Iterator[Check]:
    """C4: p50 <= p90 <= p95 <= p99 <= p99.9 <= max, and mean <= max."""
    for latency in LATENCIES:
        at = f"/load/{latency}"
        known = [name for name in ORDERED if facts.get(f"{at}/{name}") is not None]
        pairs = [*pairwise(known), *([("mean", "max")] if "max" in known else [])]
        for lower, upper in pairs:
            found = facts.values(f"{at}/{lower}", f"{at}/{upper}")
            if found is not None:
                yield Check(
                    id="C4",
                    holds=found[0] <= found[1],
                    fields=(f"{at}/{lower}", f"{at}/{upper}"),
                    sentence=f"{latency} {lower} {_shown(found[0])} is above {upper} {_shown(found[1])}.",
                )


def _first_token_before_last(facts: Facts) -> Iterator[Check]:
    """C4: no statistic of TTFT is above the same statistic of E2E, where both are over the same requests."""
    counts = facts.values("/load/ttft_ms/n", "/load/e2e_ms/n")
    if counts is not None and counts[0] != counts[1]:
        return
    for name in ("mean", *ORDERED):
        fields = (f"/load/ttft_ms/{name}", f"/load/e2e_ms/{name}")
        found = facts.values(*fields)
        if found is not None:
            yield Check(
                id="C4",
                holds=found[0] <= found[1],
                fields=fields,
                sentence=f"TTFT {name} {_shown(found[0])} ms is above E2E {name} {_shown(found[1])} ms.",
            )


def _end_to_end_sum(facts: Facts) -> Iterator[Check]:
    """C4: mean E2E = mean TTFT + (n - 1) x mean TPOT, for a fixed output length and per-request TPOT only."""
    load, lengths = facts.window.load, facts.workload.output_tokens
    if isinstance(load, UnsetType) or isinstance(lengths, UnsetType) or isinstance(lengths.fixed, UnsetType):
        return
    if not isinstance(load.tpot_ms, Statistics) or load.tpot_ms.definition != PER_REQUEST_DECODE:
        return
    fields = ("/load/e2e_ms/mean", "/load/ttft_ms/mean", "/load/tpot_ms/mean")
    found = facts.values(*fields)
    if found is None or lengths.fixed < 1:
        return
    expected = found[1] + (lengths.fixed - 1) * found[2]
    yield Check(
        id="C4",
        holds=_equal(found[0], expected, facts.tolerance),
        fields=fields,
        sentence=f"Mean E2E is {_shown(found[0])} ms; mean TTFT + {lengths.fixed - 1:,} × mean TPOT is "
        f"{_shown(expected)} ms.",
    )


def _totals(facts: Facts) -> Iterator[Check]:
    """C5: total output = mean output x completed."""
    fields = ("/load/output_tokens_total", "/load/output_tokens_mean", "/load/requests/completed")
    found = facts.values(*fields)
    if found is not None:
        yield Check(
            id="C5",
            holds=_equal(found[0], found[1] * found[2], facts.tolerance),
            fields=fields,
            sentence=f"{_shown(found[0])} output tokens; mean × completed is {_shown(found[1] * found[2])}.",
        )


def _longest_outputs(facts: Facts) -> Iterator[Check]:
    """Total output is at most the longest output of the workload x the requests that produced it."""
    lengths = facts.workload.output_tokens
    if isinstance(lengths, UnsetType):
        return
    longest = number(lengths.max) if isinstance(lengths.fixed, UnsetType) else number(lengths.fixed)
    sent = facts.get("/load/requests/sent")
    requests = "/load/requests/completed" if sent is None else "/load/requests/sent"
    found = facts.values("/load/output_tokens_total", requests)
    if found is not None and longest is not None:
        yield Check(
            id="length",
            holds=_at_most(found[0], longest * found[1], facts.tolerance),
            fields=("/load/output_tokens_total", requests),
            sentence=f"{_shown(found[0])} output tokens; {int(found[1]):,} requests of at most {int(longest):,} tokens "
            f"give {_shown(longest * found[1])}.",
        )


RATES = (
    ("requests_per_s", ("/load/requests/completed",)),
    ("output_tokens_per_s", ("/load/output_tokens_total",)),
    ("total_tokens_per_s", ("/load/input_tokens_total", "/load/output_tokens_total")),
)


def _stated_rates(facts: Facts) -> Iterator[Check]:
    """C5: a stated rate, times the devices of its scope, equals its totals over the duration."""
    load = facts.window.load
    for name, totals in RATES:
        stated = None if isinstance(load, UnsetType) else getattr(load, name)
        found = facts.values(*totals, "/load/duration_s")
        if not isinstance(stated, Rate) or found is None or found[-1] == 0:
            continue
        rate = sum(found[:-1], Fraction(0)) / found[-1]
        value = (number(stated.value) or Fraction(0)) * (facts.ranks if stated.scope == "device" else 1)
        yield Check(
            id="C5",
            holds=_equal(value, rate, facts.tolerance),
            fields=(f"/load/{name}", *totals, "/load/duration_s"),
            sentence=f"{name} over the deployment is stated as {_shown(value)}; totals give {_shown(rate)}.",
        )


def _array_lengths(facts: Facts) -> Iterator[Check]:
    """C8: a per-rank array has one place for each rank."""
    metrics = {} if isinstance(facts.window.per_rank, UnsetType) else facts.window.per_rank
    for name, metric in sorted(metrics.items()):
        yield Check(
            id="C8",
            holds=len(metric.values) == facts.ranks,
            fields=(f"/per_rank/{name}",),
            sentence=f"{name} has {len(metric.values):,} values; the trial has {facts.ranks:,} ranks.",
        )


def _link_capacity(facts: Facts) -> Iterator[Check]:
    """C10: a link carries at most its rate x the window's length."""
    seconds = window_seconds(facts.window)
    for at, link, counters in _recorded_links(facts):
        for name in ("tx_bytes_total", "rx_bytes_total"):
            total = number(getattr(counters, name))
            if total is None or seconds is None:
                continue
            most = link.bytes_per_s_one_way * seconds
            yield Check(
                id="C10",
                holds=_at_most(total, most, facts.tolerance),
                fields=(f"{at}/{name}",),
                sentence=f"{name} is {int(total):,} bytes; the link carries at most {int(most):,} in this window.",
            )


def _link_peaks(facts: Facts) -> Iterator[Check]:
    """The peak interval carries at least the mean of the window."""
    seconds = window_seconds(facts.window)
    for at, _, counters in _recorded_links(facts):
        interval = number(counters.sample_interval_s)
        for way in ("tx", "rx"):
            peak, total = (number(getattr(counters, f)) for f in (f"peak_{way}_bytes", f"{way}_bytes_total"))
            if peak is None or total is None or interval is None or not seconds or interval > seconds:
                continue
            mean = total / seconds * interval
            yield Check(
                id="peak",
                holds=_at_most(mean, peak, facts.tolerance),
                fields=(f"{at}/peak_{way}_bytes", f"{at}/{way}_bytes_total", f"{at}/sample_interval_s"),
                sentence=f"peak_{way}_bytes is {int(peak):,}; the mean interval carries {int(mean):,}.",
            )


def _recorded_links(facts: Facts) -> Iterator[tuple[str, Link, LinkCounters]]:
    recorded = {} if isinstance(facts.window.links, UnsetType) else facts.window.links
    for link_id, phases in sorted(recorded.items()):
        if link_id in facts.links:
            for phase, counters in sorted(phases.items()):
                yield f"/links/{link_id}/{phase}", facts.links[link_id], counters


def _duration(facts: Facts) -> Iterator[Check]:
    """duration_s equals end - start."""
    seconds, duration = window_seconds(facts.window), facts.get("/load/duration_s")
    if seconds is not None and duration is not None:
        yield Check(
            id="duration",
            holds=_equal(duration, seconds, facts.tolerance),
            fields=("/load/duration_s", "/start", "/end"),
            sentence=f"duration_s is {_shown(duration)}; end − start is {_shown(seconds)} s.",
        )


def _sample_counts(facts: Facts) -> Iterator[Check]:
    """TTFT and E2E are over the completed requests."""
    for latency in ("ttft_ms", "e2e_ms"):
        fields = (f"/load/{latency}/n", "/load/requests/completed")
        found = facts.values(*fields)
        if found is not None:
            yield Check(
                id="n",
                holds=_equal(found[0], found[1], facts.tolerance),
                fields=fields,
                sentence=f"{latency} has n = {int(found[0]):,}; {int(found[1]):,} requests completed.",
            )


def _request_counts(facts: Facts) -> Iterator[Check]:
    """sent = completed + failed + cut_off, as counts."""
    names = ("sent", "completed", "failed", "cut_off")
    fields = tuple(f"/load/requests/{name}" for name in names)
    found = facts.values(*fields)
    if found is not None:
        ended = sum(found[1:], Fraction(0))
        yield Check(
            id="requests",
            holds=found[0] == ended,
            fields=fields,
            sentence=f"{int(found[0]):,} sent; completed + failed + cut_off is {int(ended):,}.",
        )


def _replica_sums(facts: Facts) -> Iterator[Check]:
    """Replicas sum to the deployment."""
    replicas = {} if isinstance(facts.window.replicas, UnsetType) else facts.window.replicas
    for name, at in (("completed", "/load/requests/completed"), ("output_tokens_total", "/load/output_tokens_total")):
        whole = facts.get(at)
        parts = [number(getattr(replica, name)) for replica in replicas.values()]
        known = [part for part in parts if part is not None]
        if whole is None or not parts or len(known) < len(parts):
            continue
        total = sum(known, Fraction(0))
        yield Check(
            id="replicas",
            holds=_equal(total, whole, facts.tolerance),
            fields=(at, *(f"/replicas/{replica}/{name}" for replica in sorted(replicas))),
            sentence=f"Replicas sum to {int(total):,} {name}; the deployment has {int(whole):,}.",
        )


IDENTITIES: tuple[Callable[[Facts], Iterator[Check]], ...] = (
    _little_closed,
    _token_form,
    _little_measured,
    _percentile_order,
    _first_token_before_last,
    _end_to_end_sum,
    _totals,
    _longest_outputs,
    _stated_rates,
    _array_lengths,
    _link_capacity,
    _link_peaks,
    _duration,
    _sample_counts,
    _request_counts,
    _replica_sums,
)
"""Every identity, in the order in which breaches are listed."""
