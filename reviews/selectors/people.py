"""Who people are in a workspace."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from reviews.asked_once import once
from reviews.errors import NotFoundError
from reviews.facts import Member, Standing
from reviews.models import Delegation, Membership, Person, Role, Workspace
from reviews.policies.permissions import SIGNING_ROLES


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace that a person belongs to."""

    id: int
    slug: str
    title: str
    role: str


def workspace_rows(person: Person) -> tuple[WorkspaceRow, ...]:
    """Return the workspaces of a person in order of their names."""
    memberships = Membership.objects.filter(person=person).select_related("workspace").order_by("workspace__slug")
    return tuple(WorkspaceRow(m.workspace_id, m.workspace.slug, m.workspace.title, m.role) for m in memberships)


@once
def workspace_named(slug: str) -> Workspace:
    """Return a workspace.

    Raises:
        NotFoundError: there is none of that name.
    """
    workspace = Workspace.objects.filter(slug=slug).order_by().first()
    if workspace is None:
        raise NotFoundError(f"There is no workspace {slug} that you belong to.")
    return workspace


@once
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


@once
def standing_of(person: Person, workspace: Workspace) -> Standing:
    """Return who the person is in the workspace.

    Raises:
        NotFoundError: not a member, or switched off; strangers learn nothing else.
    """
    held = list(
        Membership.objects.filter(workspace=workspace, person_id=person.pk, person__is_active=True)
        .order_by("seats__team__slug")
        .values_list("role", "person__token", "person__display_name", "seats__team__slug")
    )
    if not held:
        raise NotFoundError(f"There is no workspace {workspace.slug} that you belong to.")
    role, token, name, _ = held[0]
    return Standing(
        person_id=person.pk,
        token=token,
        name=name,
        workspace_id=workspace.pk,
        role=role,
        teams=frozenset(team for *_, team in held if team),
    )


@dataclass(frozen=True, slots=True)
class Roster:
    """Who may sign for which team, in order of team and login, and the printed names of who can change that.

    ``signers`` are all who may sign at all, with a seat of their own or under a delegation: by role, and not switched
    off.
    """

    members: tuple[Member, ...]
    admins: tuple[str, ...]
    signers: frozenset[int]


@once
def team_roster(workspace: Workspace, now: datetime) -> Roster:
    """Return everybody with a seat who may sign by role, whoever signs in their place now, and the admins."""
    rows = (
        Membership.objects.filter(workspace=workspace)
        .order_by("seats__team__slug", "person__login")
        .values_list(
            "role",
            "person_id",
            "person__login",
            "person__display_name",
            "person__is_active",
            "seats__team__slug",
            "seats__is_lead",
        )
    )
    members, admins, active = [], {}, {}
    for role, person_id, login, name, is_active, team, is_lead in rows:
        active[person_id] = is_active and role in SIGNING_ROLES
        if team and role in SIGNING_ROLES:
            members.append(Member(person_id, login, name, team, is_active=is_active, is_lead=is_lead))
        if role == Role.ADMIN and is_active:
            admins[login] = name
    seats = {(member.team, member.person_id): member for member in members}
    taken = [
        Member(
            person_id,
            login,
            f"{name} for {seats[team, giver_id].name}",
            team,
            is_active=active.get(person_id, False) and seats[team, giver_id].is_active,
            is_lead=False,
            in_place_of=giver_id,
        )
        for team, giver_id, person_id, login, name in _delegated(workspace, now)
        if (team, giver_id) in seats
    ]
    return Roster(
        members=(*members, *taken),
        admins=tuple(name for _, name in sorted(admins.items())),
        signers=frozenset(person_id for person_id, may_sign in active.items() if may_sign),
    )


def _delegated(workspace: Workspace, now: datetime) -> Iterable[tuple[str, int, int, str, str]]:
    """Return team, giver and id, login and name of the taker of every delegation that holds now."""
    rows = Delegation.objects.filter(workspace=workspace, starts_at__lte=now, ends_at__gt=now, end__isnull=True)
    return rows.order_by("pk").values_list("team__slug", "giver_id", "taker_id", "taker__login", "taker__display_name")
