"""How busy the links of a window were: the busiest sample of each against its one-way rate. Pure; nothing is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from planner.links import Sought, utilizations
from planner.numbers import exact
from planner.readings import Sample, WindowView, number
from planner.records.base import UnsetType
from planner.records.plan import LimitOutcome
from planner.view import TrialView
from reviews.web.byte_text import bytes_text
from reviews.web.csv_text import Value
from reviews.web.formats import number as number_text
from reviews.web.formats import percent
from reviews.web.stacked import scaled

MOST = 32
"""Links on the page; the busiest come first."""
ANY_INTERVAL = 86_400
"""Seconds: every sample is shown, its interval beside it; whether it is short enough is the gate's question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """One link in one phase; ``width`` and ``limit`` are lengths on a bar that stands for its whole rate.

    ``silence`` says what keeps it without a share.
    """

    id: str
    link_class: str
    phase: str
    share: str
    width: int | None
    limit: int | None
    is_over: bool
    interval: str
    sent: str
    received: str
    silence: str


def link_rows(view: TrialView, window: WindowView, outcomes: Mapping[str, LimitOutcome]) -> tuple[LinkRow, ...]:
    """Make a row for every recorded link and phase, the busiest first; ``outcomes`` are what the gate of
    link use said, by limit."""
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    classes = sorted({link.link_class for name, link in view.site.links.items() if name in recorded})
    found: list[tuple[Fraction, str, str, LinkRow]] = []
    for link_class in classes:
        sought = Sought(links=view.site.links, link_class=link_class, phase=None, max_sample_interval_s=ANY_INTERVAL)
        limit = ceiling_of(view, outcomes, link_class)
        for sample in utilizations(window, sought, ()):
            name, phase = sample.place["link"], sample.place["phase"]
            counters = {str(key): value for key, value in recorded[name].items()}.get(phase)
            sent, received, interval = (
                None if counters is None else number(getattr(counters, field))
                for field in ("tx_bytes_total", "rx_bytes_total", "sample_interval_s")
            )
            row = LinkRow(
                id=name,
                link_class=link_class,
                phase=phase,
                share="" if sample.value is None else percent(sample.value, signed=False),
                width=None if sample.value is None else scaled(sample.value, 1),
                limit=None if limit is None else scaled(limit, 1),
                is_over=sample.value is not None and limit is not None and sample.value > limit,
                interval="–" if interval is None else f"{number_text(interval, 's')} s",
                sent="–" if sent is None else bytes_text(sent),
                received="–" if received is None else bytes_text(received),
                silence=_silence(sample),
            )
            found.append((-(sample.value or Fraction(-1)), name, phase, row))
    return tuple(row for *_, row in sorted(found, key=lambda item: item[:3]))


def _silence(sample: Sample) -> str:
    """Say what keeps a link without a share: what is recorded and gives none, else what is missing."""
    if sample.unfit:
        return sample.unfit[0].sentence
    return f"missing: {', '.join(pointer.rpartition('/')[2] for pointer in sample.missing)}"


def ceiling_of(view: TrialView, outcomes: Mapping[str, LimitOutcome], link_class: str) -> Fraction | None:
    """Return the lowest ceiling that a limit sets for a class of links, its reserve taken off; None without one."""
    declared = view.limits.get("link_utilization", {})
    limits = [
        exact(outcome.limit)
        for limit_id, outcome in outcomes.items()
        if limit_id in declared
        and declared[limit_id].link_class == link_class
        and not isinstance(outcome.limit, str | None)
    ]
    return min(limits, default=None)


HEADER = (
    "window",
    "link",
    "phase",
    "sample_interval_s",
    "peak_tx_bytes",
    "peak_rx_bytes",
    "tx_bytes_total",
    "rx_bytes_total",
)


def download_rows(window: WindowView) -> list[list[Value]]:
    """Return the counters of every link and phase as recorded, in the order of ``HEADER``."""
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    return [
        [window.id, link, phase, *(as_recorded(getattr(counters, name)) for name in HEADER[3:])]
        for link, phases in sorted(recorded.items())
        for phase, counters in sorted(phases.items())
    ]


def as_recorded(value: int | float | UnsetType | None) -> Value:
    """Return a counter as it stands in the evidence; an absent one is none."""
    return None if isinstance(value, UnsetType) else value
