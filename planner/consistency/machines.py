"""Ranks and links: an array for every rank, and no more bytes than a link carries (C8, C10)."""

from collections.abc import Iterator

from planner.consistency.base import Check, Facts, Identity, at_most, broken, kept
from planner.readings import number
from planner.records.base import UnsetType
from planner.records.contract import Link
from planner.records.evidence import LinkCounters
from planner.times import window_seconds

__all__ = ["IDENTITIES"]


def _array_lengths(facts: Facts) -> Iterator[Check]:
    """C8: a per-rank array has one place for each rank."""
    metrics = {} if isinstance(facts.window.per_rank, UnsetType) else facts.window.per_rank
    for name, metric in sorted(metrics.items()):
        yield (
            kept("C8", (f"/per_rank/{name}",))
            if metric.places == facts.ranks
            else broken(
                "C8",
                (f"/per_rank/{name}",),
                f"{name} has {metric.places:,} values; the trial has {facts.ranks:,} ranks.",
            )
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
            yield (
                kept("C10", (f"{at}/{name}",))
                if at_most(total, most, facts.tolerance)
                else broken(
                    "C10",
                    (f"{at}/{name}",),
                    f"{name} is {int(total):,} bytes; the link carries at most {int(most):,} in this window.",
                )
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
            yield (
                kept("peak", (f"{at}/peak_{way}_bytes", f"{at}/{way}_bytes_total", f"{at}/sample_interval_s"))
                if at_most(mean, peak, facts.tolerance)
                else broken(
                    "peak",
                    (f"{at}/peak_{way}_bytes", f"{at}/{way}_bytes_total", f"{at}/sample_interval_s"),
                    f"peak_{way}_bytes is {int(peak):,}; the mean interval carries {int(mean):,}.",
                )
            )


def _recorded_links(facts: Facts) -> Iterator[tuple[str, Link, LinkCounters]]:
    recorded = {} if isinstance(facts.window.links, UnsetType) else facts.window.links
    for link_id, phases in sorted(recorded.items()):
        if link_id in facts.links:
            for phase, counters in sorted(phases.items()):
                yield f"/links/{link_id}/{phase}", facts.links[link_id], counters


IDENTITIES: tuple[Identity, ...] = (_array_lengths, _link_capacity, _link_peaks)
