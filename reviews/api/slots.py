"""What runs in a slot against what was decided, asked without a trace."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import CHECKING, DOCUMENT, body, refusals
from reviews.api.parts import check_outer_form, unknown_parts
from reviews.api.queries import no_slot
from reviews.api.rows import Links
from reviews.errors import Finding, InvalidRequestError, is_readable, printable
from reviews.selectors.slot_check import SlotCheck, live_identity, slot_check

SLOT = {"type": "string", "minLength": 1, "maxLength": 128, "description": "exact slot"}
PARTS = body(("slot", "identity"), slot=SLOT, identity=DOCUMENT)


class Check(WorkspaceView):
    """Does a slot run what is in force? Nothing is written, so the scope read is enough."""

    token_scope = "read"  # noqa: S105 - the name of a scope
    only_reads = True

    @extend_schema(
        operation_id="slot_check", request=PARTS, responses={200: serializers.SlotCheck, **refusals(*CHECKING, 409)}
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Compare the identity of a whole slot with the decision in force; a missing key is no match."""
        slot, sent = slot_parts(request)
        live = live_identity(sent[-1])
        found = slot_check(actor=actor(request), workspace=self.space, slot=slot, live=live)
        return Response(serializers.SlotCheck(check_value(found, self.links)).data)


def check_value(found: SlotCheck, links: Links) -> dict[str, Any]:
    """Return a check as the API shows it."""
    activation, decision = found.activation, found.decision
    return {
        "slot": found.slot,
        "matches": found.matches,
        "because": found.because,
        "decision": decision.number if decision else None,
        "revision": activation.revision.number if activation else None,
        "state": found.state or None,
        "subject": activation.subject if activation else None,
        "topology": activation.topology if activation else None,
        "trial": activation.trial if activation else None,
        "rollback": activation.rollback if activation else None,
        "valid_until": found.valid_until,
        "emergency": {"incident": found.incident, "failing_gates": list(found.failing_gates)}
        if found.incident
        else None,
        "differences": [asdict(difference) for difference in found.differences],
        "page": links.to("decision-detail", decision.number) if decision else None,
    }


def slot_parts(request: Request) -> tuple[str, list[bytes]]:
    """Take the slot and the files named ``identity``, one or more, out of the body.

    Raises:
        UnsupportedMediaType: it is no form with files.
        InvalidRequestError: with every part that is missing or not taken here.
    """
    check_outer_form(request)
    problems = unknown_parts(request, files=("identity",), fields=("slot",))
    if "slot" not in request.POST:
        problems.append(no_slot())
    elif not is_readable(str(request.POST["slot"])):
        wanted = "the slot that is asked about, in printable characters"
        problems.append(Finding("request", "request/slot", "slot", wanted, printable(str(request.POST["slot"]), 128)))
    if "identity" not in request.FILES:
        expected = "a file in a part named identity"
        problems.append(Finding("request", "request/missing_part", "identity", expected, "nothing"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return str(request.POST["slot"]), [bytes(part.read()) for part in request.FILES.getlist("identity")]
