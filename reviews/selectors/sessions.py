"""Where a person is logged in."""

from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession

from reviews.models import Person


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session that is alive. ``address`` is that of the connection at its login."""

    id: int
    address: str
    user_agent: str
    began_at: datetime
    key: str


def session_rows(person: Person) -> tuple[SessionRow, ...]:
    """Return the sessions of a person, the newest first; what ended meanwhile is cleared away."""
    alive = UserSession.objects.purge_and_list(person)
    rows = (SessionRow(row.pk, row.ip, row.user_agent, row.created_at, row.session_key) for row in alive)
    return tuple(sorted(rows, key=lambda row: (row.began_at, row.id), reverse=True))
