"""What people change about their own account, and what ends when an account is closed.

What changes how somebody proves who they are, or what they are called, is one entry in the log of every workspace that
they belong to: whoever judges a signature later sees that its factor was minutes old. It is found by comparing the
account before and after, so one request is one entry, whatever a library does on the way. Logins, log-outs, failed
attempts and ended sessions are no acts on what is decided and lines of the server's log only; otherwise anybody in
front of the login page could write in the log of every workspace.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.db import transaction

from reviews.audit import Act, append, workspaces_write
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError, is_prose, length_of
from reviews.models import Person, Workspace
from reviews.services.people import UNTRACED, Trace

log = structlog.get_logger("topogate.accounts")

NAME_LENGTH = 120


@dataclass(frozen=True, slots=True)
class _Account:
    """What of an account is worth an entry. Factors and other logins are (id, kind): using one changes none."""

    name: str
    password: str
    factors: frozenset[tuple[int, str]]
    other_logins: frozenset[tuple[int, str]]

    def changes_to(self, after: "_Account") -> list[str]:
        """Say what differs, in a fixed order and without anything that only the person may know."""
        changes = [name for name in ("name", "password") if getattr(self, name) != getattr(after, name)]
        for what, old, new in (
            ("factor", self.factors, after.factors),
            ("other_login", self.other_logins, after.other_logins),
        ):
            changes += [f"{what}_added:{kind}" for _, kind in sorted(new - old)]
            changes += [f"{what}_removed:{kind}" for _, kind in sorted(old - new)]
        return changes


@contextmanager
def account_changing(*, person: Person, trace: Trace = UNTRACED, waits_first: bool = True) -> Iterator[None]:
    """Run a block that may change a person's own account; what it changed is one entry in each of their workspaces.

    ``waits_first`` False takes the locks only once something changed: for blocks that ask another server first, and
    that touch no row which an admin's act on the account touches too.
    """
    places = list(Workspace.objects.filter(memberships__person=person).order_by("pk"))
    with workspaces_write([place.pk for place in places]) if waits_first else transaction.atomic():
        before = _account(person)
        yield
        changes = before.changes_to(_account(person))
        if not waits_first:
            # Such a block sets no password; it may store the same one anew, hashed as is usual by now.
            changes = [change for change in changes if change != "password"]
        for place in places if changes else ():
            append(place, _changed(person, trace, changes))


def _account(person: Person) -> _Account:
    name, password = Person.objects.values_list("display_name", "password").get(pk=person.pk)
    return _Account(
        name=name,
        password=password,
        factors=frozenset(Authenticator.objects.filter(user=person).values_list("pk", "type")),
        other_logins=frozenset(SocialAccount.objects.filter(user=person).values_list("pk", "provider")),
    )


def _changed(person: Person, trace: Trace, changes: list[str]) -> Act:
    payload = {"person": person.token, "changes": changes}
    return trace.act("account.changed", person.token, payload_type="topogate.account/v1", payload=payload)


def person_rename(*, actor: Person, name: str, trace: Trace = UNTRACED) -> None:
    """Change one's printed name; the audit log knows people by their token and says only that it changed.

    Raises:
        InvalidRequestError: it is no name that others can read.
    """
    name = name.strip()
    require_name(name)
    if name != actor.display_name:
        with account_changing(person=actor, trace=trace):
            actor.display_name = name
            actor.save(update_fields=["display_name"])
        log.info("account.renamed", person=actor.token)


def require_name(name: str) -> None:
    """Raise unless it is a name.

    Raises:
        InvalidRequestError: it is empty, too long, or holds signs that nobody sees.
    """
    if not is_prose(name, NAME_LENGTH) or not name.isprintable():
        expected = f"1 to {NAME_LENGTH} printable characters"
        raise InvalidRequestError((Finding("request", "request/name", "name", expected, length_of(name)),))


def session_finish(*, actor: Person, session_id: int) -> str:
    """End one session of the actor's own and return its key.

    Raises:
        NotFoundError: there is no such session of theirs.
    """
    session = UserSession.objects.filter(pk=session_id, user=actor).first()
    if session is None:
        raise NotFoundError("You have no such session. It may have ended meanwhile.")
    session.end()
    log.info("session.ended", person=actor.token, by=actor.token)
    return str(session.session_key)


def sessions_finish(*, person: Person, by: Person | None, but: str | None = None) -> int:
    """End every session of a person, but for one key, and return how many ended."""
    ended = 0
    for session in UserSession.objects.filter(user=person).exclude(session_key=but or "").order_by("pk"):
        session.end()
        ended += 1
    log.info("session.ended", person=person.token, by=by.token if by else None, count=ended)
    return ended


def other_login_remove(*, actor: Person, trace: Trace = UNTRACED) -> None:
    """Unlink the login of the actor's organisation.

    Raises:
        ConflictError: there is no password to log in with afterwards.
    """
    if not actor.has_usable_password():
        raise ConflictError("It is your only way in. Set a password first.")
    with account_changing(person=actor, trace=trace):
        SocialAccount.objects.filter(user=actor).delete()
    log.info("other_login.unlinked", person=actor.token)
