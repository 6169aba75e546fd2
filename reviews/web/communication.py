"""The communication page of a trial: steps and arrivals of every rank, bytes at every boundary, use of links."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.records.base import UnsetType
from planner.records.evidence import Window
from planner.records.plan import LimitOutcome, Plan
from planner.view import TrialView
from reviews.selectors.maps import MapSource
from reviews.web import boundary_rows, link_rows, step_rows
from reviews.web.boundary_rows import boundaries_of
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page
from reviews.web.links import Query
from reviews.web.memory_facts import window_of
from reviews.web.rank_pages import page_links, rank_page
from reviews.web.step_facts import METRICS, OTHER_METRICS, steps_of
from reviews.web.trial_page import KEPT, PER_PAGE, said_by, source_of, table_answer, trial_context, window_options

GATES = ("communication_share", "straggler", "link_utilization", "kv_handoff", "stage_balance")


@require_safe
@page
def decision_communication(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what the ranks of a trial wait for and what they move."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    source = source_of(request, slug, number)
    own = reverse("decision-communication", args=[slug, number])
    context = frame(
        slug,
        "inbox",
        head=head_for(source.page, slug, "decision-communication"),
        said=said_by(source.page.plan(), source.trial_id, GATES, reverse("decision-detail", args=[slug, number])),
        **trial_context(source, query, reverse("decision-map", args=[slug, number])),
        **communication_context(source, query, own),
    )
    return render(request, "reviews/decision_communication.html", context)


def weight(window: Window) -> tuple[int, bool]:
    """Say how much a window has to show on this page: times of ranks weigh most, then operations, then links."""
    recorded = {} if isinstance(window.per_rank, UnsetType) else window.per_rank
    times = sum(4 for name in METRICS if name in recorded) + sum(1 for name in OTHER_METRICS if name in recorded)
    weights = ((window.collectives, 3), (window.handoff, 2), (window.links, 2), (window.incidents, 1))
    sections = sum(points for section, points in weights if not isinstance(section, UnsetType))
    return times + sections, window.purpose == "counted"


def chosen_window(view: TrialView, asked: str) -> tuple[str, tuple[str, ...]]:
    """Return the window that is asked for, else the first with the most to show, and all that have anything."""
    weights = {name: weight(window) for name, window in sorted(view.trial.windows.items())}
    offered = tuple(name for name, (points, _) in weights.items() if points) or tuple(weights)
    return (asked if asked in weights else max(offered, key=weights.__getitem__)), offered


def communication_context(source: MapSource, query: Query, own: str) -> dict[str, Any]:
    """Return everything below the choice of a candidate; ``own`` is the page's address."""
    view = source.view
    chosen, offered = chosen_window(view, query.get("window"))
    window = window_of(view, chosen)
    steps = steps_of(view, window)
    shown = rank_page(len(steps.ranks), query, "steps", at=steps.worst or 0, size=PER_PAGE)
    links = link_rows.link_rows(view, window, link_outcomes(source.page.plan(), source.trial_id))
    return {
        "window": window,
        "window_options": window_options(view, offered if chosen in offered else (*offered, chosen), chosen),
        "steps": steps,
        "figures": tuple(step_rows.figures(view, steps)),
        "lines": tuple(step_rows.lateness_lines(view, steps)),
        "incidents": tuple(step_rows.incident_lines(steps)),
        "rows": step_rows.step_rows(steps, shown.ranks) if steps.has_times else (),
        "arrivals": step_rows.arrival_groups(steps, shown.ranks),
        "fleet": step_rows.fleet_of(steps) if steps.has_times and len(steps.ranks) > PER_PAGE else None,
        "fleet_pages": page_links(len(steps.ranks), query, "steps", size=PER_PAGE),
        "longest": step_rows.ms(steps.longest),
        "shown": shown,
        "boundaries": boundaries_of(view, window),
        "links": links[: link_rows.MOST],
        "links_total": len(links),
        "links_elsewhere": [
            (name, query.link("links", window=name))
            for name in offered
            if not isinstance(view.trial.windows[name].links, UnsetType)
        ],
        **downloads(own, query.changed(window=chosen)),
    }


def downloads(own: str, query: Query) -> dict[str, str]:
    """Return the addresses of the tables as files."""
    return {
        f"{table}_{suffix}": f"{own}{table}.{suffix}{query.link()}" for table in TABLES for suffix in ("csv", "json")
    }


def link_outcomes(plan: Plan | None, trial: str) -> Mapping[str, LimitOutcome]:
    """Return what the gate of link use said of a trial, by limit."""
    candidate = plan.candidates.get(trial) if plan else None
    gate = candidate.gates.get("link_utilization") if candidate else None
    return gate.limits if gate else {}


TABLES: Mapping[str, Sequence[str]] = {
    "steps": step_rows.HEADER,
    "boundaries": boundary_rows.HEADER,
    "links": link_rows.HEADER,
}


@require_safe
@page
def communication_download(request: PersonRequest, slug: str, number: int, table: str, suffix: str) -> HttpResponse:
    """Return all ranks, boundaries or links of one window as CSV or JSON."""
    source = source_of(request, slug, number)
    chosen, _ = chosen_window(source.view, request.GET.get("window", ""))
    window = window_of(source.view, chosen)
    if table == "steps":
        rows = step_rows.download_rows(steps_of(source.view, window))
    elif table == "boundaries":
        rows = boundary_rows.download_rows(boundaries_of(source.view, window).rows)
    else:
        rows = link_rows.download_rows(window)
    return table_answer(source, table, suffix, TABLES[table], rows)
