"""A kind of fact, what entries say of one, and how both write their values."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, QuerySet

from planner.canonical import canonical_bytes
from reviews.clock import utc_text
from reviews.models import Workspace

Fact = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What an entry says. ``ordinal`` counts the entries with its action so far, from one."""

    seq: int
    action: str
    decision: int | None
    revision: int | None
    actor: str | None
    team: str | None
    meaning: str | None
    reason: str | None
    subject: str | None
    payload: Fact
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fact. ``key`` are the fields that rows are looked up by; every entry has them.

    ``perhaps`` are actions that may record a fact which another entry recorded already.
    """

    what: str
    model: type[Model]
    actions: tuple[str, ...]
    workspace: str
    related: tuple[str, ...]
    key: tuple[str, ...]
    of_row: Callable[[Any], Fact]
    of_entry: Callable[[Said], Iterable[Fact]]
    perhaps: tuple[str, ...] = ()
    prefetched: tuple[str, ...] = ()

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        """Return the stored facts of a workspace, the oldest first."""
        manager: Any = self.model._default_manager
        rows: QuerySet[Any] = manager.filter(**{self.workspace: workspace}).select_related(*self.related)
        return rows.prefetch_related(*self.prefetched).order_by("pk")


def time_said(moment: datetime | None) -> str | None:
    """Write a time as entries do."""
    return None if moment is None else utc_text(moment)


def canonical_text(value: Any) -> str:
    """Write a JSON value so that equal ones are the same text."""
    return canonical_bytes(value).decode()


def picked(payload: Fact, *names: str, **renamed: str) -> Fact:
    """Take fields of a payload as they are, and some under another name; what is not there is left out."""
    fields = {name: name for name in names} | renamed
    return {new: payload[old] for new, old in fields.items() if old in payload}
