"""Reads a whole log a page at a time, so that no statement lasts longer than a page takes.

A cursor that outlives its transaction makes PostgreSQL work out all rows at once: of a long log that ends in the
statement time-out, and fills its temporary files before. Pages need no snapshot, as a log only grows at its end.
"""

from collections.abc import Callable, Iterator
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from django.db.models import QuerySet

from reviews.models import AuditEntry

ROWS = 500
Row = TypeVar("Row")


def log_rows(entries: QuerySet[AuditEntry], *columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of entries in the order of the log; two at one place, which a log never has, by their keys."""
    for _, _, *values in _paged(entries.values_list("seq", "pk", *columns), itemgetter(0, 1)):
        yield tuple(values)


def log_entries(entries: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """Yield entries with their payloads, in the same order."""
    yield from _paged(entries.select_related("payload"), attrgetter("seq", "pk"))


def _paged(rows: QuerySet[AuditEntry, Row], place: Callable[[Row], tuple[int, int]]) -> Iterator[Row]:
    """Yield rows a page after the other; ``place`` tells where one stands."""
    rows = rows.order_by("seq", "pk")
    after = rows
    while page := list(after[:ROWS]):
        yield from page
        seq, pk = place(page[-1])
        after = rows.filter(seq__gte=seq).exclude(seq=seq, pk__lte=pk)
