"""Acts on a decision: putting it into force, ending its review, asking again, planning again, taking evidence back.

What binds a person takes a login with a recent proof; a token asks for another review, plans again and withdraws.
"""

from collections.abc import Callable

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers
from reviews.api import serializers_acts as shapes
from reviews.api.act_parts import REASON, TIME, act_of, sent_fields, sent_times
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView, version_seen
from reviews.api.documentation import IF_MATCH, READING, SENDING, body, refusals
from reviews.api.queries import read_query
from reviews.api.rows import decision_detail_value
from reviews.selectors.decision_page import decision_page
from reviews.selectors.policy_page import delegation_page
from reviews.services.activation import decision_activate
from reviews.services.closing import decision_close, decision_reject, decision_withdraw
from reviews.services.delegations import delegation_end, delegation_make
from reviews.services.re_reviews import re_review_ask
from reviews.services.reproductions import revision_reproduce
from reviews.services.retractions import evidence_retract

AFTER = {200: OpenApiResponse(serializers.DecisionDetail, description="The decision as it is now")}
LOGIN = {"type": "string", "minLength": 1, "maxLength": 150}
SLUG = {"type": "string", "minLength": 1, "maxLength": 40}


class DecisionAct(WorkspaceView):
    """An act that answers with the decision as it is then."""

    def state(self, request: Request, number: int) -> Response:
        """Answer with the decision."""
        page = decision_page(actor=actor(request), workspace=self.space, number=number, read_plan=False)
        return Response(serializers.DecisionDetail(decision_detail_value(page, self.links)).data)

    def ended(self, request: Request, number: int, end: Callable[..., object]) -> Response:
        """End a review with a reason."""
        fields = sent_fields(request, "reason")
        end(number=number, reason=fields["reason"], **act_of(request, self.space))
        return self.state(request, number)


class Activation(DecisionAct):
    """Putting into force."""

    @extend_schema(
        operation_id="decision_activate",
        parameters=[IF_MATCH],
        request=body(("statement", "rollback"), statement=REASON, rollback={"type": "string", "maxLength": 512}),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Put the newest revision into force, the one whose ETag If-Match names. A login is needed."""
        fields = sent_fields(request, "statement", "rollback")
        asked = act_of(request, self.space) | fields
        decision_activate(number=number, seen_subject=version_seen(request), **asked)
        return self.state(request, number)


class Withdrawal(DecisionAct):
    """The end of a review by its authors."""

    @extend_schema(
        operation_id="decision_withdraw",
        request=body(("reason",), reason=REASON),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Withdraw one's decision; it is final."""
        return self.ended(request, number, decision_withdraw)


class Rejection(DecisionAct):
    """The end of a review that teams reject."""

    @extend_schema(
        operation_id="decision_reject",
        request=body(("reason",), reason=REASON),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Close a review as rejected; it is final. A login is needed."""
        return self.ended(request, number, decision_reject)


class Closing(DecisionAct):
    """The end of a review whose plan selects nothing."""

    @extend_schema(
        operation_id="decision_close",
        request=body(("reason",), reason=REASON),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Close a review without a selection; it is final. A login is needed."""
        return self.ended(request, number, decision_close)


class ReReviews(DecisionAct):
    """Asking teams to review again."""

    @extend_schema(
        operation_id="re_review_ask",
        request=body(
            ("teams", "reason"),
            teams={"type": "string", "minLength": 1, "description": "slugs with commas between them"},
            reason=REASON,
        ),
        responses={**AFTER, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Ask teams to look again: what they signed so far counts no more."""
        fields = sent_fields(request, "teams", "reason")
        teams = [team.strip() for team in fields["teams"].split(",") if team.strip()]
        re_review_ask(number=number, teams=teams, reason=fields["reason"], **act_of(request, self.space))
        return self.state(request, number)


class Reproductions(WorkspaceView):
    """Planning the stored bytes again."""

    @extend_schema(
        operation_id="revision_reproduce",
        request=body(()),
        responses={201: shapes.Reproduction, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int, revision: int) -> Response:
        """Plan a revision again; whether the same plan comes out is an entry. Neither authors nor auditors do it."""
        sent_fields(request)
        made = revision_reproduce(number=number, revision=revision, **act_of(request, self.space))
        value = {"same": made.is_same, "plan": made.plan_id, "made_at": made.made_at}
        return Response(shapes.Reproduction(value).data, status=201)


class Retractions(WorkspaceView):
    """Taking evidence back."""

    @extend_schema(
        operation_id="evidence_retract",
        request=body(("content_id", "reason"), content_id={"type": "string", "maxLength": 71}, reason=REASON),
        responses={201: shapes.Retraction, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Retract evidence or one trial; what is in force and counted it is contested. A login is needed."""
        fields = sent_fields(request, "content_id", "reason")
        made, decisions = evidence_retract(**(act_of(request, self.space) | fields))
        value = {
            "content_id": made.content_id,
            "is_trial": made.is_trial,
            "reason": made.reason,
            "retracted_at": made.retracted_at,
            "decisions": [decision.number for decision in decisions],
        }
        return Response(shapes.Retraction(value).data, status=201)


class DelegationView(WorkspaceView):
    """A view that answers with all delegations."""

    def listed(self, request: Request, status: int = 200) -> Response:
        """Answer with all delegations, newest first."""
        found = delegation_page(actor=actor(request), workspace=self.space)
        return Response(shapes.Delegations({"delegations": found.rows}).data, status=status)


class Delegations(DelegationView):
    """Seats that are lent."""

    @extend_schema(operation_id="delegation_list", responses={200: shapes.Delegations, **refusals(*READING)})
    def get(self, request: Request, workspace: str) -> Response:
        """List who signs in whose place, who did and who will."""
        read_query(request.GET, {})
        return self.listed(request)

    @extend_schema(
        operation_id="delegation_make",
        request=body(
            ("team", "taker", "starts_at", "ends_at", "reason"),
            team=SLUG,
            taker=LOGIN,
            starts_at=TIME,
            ends_at=TIME,
            reason=REASON,
        ),
        responses={201: shapes.Delegations, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Lend one's own seat to the member with the login ``taker``, for at most 30 days. A login is needed."""
        fields = sent_fields(request, "team", "taker", "starts_at", "ends_at", "reason")
        times = sent_times(fields, "starts_at", "ends_at")
        delegation_make(**(act_of(request, self.space) | fields | times))
        return self.listed(request, 201)


class DelegationEnd(DelegationView):
    """The end of a delegation before its time."""

    @extend_schema(
        operation_id="delegation_end", request=body(()), responses={200: shapes.Delegations, **refusals(*SENDING)}
    )
    def post(self, request: Request, workspace: str, delegation: int) -> Response:
        """End a delegation: its giver does, or an admin."""
        sent_fields(request)
        delegation_end(delegation_id=delegation, **act_of(request, self.space))
        return self.listed(request)
