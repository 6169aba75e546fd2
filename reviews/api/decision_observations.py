"""Production beside what was qualified: the values of one metric of a decision, and what is out of its envelope."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.observations import METRICS
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, refusals, text
from reviews.api.documentation import number as number_said
from reviews.api.queries import MOST_ROWS, Reader, integer, one_of, printable, read_query
from reviews.api.serializers_operate import FindingPage, ObservedPage
from reviews.selectors.observations_page import PAGE_SIZE, SPANS, STATES, Asked, shown_or_refused
from reviews.selectors.observed_rows import findings_page
from reviews.selectors.observed_values import value_fields

MOST = 999_999_999


def choice(name: str, names: tuple[str, ...], what: str) -> OpenApiParameter:
    """Describe a word of the query."""
    return OpenApiParameter(name, {"type": "string", "enum": list(names)}, description=what)


PAGES = [
    number_said("page", "from 1; the answer's `next` has it", lowest=1, highest=MOST),
    number_said("limit", "at most so many", lowest=1, highest=MOST_ROWS),
]
PAGE_READERS: dict[str, Reader] = {"page": integer(1, MOST), "limit": integer(1, MOST_ROWS)}
OF_A_RANK = [number_said("rank", "only this rank", lowest=0, highest=MOST)]


class DecisionObservations(WorkspaceView):
    """What production did, beside what was qualified."""

    @extend_schema(
        operation_id="decision_observations",
        parameters=[
            choice("metric", tuple(METRICS), "where left out, the one with the worst open finding"),
            choice("span", tuple(SPANS), "back from the newest that was reported; day where left out"),
            choice("state", STATES, "only these"),
            *OF_A_RANK,
            number_said("group", "only this group", lowest=0, highest=MOST),
            *PAGES,
        ],
        responses={200: ObservedPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List the values of one metric, for every rank, group or link by itself, the worst first."""
        query = read_query(
            request.GET,
            {
                "metric": one_of(*METRICS),
                "span": one_of(*SPANS),
                "state": one_of(*STATES),
                "rank": integer(0, MOST),
                "group": integer(0, MOST),
                **PAGE_READERS,
            },
        )
        page, limit = query.pop("page", 1), query.pop("limit", PAGE_SIZE)
        asked = Asked(**query)
        shown = shown_or_refused(actor=actor(request), workspace=self.space, number=number, asked=asked)
        rows = shown.rows[(page - 1) * limit : page * limit]
        value: dict[str, Any] = {
            "decision": number,
            "revision": shown.revision,
            "metric": shown.metric,
            "metrics": shown.metrics,
            "starts_at": shown.compared.starts_at,
            "ends_at": shown.compared.ends_at,
            "seconds": float(shown.compared.seconds),
            "total": len(shown.rows),
            "values": [value_fields(row, shown.places) for row in rows],
            "next": self.links.with_query(page=page + 1) if page * limit < len(shown.rows) else None,
        }
        return Response(ObservedPage(value).data)


class DecisionFindings(WorkspaceView):
    """What is, or was, out of its envelope."""

    @extend_schema(
        operation_id="decision_findings",
        parameters=[
            choice("open", ("true", "false"), "false: those that were closed"),
            choice("state", ("BREACH", "DRIFT"), "only these"),
            choice("metric", tuple(METRICS), "only this metric"),
            text("team", "only those that this team owns"),
            *OF_A_RANK,
            *PAGES,
        ],
        responses={200: FindingPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List findings, breaches first; closed ones the newest first."""
        query = read_query(
            request.GET,
            {
                "open": one_of("true", "false"),
                "state": one_of("BREACH", "DRIFT"),
                "metric": one_of(*METRICS),
                "team": printable,
                "rank": integer(0, MOST),
                **PAGE_READERS,
            },
        )
        page, limit = query.get("page", 1), query.get("limit", PAGE_SIZE)
        found = findings_page(
            actor=actor(request),
            workspace=self.space,
            number=number,
            is_open=query.get("open", "true") == "true",
            state=query.get("state", ""),
            metric=query.get("metric", ""),
            team=query.get("team", ""),
            rank=query.get("rank"),
            page=page,
            page_size=limit,
        )
        value = {
            "findings": [asdict(row) for row in found.rows],
            "total": found.total,
            "next": self.links.with_query(page=page + 1) if page * limit < found.total else None,
        }
        return Response(FindingPage(value).data)
