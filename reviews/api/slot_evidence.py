"""What becomes of slots by itself, and what they rest on together: ends in order of time, evidence that is shared."""

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers_slots
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, refusals
from reviews.api.queries import read_query
from reviews.api.rows import Links
from reviews.api.slot_list import FILTERS, PARAMETERS, wanted_of
from reviews.selectors.shared_trials import PAGE_SIZE as TRIALS
from reviews.selectors.shared_trials import TrialUse, shared_trials
from reviews.selectors.slot_ends import End, slot_ends
from reviews.selectors.slots import PAGE_SIZE


class SlotEnds(WorkspaceView):
    """What of the slots of a workspace ends when."""

    @extend_schema(
        operation_id="slot_end_list",
        parameters=PARAMETERS,
        responses={200: serializers_slots.EndPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List what ends by itself, the first first; 404 beyond the last page."""
        query = read_query(request.GET, FILTERS)
        found = slot_ends(actor=actor(request), workspace=self.space, wanted=wanted_of(query))
        page, size = query.get("page", 1), query.get("limit", PAGE_SIZE)
        value = {
            "ends": [end_value(end, self.links) for end in found[(page - 1) * size : page * size]],
            "total": len(found),
            "next": self.links.page_after(page, max(1, -(-len(found) // size)), "ends"),
        }
        return Response(serializers_slots.EndPage(value).data)


class SharedEvidence(WorkspaceView):
    """Trials that several slots of a workspace rest on."""

    @extend_schema(
        operation_id="slot_shared_evidence_list",
        parameters=PARAMETERS,
        responses={200: serializers_slots.SharedPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List trials by content, those that most slots count first; 404 beyond the last page."""
        query = read_query(request.GET, FILTERS)
        page = query.get("page", 1)
        found = shared_trials(
            actor=actor(request),
            workspace=self.space,
            wanted=wanted_of(query),
            page=page,
            page_size=query.get("limit", TRIALS),
        )
        value = {
            "trials": [
                {
                    "content_id": row.content_id,
                    "is_retracted": row.is_retracted,
                    "slots": row.slots,
                    "uses": [use_value(use, self.links) for use in row.uses],
                }
                for row in found.rows
            ],
            "total": found.total,
            "next": self.links.page_after(page, found.pages, "trials"),
        }
        return Response(serializers_slots.SharedPage(value).data)


def end_value(end: End, links: Links) -> dict[str, Any]:
    """Return something that ends as the API shows it."""
    return {
        "at": end.at,
        "kind": end.kind,
        "follows": end.follows,
        "slot": end.slot,
        "decision": end.number,
        "label": end.label,
        "topology": end.topology,
        "name": end.name,
        "by_evidence": end.by_evidence,
        "page": links.to("decision-detail", end.number),
        "slot_page": f"{links.to('slot-detail')}?{urlencode({'slot': end.slot})}",
    }


def use_value(use: TrialUse, links: Links) -> dict[str, Any]:
    """Return a slot that counts a trial as the API shows it."""
    decision, held = use.fact.decision, use.fact.held
    return {
        "slot": use.fact.slot,
        "decision": decision.number,
        "label": decision.label,
        "revision": held.revision if held else None,
        "state": decision.state,
        "trial": use.trial,
        "is_put_into_force": use.is_chosen,
        "page": links.to("decision-detail", decision.number),
    }
