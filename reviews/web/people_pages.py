"""People and teams of a workspace: every member reads them, admins change them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from reviews.clock import when
from reviews.models import Role
from reviews.policies.roster import ROLE_WORDS, may_change_member, may_hold_seat
from reviews.selectors.roster import MemberRow, Roster, roster
from reviews.services.people_invitations import MadeInvitation
from reviews.services.people_roster import Invited
from reviews.web.frame import PersonRequest, frame, page, workspace_of
from reviews.web.words import Word

SEAT_WORDS = {"none": "No seat", "member": "Team member", "lead": "Lead"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLine:
    """A member as text."""

    login: str
    name: str
    href: str
    role: str
    does: str
    seats: tuple[str, ...]
    word: Word
    second_factor: str
    last_login: str
    is_you: bool


def member_line(row: MemberRow, slug: str, reader_id: int) -> MemberLine:
    """Make a line of a member."""
    return MemberLine(
        login=row.login,
        name=row.name,
        href=reverse("person", args=[slug, row.login]),
        role=ROLE_WORDS[row.role][0],
        does=ROLE_WORDS[row.role][1],
        seats=tuple(f"{seat.title}, lead" if seat.is_lead else seat.title for seat in row.seats),
        word=account_word(row),
        second_factor="yes" if row.has_second_factor else "no",
        last_login=when(row.last_login_at) if row.last_login_at else "never",
        is_you=row.person_id == reader_id,
    )


def account_word(row: MemberRow) -> Word:
    """Say in what state an account is."""
    if not row.is_active:
        return Word("Closed", "na", "na")
    if row.link_ends_at:
        return Word("Link open", "wait", "plain")
    return Word("Open", "pass", "pass") if row.has_password else Word("Link ran out", "stale", "unk")


@never_cache
@require_safe
@page
def people(request: PersonRequest, slug: str) -> HttpResponse:
    """List people and teams."""
    return people_page(request, slug)


def people_page(
    request: PersonRequest,
    slug: str,
    *,
    invited: Invited | None = None,
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    """Render the list, with a new link or with what is wrong with an invitation."""
    found = roster(actor=request.user, workspace=workspace_of(slug))
    context = frame(
        slug,
        "people",
        members=[member_line(row, slug, request.user.pk) for row in found.members],
        teams=team_lines(found, slug),
        may_administer=found.may_administer.allowed,
        roles=role_choices("member"),
        invited=invited,
        link=link_text(invited.invitation) if invited else {},
        problems=problems,
        typed={name: request.POST.get(name, "") if problems else "" for name in ("login", "name", "email")},
    )
    return render(request, "reviews/people.html", context, status=status)


def team_lines(found: Roster, slug: str) -> list[dict[str, Any]]:
    """Return the teams with links to their people."""
    return [
        {
            "title": team.title,
            "slug": team.slug,
            "leads": [(name, reverse("person", args=[slug, login])) for login, name, is_lead in team.people if is_lead],
            "members": [
                (name, reverse("person", args=[slug, login])) for login, name, is_lead in team.people if not is_lead
            ],
        }
        for team in found.teams
    ]


def role_choices(chosen: str) -> list[tuple[str, str, bool]]:
    """Return the roles as choices: value, text, whether it is the present one."""
    return [(role, f"{ROLE_WORDS[role][0]}: {ROLE_WORDS[role][1]}", role == chosen) for role in Role.values]


def link_text(made: MadeInvitation | None) -> dict[str, str]:
    """Return a link and its end as text; empty without one."""
    return {"address": made.address, "ends": when(made.expires_at)} if made else {}


@never_cache
@require_safe
@page
def person(request: PersonRequest, slug: str, login: str) -> HttpResponse:
    """Show one member, and to an admin what can be changed."""
    return person_page(request, slug, login)


def person_page(
    request: PersonRequest,
    slug: str,
    login: str,
    *,
    made: MadeInvitation | None = None,
    problems: tuple[str, ...] = (),
    status: int = 200,
) -> HttpResponse:
    """Render a member's page, with a new link or with what is wrong."""
    found = roster(actor=request.user, workspace=workspace_of(slug))
    row = found.member(login)
    may_change = may_change_member(found.standing, person_id=row.person_id)
    held = {seat.team: "lead" if seat.is_lead else "member" for seat in row.seats}
    context = frame(
        slug,
        "people",
        member=member_line(row, slug, request.user.pk),
        email=row.email,
        since=when(row.since),
        link_ends=when(row.link_ends_at) if row.link_ends_at else "",
        is_open=row.is_active,
        is_erased=row.is_erased,
        has_second_factor=row.has_second_factor,
        may_see=found.may_administer.allowed,
        may_change=may_change.allowed,
        why_not=may_change.reason if found.may_administer.allowed else "",
        roles=role_choices(row.role),
        no_seat=may_hold_seat(row.role).reason,
        teams=[
            (
                team.slug,
                team.title,
                [(seat, text, seat == held.get(team.slug, "none")) for seat, text in SEAT_WORDS.items()],
            )
            for team in found.teams
        ],
        link=link_text(made),
        problems=problems,
    )
    return render(request, "reviews/person.html", context, status=status)
