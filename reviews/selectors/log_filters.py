"""Which entries of the log somebody wants to see."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection
from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Lower, StrIndex

from planner.canonical import canonical_bytes
from reviews.errors import is_storable
from reviews.models import AuditEntry, Person

SYSTEM = "system"
REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """What to list; ``action`` is exact, a prefix with a full stop at its end (``signoff.``), or ``refused``.

    ``actor`` is a login, a part of a printed name, a token, or ``system``. ``since`` and ``until`` are whole days in
    UTC, both included. ``text`` is looked for in the bytes of entries, whatever its case in ASCII.
    """

    decision: int | None = None
    revision: int | None = None
    action: str = ""
    actor: str = ""
    team: str = ""
    digest: str = ""
    since: date | None = None
    until: date | None = None
    text: str = ""

    def of(self, entries: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Return those entries that fit."""
        if not all(map(is_storable, (self.action, self.actor, self.team, self.digest, self.text))):
            return entries.none()  # no stored text holds it, and PostgreSQL would not even take the question
        exact = {"decision_number": self.decision, "revision_number": self.revision, "team": self.team or None}
        named = Q(**{column: value for column, value in exact.items() if value is not None})
        fitting = entries.filter(
            named & _action(self.action) & _actor(self.actor) & _digest(self.digest) & self._days()
        )
        return fitting.annotate(place=_place(self.text)).filter(place__gt=0) if self.text else fitting

    def _days(self) -> Q:
        # RFC 3339 in UTC with a fixed number of digits sorts as text.
        since = Q(at__gte=self.since.isoformat()) if self.since else Q()
        until = Q(at__lt=(self.until + timedelta(days=1)).isoformat()) if self.until and self.until < date.max else Q()
        return since & until


def _action(action: str) -> Q:
    if action.endswith("."):
        return Q(action__startswith=action)
    if action == REFUSED:
        return Q(action__endswith=REFUSED)
    return Q(action=action) if action else Q()


def _actor(actor: str) -> Q:
    if not actor:
        return Q()
    if actor.lower() == SYSTEM:
        return Q(actor_token="")
    people = Person.objects.filter(Q(login=actor.lower()) | Q(display_name__icontains=actor))
    return Q(actor_token=actor) | Q(actor_token__in=people.values("token"))


def _digest(digest: str) -> Q:
    return Q(subject=digest) | Q(sha256=digest) | Q(payload_id=digest) if digest else Q()


class _Text(Func):
    """Stored bytes as text that letters can be compared in; never an error, whatever the bytes are."""

    template = "CAST(%(expressions)s AS text)"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Write what is no ASCII as octal numbers: to convert bytes that are no UTF-8 would be an error."""
        return self.as_sql(compiler, connection, template="encode(%(expressions)s, 'escape')", **context)


def _place(text: str) -> StrIndex:
    """Return where an entry's bytes hold a text, 0 where they do not. A text stands there as JSON writes it."""
    needle = canonical_bytes(text)[1:-1].lower()
    if connection.vendor == "postgresql":
        needle = b"".join(map(_escaped, needle))
    return StrIndex(Lower(_Text(F("data"))), Value(needle.decode()))


def _escaped(byte: int) -> bytes:
    """Write a byte as the ``escape`` form of PostgreSQL does."""
    if byte == ord("\\"):
        return b"\\\\"
    return bytes([byte]) if 0 < byte < 128 else b"\\%03o" % byte
