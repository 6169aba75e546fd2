"""What people change about their own account, and what ends when an account is closed.

An account belongs to no workspace, so these acts are lines of the server's log, not entries of a workspace's.
"""

import structlog
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession

from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError, is_prose, length_of
from reviews.models import Person

log = structlog.get_logger("topogate.accounts")

NAME_LENGTH = 120


def person_rename(*, actor: Person, name: str) -> None:
    """Change one's printed name; the audit log knows people by their token and stays as it is.

    Raises:
        InvalidRequestError: it is no name that others can read.
    """
    name = name.strip()
    require_name(name)
    if name != actor.display_name:
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


def other_login_remove(*, actor: Person) -> None:
    """Unlink the login of the actor's organisation.

    Raises:
        ConflictError: there is no password to log in with afterwards.
    """
    if not actor.has_usable_password():
        raise ConflictError("It is your only way in. Set a password first.")
    SocialAccount.objects.filter(user=actor).delete()
    log.info("other_login.unlinked", person=actor.token)
