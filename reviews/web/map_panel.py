"""The panel of one rank: place, groups and what they cross, memory, metrics; and what a failure takes down. Pure."""

from dataclasses import dataclass

from planner.records.base import UnsetType
from reviews.web.formats import count, number, percent
from reviews.web.links import Query
from reviews.web.rank_facts import Lost, RankFacts, members_text
from reviews.web.rank_metrics import COMPONENTS, PEAK, Metric

BAR = 320.0


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
    metrics: tuple[tuple[str, str], ...]
    earlier: str
    later: str
    lost_href: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFacts:
    """What a failure takes down, in words."""

    lead: str
    ranks: str
    ranks_note: str
    groups: str
    groups_note: str
    left: str
    left_note: str


def group_rows(facts: RankFacts, rank: int) -> tuple[GroupRow, ...]:
    """Make one row for each kind of group the rank is in."""
    rows = []
    for kind in facts.kinds:
        at = facts.coordinate(kind.id, rank)
        if at is None:
            continue
        members = facts.members(kind.id, rank)
        before, after = members[: at[1]], members[at[1] + 1 :]
        arrow = " → " if kind.role == "pipeline" else ", "
        rows.append(
            GroupRow(
                name=kind.name,
                label=kind.label(at[0]),
                before=(arrow.join(map(str, before)) if len(members) <= 16 else members_text(before))
                + arrow * bool(before),
                after=arrow * bool(after)
                + (arrow.join(map(str, after)) if len(members) <= 16 else members_text(after)),
                reach=facts.reach(members),
                role=kind.role,
            )
        )
    return tuple(rows)


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
        metrics=tuple((metric.name, metric.text(rank)) for metric in metrics if metric.id not in shown),
        earlier=query.link("rank", rank=rank - 1) if rank else "",
        later=query.link("rank", rank=rank + 1) if rank + 1 < len(facts.places) else "",
        lost_href=query.link("map", lost=f"device:{place.device}"),
        state=state,
    )


def loss_facts(facts: RankFacts, lost: Lost) -> LossFacts:
    """Say what a failure takes down. Capacity is given in serving groups: their rates are for a gate to judge."""
    ranks, down = len(lost.ranks), len(lost.down)
    groups = len(facts.serving)
    left = groups - len(lost.groups)
    share = percent(left / groups, signed=False) if groups else ""
    return LossFacts(
        lead=f"{lost.id} lost.",
        ranks=f"{ranks + down} of {len(facts.places)}",
        ranks_note=f"{ranks} lost, {down} down with their serving group",
        groups=f"{len(lost.groups)} of {groups}" if groups else "not known",
        groups_note="lost at once",
        left=f"{left} of {groups}" if groups else "not known",
        left_note=f"{share} of the groups; their rates are not measured in this state" if share else facts.refusal,
    )
