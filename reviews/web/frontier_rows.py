"""The frontier as a table and as the data of a chart, and the order of the eligible. Pure; shown, never used.

Rules kept: a figure that was not measured is no point of the chart and a dash in the table; the chart gets ids only.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from planner.numbers import exact
from planner.records.plan import FrontierPoint, Plan, State, Value
from reviews.web.formats import KEY_UNITS, count, key_title, quantity
from reviews.web.names import Names, candidate_names
from reviews.web.plot_labels import plot_label
from reviews.web.words import SELECTED, STATES, Word

GROUPS: tuple[tuple[State, str], ...] = (("ELIGIBLE", "pass"), ("REJECTED", "fail"), ("INCONCLUSIVE", "unk"))
NAMED_UP_TO = 12
"""Points up to which every one is named in the picture; more names would lie over one another."""


FIGURES = ("per charged device", "per request", "TTFT", "USD/M tokens")
"""What the values of a row are, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierRow:
    """One candidate's figures."""

    name: str
    word: Word
    values: tuple[str, ...]
    non_dominated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The table, and the chart's data; None where no candidate has both figures."""

    rows: tuple[FrontierRow, ...]
    chart: dict[str, Any] | None
    label: str
    names: tuple[str, ...] = FIGURES


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow:
    """One eligible candidate with its value of every key."""

    place: int
    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The contract's order with the eligible candidates in it."""

    keys: tuple[str, ...]
    rows: tuple[OrderRow, ...]
    notes: tuple[str, ...]
    summary: str
    demand: str


def floating(value: Value) -> float | None:
    """Return a number for a chart, to six digits: no screen shows more, and 500 candidates have many of them."""
    return None if value is None or isinstance(value, str) else float(f"{float(exact(value)):.6g}")


def padded(values: list[float]) -> list[float]:
    """Return a range with room around the values."""
    low, high = min(values), max(values)
    room = (high - low) * 0.15 or abs(high) * 0.1 or 1.0
    return [low - room, high + room * 1.6]


def limit_lines(plan: Plan) -> list[dict[str, Any]]:
    """Return the limit of TTFT at the load point of the selection key, to stand on its axis."""
    load_point = next((key.load_point for key in plan.order if key.key == "ttft"), None)
    found = {}
    for candidate in plan.candidates.values():
        gate = candidate.gates.get("ttft")
        for limit_id, outcome in (gate.limits if gate else {}).items():
            at = floating(outcome.limit)
            if at is not None and (load_point is None or load_point in limit_id):
                found["x"] = {"axis": "x", "at": at, "text": f"limit {quantity(outcome.limit, 'ms')}"}
    return list(found.values())


def chart_data(plan: Plan, names: Names, points: tuple[FrontierPoint, ...]) -> dict[str, Any] | None:
    """Return the chart's data, or None. Beyond ``NAMED_UP_TO`` points only the selected one is named in the picture."""
    drawn = [
        (point, x, y)
        for point in points
        if (x := floating(point.ttft_ms)) is not None
        and (y := floating(point.output_tokens_per_s_per_charged_device)) is not None
    ]
    if not drawn:
        return None
    selected = plan.selected.trial if plan.selected else ""
    groups = []
    for css, word, has_names, is_member in groups_of(selected, is_crowded=len(drawn) > NAMED_UP_TO):
        rows = [row for row in drawn if is_member(row[0])]
        if rows:
            labels = [f"{plot_label(names[point.trial].replace('@', ':'))} · {word}" for point, _, _ in rows]
            groups.append(
                {
                    "css": css,
                    "x": [x for _, x, _ in rows],
                    "y": [y for _, _, y in rows],
                    "labels": labels,
                    "has_names": has_names,
                }
            )
    limits = limit_lines(plan)
    xs = [x for _, x, _ in drawn] + [limit["at"] for limit in limits]
    return {
        "groups": groups,
        "limits": limits,
        "x_title": "TTFT, ms (lower is better)",
        "y_title": "Output tok/s per charged device",
        "x_range": padded(xs),
        "y_range": padded([y for _, _, y in drawn]),
    }


def groups_of(selected: str, *, is_crowded: bool) -> list[tuple[str, str, bool, Callable[[FrontierPoint], bool]]]:
    """Return (class, word, whether names are drawn, members) of the chart's groups; the selected one lies on top."""

    def of_state(state: State) -> Callable[[FrontierPoint], bool]:
        return lambda point: point.state == state and point.trial != selected

    others = [(css, STATES[state].text.lower(), not is_crowded, of_state(state)) for state, css in GROUPS]
    return [*others, ("pass", "selected", True, lambda point: point.trial == selected)]


def frontier(plan: Plan, among: Sequence[str]) -> Frontier:
    """Make the frontier of a plan: every point in the chart, the candidates ``among`` in the table, in their order."""
    names = candidate_names(plan)
    selected = plan.selected.trial if plan.selected else ""
    points = {point.trial: point for point in plan.frontier}
    ordered = tuple(points[trial] for trial in among if trial in points)
    rows = tuple(
        FrontierRow(
            name=names[point.trial],
            word=SELECTED if point.trial == selected else STATES[point.state],
            values=(
                quantity(point.output_tokens_per_s_per_charged_device, "tok/s"),
                quantity(point.output_tokens_per_s_per_request, "tok/s"),
                quantity(point.ttft_ms, "ms"),
                quantity(point.usd_per_million_output_tokens, "USD"),
            ),
            non_dominated=point.non_dominated,
        )
        for point in ordered
    )
    chart = chart_data(plan, names, plan.frontier)
    drawn = sum(len(group["x"]) for group in chart["groups"]) if chart else 0
    return Frontier(
        rows=rows,
        chart=chart,
        label=f"Output tokens per second per charged device against TTFT, {count(drawn, 'candidate')}; "
        f"the table below has the values{'' if len(rows) == len(plan.frontier) else ' of those on this page'}",
    )


def order(plan: Plan, among: Collection[str]) -> Order:
    """Make the order of the eligible candidates; rows only for those ``among`` the shown ones."""
    names = candidate_names(plan)
    keys = [key for key in plan.order if key.key not in ("topology", "trial_content_id")]
    places = [plan.order.index(key) for key in keys]
    rows = tuple(
        OrderRow(
            place=place,
            name=names[row.trial],
            values=tuple(
                quantity(row.values[at], KEY_UNITS.get(key.key)) for at, key in zip(places, keys, strict=True)
            ),
        )
        for place, row in enumerate(plan.eligible, 1)
        if row.trial in among
    )
    titles = tuple(
        " ".join(part for part in (key_title(key.key), key.statistic, key.load_point) if part) for key in keys
    )
    return Order(
        keys=titles,
        rows=rows,
        notes=plan.order_notes,
        summary=f"first difference decides, {count(len(plan.eligible), 'eligible candidate')}",
        demand=plan.demand.sentence if plan.demand else "",
    )


def order_text(plan: Plan) -> str:
    """Name the first keys of the order."""
    keys = [f"{key_title(key.key)} {'↓' if key.direction == 'desc' else '↑'}" for key in plan.order[:2]]
    return f"order: {', then '.join(keys)}" if keys else ""
