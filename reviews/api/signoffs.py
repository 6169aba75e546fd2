"""Signing over the API: a login with a recent proof signs, takes back its own sign-off, and settles what one named.

What a person has to open before they approve is opened on the pages, where it can be read.
"""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.act_parts import REASON, act_of, sent_fields
from reviews.api.acts import AFTER, SLUG, DecisionAct
from reviews.api.authentication import actor, authentication, request_id
from reviews.api.base import version_seen
from reviews.api.documentation import IF_MATCH, SENDING, body, refusals
from reviews.models import Meaning
from reviews.policies.signoff_status import points_of
from reviews.services.signoffs import signoff_give
from reviews.services.withdrawals import point_settle, signoff_withdraw

POINTS = {"type": "string", "description": "one to a line"}


class SignOffs(DecisionAct):
    """Signing for a team."""

    @extend_schema(
        operation_id="signoff_give",
        parameters=[IF_MATCH],
        request=body(
            ("team", "meaning", "statement"),
            team=SLUG,
            meaning={"type": "string", "enum": list(Meaning.values)},
            statement=REASON,
            rollback={"type": "string", "maxLength": 512, "description": "a decision, a trial, or none"},
            conditions=POINTS,
            follow_ups=POINTS,
        ),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Sign the newest revision, the one whose ETag If-Match names, from one's seat. A login is needed."""
        fields = sent_fields(request, "team", "meaning", "statement", "rollback", "conditions", "follow_ups")
        signoff_give(
            actor=actor(request),
            workspace=self.space,
            decision_number=number,
            seen_subject=version_seen(request),
            request_id=request_id(),
            authentication=authentication(request),
            **{name: fields[name] for name in ("team", "meaning", "statement", "rollback")},
            conditions=points_of(fields["conditions"]),
            follow_ups=points_of(fields["follow_ups"]),
        )
        return self.state(request, number)


class SignOffWithdrawals(DecisionAct):
    """Taking back one's sign-off."""

    @extend_schema(
        operation_id="signoff_withdraw",
        request=body(("reason",), reason=REASON),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, signoff: int) -> Response:
        """Take back one's own sign-off; it stays visible. A login is needed."""
        made = signoff_withdraw(
            actor=actor(request),
            workspace=self.space,
            signoff_id=signoff,
            reason=sent_fields(request, "reason")["reason"],
            request_id=request_id(),
            authentication=authentication(request),
        )
        return self.state(request, made.signoff.revision.decision.number)


class PointSettlements(DecisionAct):
    """Settling a condition or follow-up."""

    @extend_schema(
        operation_id="point_settle",
        request=body(("note",), note=REASON),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, point: int) -> Response:
        """Say that a condition or follow-up is done, and how. A login is needed."""
        note = sent_fields(request, "note")["note"]
        made = point_settle(point_id=point, note=note, **act_of(request, self.space))
        return self.state(request, made.point.signoff.revision.decision.number)
