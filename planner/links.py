"""Utilisation of links: which links owe evidence, and what their byte counters say.

Rules kept: utilisation is the busier direction's bytes in the busiest sample interval over interval x the contract's
one-way rate; a tool's own percentage is never read; one direction alone, a longer interval, or a counter of more than
one link bounds it from one side only. Not handled: the ceiling (``planner.gates.fabric``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from planner.numbers import exact
from planner.readings import Sample, WindowView, bounded, number, peak_bound, zero
from planner.records.base import Number, UnsetType
from planner.records.contract import Link
from planner.records.evidence import LinkCounters, Phase
from planner.view import TrialView

LINK_READS = ("links.peak_tx_bytes", "links.peak_rx_bytes", "links.sample_interval_s")
"""What utilisation is computed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is read of the contract's links: a class, a phase (None: every one recorded), the longest interval."""

    links: Mapping[str, Link]
    link_class: str
    phase: Phase | None
    max_sample_interval_s: Number


def owed_links(view: TrialView, link_class: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the links that owe evidence, and pointers of what keeps others from being named.

    Owed is each link of the class on a NIC used by a rank of a request-path group that crosses the node (settled
    question 25).
    """
    links: dict[str, None] = {}
    unnamed: list[str] = []
    for rank in view.crossing_ranks:
        nic = view.trial.rank_map[rank].nic
        if isinstance(nic, UnsetType):
            unnamed.append(f"{view.at}/rank_map/{rank}/nic")
        else:
            found = view.site.nic_links.get((nic, link_class), ())
            links.update(dict.fromkeys(found))
            if not found:
                unnamed.append(f"{view.at}/rank_map/{rank}/nic")
    return tuple(sorted(links)), tuple(unnamed)


def counted_links(window: WindowView) -> frozenset[str]:
    """Return the links of which a phase has both directions counted, as peaks or in all."""
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    return frozenset(link for link, phases in recorded.items() if any(map(_counts, phases.values())))


def _counts(counters: LinkCounters) -> bool:
    pairs = (("peak_tx_bytes", "peak_rx_bytes"), ("tx_bytes_total", "rx_bytes_total"))
    return any(all(number(getattr(counters, name)) is not None for name in pair) for pair in pairs)


def utilizations(window: WindowView, sought: Sought, owed: tuple[str, ...]) -> Iterator[Sample]:
    """Yield one sample for each link and phase: of the links that owe evidence and of others that have it."""
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    others = (link for link in recorded if link in sought.links and sought.links[link].link_class == sought.link_class)
    for link in sorted({*owed, *others}):
        phases = recorded.get(link, {})
        wanted: list[Phase] = [sought.phase] if sought.phase else sorted(phases) or ["mixed"]
        for phase in wanted:
            yield _utilization(window, sought, link, phase, phases.get(phase))


def _utilization(window: WindowView, sought: Sought, link: str, phase: Phase, found: LinkCounters | None) -> Sample:
    at = f"/links/{link}/{phase}"
    where = (("window", window.id), ("link", link), ("phase", phase))
    fields = tuple(f"{at}/{name}" for name in ("peak_tx_bytes", "peak_rx_bytes", "sample_interval_s"))
    values = (
        (None, None, None)
        if found is None
        else (number(found.peak_tx_bytes), number(found.peak_rx_bytes), number(found.sample_interval_s))
    )
    missing = tuple(window.at + field for field, value in zip(fields, values, strict=True) if value is None)
    sent, received, interval = values
    known = [value for value in (sent, received) if value is not None]
    if found is None or not interval or not known:
        unfit = zero(window.at, fields[2], no="utilisation") if interval == 0 else ()
        return Sample(value=None, low=None, high=None, where=where, missing=missing, unfit=unfit)
    value = max(known) / (interval * sought.links[link].bytes_per_s_one_way)
    low, high = bounded(value, _link_bound(window, found, sought))
    return Sample(
        value=value,
        low=low,
        high=None if missing else high,
        where=where,
        read=tuple(window.at + field for field in fields if window.at + field not in missing),
        missing=missing,
        doubts=window.doubts(fields),
        notes=_link_notes(found, sought, missing, low, high),
    )


def _link_bound(window: WindowView, found: LinkCounters, sought: Sought) -> str:
    bound = peak_bound(window, found, sought.max_sample_interval_s)
    if bound == "exact" and found.scope in ("replica", "deployment"):
        return "lower"
    return bound


def _link_notes(
    found: LinkCounters,
    sought: Sought,
    missing: tuple[str, ...],
    low: Fraction | None,
    high: Fraction | None,
) -> tuple[str, ...]:
    if missing:
        return ("Only one direction is recorded: a lower bound.",)
    if high is not None:
        return ("The recorded peak is an upper bound.",) if low is None else ()
    if low is None:
        return ("The recorded peak is an upper bound of samples that are too far apart: it bounds nothing.",)
    interval = number(found.sample_interval_s)
    if interval is not None and interval > exact(sought.max_sample_interval_s):
        return (f"Sampled every {found.sample_interval_s} s, at most {sought.max_sample_interval_s} s: a lower bound.",)
    return ("The recorded peak is a lower bound.",)
