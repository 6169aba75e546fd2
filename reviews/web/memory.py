"""The memory page of a trial: every rank against its device, and hypotheses beside it."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reviews.errors import NotFoundError
from reviews.selectors.maps import MapSource
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page
from reviews.web.links import Query
from reviews.web.memory_estimates import estimated, estimates
from reviews.web.memory_facts import WindowMemory, component_name, inside, tightest, windows_with_memory
from reviews.web.memory_rows import (
    download_header,
    download_rows,
    fleet_of,
    gib,
    headline,
    keys_of,
    memory_rows,
    notes_of,
    window_rows,
)
from reviews.web.rank_pages import FIRST, page_links, rank_page
from reviews.web.trial_page import KEPT, PER_PAGE, said_by, source_of, table_answer, trial_context, window_options

GATES = ("memory_headroom", "rank_balance")


@require_safe
@page
def decision_memory(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what every rank of a trial holds."""
    query = Query.of(request.GET.dict(), keep=KEPT)
    source = source_of(request, slug, number)
    windows = windows_with_memory(source.view)
    detail = reverse("decision-detail", args=[slug, number])
    context = frame(
        slug,
        "inbox",
        head=head_for(source.page, slug, "decision-memory"),
        said=said_by(source.page.plan(), source.trial_id, GATES, detail),
        at=source.view.at,
        **trial_context(source, query, reverse("decision-map", args=[slug, number])),
        **memory_context(source, windows, query, reverse("decision-memory", args=[slug, number])),
    )
    return render(request, "reviews/decision_memory.html", context)


def chosen_window(windows: tuple[WindowMemory, ...], asked: str) -> WindowMemory | None:
    """Return the window that is asked for, else the one whose worst rank has the least room."""
    return next((memory for memory in windows if memory.window.id == asked), None) or tightest(windows)


def memory_context(source: MapSource, windows: tuple[WindowMemory, ...], query: Query, own: str) -> dict[str, Any]:
    """Return everything below the choice of a candidate; ``own`` is the page's address."""
    memory = chosen_window(windows, query.get("window"))
    if memory is None:
        return {"memory": None}
    total = len(memory.ranks)
    shown = rank_page(total, query, "ranks", at=memory.worst.rank if memory.worst else 0, size=PER_PAGE)
    hrefs = [query.link("bars", window=found.window.id, **{FIRST: None}) for found in windows]
    return {
        "memory": memory,
        "headline": headline(memory),
        "keys": keys_of(memory),
        "notes": tuple(notes_of(memory)),
        "windows": window_rows(windows, memory, hrefs),
        "window_options": window_options(source.view, [found.window.id for found in windows], memory.window.id),
        "fleet": fleet_of(memory) if total > PER_PAGE else None,
        "fleet_pages": page_links(total, query, "ranks", size=PER_PAGE),
        "rows": memory_rows(memory, shown.ranks),
        "shown": shown,
        "columns": tuple(inside(component_name(name)) for name in memory.components),
        "scale": gib(memory.scale),
        "estimates": estimates(source.view, memory),
        "csv": f"{own}ranks.csv{query.link(window=memory.window.id)}",
        "json": f"{own}ranks.json{query.link(window=memory.window.id)}",
    }


@require_safe
@page
def memory_download(request: PersonRequest, slug: str, number: int, suffix: str) -> HttpResponse:
    """Return every rank of one window, with what is expected of it, as CSV or JSON; bytes throughout."""
    source = source_of(request, slug, number)
    memory = chosen_window(windows_with_memory(source.view), request.GET.get("window", ""))
    if memory is None:
        raise NotFoundError(f"No window of trial {source.trial_id} records memory of ranks.")
    expected = estimated(source.view, memory.window.record.load_point)
    return table_answer(source, "memory", suffix, download_header(memory), download_rows(memory, expected))
