"""The portfolio: slots with what holds for them, what ends when, and which evidence several slots rest on."""

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from reviews.models import Person, Workspace
from reviews.selectors.shared_trials import shared_trials
from reviews.selectors.slot_ends import slot_ends
from reviews.selectors.slots import PAGE_SIZE, Portfolio, SlotFilter, portfolio
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.document_links import links_of
from reviews.web.formats import count
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.links import Query, number_or_none
from reviews.web.pager import Pager, numbered
from reviews.web.slot_end_rows import WEEKDAYS, ends_of
from reviews.web.slot_files import (
    COLUMNS,
    END_COLUMNS,
    SHARED_COLUMNS,
    end_values,
    shared_values,
    slot_values,
)
from reviews.web.slot_rows import selects, slot_line, sums
from reviews.web.slot_shared_rows import Links, shared_lines

FILTERS = ("q", "state", "owner", "engine", "model")
VIEWS = (("", "Slots"), ("ends", "Ends"), ("shared", "Shared evidence"))
"""Values of ``show`` with their titles."""
MOST_USES = 20
"""Slots that are named for one trial on the page; the files name all."""


def slot_address(slug: str, slot: str) -> str:
    """Return the address of the page of a slot, whose name may hold anything."""
    return f"{reverse('slot-detail', args=[slug])}?{urlencode({'slot': slot})}"


def asked_of(query: Query) -> SlotFilter:
    """Read the filters of an address."""
    return SlotFilter(
        state=query.get("state"),
        owner=query.get("owner"),
        engine=query.get("engine"),
        model=query.get("model"),
        text=query.get("q"),
    )


@require_safe
@page
def slot_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the slots of a workspace, a calendar of what ends, or evidence that is shared; ``show`` says which."""
    query = Query.of(request.GET.dict(), keep=("show", *FILTERS, "month", "page"))
    workspace, wanted = workspace_of(slug), asked_of(query)
    show = query.get("show") if query.get("show") in PARTS else ""
    at = number_or_none(query.get("page")) or 1
    size = 0 if show else PAGE_SIZE
    found = portfolio(actor=request.user, workspace=workspace, wanted=wanted, page=at, page_size=size)
    part = PARTS[show](request, slug, workspace, query, found)
    kept = query.changed(show=None, month=None, page=None)
    own = reverse("slot-list", args=[slug])
    context = frame(
        slug,
        "slots",
        sums=sums(found.totals),
        total=found.totals.slots,
        selects=selects(found.choices, query),
        search=query.get("q"),
        show=show,
        is_filtered=any(query.get(name) for name in FILTERS),
        is_empty=not found.choices.states,
        views=[(title, f"{own}{kept.link(show=value or None)}", value == show) for value, title in VIEWS],
        csv_href=f"{own[:-1]}.csv{kept.link(show=show or None)}",
        json_href=f"{own[:-1]}.json{kept.link(show=show or None)}",
        **part,
    )
    return render(request, "reviews/slot_list.html", context)


def _slots(request: PersonRequest, slug: str, workspace: Workspace, query: Query, found: Portfolio) -> dict[str, Any]:
    now = timezone.now()
    soon = now + found.totals.notice
    lines = [
        slot_line(row, href=slot_address(slug, row.fact.slot), link=decision_link(slug), now=now, soon=soon)
        for row in found.rows
    ]
    return {"slots": lines, "pager": numbered(found.page, found.pages, query, count(found.totals.slots, "slot"))}


def _ends(request: PersonRequest, slug: str, workspace: Workspace, query: Query, found: Portfolio) -> dict[str, Any]:
    now = timezone.now()
    ends = ends_of(
        slot_ends(actor=request.user, workspace=workspace, wanted=asked_of(query)),
        query,
        slot_href=lambda slot: slot_address(slug, slot),
        decision_href=lambda number: reverse("decision-detail", args=[slug, number]),
        now=now,
        soon=now + found.totals.notice,
    )
    pager = numbered(ends.page, ends.pages, query, count(ends.total, "end")) if ends else Pager()
    notice = count(settings.EXPIRY_NOTICE_DAYS, "day")
    return {"ends": ends, "weekdays": WEEKDAYS, "notice": notice, "pager": pager}


def _shared(request: PersonRequest, slug: str, workspace: Workspace, query: Query, found: Portfolio) -> dict[str, Any]:
    at = number_or_none(query.get("page")) or 1
    shared = shared_trials(
        actor=request.user, workspace=workspace, wanted=asked_of(query), page=at, most_uses=MOST_USES
    )
    lines = shared_lines(
        shared,
        Links(
            slot=lambda slot: slot_address(slug, slot),
            revision=lambda number, revision: f"{reverse('decision-detail', args=[slug, number])}?revision={revision}",
            trial=document_link(slug),
        ),
    )
    return {
        "shared": lines,
        "shared_total": shared.total,
        "pager": numbered(shared.page, shared.pages, query, count(shared.total, "trial")),
    }


Part = Callable[[PersonRequest, str, Workspace, Query, Portfolio], dict[str, Any]]
PARTS: dict[str, Part] = {"": _slots, "ends": _ends, "shared": _shared}
"""``show`` -> what makes its part of the page."""


def decision_link(slug: str) -> Callable[[str, int], str]:
    """Return what makes addresses of pages of decisions."""
    return lambda name, number: reverse(name, args=[slug, number])


def document_link(slug: str) -> Callable[[int, int, str], str]:
    """Return what makes the address at which evidence shows one of its trials."""
    return lambda number, revision, trial: links_of(slug, number, revision).to(f"/trials/{trial}")


@require_safe
@page
def slots_download(request: PersonRequest, slug: str, suffix: str) -> HttpResponse:
    """Return everything that fits the filters as CSV or JSON: slots, or what ends or is shared, as ``show`` says."""
    query = Query.of(request.GET.dict(), keep=("show", *FILTERS))
    show = query.get("show") if query.get("show") in FILES else ""
    name, columns, values = FILES[show]
    rows = values(request.user, workspace_of(slug), asked_of(query))
    name = f"{slug}-{name}.{suffix}"
    if suffix == "csv":
        return csv_response(name, columns, rows)
    tree = [dict(zip(columns, row, strict=True)) for row in rows]
    return attachment(json.dumps(tree, indent=1).encode(), name, "application/json")


def _slot_rows(actor: Person, workspace: Workspace, wanted: SlotFilter) -> list[list[Value]]:
    found = portfolio(actor=actor, workspace=workspace, wanted=wanted, page_size=None)
    return [slot_values(row) for row in found.rows]


def _end_rows(actor: Person, workspace: Workspace, wanted: SlotFilter) -> list[list[Value]]:
    return [end_values(end) for end in slot_ends(actor=actor, workspace=workspace, wanted=wanted)]


def _shared_rows(actor: Person, workspace: Workspace, wanted: SlotFilter) -> list[list[Value]]:
    return list(shared_values(shared_trials(actor=actor, workspace=workspace, wanted=wanted, page_size=None)))


Rows = Callable[[Person, Workspace, SlotFilter], list[list[Value]]]
FILES: dict[str, tuple[str, Sequence[str], Rows]] = {
    "": ("slots", COLUMNS, _slot_rows),
    "ends": ("slot-ends", END_COLUMNS, _end_rows),
    "shared": ("shared-evidence", SHARED_COLUMNS, _shared_rows),
}
"""``show`` -> the name of its file, its columns, and what reads its rows."""
