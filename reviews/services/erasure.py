"""Erases a person: what names them goes, what they did stays, under the token that the log knows them by.

Rules kept: the salt that the token was made with is destroyed, so nothing leads from it to somebody any more; rows that
only grow hold no names and are left as they are, so the log verifies afterwards; the erasure is one entry in the log of
every workspace that the person belongs to or acted in. An account is closed first, which is an act of its own and says
what becomes of its seats.

Not handled: what people typed in their own words (statements, reasons, comments, labels), as the log proves it; copies
that left the database, which are backups, sent mail and downloads; comments published before mentions were kept as
labels, of which the answer says how many there are.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session

from reviews.audit import Act, append, workspaces_write
from reviews.clock import database_now
from reviews.errors import ConflictError, Finding, InvalidRequestError, printable
from reviews.models import (
    ApiToken,
    Comment,
    CommentDraft,
    Delivery,
    Draft,
    Export,
    Invitation,
    NoticePreference,
    Person,
    SavedView,
    Workspace,
)
from reviews.models.people import token_label
from reviews.policies.mentions import mentioned, relabelled
from reviews.services.people import UNTRACED
from reviews.services.people_roster import Asker, account_touched, administering, places_of

ERASED_LABEL = "erased"


@dataclass(frozen=True, slots=True)
class Erased:
    """What is left of somebody: the login in the place of theirs, and how many published texts still say the old one.

    ``workspaces`` are the slugs of those whose log holds the entry.
    """

    login: str
    token: str
    workspaces: tuple[str, ...]
    texts_left: int


def member_erase(*, asker: Asker, login: str, repeated: str) -> Erased:
    """Erase a member whose account is closed. It cannot be undone.

    ``repeated`` is the login once more, typed by somebody who means it.

    Raises:
        NotFoundError: the asker is no member, or there is no such member.
        NotAllowedError: the asker is no admin of every workspace of the person, or it is themselves.
        InvalidRequestError: the login was not repeated.
        ConflictError: the account is open, or they were erased before.
    """
    with administering(asker, "erase", login, everywhere=True):
        person = account_touched(asker, login)
        if repeated.strip() != login:
            finding = Finding("request", "request/login", "login", login, printable(repeated) or "nothing")
            raise InvalidRequestError((finding,))
        return _erased(person, places_of(person), asker)


def person_erase(*, login: str) -> Erased:
    """Erase somebody from the server's shell, whether or not they belong to a workspace any more.

    Raises:
        ConflictError: there is no such account, it is open, or they were erased before.
    """
    person = Person.objects.filter(login=login).first()
    if person is None:
        raise ConflictError(f"There is no account {printable(login)}.")
    places = places_of(person)
    with workspaces_write([place.pk for place in places]):
        return _erased(Person.objects.get(pk=person.pk), places, None)


def _erased(person: Person, places: Iterable[Workspace], asker: Asker | None) -> Erased:
    if person.salt is None:
        raise ConflictError("This person was erased before.")
    if person.is_active and person.memberships.exists():
        raise ConflictError("This account is open. Close it first: what becomes of its seats is an act of its own.")
    login = person.login
    _forget_ways_in(person)
    _forget_what_is_theirs(person)
    _rename_in_drafts(login, token_label(person.token))
    # Bundles that are kept for fetching name people; whoever needs one asks again.
    Export.objects.filter(workspace__in=places).delete()
    _empty(person)
    left = sum(
        login in mentioned(text)
        for text in Comment.objects.filter(text__contains=f"@{login}").values_list("text", flat=True)
    )
    for place in places:
        append(place, _act(person, asker))
    return Erased(person.login, person.token, tuple(place.slug for place in places), left)


def _act(person: Person, asker: Asker | None) -> Act:
    trace, actor = (asker.trace, asker.person.token) if asker else (UNTRACED, None)
    payload = {"person": person.token}
    return trace.act("person.erased", actor, payload_type="topogate.roster/v1", payload=payload)


def _forget_ways_in(person: Person) -> None:
    """Delete sessions, factors, other logins, addresses, and what was noted of attempts to log in."""
    for session in UserSession.objects.filter(user=person):
        session.end()
    for row in Session.objects.iterator():
        if row.get_decoded().get(SESSION_KEY) == str(person.pk):
            row.delete()
    for held in (Authenticator, SocialAccount, EmailAddress, UserSession):
        held.objects.filter(user=person).delete()
    for noted in (AccessAttempt, AccessFailureLog, AccessLog):
        noted.objects.filter(username=person.login).delete()
    now = database_now()
    Invitation.objects.filter(person=person, ended_at=None).update(ended_at=now)
    ApiToken.objects.filter(person=person, revoked_at=None).update(revoked_at=now)
    ApiToken.objects.filter(person=person).update(label=ERASED_LABEL)


def _forget_what_is_theirs(person: Person) -> None:
    """Delete what nobody else ever saw, and what was to be sent to them."""
    for kept in (Delivery, NoticePreference, SavedView, CommentDraft, Draft):
        kept.objects.filter(person=person).delete()


def _rename_in_drafts(login: str, label: str) -> None:
    """Take the login out of comments that others have not published yet."""
    for draft in CommentDraft.objects.filter(text__contains=f"@{login}"):
        draft.text = relabelled(draft.text, {login: label})
        draft.save(update_fields=["text"])


def _empty(person: Person) -> None:
    """Leave of the person a row that the facts point to: a token, and a login and a name made of it."""
    mark = token_label(person.token).removeprefix("person-")
    person.login, person.display_name = f"{ERASED_LABEL}-{mark}", f"Erased person {mark[:8]}"
    person.email, person.last_login, person.is_active, person.is_superuser = "", None, False, False
    person.uid, person.salt = uuid.uuid4(), None
    person.set_unusable_password()
    person.save()
    person.groups.clear()
    person.user_permissions.clear()
