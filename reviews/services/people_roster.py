"""Acts of an admin on the people of a workspace: invite, role, seats, removal, closing an account, a new link.

Rules kept: every act is one entry of the audit log or more, in the transaction of the act; refused attempts are
entries too; nobody changes their own place, so a workspace keeps an admin; whoever loses a role that signs loses
their seats with it. Whether somebody may act is asked under the lock that every other act waits for.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Exists, OuterRef, Q

from reviews.audit import Act, append, refusals_recorded, workspaces_write
from reviews.clock import database_now
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    is_prose,
    length_of,
    printable,
)
from reviews.models import AuditEntry, Invitation, Membership, Person, Role, Team, TeamSeat, Workspace
from reviews.models.fields import slug_validator
from reviews.policies.permissions import Verdict, may_administer
from reviews.policies.roster import may_change_member, may_hold_seat, may_touch_account
from reviews.sealing import MADE_LINKS, derived_secret
from reviews.selectors.people import standing_of
from reviews.services.people import UNTRACED, Trace, member_add, roster_act, seat_give, seat_take
from reviews.services.people_accounts import NAME_LENGTH, sessions_finish
from reviews.services.people_invitations import MadeInvitation, invitation_made, invitation_make

SEATS = ("none", "member", "lead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who acts, where, and how they proved who they are."""

    person: Person
    workspace: Workspace
    trace: Trace = UNTRACED


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """Somebody new in a workspace; ``invitation`` is None where they had an account already."""

    person: Person
    invitation: MadeInvitation | None


def member_invite(*, asker: Asker, login: str, name: str, email: str, role: str, once: str = "") -> Invited:
    """Bring somebody into the workspace: with a new account and a link, or with the account that they have.

    The same again from the form that carried ``once`` returns the first link, for an hour and while nobody used it.

    Raises:
        NotFoundError: the asker is no member.
        NotAllowedError: the asker is no admin.
        InvalidRequestError: login, name, email or role is none; every problem is told.
        ConflictError: they are a member already, or the form made its link long ago, or one that is spent.
    """
    login, name, email = login.strip(), name.strip(), email.strip()
    with administering(asker, "invite", login):
        _require(may_administer(standing_of(asker.person, asker.workspace)))
        secret = derived_secret(MADE_LINKS, once, asker.person.token, asker.workspace.log_origin, login, role)
        earlier = invitation_made(secret)
        if earlier is not None:
            return Invited(person=earlier.person, invitation=earlier)
        person = Person.objects.filter(login=printable(login, NAME_LENGTH + 1)).first()
        findings = _findings(login=login, name=name, email=email, role=role, is_new=person is None)
        if findings:
            raise InvalidRequestError(findings)
        if person is not None and Membership.objects.filter(workspace=asker.workspace, person=person).exists():
            raise ConflictError(f"{person.display_name} ({login}) is a member already.")
        is_new = person is None
        person = person or Person.objects.create_user(login, None, display_name=name, email=email)
        member_add(workspace=asker.workspace, person=person, role=Role(role), actor=asker.person, trace=asker.trace)
        made = _link(asker, person, secret) if is_new else None
    return Invited(person=person, invitation=made)


def member_role_set(*, asker: Asker, login: str, role: str) -> None:
    """Give somebody another role; a role that never signs takes their seats.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin, or it is their own role.
        InvalidRequestError: there is no such role.
    """
    with administering(asker, "role", login, role=printable(role)):
        membership = _changed(asker, login)
        if role not in Role.values:
            raise InvalidRequestError((_finding("role", ", ".join(Role.values), printable(role) or "nothing"),))
        if not may_hold_seat(role).allowed:
            _take_seats(asker, membership)
        member_add(
            workspace=asker.workspace, person=membership.person, role=Role(role), actor=asker.person, trace=asker.trace
        )


def seats_set(*, asker: Asker, login: str, seats: Mapping[str, str]) -> None:
    """Give and take seats; ``seats`` names teams and what the member is there: ``none``, ``member`` or ``lead``.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin, or it is their own place.
        InvalidRequestError: no such team, or no such seat.
        ConflictError: the member's role never signs.
    """
    with administering(asker, "seats", login):
        membership = _changed(asker, login)
        known = set(Team.objects.filter(workspace=asker.workspace).values_list("slug", flat=True))
        findings = tuple(
            _finding(f"seat-{printable(team)}", " or ".join(SEATS) if team in known else "a team", printable(seat))
            for team, seat in sorted(seats.items())
            if team not in known or seat not in SEATS
        )
        if findings:
            raise InvalidRequestError(findings)
        verdict = may_hold_seat(membership.role)
        if not verdict.allowed and set(seats.values()) - {"none"}:
            raise ConflictError(verdict.reason)
        held = {seat.team.slug: seat for seat in TeamSeat.objects.filter(membership=membership).select_related("team")}
        for team, seat in sorted(seats.items()):
            if seat != "none":
                seat_give(
                    membership=membership, team=team, is_lead=seat == "lead", actor=asker.person, trace=asker.trace
                )
            elif team in held:
                seat_take(seat=held[team], actor=asker.person, trace=asker.trace)


def member_remove(*, asker: Asker, login: str) -> None:
    """Take somebody out of the workspace, at once; what they did stays theirs.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin, or it is themselves.
    """
    with administering(asker, "remove", login):
        membership = _changed(asker, login)
        _take_seats(asker, membership)
        Invitation.objects.filter(person_id=membership.person_id, workspace=asker.workspace, ended_at=None).update(
            ended_at=database_now()
        )
        membership.delete()
        append(asker.workspace, _act(asker, "removed", membership.person))


def account_close(*, asker: Asker, login: str) -> None:
    """Close an account: its sessions end now, its tokens and open links work no more, it logs in nowhere.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin of every workspace of the account, or it is their own.
    """
    _account_switch(asker=asker, login=login, is_active=False)


def account_open(*, asker: Asker, login: str) -> None:
    """Open a closed account again. What ended stays ended.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin of every workspace of the account.
    """
    _account_switch(asker=asker, login=login, is_active=True)


def _account_switch(*, asker: Asker, login: str, is_active: bool) -> None:
    name = "open" if is_active else "close"
    with administering(asker, name, login, everywhere=True):
        person = account_touched(asker, login)
        if person.is_active == is_active:
            return
        if person.salt is None:
            raise ConflictError("This person was erased. Nobody logs in as them again.")
        person.is_active = is_active
        person.save(update_fields=["is_active"])
        if not is_active:
            Invitation.objects.filter(person=person, ended_at=None).update(ended_at=database_now())
            sessions_finish(person=person, by=asker.person)
        for workspace in Workspace.objects.filter(memberships__person=person).order_by("pk"):
            append(workspace, _act(asker, "account_opened" if is_active else "account_closed", person))


def link_make(*, asker: Asker, login: str, forget_factors: bool = False, once: str = "") -> MadeInvitation:
    """Make a link for somebody who lost their password, and forget their second factors where these are lost too.

    The same again from the form that carried ``once`` returns the first link, for an hour and while nobody used it.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin of every workspace of the account, or it is their own.
        ConflictError: the account is closed, or the form made its link long ago, or one that is spent.
    """
    with administering(asker, "link", login):
        person = account_touched(asker, login)
        if not person.is_active:
            raise ConflictError("This account is closed. Open it first.")
        asked = (asker.person.token, asker.workspace.log_origin, login, "link", str(forget_factors))
        secret = derived_secret(MADE_LINKS, once, *asked)
        earlier = invitation_made(secret)
        if earlier is not None:
            return earlier
        if forget_factors:
            count, _ = Authenticator.objects.filter(user=person).delete()
            append(asker.workspace, _act(asker, "factors_forgotten", person, count=count))
        return _link(asker, person, secret)


@contextmanager
def administering(asker: Asker, attempt: str, login: str, *, everywhere: bool = False, **more: str) -> Iterator[None]:
    """Run a block as the workspace's only writer; a refusal names whom it was about by token, never by login.

    ``everywhere``: as the only writer of all workspaces whose log an act on the account of ``login`` has to tell.
    """
    # Strangers learn and leave nothing.
    standing_of(asker.person, asker.workspace)
    about = Person.objects.filter(login=printable(login)).first()
    refused = asker.trace.act(
        "roster.refused",
        asker.person.token,
        payload_type="topogate.roster/v1",
        payload={"attempt": attempt, "person": about.token if about else None, **more},
    )
    told = {place.pk for place in places_of(about)} if about and everywhere else set()
    with refusals_recorded(asker.workspace, refused), workspaces_write({asker.workspace.pk, *told}):
        yield


def places_of(person: Person) -> list[Workspace]:
    """Return the workspaces that somebody belongs to or ever acted in, in one order."""
    acted = AuditEntry.objects.filter(workspace=OuterRef("pk"), actor_token=person.token)
    return list(Workspace.objects.filter(Q(memberships__person=person) | Exists(acted)).distinct().order_by("pk"))


def _changed(asker: Asker, login: str) -> Membership:
    standing = standing_of(asker.person, asker.workspace)
    _require(may_administer(standing))
    membership = (
        Membership.objects.filter(workspace=asker.workspace, person__login=login).select_related("person").first()
    )
    if membership is None:
        raise NotFoundError(f"{asker.workspace.slug} has no member {printable(login)}.")
    _require(may_change_member(standing, person_id=membership.person_id))
    return membership


def account_touched(asker: Asker, login: str) -> Person:
    """Return a member whose account the asker may act on.

    Raises:
        NotFoundError: no such member.
        NotAllowedError: the asker is no admin of every workspace of the account, or it is their own.
    """
    person = _changed(asker, login).person
    theirs = Membership.objects.filter(person=person).values_list("workspace_id", flat=True)
    kept = Membership.objects.filter(person=asker.person, role=Role.ADMIN).values_list("workspace_id", flat=True)
    standing = standing_of(asker.person, asker.workspace)
    _require(may_touch_account(standing, person_id=person.pk, are_all_administered=set(theirs) <= set(kept)))
    return person


def _require(verdict: Verdict) -> None:
    if not verdict.allowed:
        raise NotAllowedError(verdict.reason)


def _take_seats(asker: Asker, membership: Membership) -> None:
    for seat in TeamSeat.objects.filter(membership=membership).select_related("team").order_by("team__slug"):
        seat_take(seat=seat, actor=asker.person, trace=asker.trace)


def _link(asker: Asker, person: Person, secret: str) -> MadeInvitation:
    return invitation_make(
        workspace=asker.workspace, person=person, actor=asker.person, secret=secret, trace=asker.trace
    )


def _act(asker: Asker, what: str, person: Person, **more: int) -> Act:
    return roster_act(what, person, asker.person, asker.trace, None, **more)


def _findings(*, login: str, name: str, email: str, role: str, is_new: bool) -> tuple[Finding, ...]:
    findings = []
    if not _passes(slug_validator, login):
        expected = "1 to 40 lower-case letters, digits and hyphens"
        findings.append(_finding("login", expected, printable(login) or "nothing"))
    if is_new and not (is_prose(name, NAME_LENGTH) and name.isprintable()):
        findings.append(_finding("name", f"1 to {NAME_LENGTH} printable characters", length_of(name)))
    if email and not _passes(validate_email, email):
        findings.append(_finding("email", "an address such as ada@example.org, or nothing", printable(email)))
    if role not in Role.values:
        findings.append(_finding("role", ", ".join(Role.values), printable(role) or "nothing"))
    return tuple(findings)


def _passes(validator: Any, text: str) -> bool:
    try:
        validator(text)
    except ValidationError:
        return False
    return True


def _finding(field: str, expected: str, found: str) -> Finding:
    return Finding("request", f"request/{field.split('-')[0]}", field, expected, found)
