"""Slots: the portfolio of a workspace, and one slot with its decisions."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.footprint import Footprint
from reviews.api import serializers_slots
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import PAGING, READING, STATE, number, refusals, text
from reviews.api.queries import MOST_PAGES, MOST_ROWS, integer, named_slot, printable, read_query, state
from reviews.api.rows import Links
from reviews.api.validity import SLOT
from reviews.selectors.slot_facts import DecisionFact, HeldFact
from reviews.selectors.slot_page import slot_row
from reviews.selectors.slots import PAGE_SIZE, SlotFilter, SlotRow, Totals, portfolio

FILTERS = {
    "page": integer(1, MOST_PAGES),
    "limit": integer(1, MOST_ROWS),
    "state": state,
    "owner": printable,
    "engine": printable,
    "model": printable,
    "q": printable,
}


PARAMETERS = [
    number("page", "which page; 1 where left out", lowest=1, highest=MOST_PAGES),
    PAGING[1],
    STATE,
    text("owner", "exact owner"),
    text("engine", "exact engine"),
    text("model", "exact model"),
    text("q", "found in slot, number, title, owner, model, engine or topology"),
]
"""The same in words, for lists of slots and of what slots have."""


def wanted_of(query: Mapping[str, Any]) -> SlotFilter:
    """Return the filters of a query."""
    return SlotFilter(
        state=query.get("state", ""),
        owner=query.get("owner", ""),
        engine=query.get("engine", ""),
        model=query.get("model", ""),
        text=query.get("q", ""),
    )


class Slots(WorkspaceView):
    """The slots of a workspace."""

    @extend_schema(
        operation_id="slot_list",
        parameters=PARAMETERS,
        responses={200: serializers_slots.SlotPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List slots in natural order of their names; 404 beyond the last page."""
        query = read_query(request.GET, FILTERS)
        page = query.get("page", 1)
        found = portfolio(
            actor=actor(request),
            workspace=self.space,
            wanted=wanted_of(query),
            page=page,
            page_size=query.get("limit", PAGE_SIZE),
        )
        value = {
            "slots": [slot_value(row, self.links) for row in found.rows],
            "totals": totals_value(found.totals),
            "next": self.links.page_after(page, found.pages, "slots"),
        }
        return Response(serializers_slots.SlotPage(value).data)


class SlotDetail(WorkspaceView):
    """One slot."""

    @extend_schema(
        operation_id="slot_read",
        parameters=[SLOT],
        responses={200: serializers_slots.SlotDetail, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Return a slot by its exact name, with every decision that there was about it, newest first."""
        row = slot_row(actor=actor(request), workspace=self.space, slot=named_slot(request.GET))
        past = [
            {**decision_value(one, self.links), "put_into_force": held_value(one.held)} for one in row.fact.decisions
        ]
        return Response(serializers_slots.SlotDetail({**slot_value(row, self.links), "decisions": past}).data)


def slot_value(row: SlotRow, links: Links) -> dict[str, Any]:
    """Return a slot as the API shows it."""
    fact, named = row.fact, urlencode({"slot": row.fact.slot})
    taken = fact.held.footprint if fact.held else None
    return {
        "slot": fact.slot,
        "holds": fact.hold,
        "decision": decision_value(fact.decision, links),
        "put_into_force": held_value(fact.held),
        "takes": taken_value(taken) if taken else None,
        "reported": {
            "last_at": row.heard.at,
            "hosts": row.heard.hosts,
            "is_whole": row.heard.is_whole,
            "is_fresh": row.heard.is_fresh,
            "differences": [msgspec.structs.asdict(one) for one in row.heard.differences],
        },
        "observed": {
            "breaches": row.findings.breaches,
            "drifts": row.findings.drifts,
            "last_at": row.findings.last_batch_at,
        },
        "others": [other.number for other in fact.others],
        "url": f"{links.to('api-slot')}?{named}",
        "page": f"{links.to('slot-detail')}?{named}",
    }


def decision_value(fact: DecisionFact, links: Links) -> dict[str, Any]:
    """Return a decision of a slot."""
    return {
        "number": fact.number,
        "label": fact.label,
        "title": fact.title,
        "state": fact.state,
        "state_since": fact.now.since,
        "state_because": fact.now.because,
        "valid_until": fact.now.until,
        "owner": fact.owner,
        "model": fact.model,
        "engine": fact.engine,
        "url": links.to("api-decision", fact.number),
        "page": links.to("decision-detail", fact.number),
    }


def held_value(held: HeldFact | None) -> dict[str, Any] | None:
    """Return what was put into force last."""
    if held is None:
        return None
    names = ("revision", "kind", "subject", "trial", "topology", "rollback", "activated_at", "valid_until", "incident")
    return {name: getattr(held, name) for name in names}


def taken_value(taken: Footprint) -> dict[str, Any]:
    """Return what a decision takes."""
    hourly, monthly = taken.usd_per_hour, taken.usd_per_month
    return {
        "charge": taken.charge,
        "devices": taken.devices,
        "with_ranks": taken.used,
        "spare": taken.spares,
        "stranded": taken.stranded,
        "types": dict(taken.types),
        "usd_per_hour": None if hourly is None else float(hourly),
        "usd_per_month": None if monthly is None else float(monthly),
        "unpriced": taken.unpriced,
    }


def totals_value(totals: Totals) -> dict[str, Any]:
    """Return what slots come to."""
    return {
        "slots": totals.slots,
        "in_force": totals.in_force,
        "standing": totals.standing,
        "devices": totals.devices,
        "types": dict(totals.types),
        "usd_per_hour": float(totals.usd_per_hour),
        "priced": totals.priced,
        "unpriced": totals.unpriced,
        "unknown": totals.unknown,
        "ending_soon": totals.soon,
    }
