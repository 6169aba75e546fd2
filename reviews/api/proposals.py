"""Acts that take two persons: one proposes, another confirms. Both are people who logged in; no token does either."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers_acts as shapes
from reviews.api.act_parts import BODY, KIND, REASON, act_of, proposed_body, sent_fields, sent_file, shape_of
from reviews.api.authentication import actor
from reviews.api.base import (
    KEPT_IF_UNCHANGED,
    WorkspaceView,
    known_versions,
    unchanged,
    version_seen,
    wanted_versions,
)
from reviews.api.documentation import (
    IF_MATCH,
    IF_NONE_MATCH,
    NOT_MODIFIED,
    READING,
    SENDING,
    body,
    refusals,
)
from reviews.api.parts import BINARY
from reviews.api.queries import one_of, read_query
from reviews.api.rows import Links
from reviews.selectors.policy_page import PolicyPage, policy_page
from reviews.selectors.proposals import ProposalRow, open_proposals, proposal_row
from reviews.services.policy_changes import policy_tree
from reviews.services.proposal_ends import proposal_decline, proposal_withdraw
from reviews.services.proposals import HANDLERS
from reviews.services.two_persons import proposal_countersign, proposal_make

WAITS_ON = OpenApiParameter(
    "waits_on", {"type": "string", "enum": ["me"]}, description="what you can confirm now alone"
)
MADE = {201: OpenApiResponse(shapes.Proposal, description="The proposal; another person confirms it")}


class PolicyView(WorkspaceView):
    """The policy of a workspace."""

    @extend_schema(
        operation_id="policy_read",
        parameters=[IF_NONE_MATCH],
        responses={200: shapes.Policy, **NOT_MODIFIED, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Any:
        """Return the policy in force with its versions and who signs for which team."""
        read_query(request.GET, {})
        found = policy_page(actor=actor(request), workspace=self.space)
        if found.content_id in known_versions(request):
            return unchanged(found.content_id, KEPT_IF_UNCHANGED)
        headers = {"ETag": f'"{found.content_id}"', "Cache-Control": KEPT_IF_UNCHANGED}
        return Response(shapes.Policy(policy_value(found, self.links)).data, headers=headers)


class WorkspaceProposals(WorkspaceView):
    """What waits for a second person, and proposals to change the policy."""

    @extend_schema(
        operation_id="proposal_list",
        parameters=[WAITS_ON],
        responses={200: shapes.Proposals, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List everything in the workspace that waits for a second person; with `waits_on=me` what you can confirm."""
        wanted = read_query(request.GET, {"waits_on": one_of("me")})
        rows = open_proposals(actor=actor(request), workspace=self.space, is_everywhere=True)
        return listed(tuple(row for row in rows if waits_on_reader(row) or not wanted), self.links)

    @extend_schema(
        operation_id="policy_propose",
        parameters=[IF_MATCH],
        request=body(("policy", "reason"), policy={**BINARY, "contentMediaType": "application/json"}, reason=REASON),
        responses={**MADE, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Propose another policy; with If-Match only in place of that version. A login of an admin is needed."""
        fields = sent_fields(request, "reason", files=("policy",))
        wanted = wanted_versions(request)
        base = policy_page(actor=actor(request), workspace=self.space).content_id
        seen = base if wanted is None or base in wanted else min(wanted, default="")
        made = proposal_make(
            HANDLERS["policy"],
            body=lambda: {"base": seen, "policy": policy_tree(sent_file(request, "policy"))},
            reason=fields["reason"],
            **act_of(request, self.space),
        )
        return shown(self, request, made.pk, 201)


class DecisionProposals(WorkspaceView):
    """What is proposed about one decision."""

    @extend_schema(operation_id="decision_proposal_list", responses={200: shapes.Proposals, **refusals(*READING)})
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List what waits for a second person."""
        read_query(request.GET, {})
        return listed(open_proposals(actor=actor(request), workspace=self.space, number=number), self.links)

    @extend_schema(
        operation_id="decision_propose",
        parameters=[IF_MATCH],
        request=body(("kind", "reason"), kind=KIND, reason=REASON, body=BODY),
        responses={**MADE, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Propose a waiver, an emergency, to lift an objection, to revoke or to roll back. A login is needed."""
        fields = sent_fields(request, "kind", "reason", files=("body",))
        shape = shape_of(fields["kind"])
        made = proposal_make(
            HANDLERS[fields["kind"]],
            body=lambda: proposed_body(request, shape),
            reason=fields["reason"],
            number=number,
            seen_subject=version_seen(request),
            **act_of(request, self.space),
        )
        return shown(self, request, made.pk, 201)


class ProposalDetail(WorkspaceView):
    """One proposal."""

    @extend_schema(operation_id="proposal_read", responses={200: shapes.Proposal, **refusals(*READING)})
    def get(self, request: Request, workspace: str, proposal: int) -> Response:
        """Return a proposal, whatever became of it."""
        read_query(request.GET, {})
        return shown(self, request, proposal)


class ProposalConfirmation(WorkspaceView):
    """The second person."""

    @extend_schema(
        operation_id="proposal_confirm", request=body(()), responses={200: shapes.Proposal, **refusals(*SENDING)}
    )
    def post(self, request: Request, workspace: str, proposal: int) -> Response:
        """Agree to what somebody else proposed, which carries it out. A login with a recent proof is needed."""
        sent_fields(request)
        proposal_countersign(HANDLERS, proposal_id=proposal, **act_of(request, self.space))
        return shown(self, request, proposal)


class ProposalDecline(WorkspaceView):
    """The second person who does not agree."""

    @extend_schema(
        operation_id="proposal_decline",
        request=body(("reason",), reason=REASON),
        responses={200: shapes.Proposal, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, proposal: int) -> Response:
        """Decline what somebody else proposed and you could confirm, which ends it. A login is needed."""
        fields = sent_fields(request, "reason")
        proposal_decline(HANDLERS, proposal_id=proposal, reason=fields["reason"], **act_of(request, self.space))
        return shown(self, request, proposal)


class ProposalWithdrawal(WorkspaceView):
    """The end of a proposal that was not carried out."""

    @extend_schema(
        operation_id="proposal_withdraw",
        request=body(("reason",), reason=REASON),
        responses={200: shapes.Proposal, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, proposal: int) -> Response:
        """Take back one's own proposal."""
        fields = sent_fields(request, "reason")
        proposal_withdraw(proposal_id=proposal, reason=fields["reason"], **act_of(request, self.space))
        return shown(self, request, proposal)


def shown(view: WorkspaceView, request: Request, proposal: int, status: int = 200) -> Response:
    """Answer with one proposal as it is now."""
    row = proposal_row(actor=actor(request), workspace=view.space, proposal_id=proposal)
    value = proposal_value(row, view.links)
    headers = {"Location": value["url"]} if status == 201 else {}
    return Response(shapes.Proposal(value).data, status=status, headers=headers)


def listed(rows: tuple[ProposalRow, ...], links: Links) -> Response:
    """Answer with proposals."""
    return Response(shapes.Proposals({"proposals": [proposal_value(row, links) for row in rows]}).data)


def waits_on_reader(row: ProposalRow) -> bool:
    """Whether the reader can confirm a proposal now."""
    return row.waits is not None and row.verdict.allowed and not row.is_mine


def proposal_value(row: ProposalRow, links: Links) -> dict[str, Any]:
    """Return a proposal as the API shows it."""
    place = f"#proposal-{row.id}"
    return {
        "id": row.id,
        "kind": row.kind,
        "decision": row.decision,
        "body": row.body,
        "reason": row.reason,
        "person": row.person,
        "team": row.team or None,
        "proposed_at": row.proposed_at,
        "open_until": row.until,
        "state": row.state,
        "waits_on": row.seconds,
        "waits_on_you": waits_on_reader(row),
        "waiting_because": row.waiting_text,
        "ended_by": row.ended_by or None,
        "ended_reason": row.ended_reason or None,
        "url": links.to("api-proposal", row.id),
        "page": f"{links.to('policy-detail')}{place}"
        if row.decision is None
        else f"{links.to('decision-release', row.decision)}{place}",
    }


def policy_value(found: PolicyPage, links: Links) -> dict[str, Any]:
    """Return the policy as the API shows it."""
    return {
        "version": found.version,
        "content_id": found.content_id,
        "policy": found.tree,
        "teams": [{"team": team, "members": found.members.get(team, ())} for team in sorted(found.document.teams)],
        "versions": [asdict(row) for row in found.versions],
        "page": links.to("policy-detail"),
    }
