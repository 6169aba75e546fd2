"""What other tools take of a decision: whether it holds, by its number and by the slot; its record as text."""

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from planner.canonical import file_sha256
from planner.decision_numbers import decision_label
from reviews.api.authentication import actor
from reviews.api.base import KEPT_IF_UNCHANGED, WorkspaceView, known_versions, raw_bytes, unchanged
from reviews.api.documentation import IF_NONE_MATCH, NOT_MODIFIED, READING, refusals
from reviews.api.queries import named_slot, read_query
from reviews.api.rows import Links
from reviews.selectors.decision_record import decision_record
from reviews.selectors.validity import ValidityNow, decision_validity, slot_validity, version_of

SLOT = OpenApiParameter(
    "slot", {"type": "string", "minLength": 1, "maxLength": 200}, required=True, description="exact slot"
)
ANSWERS = {
    (200, "application/json"): OpenApiResponse({"type": "object"}, description="`topogate.validity/v1`"),
    **NOT_MODIFIED,
    **refusals(*READING, 409),
}


def validity_links(links: Links, found: ValidityNow) -> dict[str, str]:
    """Return where to read on."""
    number, revision = found.found.decision.number, found.revision.number
    return {
        "self": links.to("api-decision-validity", number),
        "decision": links.to("api-decision", number),
        "revision": links.to("api-revision", number, revision),
        "contract": links.to("api-contract", number, revision),
        "evidence": links.to("api-evidence", number, revision),
        "plan": links.to("api-plan", number, revision),
        "record": links.to("api-decision-record", number),
        "page": links.to("decision-detail", number),
    }


class ValidityView(WorkspaceView):
    """Answers with a validity.

    Its ETag is a weak one, of everything but times that pass by themselves, so that 304 is an answer of now.
    """

    def answer(self, request: Request, found: ValidityNow) -> HttpResponse:
        """Return the document, or say that the client's still is right."""
        document = found.record(self.space.slug, validity_links(self.links, found))
        version = version_of(document)
        if version in known_versions(request):
            response = unchanged(version, KEPT_IF_UNCHANGED)
        else:
            response = raw_bytes(msgspec.json.encode(document), version, cache=KEPT_IF_UNCHANGED)
        response.headers["ETag"] = f'W/"{version}"'
        return response


class DecisionValidity(ValidityView):
    """The validity of one decision."""

    @extend_schema(operation_id="decision_validity", parameters=[IF_NONE_MATCH], responses=ANSWERS)
    def get(self, request: Request, workspace: str, number: int) -> HttpResponse:
        """Return whether a decision holds in its slot as of now, with every digest it is bound to."""
        read_query(request.GET, {})
        return self.answer(request, decision_validity(actor=actor(request), workspace=self.space, number=number))


class DecisionRecord(WorkspaceView):
    """The record of one decision."""

    @extend_schema(
        operation_id="decision_record",
        parameters=[IF_NONE_MATCH],
        responses={
            (200, "text/markdown"): OpenApiResponse({"type": "string"}, description="The record, as MADR 4"),
            **NOT_MODIFIED,
            **refusals(*READING, 409),
        },
    )
    def get(self, request: Request, workspace: str, number: int) -> HttpResponse:
        """Return what was decided and why as Markdown, to be kept in a repository of text; it names people."""
        read_query(request.GET, {})
        data = decision_record(actor=actor(request), workspace=self.space, number=number)
        version = file_sha256(data)
        if version in known_versions(request):
            return unchanged(version, KEPT_IF_UNCHANGED)
        headers = {
            "ETag": f'"{version}"',
            "Cache-Control": KEPT_IF_UNCHANGED,
            "Content-Disposition": f'attachment; filename="{decision_label(number)}.md"',
            "X-Content-Type-Options": "nosniff",
        }
        return HttpResponse(data, content_type="text/markdown; charset=utf-8", headers=headers)


class SlotValidity(ValidityView):
    """The validity of what holds in a slot."""

    @extend_schema(
        operation_id="slot_validity",
        parameters=[SLOT, IF_NONE_MATCH],
        responses=ANSWERS,
    )
    def get(self, request: Request, workspace: str) -> HttpResponse:
        """Return what holds in a slot as of now, or what was in force there last; its ETag saves sending it again."""
        slot = named_slot(request.GET)
        return self.answer(request, slot_validity(actor=actor(request), workspace=self.space, slot=slot))
