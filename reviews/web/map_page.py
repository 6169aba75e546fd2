"""Everything below the head of the map page: one trial on its hardware, as the address asks for it."""

from typing import Any

from planner.rankmap import derived_name
from planner.records.plan import Candidate, LimitOutcome, Plan
from reviews.selectors.maps import MapSource
from reviews.web.dense_places import device_order
from reviews.web.dense_rows import DenseMap, DenseView, dense_map
from reviews.web.links import Query, number_or_none
from reviews.web.map_groups import group_rows
from reviews.web.map_loss import failure_rows, loss_facts
from reviews.web.map_notes import notes_of
from reviews.web.map_panel import rank_panel
from reviews.web.map_places import Places
from reviews.web.map_pools import pool_rows
from reviews.web.map_rows import RankMap, View, far_groups, rank_map
from reviews.web.rank_facts import Kind, Lost, RankFacts, carried_by, crossing_rows, facts_of_view
from reviews.web.rank_metrics import PEAK, Metric, metrics_of
from reviews.web.rank_table import heat_map, rank_table
from reviews.web.words import Word, state_word

KEPT = ("revision", "trial", "colour", "rank", "lost", "metric", "from")
ROOMY_UP_TO = 32
"""Devices up to which every rank has a tile with its coordinates."""
MOST_SEGMENTS = 8
"""Losses up to which each is a link of its own; more are a list to choose from."""
HEAT_COLUMNS = 32
"""Devices in a row of the heat map of a dense fleet."""


def chosen_metric(metrics: tuple[Metric, ...], asked: str) -> Metric | None:
    """Return the metric that is asked for, else the first that has values."""
    return next((metric for metric in metrics if metric.id == asked), next(iter(metrics), None))


def filled_shares(facts: RankFacts, metrics: tuple[Metric, ...]) -> dict[int, float]:
    """Return the share of its device that each rank used at the peak, where it was measured."""
    peak = next((metric for metric in metrics if metric.id == PEAK), None)
    devices = facts.site.hardware.devices
    if peak is None:
        return {}
    return {
        rank: min(1.0, float(value) / devices[facts.places[rank].device].memory_bytes)
        for rank, value in peak.present
        if facts.places[rank].device in devices and devices[facts.places[rank].device].memory_bytes
    }


def device_rows(places: Places) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the devices of each drawn row with their node."""
    rows = []
    for node in places.nodes:
        lines: dict[float, list[str]] = {}
        for device, box in node.devices.items():
            lines.setdefault(box.y, []).append(device)
        rows += [(node.id, tuple(devices)) for _, devices in sorted(lines.items())]
    return tuple(rows)


def dense_device_rows(drawn: DenseMap) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the devices of whole nodes in rows of about ``HEAT_COLUMNS``, with the row's first node."""
    rows: list[tuple[str, list[str]]] = []
    for node in drawn.nodes:
        devices = device_order(node.spot)
        if not rows or len(rows[-1][1]) + len(devices) > HEAT_COLUMNS:
            rows.append((node.spot.id, []))
        rows[-1][1].extend(devices)
    return tuple((name, tuple(devices)) for name, devices in rows)


def link_use(candidate: Candidate | None) -> tuple[LimitOutcome, ...]:
    """Return what the gate of link use read for this trial: the map shows the gate's own figure, not another."""
    gate = candidate.gates.get("link_utilization") if candidate else None
    return tuple(outcome for outcome in gate.limits.values() if outcome.measured is not None) if gate else ()


def source_note(facts: RankFacts) -> str:
    """Say where map and groups come from."""
    layout = facts.trial.topology.layout
    rule = "a decomposition of this project that no engine uses" if layout == "closed" else f"the rule of {layout}"
    if facts.groups is None:
        return f"Map from the evidence, trial {facts.trial_id}."
    groups = "as the engine reported them" if facts.groups.source == "engine" else f"by {rule}"
    return f"Map from the evidence, trial {facts.trial_id}; groups {groups}."


def candidate_word(plan: Plan | None, trial: str) -> Word | None:
    """Return the state of the trial as a candidate."""
    if plan is None or trial not in plan.candidates:
        return None
    is_selected = plan.selected is not None and plan.selected.trial == trial
    return state_word(plan.candidates[trial].state, selected=is_selected)


def trial_options(plan: Plan | None, trials: tuple[str, ...], chosen: str) -> list[tuple[str, str, bool]]:
    """Return (id, text, whether it is chosen) of every trial; the text begins with the name it has in the matrix."""
    candidates = plan.candidates if plan else {}
    return [
        (trial, f"{candidates[trial].topology} · {trial}" if trial in candidates else trial, trial == chosen)
        for trial in trials
    ]


def loss_choices(facts: RankFacts, lost: Lost | None, query: Query, anchor: str) -> dict[str, Any]:
    """Return what may be lost: links to ``anchor`` where there are few, else a list by kind of domain."""
    current = f"{lost.kind}:{lost.id}" if lost else ""
    options = [(kind, name, f"{kind}:{name}") for kind, name in facts.lost_options]
    if lost and lost.kind == "device":
        options.append(("device", lost.id, current))
    if len(options) <= MOST_SEGMENTS:
        links = [
            (f"device {name}" if kind == "device" else name, query.link(anchor, lost=value), value == current)
            for kind, name, value in options
        ]
        return {"losses": [("Nothing lost", query.link(anchor, lost=None), not lost), *links]}
    kinds: dict[str, list[tuple[str, str, bool]]] = {}
    for kind, name, value in options:
        kinds.setdefault(kind.replace("_", " ").capitalize(), []).append((value, name, value == current))
    return {"loss_kinds": list(kinds.items())}


def legend(facts: RankFacts) -> list[tuple[str, str]]:
    """Return (role, text) of every kind that joins ranks; a dense map has no other place to name the links."""
    return [
        (kind.role, f"{kind.name.lower()}, {kind.span}{far_text(facts, kind)}")
        for kind in facts.kinds
        if kind.largest > 1
    ]


def far_text(facts: RankFacts, kind: Kind) -> str:
    """Say over which links groups of a kind leave their node, where they do and the map does not write it."""
    return f", between nodes over {carried_by(facts, kind)}" if is_dense(facts) and far_groups(facts, kind) else ""


def is_dense(facts: RankFacts) -> bool:
    """Say whether a fleet is too large for tiles."""
    return len(facts.site.hardware.devices) > ROOMY_UP_TO


def drawing(
    facts: RankFacts, colour: Kind | None, selected: int, lost: Lost | None, metric: Metric | None, query: Query
) -> DenseView:
    """Return what a dense map draws."""
    mates = facts.members(colour.id, selected) if colour else ()
    worst = metric.worst[0] if metric and metric.worst else None
    return DenseView(
        facts=facts, colour=colour, selected=selected, lost=lost, worst=worst, mates=frozenset(mates), query=query
    )


def map_context(source: MapSource, query: Query, own: str) -> dict[str, Any]:
    """Return everything below the head of the map page; ``own`` is its address."""
    plan = source.page.plan()
    candidate = plan.candidates.get(source.trial_id) if plan else None
    facts = facts_of_view(source.view)
    metrics = metrics_of(source.trial)
    metric = chosen_metric(metrics, query.get("metric"))
    asked = number_or_none(query.get("rank"))
    selected = asked if asked is not None and asked < len(facts.places) else 0
    lost = facts.lost(query.get("lost")) if query.get("lost") else None
    colour = facts.kind(query.get("colour"))
    dense = drawing(facts, colour, selected, lost, metric, query)
    if is_dense(facts):
        fleet = dense_map(dense)
        drawn = {"dense": fleet, "homeless": fleet.homeless}
        rows = dense_device_rows(fleet)
    else:
        filled = filled_shares(facts, metrics)
        tiles: RankMap = rank_map(
            View(facts=facts, colour=colour, selected=selected, lost=lost, query=query, filled=filled)
        )
        drawn = {"map": tiles, "homeless": tiles.homeless}
        rows = device_rows(tiles.places)
    return {
        **drawn,
        **loss_choices(facts, lost, query, "map"),
        "facts": facts,
        "own": own,
        "name": source.trial_id,
        "panel_name": derived_name(source.trial.topology),
        "source_note": source_note(facts),
        "word": candidate_word(plan, source.trial_id),
        "notes": notes_of(source.contract, source.trial),
        "kinds": [(kind, query.link("map", colour=kind.id), kind is colour) for kind in facts.kinds],
        "legend": legend(facts),
        "colour": colour,
        "selected": selected,
        "trials": trial_options(plan, source.trial_ids, source.trial_id),
        "compare": compare_choices(source, plan),
        "lost": lost,
        "loss": loss_facts(facts, lost, source.view, candidate) if lost else None,
        "failures": failure_rows(facts, source.view, query),
        "panel": rank_panel(facts, selected, metrics, query, lost),
        "pools": pool_rows(source.view, dense),
        "crossings": crossing_rows(facts),
        "groups": group_rows(facts, colour),
        "link_use": [outcome.sentence for outcome in link_use(candidate)],
        "metric": metric,
        "metrics": [(row.id, row.name, row is metric) for row in metrics],
        "heat": heat_map(facts, metric, rows) if metric else None,
        "table": rank_table(facts, metric, query, selected),
        **carried(query),
        **downloads(query, own),
    }


def carried(query: Query) -> dict[str, Any]:
    """Return what each form of the page carries along."""
    return {
        "hidden": query.hidden("metric"),
        "rank_hidden": query.hidden("rank", "from"),
        "lost_hidden": query.hidden("lost"),
        "trial_hidden": query.hidden("trial", "rank", "lost", "from"),
    }


def downloads(query: Query, own: str) -> dict[str, str]:
    """Return where the tables of ranks and of groups are as files."""
    return {
        f"{table}_{suffix}": f"{own}{table}.{suffix}{query.link()}"
        for table in ("ranks", "groups")
        for suffix in ("csv", "json")
    }


def compare_choices(source: MapSource, plan: Plan | None) -> dict[str, Any]:
    """Return with what this map may be laid side by side: other trials, and the same page of other revisions."""
    others = tuple(trial for trial in source.trial_ids if trial != source.trial_id)
    revisions = [row.number for row in source.page.revisions]
    return {
        "trials": trial_options(plan, others, ""),
        "revisions": [number for number in reversed(revisions) if number != source.page.shown.number],
        "revision": source.page.shown.number,
        "trial": source.trial_id,
    }
