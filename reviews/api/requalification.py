"""What has to be measured again of a decision, and why: worked out when it is asked for, never stored."""

import json
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import CHECKING, DOCUMENT, READING, body, number, refusals
from reviews.api.parts import check_outer_form, unknown_parts
from reviews.api.queries import integer, one_of, read_query
from reviews.errors import Finding, InvalidRequestError
from reviews.selectors.requalification import RequalificationView, requalification_view
from reviews.selectors.requalification_value import requalification_text, requalification_value

FORMS = ("json", "markdown")
PARTS = body(
    (),
    contract=DOCUMENT,
    identity={"type": "array", "items": DOCUMENT, "description": "reports of hosts, or identities of the whole slot"},
)
ANSWERS: dict[Any, Any] = {
    (200, "application/json"): OpenApiResponse({"type": "object"}, description="`topogate.requalification/v1`"),
    (200, "text/markdown"): OpenApiResponse({"type": "string"}, description="the same for people"),
}
AS = OpenApiParameter(
    "as", {"type": "string", "enum": list(FORMS)}, description="how the answer is written; json where left out"
)


class Requalification(WorkspaceView):
    """What hosts report, the age of the evidence and a newer contract make stale. Nothing is written."""

    token_scope = "read"  # noqa: S105 - the name of a scope
    only_reads = True

    @extend_schema(
        operation_id="requalification_read",
        parameters=[
            AS,
            number("revision", "whose contract is held against; the newest where left out", lowest=1, highest=999_999),
        ],
        responses={**ANSWERS, **refusals(*READING, 409)},
    )
    def get(self, request: Request, workspace: str, number: int) -> HttpResponse:
        """Hold the newest report, the age of the evidence and a revision's contract against what was decided."""
        query = read_query(request.GET, {"as": one_of(*FORMS), "revision": integer(1, 999_999)})
        found = requalification_view(
            actor=actor(request), workspace=self.space, number=number, revision=query.get("revision")
        )
        return _answered(found, query.get("as", "json"))

    @extend_schema(
        operation_id="requalification_check",
        parameters=[AS],
        request=PARTS,
        responses={**ANSWERS, **refusals(*CHECKING, 409)},
    )
    def post(self, request: Request, workspace: str, number: int) -> HttpResponse:
        """The same with a contract that was not submitted, reports of hosts, or both; nothing is kept."""
        query = read_query(request.GET, {"as": one_of(*FORMS)})
        contract, reports = _given(request)
        found = requalification_view(
            actor=actor(request), workspace=self.space, number=number, contract=contract, reports=reports
        )
        return _answered(found, query.get("as", "json"))


def _given(request: Request) -> tuple[bytes | None, list[bytes]]:
    """Take the contract and the reports out of a body that has one of them at least.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: with every part that is missing or not taken here.
    """
    check_outer_form(request)
    problems = unknown_parts(request, files=("contract", "identity"), fields=())
    if not request.FILES:
        expected = "a file in a part named contract or identity"
        problems.append(Finding("request", "request/missing_part", "contract", expected, "nothing"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    contract = request.FILES.get("contract")
    reports = [bytes(part.read()) for part in request.FILES.getlist("identity")]
    return None if contract is None else bytes(contract.read()), reports


def _answered(found: RequalificationView, form: str) -> HttpResponse:
    if form == "markdown":
        data, content_type = requalification_text(found), "text/markdown; charset=utf-8"
    else:
        data = json.dumps(requalification_value(found), ensure_ascii=False, separators=(",", ":"))
        content_type = "application/json"
    return HttpResponse(data.encode(), content_type=content_type, headers={"X-Content-Type-Options": "nosniff"})
