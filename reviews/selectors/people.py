"""Who people are in a workspace."""

from dataclasses import dataclass

from reviews.errors import NotFoundError
from reviews.facts import Member, Standing
from reviews.models import Membership, Person, TeamSeat, Workspace


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace that a person belongs to."""

    slug: str
    title: str
    role: str


def workspace_rows(person: Person) -> tuple[WorkspaceRow, ...]:
    """Return the workspaces of a person in order of their names."""
    memberships = Membership.objects.filter(person=person).select_related("workspace").order_by("workspace__slug")
    return tuple(WorkspaceRow(m.workspace.slug, m.workspace.title, m.role) for m in memberships)


def workspace_named(slug: str) -> Workspace:
    """Return a workspace.

    Raises:
        NotFoundError: there is none of that name.
    """
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is None:
        raise NotFoundError(f"There is no workspace {slug} that you belong to.")
    return workspace


def workspace_of_member(person: Person, slug: str) -> Workspace:
    """Return a workspace to one of its members.

    Raises:
        NotFoundError: there is none of that name, or the person is no member, or switched off; nobody learns which.
    """
    is_theirs = {"memberships__person_id": person.pk, "memberships__person__is_active": True}
    workspace = Workspace.objects.filter(slug=slug, **is_theirs).first()
    if workspace is None:
        raise NotFoundError(f"There is no workspace {slug} that you belong to.")
    return workspace


def standing_of(person: Person, workspace: Workspace) -> Standing:
    """Return who the person is in the workspace.

    Raises:
        NotFoundError: not a member, or switched off; strangers learn nothing else.
    """
    membership = (
        Membership.objects.filter(workspace=workspace, person_id=person.pk, person__is_active=True)
        .select_related("person")
        .first()
    )
    if membership is None:
        raise NotFoundError(f"There is no workspace {workspace.slug} that you belong to.")
    seats = TeamSeat.objects.filter(membership=membership).values_list("team__slug", flat=True)
    return Standing(
        person_id=membership.person_id,
        token=membership.person.token,
        name=membership.person.display_name,
        workspace_id=workspace.pk,
        role=membership.role,
        teams=frozenset(seats),
    )


def team_members(workspace: Workspace) -> tuple[Member, ...]:
    """Return everybody with a seat in a team who may sign by role, in order of team and login."""
    seats = (
        TeamSeat.objects.filter(team__workspace=workspace, membership__role__in=("member", "author"))
        .select_related("team", "membership__person")
        .order_by("team__slug", "membership__person__login")
    )
    return tuple(
        Member(
            person_id=seat.membership.person_id,
            login=seat.membership.person.login,
            name=seat.membership.person.display_name,
            team=seat.team.slug,
            is_active=seat.membership.person.is_active,
            is_lead=seat.is_lead,
        )
        for seat in seats
    )
