"""One-time links with which people set their password: made by an admin or on the server's shell, used once.

Rules kept: only a digest of a link is stored and the link itself is shown once; a person has one open link at most,
and a later one ends the earlier; a link ends by itself; using it ends every session and every open link of the person.
Making and using are entries of the audit log of the workspace that the person was invited to.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from reviews.audit import append, workspace_write
from reviews.clock import database_now, utc_text
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotFoundError
from reviews.models import Invitation, Person, Workspace
from reviews.services.people import UNTRACED, Trace, roster_act
from reviews.services.shown_again import shown_again_require

FORM = re.compile(r"[A-Za-z0-9_-]{43}")
JOIN = "/join/"
JUST_NOW = timedelta(minutes=1)
"""A double click takes less than a second. Longer, and whoever finds a used link could try passwords with it."""
SPENT = "This link was used, replaced by a later one, or is too old. Ask an admin for another."


@dataclass(frozen=True, slots=True)
class MadeInvitation:
    """A new link. ``path`` exists nowhere else and is never shown again."""

    person: Person
    path: str
    expires_at: datetime

    @property
    def address(self) -> str:
        """The link in full."""
        return f"{settings.PUBLIC_URL}{self.path}"


def invitation_make(
    *,
    workspace: Workspace,
    person: Person,
    actor: Person | None = None,
    secret: str = "",
    trace: Trace = UNTRACED,
) -> MadeInvitation:
    """Make a link for a person of the workspace. Who may ask for one is the caller's question.

    ``secret`` is what the link ends with, random where it is left out.
    """
    secret = secret or secrets.token_urlsafe(32)
    with workspace_write(workspace.pk):
        now = database_now()
        Invitation.objects.filter(person=person, ended_at=None).update(ended_at=now)
        made = Invitation.objects.create(
            workspace=workspace,
            person=person,
            sha256=_digest(secret),
            made_by=actor,
            expires_at=now + timedelta(hours=settings.INVITATION_HOURS),
        )
        append(workspace, roster_act("link_made", person, actor, trace, expires_at=utc_text(made.expires_at)))
    return MadeInvitation(person, f"{JOIN}{secret}", made.expires_at)


def invitation_made(secret: str) -> MadeInvitation | None:
    """Return the open link with this secret, None where none was ever made with it.

    Raises:
        ConflictError: it was made long ago, or opens nothing any more; whoever asks for it again gets another one.
    """
    found = Invitation.objects.filter(sha256=_digest(secret)).select_related("person").first()
    if found is None:
        return None
    what, instead = f"the link for {found.person.display_name}", "Make another link on their page."
    shown_again_require(made_at=found.made_at, what=what, instead=instead)
    if found.ended_at is not None:
        raise ConflictError(f"This form made {what}, which was used or replaced since. {instead}")
    return MadeInvitation(found.person, f"{JOIN}{secret}", found.expires_at)


def invitation_open(secret: str) -> Invitation:
    """Return the invitation of a link, without using it.

    Raises:
        NotFoundError: it is none, was used or replaced, is too old, or its person is switched off.
    """
    found = None
    if FORM.fullmatch(secret):
        found = _open().filter(sha256=_digest(secret), person__is_active=True).first()
    if found is None:
        raise NotFoundError(SPENT)
    return found


def invitation_use(*, secret: str, password: str, repeated: str, request_id: str = "") -> Person:
    """Set the person's password and end the link; the same again at once, as by a double click, changes nothing.

    Raises:
        NotFoundError: see ``invitation_open``; also when somebody used it at the same moment.
        InvalidRequestError: the password is none that is accepted; every reason is told.
    """
    try:
        return _used(invitation_open(secret), password, repeated, request_id)
    except NotFoundError:
        person = _person_of_used(secret, password) if password == repeated else None
        if person is None:
            raise
        return person


def _used(invitation: Invitation, password: str, repeated: str, request_id: str) -> Person:
    person = invitation.person
    findings = _findings(person, password, repeated)
    if findings:
        raise InvalidRequestError(findings)
    with transaction.atomic(), workspace_write(invitation.workspace_id):
        ended = Invitation.objects.filter(pk=invitation.pk, ended_at=None).update(ended_at=database_now())
        if not ended:
            raise NotFoundError(SPENT)
        person.set_password(password)
        person.save(update_fields=["password"])
        append(invitation.workspace, roster_act("link_used", person, person, Trace(request_id)))
    return person


def _person_of_used(secret: str, password: str) -> Person | None:
    """Return whose link ended a moment ago, where this is the password that they have now."""
    just_now = Invitation.objects.filter(sha256=_digest(secret), ended_at__gt=database_now() - JUST_NOW)
    found = just_now.filter(person__is_active=True).select_related("person").first()
    return found.person if found is not None and found.person.check_password(password) else None


def _findings(person: Person, password: str, repeated: str) -> tuple[Finding, ...]:
    findings = []
    try:
        validate_password(password, person)
    except ValidationError as error:
        findings += [
            Finding("request", "request/password", "password", "one that is hard to guess", message.rstrip("."))
            for message in error.messages
        ]
    if password != repeated:
        findings.append(Finding("request", "request/repeated", "repeated", "the same password again", "another"))
    return tuple(findings)


def _open() -> QuerySet[Invitation]:
    live = Invitation.objects.filter(ended_at=None, expires_at__gt=database_now())
    return live.select_related("person", "workspace")


def _digest(secret: str) -> str:
    # 256 random bits need no slow hash: there is nothing to guess from.
    return f"sha256:{hashlib.sha256(secret.encode()).hexdigest()}"
