"""The panel of one rank: place, groups and what they cross, memory, times and other metrics. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.records.base import UnsetType
from reviews.web.formats import count, number
from reviews.web.links import Query
from reviews.web.map_groups import MOST_MEMBERS
from reviews.web.rank_facts import Lost, RankFacts
from reviews.web.rank_metrics import COMPONENTS, PEAK, Metric

BAR = 320.0
TIMES = ("ms", "s")
"""Units of metrics that are times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """The group of one kind that a rank is in. ``before`` and ``after`` stand around the rank itself."""

    name: str
    label: str
    before: str
    after: str
    reach: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One part of a rank's memory, with its place in the bar."""

    name: str
    text: str
    css: str
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBar:
    """A rank's memory against its device; ``tick`` is where the limit stands, 0 where there is none."""

    parts: tuple[Component, ...]
    peak: str
    device: str
    note: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPanel:
    """One rank."""

    rank: int
    place: str
    island: str
    serving: str
    groups: tuple[GroupRow, ...]
    memory: MemoryBar | None
    times: tuple[tuple[str, str, str], ...]
    metrics: tuple[tuple[str, str, str], ...]
    windows: str
    earlier: str
    later: str
    lost_href: str
    state: str
    total: int

    @property
    def last(self) -> int:
        """The highest rank."""
        return self.total - 1


def group_rows(facts: RankFacts, rank: int) -> tuple[GroupRow, ...]:
    """Make one row for each kind of group the rank is in."""
    rows = []
    for kind in facts.kinds:
        at = facts.coordinate(kind.id, rank)
        if at is None:
            continue
        members = facts.members(kind.id, rank)
        before, after = around(members, at[1], " → " if kind.role == "pipeline" else ", ")
        rows.append(
            GroupRow(
                name=kind.name,
                label=kind.label(at[0]),
                before=before,
                after=after,
                reach=facts.reach(members),
                role=kind.role,
            )
        )
    return tuple(rows)


def around(members: Sequence[int], at: int, arrow: str) -> tuple[str, str]:
    """Write what stands before and after one member; of a large group its ends and how many there are."""
    before, after = [str(rank) for rank in members[:at]], [str(rank) for rank in members[at + 1 :]]
    size = f" ({count(len(members), 'rank')})" if len(members) > MOST_MEMBERS else ""
    if size:
        before, after = [*before[:1], *["…"] * (at > 1)], [*["…"] * (len(after) > 1), *after[-1:]]
    return arrow.join(before) + arrow * bool(before), arrow * bool(after) + arrow.join(after) + size


def memory_bar(facts: RankFacts, rank: int, metrics: dict[str, Metric]) -> MemoryBar | None:
    """Draw a rank's memory: its components where they were measured, else the peak as one part."""
    peak = metrics.get(PEAK)
    device = facts.site.hardware.devices.get(facts.places[rank].device)
    if peak is None or device is None or not device.memory_bytes:
        return None
    used = peak.values[rank]
    found = [
        (name, metrics[metric].values[rank])
        for metric, name in COMPONENTS
        if metric in metrics and metrics[metric].values[rank] is not None
    ]
    if used is None and not found:
        return None
    parts, x = [], 0.0
    for at, (name, value) in enumerate(found or [("Used, peak", used)], 1):
        width = BAR * float(value or 0) / device.memory_bytes
        parts.append(
            Component(
                name=name,
                text=number(value or 0, "bytes"),
                css=f"s{min(at, 6)}",
                x=round(x, 1),
                width=round(max(0.0, min(width, BAR - x)), 1),
            )
        )
        x += width
    worst = peak.worst
    peak_text = "missing" if used is None else f"{number(used, 'bytes')} GiB"
    return MemoryBar(
        parts=tuple(parts),
        peak=peak_text,
        device=f"{number(device.memory_bytes, 'bytes')} GiB",
        note=f"the worst of {len(peak.present)}" if worst and worst[0] == rank else "",
        label=f"{peak_text} of {number(device.memory_bytes, 'bytes')} GiB used at the peak",
    )


def metric_lines(metrics: Sequence[Metric], rank: int) -> tuple[tuple[str, str, str], ...]:
    """Write a rank's metrics: name, value, and that it is the highest of all ranks where it is."""
    return tuple(
        [
            (metric.name, metric.text(rank), "highest of all" if metric.worst and metric.worst[0] == rank else "")
            for metric in metrics
        ]
    )


def rank_panel(
    facts: RankFacts, rank: int, metrics: tuple[Metric, ...], query: Query, lost: Lost | None
) -> RankPanel | None:
    """Make the panel; None where there is no such rank."""
    if not 0 <= rank < len(facts.places):
        return None
    place = facts.places[rank]
    nic = "" if isinstance(place.nic, UnsetType) else f", {place.nic}"
    island = facts.island(place.device)
    peers = (facts.site.islands or {}).get(island, frozenset())
    at = facts.serving_of.get(rank)
    shown = {PEAK, *(metric for metric, _ in COMPONENTS)}
    state = ""
    if lost:
        state = (
            "lost with its device" if rank in lost.ranks else "down with its serving group" if rank in lost.down else ""
        )
    return RankPanel(
        rank=rank,
        place=f"{place.node}, device {place.device}{nic}",
        island=f"{island}, {count(len(peers), 'device')}" if island else "none declared",
        serving="" if at is None else f"G{at}, {count(len(facts.serving[at]), 'rank')}",
        groups=group_rows(facts, rank),
        memory=memory_bar(facts, rank, {metric.id: metric for metric in metrics}),
        times=metric_lines([metric for metric in metrics if metric.unit in TIMES], rank),
        metrics=metric_lines(
            [metric for metric in metrics if metric.id not in shown and metric.unit not in TIMES], rank
        ),
        windows=", ".join(sorted({window for metric in metrics for window in metric.windows})),
        earlier=query.link("rank", rank=rank - 1) if rank else "",
        later=query.link("rank", rank=rank + 1) if rank + 1 < len(facts.places) else "",
        lost_href=query.link("map", lost=f"device:{place.device}"),
        state=state,
        total=len(facts.places),
    )
