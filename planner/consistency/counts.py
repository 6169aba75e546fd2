"""Counts, totals and rates of one load: parts sum to the whole and rates are totals over time (C5)."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from planner.consistency.base import Check, Facts, Identity, at_most, broken, equal, exactly, kept
from planner.figures import grouped
from planner.records.base import UnsetType
from planner.records.evidence import Rate
from planner.times import window_seconds

__all__ = ["IDENTITIES"]


def _totals(facts: Facts) -> Iterator[Check]:
    """C5: total output = mean output x completed."""
    fields = ("/load/output_tokens_total", "/load/output_tokens_mean", "/load/requests/completed")
    found = facts.values(*fields)
    if found is not None:
        yield (
            kept("C5", fields)
            if equal(found[0], found[1] * found[2], facts.tolerance)
            else broken(
                "C5",
                fields,
                f"{grouped(found[0])} output tokens; mean × completed is {grouped(found[1] * found[2])}.",
            )
        )


def _longest_outputs(facts: Facts) -> Iterator[Check]:
    """Total output is at most the longest output of the workload x the requests that produced it."""
    lengths = facts.workload.output_tokens
    if isinstance(lengths, UnsetType):
        return
    longest = exactly(lengths.max if isinstance(lengths.fixed, UnsetType) else lengths.fixed)
    sent = facts.get("/load/requests/sent")
    requests = "/load/requests/completed" if sent is None else "/load/requests/sent"
    found = facts.values("/load/output_tokens_total", requests)
    if found is not None and longest is not None:
        yield (
            kept("length", ("/load/output_tokens_total", requests))
            if at_most(found[0], longest * found[1], facts.tolerance)
            else broken(
                "length",
                ("/load/output_tokens_total", requests),
                f"{grouped(found[0])} output tokens; {int(found[1]):,} requests of at most {int(longest):,} "
                f"tokens give {grouped(longest * found[1])}.",
            )
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
        if not isinstance(stated, Rate):
            continue
        found = facts.values(*totals, "/load/duration_s")
        if found is None or found[-1] == 0:
            continue
        rate = Fraction(sum(found[:-1])) / found[-1]
        value = (exactly(stated.value) or 0) * (facts.ranks if stated.scope == "device" else 1)
        yield (
            kept("C5", (f"/load/{name}", *totals, "/load/duration_s"))
            if equal(value, rate, facts.tolerance)
            else broken(
                "C5",
                (f"/load/{name}", *totals, "/load/duration_s"),
                f"{name} over the deployment is stated as {grouped(value)}; totals give {grouped(rate)}.",
            )
        )


def _duration(facts: Facts) -> Iterator[Check]:
    """duration_s equals end - start."""
    seconds, duration = window_seconds(facts.window), facts.get("/load/duration_s")
    if seconds is not None and duration is not None:
        yield (
            kept("duration", ("/load/duration_s", "/start", "/end"))
            if equal(duration, seconds, facts.tolerance)
            else broken(
                "duration",
                ("/load/duration_s", "/start", "/end"),
                f"duration_s is {grouped(duration)}; end − start is {grouped(seconds)} s.",
            )
        )


ENDS = ("completed", "failed", "cut_off")


def _request_counts(facts: Facts) -> Iterator[Check]:
    """sent = completed + failed + cut_off, as counts."""
    fields = _request_fields(("sent", *ENDS))
    found = facts.values(*fields)
    if found is not None:
        ended = sum(found[1:])
        yield (
            kept("requests", fields)
            if found[0] == ended
            else broken("requests", fields, f"{int(found[0]):,} sent; completed + failed + cut_off is {int(ended):,}.")
        )


AMONG = ((("good",), "completed"), (("good",), "sent"), (("refused",), "failed"), (("timed_out",), "failed"))
"""Counts of requests that are among others."""


def _request_parts(facts: Facts) -> Iterator[Check]:
    """No count is more than the one that it is among; ends of requests are together at most those sent."""
    ended = tuple([name for name in ENDS if facts.recorded(f"/load/requests/{name}") is not None])
    # With every end recorded, their sum is held to equal what was sent.
    for names, whole in (*AMONG, *(((ended, "sent"),) if 0 < len(ended) < len(ENDS) else ())):
        fields = _request_fields((*names, whole))
        found = facts.values(*fields)
        if found is not None:
            *parts, most = found
            yield (
                kept("parts", fields)
                if sum(parts) <= most
                else broken("parts", fields, f"{' + '.join(names)} is {int(sum(parts)):,}; {whole} is {int(most):,}.")
            )


@lru_cache(maxsize=64)
def _request_fields(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"/load/requests/{name}" for name in names)


def _queue(facts: Facts) -> Iterator[Check]:
    """The mean queue is no deeper than the deepest."""
    fields = ("/load/queued_requests_mean", "/load/queued_requests_max")
    found = facts.values(*fields)
    if found is not None:
        mean, most = found
        yield (
            kept("queue", fields)
            if mean <= most
            else broken("queue", fields, f"{grouped(mean)} requests wait on the mean, at most {grouped(most)} ever.")
        )


def _replica_sums(facts: Facts) -> Iterator[Check]:
    """Replicas sum to the deployment."""
    replicas = {} if isinstance(facts.window.replicas, UnsetType) else facts.window.replicas
    for name, at in (("completed", "/load/requests/completed"), ("output_tokens_total", "/load/output_tokens_total")):
        whole = facts.get(at)
        parts = [getattr(replica, name) for replica in replicas.values()]
        known = [part for part in parts if type(part) is int]
        if whole is None or not parts or len(known) < len(parts):
            continue
        added, fields = sum(known), _replica_fields(at, name, tuple(sorted(replicas)))
        yield (
            kept("replicas", fields)
            if equal(added, whole, facts.tolerance)
            else broken("replicas", fields, f"Replicas sum to {added:,} {name}; the deployment has {int(whole):,}.")
        )


@lru_cache(maxsize=1024)
def _replica_fields(at: str, name: str, replicas: tuple[str, ...]) -> tuple[str, ...]:
    return (at, *(f"/replicas/{replica}/{name}" for replica in replicas))


IDENTITIES: tuple[Identity, ...] = (
    _totals,
    _longest_outputs,
    _stated_rates,
    _duration,
    _request_counts,
    _request_parts,
    _queue,
    _replica_sums,
)
