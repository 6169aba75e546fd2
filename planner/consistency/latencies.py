"""Latencies: Little's law, the token form, the order of percentiles, and parts that sum to the whole (C1 to C4)."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter

from planner.consistency.base import Check, Exact, Facts, Identity, at_most, broken, equal, kept
from planner.figures import grouped
from planner.numbers import exact
from planner.records.base import UnsetType
from planner.records.contract import Workload
from planner.records.evidence import Statistics

__all__ = ["IDENTITIES", "PER_REQUEST_DECODE"]

OPEN_LOOP_TOLERANCE = Fraction(5, 100)
MILLISECONDS = 1000
PER_REQUEST_DECODE = "(e2e-ttft)/(n-1)"
PER_TOKEN = "per_token"  # noqa: S105 - the definition of a latency, not a credential
LATENCIES = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms")
ORDERED = ("p50", "p90", "p95", "p99", "p99_9", "max")
NAMES = ("mean", *ORDERED)


def _little_closed(facts: Facts) -> Iterator[Check]:
    """C1: with so many requests allowed in flight, rate x mean E2E stays at or below that many."""
    point = facts.load_point
    if point is None or point.arrival != "closed" or isinstance(point.concurrent_requests, UnsetType):
        return
    fields = ("/load/requests/completed", "/load/duration_s", "/load/e2e_ms/mean")
    found = facts.values(*fields)
    if found is None or found[1] == 0:
        return
    in_flight = _in_flight(*found)
    yield (
        kept("C1", fields)
        if at_most(in_flight, point.concurrent_requests, facts.tolerance)
        else broken(
            "C1",
            fields,
            f"Request rate × mean E2E is {grouped(in_flight)} in flight; "
            f"the load point allows {point.concurrent_requests:,}.",
        )
    )


def _in_flight(completed: Exact, duration_s: Exact, mean_ms: Exact) -> Fraction:
    """Return rate x mean latency (Little's law), in one step: a fraction is put into lowest terms each time."""
    return Fraction(
        completed.numerator * duration_s.denominator * mean_ms.numerator,
        completed.denominator * duration_s.numerator * mean_ms.denominator * MILLISECONDS,
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
    if found is None or found[2] == 0 or found[3] == 0 or samples_several(facts.workload):
        return
    # What breaks is the claim of a figure per token, so every figure of that distribution is in doubt, not its mean.
    doubtful = (*fields[:3], "/load/itl_ms")
    rate = Fraction(found[0] - found[1]) / found[2]
    most = Fraction(point.concurrent_requests * MILLISECONDS) / found[3]
    yield (
        kept("C2", doubtful)
        if at_most(rate, most, facts.tolerance)
        else broken(
            "C2",
            doubtful,
            f"{grouped(rate)} tok/s after the first token; mean ITL with {point.concurrent_requests:,} in flight "
            f"allows {grouped(most)}.",
        )
    )


def samples_several(workload: Workload) -> bool:
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
    in_flight = _in_flight(*found[1:])
    yield (
        kept("C3", fields)
        if equal(found[0], in_flight, max(OPEN_LOOP_TOLERANCE, facts.tolerance))
        else broken(
            "C3",
            fields,
            f"Mean in flight is {grouped(found[0])}; request rate × mean E2E is {grouped(in_flight)}.",
        )
    )


def _percentile_order(facts: Facts) -> Iterator[Check]:
    """C4: p50 <= p90 <= p95 <= p99 <= p99.9 <= max, and mean <= max."""
    for latency in LATENCIES:
        found = _recorded(facts, latency)
        for lower, upper, fields in _pairs(latency, tuple(found)):
            yield (
                kept("C4", fields)
                if found[lower] <= found[upper]
                else broken(
                    "C4",
                    fields,
                    f"{latency} {lower} {grouped(exact(found[lower]))} is above {upper} "
                    f"{grouped(exact(found[upper]))}.",
                )
            )


@lru_cache(maxsize=1024)
def _pairs(latency: str, recorded: tuple[str, ...]) -> tuple[tuple[str, str, tuple[str, str]], ...]:
    """Return which of the recorded statistics is at most which other one, with the fields of both."""
    pairs = [*pairwise(name for name in recorded if name != "mean")]
    if "mean" in recorded and "max" in recorded:
        pairs.append(("mean", "max"))
    return tuple((lower, upper, (f"/load/{latency}/{lower}", f"/load/{latency}/{upper}")) for lower, upper in pairs)


def _recorded(facts: Facts, latency: str) -> dict[str, int | float]:
    """Return the recorded statistics of a latency as they are written (``Facts.recorded``): the mean, then in order."""
    load = facts.window.load
    statistics = None if isinstance(load, UnsetType) else getattr(load, latency)
    if not isinstance(statistics, Statistics):
        return {}
    values = zip(NAMES, _FIGURES(statistics), strict=True)
    return {name: value for name, value in values if type(value) is int or type(value) is float}


_FIGURES = attrgetter(*NAMES)
_BOTH = {name: (f"/load/ttft_ms/{name}", f"/load/e2e_ms/{name}") for name in NAMES}


def _first_token_before_last(facts: Facts) -> Iterator[Check]:
    """C4: no statistic of TTFT is above the same statistic of E2E, where both are over the same requests."""
    counts = facts.values("/load/ttft_ms/n", "/load/e2e_ms/n")
    if counts is not None and counts[0] != counts[1]:
        return
    lasts = _recorded(facts, "e2e_ms")
    firsts = _recorded(facts, "ttft_ms") if lasts else {}
    for name, first in firsts.items():
        last = lasts.get(name)
        if last is not None:
            fields = _BOTH[name]
            yield (
                kept("C4", fields)
                if first <= last
                else broken(
                    "C4",
                    fields,
                    f"TTFT {name} {grouped(exact(first))} ms is above E2E {name} {grouped(exact(last))} ms.",
                )
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
    yield (
        kept("C4", fields)
        if equal(found[0], expected, facts.tolerance)
        else broken(
            "C4",
            fields,
            f"Mean E2E is {grouped(found[0])} ms; mean TTFT + {lengths.fixed - 1:,} × mean TPOT is "
            f"{grouped(expected)} ms.",
        )
    )


IDENTITIES: tuple[Identity, ...] = (
    _little_closed,
    _token_form,
    _little_measured,
    _percentile_order,
    _first_token_before_last,
    _end_to_end_sum,
)
