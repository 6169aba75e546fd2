"""The ranks of a trial as a table: the same as the map and the heat map, for reading aloud and for download. Pure."""

from dataclasses import dataclass
from typing import Any

from planner.records.base import UnsetType
from reviews.web.formats import number, ranks_text, unit_of
from reviews.web.links import Query
from reviews.web.plot_labels import plot_label
from reviews.web.rank_facts import RankFacts
from reviews.web.rank_metrics import Metric
from reviews.web.rank_pages import RankPage, rank_page

MAX_TEXT_COLUMNS, MAX_TEXT_ROWS = 16, 12
"""Devices in a row, and rows, up to which a heat map writes numbers into its cells: more have no room for them."""
WIDE, TALL = 8, 5
"""Devices in a row, and rows, beyond which a heat map needs more width for its words, and more height."""
PER_PAGE = 64
"""Ranks on one page of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """One rank."""

    rank: int
    node: str
    device: str
    nic: str
    island: str
    serving: str
    groups: tuple[str, ...]
    metric: str
    href: str
    is_worst: bool


@dataclass(frozen=True, slots=True)
class RankTable:
    """The rows of one page of ranks."""

    shown: RankPage
    rows: tuple[RankRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """A heat map's data and the sentence under it."""

    data: dict[str, Any]
    label: str
    note: str
    is_wide: bool
    is_tall: bool


def group_label(facts: RankFacts, kind_id: str, letter: str, rank: int) -> str:
    """Return the label of a rank's group, with the place in it."""
    at = facts.coordinate(kind_id, rank)
    return "" if at is None else f"{letter}{at[0]}.{at[1]}"


def rank_rows(facts: RankFacts, metric: Metric | None, ranks: range, query: Query) -> tuple[RankRow, ...]:
    """Make a row for every one of the ranks."""
    rows = []
    for rank in ranks:
        place = facts.places[rank]
        serving = facts.serving_of.get(rank)
        rows.append(
            RankRow(
                rank=rank,
                node=place.node,
                device=place.device,
                nic="" if isinstance(place.nic, UnsetType) else place.nic,
                island=facts.island(place.device),
                serving="" if serving is None else f"G{serving}",
                groups=tuple(group_label(facts, kind.id, kind.letter, rank) for kind in facts.kinds),
                metric=metric.text(rank) if metric else "",
                href=query.link("rank", rank=rank),
                is_worst=metric is not None and metric.worst is not None and metric.worst[0] == rank,
            )
        )
    return tuple(rows)


def rank_table(facts: RankFacts, metric: Metric | None, query: Query, selected: int) -> RankTable:
    """Return the page of ranks that the address asks for; without a word, the one with the selected rank."""
    shown = rank_page(len(facts.places), query, "ranks", at=selected, size=PER_PAGE)
    return RankTable(shown, rank_rows(facts, metric, shown.ranks, query))


def heat_map(facts: RankFacts, metric: Metric, rows: tuple[tuple[str, tuple[str, ...]], ...]) -> HeatMap | None:
    """Make the heat map of a metric. ``rows`` are devices in the places of the map, with the row's node.

    A device without a rank and a rank without a value are both left out, never drawn as zero; None when nothing is
    left.
    """
    present = metric.present
    if not present:
        return None
    rank_of = {place.device: rank for rank, place in enumerate(facts.places)}
    width = max((len(devices) for _, devices in rows), default=0)
    z: list[list[float | None]] = []
    text: list[list[str]] = []
    for _, devices in rows:
        ranks = [rank_of.get(device) for device in devices]
        padding = width - len(ranks)
        z.append([None if rank is None else metric.scaled(rank) for rank in ranks] + [None] * padding)
        text.append([cell_text(metric, rank) for rank in ranks] + [""] * padding)
    values = [value for line in z for value in line if value is not None]
    worst = metric.worst
    missing = tuple(rank for rank, value in enumerate(metric.values) if value is None)
    unit = unit_of(metric.unit).text
    note = f"Highest rank {worst[0]}: {metric.text(worst[0])}. " if worst else ""
    note += f"Highest of window {', '.join(metric.windows)} for each rank."
    note += f" Missing for {ranks_text(missing)}." if missing else ""
    note += f" The values are {metric.bound} bounds." if metric.bound != "exact" else ""
    has_text = width <= MAX_TEXT_COLUMNS and len(rows) <= MAX_TEXT_ROWS
    return HeatMap(
        data={
            "z": z,
            "rows": row_names(tuple(node for node, _ in rows)),
            "text": text,
            "has_text": has_text,
            "low": min(values),
            "high": max(values),
            "unit": unit,
            "worst": worst_place(rows, rank_of, worst[0]) if worst else None,
        },
        label=f"{metric.name} of every rank; the same values stand in the table below",
        note=note,
        is_wide=has_text and width > WIDE,
        is_tall=len(rows) > TALL,
    )


def worst_place(
    rows: tuple[tuple[str, tuple[str, ...]], ...], rank_of: dict[str, int], rank: int
) -> tuple[int, int] | None:
    """Return (column, row) of a rank in the heat map; None where its device is not drawn."""
    places = (
        (x, y) for y, (_, devices) in enumerate(rows) for x, name in enumerate(devices) if rank_of.get(name) == rank
    )
    return next(places, None)


def row_names(nodes: tuple[str, ...]) -> list[str]:
    """Name the rows of a heat map; a node with several rows has them numbered, because names must differ."""
    return [
        plot_label(node if nodes.count(node) == 1 else f"{node}.{nodes[: at + 1].count(node)}")
        for at, node in enumerate(nodes)
    ]


def cell_text(metric: Metric, rank: int | None) -> str:
    """Write a cell: the value and the rank, nothing that was uploaded."""
    if rank is None or rank >= len(metric.values):
        return ""
    value = metric.values[rank]
    highest = "<br>highest" if metric.worst and metric.worst[0] == rank else ""
    return f"missing<br>rank {rank}" if value is None else f"{number(value, metric.unit)}<br>rank {rank}{highest}"
