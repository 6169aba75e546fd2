"""The people and teams of a workspace, as its pages list them."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from allauth.mfa.models import Authenticator

from reviews.clock import database_now
from reviews.errors import NotFoundError, printable
from reviews.facts import Standing
from reviews.models import Invitation, Membership, Person, Team, TeamSeat, Workspace
from reviews.policies.permissions import Verdict, may_administer
from reviews.selectors.people import standing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRow:
    """A seat of a member."""

    team: str
    title: str
    is_lead: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """Somebody who belongs to the workspace. ``link_ends_at``: an open link to set a password."""

    person_id: int
    login: str
    name: str
    email: str
    role: str
    seats: tuple[SeatRow, ...]
    is_active: bool
    is_erased: bool
    has_password: bool
    has_second_factor: bool
    link_ends_at: datetime | None
    last_login_at: datetime | None
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRow:
    """A team with the logins and names of its people, leads first."""

    slug: str
    title: str
    people: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Everybody in a workspace, and whether the reader may change that."""

    standing: Standing
    may_administer: Verdict
    members: tuple[MemberRow, ...]
    teams: tuple[TeamRow, ...]

    def member(self, login: str) -> MemberRow:
        """Return one member.

        Raises:
            NotFoundError: there is none of that login.
        """
        found = next((row for row in self.members if row.login == login), None)
        if found is None:
            raise NotFoundError(f"There is no member {printable(login)} in this workspace.")
        return found


def roster(*, actor: Person, workspace: Workspace) -> Roster:
    """Return the people and teams to a member, in order of login and of team.

    Raises:
        NotFoundError: the actor is no member.
    """
    standing = standing_of(actor, workspace)
    held = (
        TeamSeat.objects.filter(team__workspace=workspace)
        .select_related("team", "membership__person")
        .order_by("team__slug", "-is_lead", "membership__person__login")
    )
    seats: dict[int, list[SeatRow]] = defaultdict(list)
    teams: dict[str, list[tuple[str, str, bool]]] = defaultdict(list)
    for seat in held:
        row = SeatRow(team=seat.team.slug, title=seat.team.title, is_lead=seat.is_lead)
        seats[seat.membership_id].append(row)
        person = seat.membership.person
        teams[seat.team.slug].append((person.login, person.display_name, seat.is_lead))
    memberships = Membership.objects.filter(workspace=workspace).select_related("person").order_by("person__login")
    people = [membership.person_id for membership in memberships]
    secured, links = _second_factors(people), _links(people)
    return Roster(
        standing=standing,
        may_administer=may_administer(standing),
        members=tuple(
            _row(membership, tuple(seats[membership.pk]), membership.person_id in secured, links)
            for membership in memberships
        ),
        teams=tuple(
            TeamRow(slug=team.slug, title=team.title, people=tuple(teams[team.slug]))
            for team in Team.objects.filter(workspace=workspace).order_by("slug")
        ),
    )


def _row(
    membership: Membership, seats: tuple[SeatRow, ...], has_second_factor: bool, links: dict[int, datetime]
) -> MemberRow:
    person = membership.person
    return MemberRow(
        person_id=person.pk,
        login=person.login,
        name=person.display_name,
        email=person.email,
        role=membership.role,
        seats=seats,
        is_active=person.is_active,
        is_erased=person.salt is None,
        has_password=person.has_usable_password(),
        has_second_factor=has_second_factor,
        link_ends_at=links.get(person.pk),
        last_login_at=person.last_login,
        since=membership.since,
    )


def _second_factors(people: list[int]) -> set[int]:
    kinds = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return set(Authenticator.objects.filter(user_id__in=people, type__in=kinds).values_list("user_id", flat=True))


def _links(people: list[int]) -> dict[int, datetime]:
    open_ones = Invitation.objects.filter(person_id__in=people, ended_at=None, expires_at__gt=database_now())
    return dict(open_ones.values_list("person_id", "expires_at"))
