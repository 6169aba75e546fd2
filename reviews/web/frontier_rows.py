"""The frontier as a table and as the data of a chart, and the order of the eligible. Pure; shown, never used.

Rules kept: a figure that was not measured is no point of the chart and a dash in the table; the chart gets ids only.
"""

from dataclasses import dataclass
from typing import Any

from planner.numbers import exact
from planner.records.plan import FrontierPoint, Plan, Value
from reviews.web.formats import KEY_UNITS, count, key_title, quantity
from reviews.web.matrix_rows import candidate_order
from reviews.web.plot_labels import plot_label
from reviews.web.words import SELECTED, STATES, Word

GROUPS = (("ELIGIBLE", "pass"), ("REJECTED", "fail"), ("INCONCLUSIVE", "unk"))


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
    """Return a number for a chart."""
    return None if value is None or isinstance(value, str) else float(exact(value))


def name_of(plan: Plan, trial: str) -> str:
    """Name a candidate: its topology, with the trial where two share it."""
    topology = plan.candidates[trial].topology
    shared = sum(candidate.topology == topology for candidate in plan.candidates.values()) > 1
    return f"{topology}@{trial}" if shared else topology


def padded(values: list[float]) -> list[float]:
    """Return a range with room around the values."""
    low, high = min(values), max(values)
    room = (high - low) * 0.15 or abs(high) * 0.1 or 1.0
    return [low - room, high + room * 1.6]


def limit_lines(plan: Plan) -> list[dict[str, Any]]:
    """Return the limits that stand on the axes: TTFT at the key's load point, and a floor per charged device."""
    statistic = next((key.load_point for key in plan.order if key.key == "ttft"), None)
    found = {}
    for candidate in plan.candidates.values():
        gate = candidate.gates.get("ttft")
        for limit_id, outcome in (gate.limits if gate else {}).items():
            at = floating(outcome.limit)
            if at is not None and (statistic is None or statistic in limit_id):
                found["x"] = {"axis": "x", "at": at, "text": f"limit {quantity(outcome.limit, 'ms')}"}
    return list(found.values())


def chart_data(plan: Plan, points: tuple[FrontierPoint, ...]) -> dict[str, Any] | None:
    """Return the chart's data, or None."""
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
    for state, css in GROUPS:
        rows = [row for row in drawn if row[0].state == state]
        if not rows:
            continue
        labels = []
        for point, _, _ in rows:
            word = "selected" if point.trial == selected else STATES[point.state].text.lower()
            label = plot_label(name_of(plan, point.trial).replace("@", ":"))
            labels.append(f"{label} · {word}")
        groups.append({"css": css, "x": [x for _, x, _ in rows], "y": [y for _, _, y in rows], "labels": labels})
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


def frontier(plan: Plan) -> Frontier:
    """Make the frontier of a plan, eligible candidates first."""
    selected = plan.selected.trial if plan.selected else ""
    points = {point.trial: point for point in plan.frontier}
    ordered = tuple(points[trial] for trial in candidate_order(plan) if trial in points)
    rows = tuple(
        FrontierRow(
            name=name_of(plan, point.trial),
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
    chart = chart_data(plan, ordered)
    drawn = sum(len(group["x"]) for group in chart["groups"]) if chart else 0
    return Frontier(
        rows=rows,
        chart=chart,
        label=f"Output tokens per second per charged device against TTFT, {count(drawn, 'candidate')}; "
        "the same values stand in the table below",
    )


def order(plan: Plan) -> Order:
    """Make the order of the eligible candidates."""
    keys = [key for key in plan.order if key.key not in ("topology", "trial_content_id")]
    places = [plan.order.index(key) for key in keys]
    rows = tuple(
        OrderRow(
            place=place,
            name=name_of(plan, row.trial),
            values=tuple(
                quantity(row.values[at], KEY_UNITS.get(key.key)) for at, key in zip(places, keys, strict=True)
            ),
        )
        for place, row in enumerate(plan.eligible, 1)
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
