"""Workspaces, people, teams and policy: each change is an entry of the audit log.

Roster changes name people by their token. Changing the policy makes a new version; revisions keep the version that
was the newest when they were made.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from planner.canonical import canonical_bytes, content_id
from reviews.audit import Act, append, workspace_write
from reviews.blobs import blob_keep
from reviews.facts import Authentication
from reviews.models import Membership, Person, Policy, Role, Team, TeamSeat, Workspace
from reviews.policies.document import read_policy


@dataclass(frozen=True, slots=True)
class Trace:
    """What an entry tells of the request behind an act: its id, and how the person proved who they are."""

    request_id: str | None = None
    authentication: Authentication | None = None

    def act(self, action: str, actor: str | None, **said: Any) -> Act:
        """Return an act of this request by a person, given by their token; ``said`` are other fields of ``Act``."""
        return Act(action=action, actor=actor, authentication=self.authentication, request_id=self.request_id, **said)


UNTRACED = Trace()
"""Acts from the server's own shell."""


def workspace_create(*, slug: str, title: str, policy: dict[str, Any], actor: Person | None = None) -> Workspace:
    """Create a workspace with the teams of its first policy.

    Raises:
        ValueError: the policy is not one, or the name is taken or not a slug.
    """
    workspace = Workspace(slug=slug, title=title, log_origin=f"topogate/{slug}/{secrets.token_hex(8)}")
    workspace.full_clean()
    with transaction.atomic():
        workspace.save()
        append(workspace, Act(action="workspace.created", actor=actor.token if actor else None, reason=title))
        policy_set(workspace=workspace, policy=policy, actor=actor)
    return workspace


def policy_set(*, workspace: Workspace, policy: dict[str, Any], actor: Person | None = None) -> Policy:
    """Make a new version of the policy, and the teams it names.

    Raises:
        ValueError: it is not a policy document.
    """
    raw = canonical_bytes(policy)
    document = read_policy(raw)
    with workspace_write(workspace.pk):
        newest = Policy.objects.filter(workspace=workspace).order_by("-version").first()
        made = Policy.objects.create(
            workspace=workspace,
            version=newest.version + 1 if newest else 1,
            content_id=content_id(policy),
            blob_id=blob_keep(raw).sha256,
            made_by=actor,
        )
        for slug, team in document.teams.items():
            Team.objects.update_or_create(workspace=workspace, slug=slug, defaults={"title": team.title})
        act = Act(
            action="policy.set",
            actor=actor.token if actor else None,
            payload_type="topogate.policy/v1",
            payload=policy,
        )
        append(workspace, act)
    return made


def member_add(
    *, workspace: Workspace, person: Person, role: Role, actor: Person | None = None, trace: Trace = UNTRACED
) -> Membership:
    """Add a person, or change their role; nothing happens when it is the same already."""
    with workspace_write(workspace.pk):
        membership = Membership.objects.filter(workspace=workspace, person=person).first()
        if membership is not None and membership.role == role:
            return membership
        membership, _ = Membership.objects.update_or_create(workspace=workspace, person=person, defaults={"role": role})
        append(workspace, roster_act("role_set", person, actor, trace, role=str(role)))
    return membership


def seat_give(
    *,
    membership: Membership,
    team: str,
    is_lead: bool = False,
    actor: Person | None = None,
    trace: Trace = UNTRACED,
) -> TeamSeat:
    """Give a member a seat in a team; nothing happens when they have it already.

    Raises:
        Team.DoesNotExist: the workspace has no such team.
    """
    workspace = membership.workspace
    with workspace_write(workspace.pk):
        row = Team.objects.get(workspace=workspace, slug=team)
        seat = TeamSeat.objects.filter(membership=membership, team=row).first()
        if seat is not None and seat.is_lead == is_lead:
            return seat
        seat, _ = TeamSeat.objects.update_or_create(membership=membership, team=row, defaults={"is_lead": is_lead})
        append(workspace, roster_act("seat_given", membership.person, actor, trace, team=team, lead=is_lead))
    return seat


def seat_take(*, seat: TeamSeat, actor: Person | None = None, trace: Trace = UNTRACED) -> None:
    """Take a seat away; sign-offs that its holder gave stop counting from now on."""
    workspace = seat.membership.workspace
    with workspace_write(workspace.pk):
        act = roster_act("seat_taken", seat.membership.person, actor, trace, team=seat.team.slug)
        seat.delete()
        append(workspace, act)


def roster_act(
    what: str,
    person: Person,
    actor: Person | None,
    trace: Trace = UNTRACED,
    team: str | None = None,
    **payload: str | int | bool,
) -> Act:
    """Describe a change of somebody's place in a workspace; people are named by their tokens."""
    return trace.act(
        f"roster.{what}",
        actor.token if actor else None,
        team=team,
        payload_type="topogate.roster/v1",
        payload={"person": person.token, **payload},
    )
