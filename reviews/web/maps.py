"""The rank map of a trial, and its ranks as downloads."""

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.rankmap import derived_name
from planner.records.plan import Candidate, LimitOutcome, Plan
from reviews.selectors.maps import MapSource, map_source
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.decisions import revise_href, tabs
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.inbox import number_or_none
from reviews.web.links import Query
from reviews.web.map_panel import loss_facts, rank_panel
from reviews.web.map_places import Places
from reviews.web.map_rows import RankMap, View, rank_map
from reviews.web.page_rows import head_of
from reviews.web.rank_facts import RankFacts, crossing_rows, rank_facts
from reviews.web.rank_metrics import PEAK, Metric, metrics_of
from reviews.web.rank_table import heat_map, rank_rows
from reviews.web.words import Word, state_word

KEPT = ("revision", "trial", "colour", "rank", "lost", "metric")


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


def trial_options(plan: Plan | None, source: MapSource) -> list[tuple[str, str, bool]]:
    """Return (id, text, whether it is shown) of every trial; the text begins with the name it has in the matrix."""
    candidates = plan.candidates if plan else {}
    return [
        (trial, f"{candidates[trial].topology} · {trial}" if trial in candidates else trial, trial == source.trial_id)
        for trial in source.trial_ids
    ]


@require_safe
@page
def decision_map(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Draw the rank map of a trial."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    source = map_source(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(query.get("revision")),
        trial_id=query.get("trial"),
    )
    older = None if source.page.is_newest else source.page.shown.number
    context = frame(
        slug,
        "inbox",
        head=head_of(
            source.page,
            now=timezone.now(),
            tabs=tabs(slug, number, "decision-map", older),
            revise_href=revise_href(slug, number),
        ),
        **map_context(source, query, reverse("decision-map", args=[slug, number])),
    )
    return render(request, "reviews/decision_map.html", context)


def map_context(source: MapSource, query: Query, own: str) -> dict[str, Any]:
    """Return everything below the head of the map page."""
    plan = source.page.plan()
    facts = rank_facts(source.contract, source.trial_id, source.trial)
    metrics = metrics_of(source.trial)
    metric = chosen_metric(metrics, query.get("metric"))
    asked = number_or_none(query.get("rank"))
    selected = asked if asked is not None and asked < len(facts.places) else 0
    lost = facts.lost(query.get("lost")) if query.get("lost") else None
    colour = facts.kind(query.get("colour"))
    view = View(
        facts=facts,
        colour=colour,
        selected=selected,
        lost=lost,
        query=query,
        filled=filled_shares(facts, metrics),
    )
    drawn: RankMap = rank_map(view)
    hrefs = {rank: query.link("rank", rank=rank) for rank in range(len(facts.places))}
    current = f"{lost.kind}:{lost.id}" if lost else ""
    return {
        "map": drawn,
        "facts": facts,
        "name": source.trial_id,
        "panel_name": derived_name(source.trial.topology),
        "source_note": source_note(facts),
        "word": candidate_word(plan, source.trial_id),
        "kinds": [(kind, query.link("map", colour=kind.id), kind is colour) for kind in facts.kinds],
        "trials": trial_options(plan, source),
        "losses": [
            ("Nothing lost", query.link("map", lost=None), not lost),
            *(
                (name, query.link("map", lost=f"{kind}:{name}"), f"{kind}:{name}" == current)
                for kind, name in facts.lost_options
            ),
            *([(f"device {lost.id}", "", True)] if lost and lost.kind == "device" else []),
        ],
        "loss": loss_facts(facts, lost) if lost else None,
        "panel": rank_panel(facts, selected, metrics, query, lost),
        "crossings": crossing_rows(facts),
        "link_use": [outcome.sentence for outcome in link_use(plan.candidates.get(source.trial_id) if plan else None)],
        "metric": metric,
        "metrics": [(row.id, row.name, row is metric) for row in metrics],
        "heat": heat_map(facts, metric, device_rows(drawn.places)) if metric else None,
        "rows": rank_rows(facts, metric, hrefs),
        "hidden": query.hidden("metric"),
        "trial_hidden": query.hidden("trial", "rank", "lost"),
        "ranks_csv": f"{own}/ranks.csv{query.link()}".replace("//ranks", "/ranks"),
        "ranks_json": f"{own}/ranks.json{query.link()}".replace("//ranks", "/ranks"),
    }


@require_safe
@page
def ranks_download(request: PersonRequest, slug: str, number: int, suffix: str) -> HttpResponse:
    """Return every rank with its place, groups and metrics, as CSV or JSON."""
    source = map_source(
        actor=request.user,
        workspace=workspace_of(slug),
        number=number,
        revision=number_or_none(request.GET.get("revision", "")),
        trial_id=request.GET.get("trial", ""),
    )
    facts = rank_facts(source.contract, source.trial_id, source.trial)
    metrics = metrics_of(source.trial)
    name = f"{source.page.label}-r{source.page.shown.number}-ranks.{suffix}"
    header = ["rank", "node", "device", "nic", "island", "serving_group"]
    header += [f"{kind.id}_group" for kind in facts.kinds] + [metric.id for metric in metrics]
    rows: list[list[Value]] = []
    for row in rank_rows(facts, None, {}):
        values: list[Value] = [metric.values[row.rank] for metric in metrics]
        rows.append([row.rank, row.node, row.device, row.nic, row.island, row.serving, *row.groups, *values])
    if suffix == "csv":
        return csv_response(name, header, rows)
    tree = {"trial": source.trial_id, "ranks": [dict(zip(header, row, strict=True)) for row in rows]}
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")
