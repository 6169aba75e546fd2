"""Sample counts: figures are over requests that were served, and no more of them than there was time for.

Without a count of completed requests, a number of samples still has to be possible: so many latencies, one after the
other in so many requests in flight, take time. Of n samples at least n x (1 - q) are as long as the quantile q, and a
mean says what all of them took.
"""

from collections.abc import Iterator
from fractions import Fraction

from planner.consistency.base import Check, Facts, Identity, at_most, broken, equal, kept
from planner.figures import grouped
from planner.readings import STATISTICS, number
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import Statistics
from planner.times import window_seconds

__all__ = ["IDENTITIES"]

MILLISECONDS = 1000
COMPLETED = "/load/requests/completed"
PER_REQUEST = ("ttft_ms", "tpot_ms", "e2e_ms")
LATENCIES = (*PER_REQUEST, "itl_ms")
ARRIVALS = 2
"""How many times the offered requests an open loop may have sent: arrivals vary, but not that much over a window."""

Recorded = Iterator[tuple[str, str, Statistics]]


def _completed(facts: Facts) -> Iterator[Check]:
    """TTFT and E2E are over the completed requests; TPOT leaves out those of one token."""
    for latency in PER_REQUEST:
        fields = (f"/load/{latency}/n", COMPLETED)
        found = facts.values(*fields)
        if found is not None:
            holds = (
                at_most(found[0], found[1], facts.tolerance)
                if latency == "tpot_ms"
                else equal(found[0], found[1], facts.tolerance)
            )
            yield (
                kept("n", fields)
                if holds
                else broken("n", fields, f"{latency} has n = {int(found[0]):,}; {int(found[1]):,} requests completed.")
            )


def _shapes(facts: Facts) -> Iterator[Check]:
    """Figures of a request shape are over its requests, and its requests are among those completed."""
    load = facts.window.load
    shapes = {} if isinstance(load, UnsetType) or isinstance(load.shapes, UnsetType) else load.shapes
    completed = facts.get(COMPLETED)
    for name, shape in sorted(shapes.items()):
        at, requests = f"/load/shapes/{name}", number(shape.requests)
        if requests is not None and completed is not None:
            fields = (f"{at}/requests", COMPLETED)
            sentence = f"{int(requests):,} requests of shape {name}; {int(completed):,} requests completed."
            yield kept("n", fields) if requests <= completed else broken("n", fields, sentence)
        most, pointer = (completed, COMPLETED) if requests is None else (requests, f"{at}/requests")
        for latency in PER_REQUEST:
            statistics = getattr(shape, latency)
            n = number(statistics.n) if isinstance(statistics, Statistics) else None
            if n is not None and most is not None:
                fields = (f"{at}/{latency}/n", pointer)
                sentence = f"{latency} of shape {name} has n = {int(n):,}; at most {int(most):,} requests."
                yield kept("n", fields) if at_most(n, most, facts.tolerance) else broken("n", fields, sentence)


def _recorded(facts: Facts) -> Recorded:
    """Yield every latency of the load and of its shapes: name, pointer, figures."""
    load = facts.window.load
    if isinstance(load, UnsetType):
        return
    holders = [
        ("/load", load),
        *(
            (f"/load/shapes/{name}", shape)
            for name, shape in sorted(({} if isinstance(load.shapes, UnsetType) else load.shapes).items())
        ),
    ]
    for at, holder in holders:
        for latency in LATENCIES:
            statistics = getattr(holder, latency)
            if isinstance(statistics, Statistics) and number(statistics.n) is not None:
                yield latency, f"{at}/{latency}", statistics


def _in_all(facts: Facts) -> Iterator[Check]:
    """Without a count of completed requests no more were measured than sent, and than output tokens came.

    So many latencies between tokens as output tokens there may be in any case.
    """
    load = facts.window.load
    uncounted = facts.recorded(COMPLETED) is None
    if not uncounted and not isinstance(load, UnsetType) and load.itl_ms is load.shapes is UNSET:
        return
    recorded = [entry for entry in _recorded(facts) if uncounted or entry[0] == "itl_ms"]
    for name, what in (("/load/requests/sent", "requests sent"), ("/load/output_tokens_total", "output tokens")):
        most = facts.get(name)
        for latency, at, statistics in recorded:
            n = number(statistics.n)
            is_owed = what == "output tokens" if latency == "itl_ms" else uncounted
            if most is None or n is None or not is_owed:
                continue
            fields = (f"{at}/n", name)
            yield (
                kept("n", fields)
                if at_most(n, most, facts.tolerance)
                else broken("n", fields, f"{latency} has n = {int(n):,}; {int(most):,} {what}.")
            )


def _in_time(facts: Facts) -> Iterator[Check]:
    """Closed loop, without a count of completed requests: samples one after the other in every request in flight fit
    into the window. A latency longer than the window is no matter of its count."""
    point, seconds = facts.load_point, window_seconds(facts.window)
    if point is None or point.arrival != "closed" or isinstance(point.concurrent_requests, UnsetType) or not seconds:
        return
    if facts.recorded(COMPLETED) is not None:
        return
    for latency, at, statistics in _recorded(facts):
        # The token form (C2) judges ITL, by its definition.
        longest = max(_taken(statistics, seconds), default=None) if latency != "itl_ms" else None
        if longest is None:
            continue
        taken, name = longest
        most = point.concurrent_requests * seconds
        fields = (f"{at}/n", f"{at}/{name}", "/start", "/end")
        yield (
            kept("n", fields)
            if at_most(taken, most, facts.tolerance)
            else broken(
                "n",
                fields,
                f"{latency} has n = {int(number(statistics.n) or 0):,} with {name} {getattr(statistics, name)} ms: at "
                f"least {grouped(taken)} s of waiting; {point.concurrent_requests:,} in flight have {grouped(most)} s.",
            )
        )


def _taken(statistics: Statistics, seconds: Fraction) -> Iterator[tuple[Fraction, str]]:
    """Yield the least time in seconds that all samples took, by each figure that says something of it."""
    n = number(statistics.n) or Fraction(0)
    for name, quantile in STATISTICS.items():
        value = number(getattr(statistics, name))
        share = Fraction(1) if name == "mean" else None if quantile is None else 1 - quantile
        if value is not None and share is not None and value <= seconds * MILLISECONDS:
            yield n * share * value / MILLISECONDS, name


def _offered(facts: Facts) -> Iterator[Check]:
    """Open loop, without a count of completed requests: no more than twice what was offered."""
    point, seconds = facts.load_point, window_seconds(facts.window)
    rate = None if point is None or point.arrival != "open" else number(point.requests_per_s)
    if rate is None or seconds is None or facts.recorded(COMPLETED) is not None:
        return
    most = ARRIVALS * rate * seconds
    for latency, at, statistics in _recorded(facts):
        if latency != "itl_ms":
            n, fields = number(statistics.n) or Fraction(0), (f"{at}/n", "/start", "/end")
            sentence = f"{latency} has n = {int(n):,}; {grouped(rate * seconds)} requests were offered."
            yield kept("n", fields) if n <= most else broken("n", fields, sentence)


IDENTITIES: tuple[Identity, ...] = (_completed, _shapes, _in_all, _in_time, _offered)
