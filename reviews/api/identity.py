"""Reports of what runs in a slot: sent by its hosts, or by CI for all of them; and how the slot stands."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.authentication import actor, trace_of
from reviews.api.base import WorkspaceView
from reviews.api.documentation import DOCUMENT, PAGING, READING, SENDING, body, number, refusals, text
from reviews.api.queries import MOST_PAGES, MOST_ROWS, integer, no_slot, printable, read_query
from reviews.api.rows import Links
from reviews.api.serializers_identity import LiveIdentity as LiveIdentitySerializer
from reviews.api.slots import SLOT, check_value, slot_parts
from reviews.api.throttles import ReadThrottle, ReportThrottle
from reviews.errors import Finding, InvalidRequestError
from reviews.limits import passed_limit
from reviews.models import Workspace
from reviews.selectors.live_identity import HostRow, LiveIdentity, check_of, live_of_slot
from reviews.selectors.slot_check import SlotCheck
from reviews.services.host_reports import identity_reports_take
from reviews.services.people import Trace
from reviews.services.report_refusals import identity_report_refuse

NAMED = 200
"""Names of each kind that an answer lists, however large the fleet; the counts are of all."""
FILTERS = {"slot": printable, "page": integer(1, MOST_PAGES), "limit": integer(1, MOST_ROWS)}
PARTS = body(
    ("slot", "identity"),
    slot=SLOT,
    identity={"type": "array", "items": DOCUMENT, "description": "a report of each host, or one identity of the slot"},
)


class IdentityReports(WorkspaceView):
    """What hosts said they are."""

    token_scope = "report"  # noqa: S105 - the name of a scope

    throttle_classes = (ReadThrottle, ReportThrottle)

    @extend_schema(
        operation_id="identity_read",
        parameters=[
            text("slot", "exact slot", minLength=1),
            number("page", "which hosts; 1 where left out", lowest=1, highest=MOST_PAGES),
            PAGING[1],
        ],
        responses={200: LiveIdentitySerializer, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Say how a slot stands by the last reports of its hosts, and list them by name; 404 beyond the last page.

        Everything but `hosts` is of all of them, on every page.
        """
        query = read_query(request.GET, FILTERS)
        if "slot" not in query:
            raise InvalidRequestError((no_slot(),))
        page, limit = query.get("page", 1), query.get("limit", MOST_ROWS)
        found = live_of_slot(actor=actor(request), workspace=self.space, slot=query["slot"])
        pages = max(1, -(-len(found.said.hosts) // limit))
        later = self.links.page_after(page, pages, "hosts")
        rows = found.rows(list(found.said.hosts)[(page - 1) * limit : page * limit])
        value = live_value(check_of(found), found, rows, self.links)
        value["next"] = later
        return Response(LiveIdentitySerializer(value).data)

    @extend_schema(
        operation_id="identity_report", request=PARTS, responses={200: LiveIdentitySerializer, **refusals(*SENDING)}
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Take reports of hosts, or an identity of the whole slot; a decision that differs turns stale.

        Of the hosts the answer lists those that were sent, and says of all together how the slot stands.
        """
        trace = trace_of(request)
        with _refusals_kept(request, self.space, trace):
            slot, documents = slot_parts(request)
        found = identity_reports_take(
            actor=actor(request), workspace=self.space, slot=slot, documents=documents, trace=trace
        )
        sent = found.live.rows(sorted(found.places))
        return Response(LiveIdentitySerializer(live_value(found.check, found.live, sent, self.links)).data)


def live_value(check: SlotCheck, live: LiveIdentity, hosts: Sequence[HostRow], links: Links) -> dict[str, Any]:
    """Return how a slot stands as the API shows it, and ``hosts`` of it."""
    whole = live.together
    return {
        **check_value(replace(check, differences=check.differences[:NAMED]), links),
        "differences_in_all": len(check.differences),
        "last_report": live.last_report,
        "agrees": live.agrees,
        "flapping": list(live.flapping[:NAMED]),
        "flapping_in_all": len(live.flapping),
        "awaited": {
            "nodes": list(whole.awaited[:NAMED]),
            "nodes_in_all": len(whole.awaited),
            "keys": list(whole.open_keys[:NAMED]),
            "keys_in_all": len(whole.open_keys),
            "ranks": list(whole.open_places[:NAMED]),
            "ranks_in_all": len(whole.open_places),
            "nics": list(whole.open_nics[:NAMED]),
            "nics_in_all": len(whole.open_nics),
        },
        "contradictions": list(whole.contradictions),
        "refused": live.said.refused_because or None,
        "refused_at": live.said.refused_at,
        "hosts": [_host_value(row) for row in hosts],
        "hosts_in_all": len(live.said.hosts),
        "next": None,
    }


def _host_value(row: HostRow) -> dict[str, Any]:
    return {
        "place": row.place,
        "host": row.host,
        "is_decided": row.is_decided,
        "collected_at": row.collected_at,
        "counts": row.is_fresh,
        "since": row.since,
        "flaps_since": row.flaps_since,
        "changes": row.changes,
        "flapped": list(row.flapped),
        "identity": row.sha256 or None,
        "differences": [{"key": one.key, "how": one.how, "team": one.team} for one in row.differences[:NAMED]],
        "refused": row.refused_because or None,
        "refused_at": row.refused_at,
    }


@contextmanager
def _refusals_kept(request: Request, workspace: Workspace, trace: Trace) -> Iterator[None]:
    """Record that a form was refused before a report was read out of it; it goes on as it was raised.

    Raises:
        NotAllowedError: the caller may not report, whatever was sent.
    """
    try:
        yield
    except (
        InvalidRequestError,
        UnsupportedMediaType,
        RequestDataTooBig,
        TooManyFilesSent,
        TooManyFieldsSent,
    ) as refused:
        with suppress(InvalidRequestError):
            identity_report_refuse(actor=actor(request), workspace=workspace, problems=_problems(refused), trace=trace)
        raise


def _problems(refused: Exception) -> tuple[Finding, ...]:
    if isinstance(refused, InvalidRequestError):
        return refused.problems
    if isinstance(refused, UnsupportedMediaType):
        wanted = "multipart/form-data in UTF-8"
        return (Finding("request", "request/content_type", "Content-Type", wanted, "another type"),)
    passed = passed_limit(refused)
    return (passed,) if passed else ()
