"""Reads a whole log a page at a time, so that no statement lasts longer than a page takes.

A cursor that outlives its transaction makes PostgreSQL work out all rows at once: of a long log that ends in the
statement time-out, and fills its temporary files before. Pages need no snapshot, as a log only grows at its end.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from reviews.models import AuditEntry

ROWS = 500


def log_rows(entries: QuerySet[AuditEntry], *columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of entries in the order of the log; two at one place, which a log never has, by their keys."""
    rows = entries.order_by("seq", "pk").values_list("seq", "pk", *columns)
    after = rows
    while page := list(after[:ROWS]):
        for _, _, *values in page:
            yield tuple(values)
        seq, pk, *_ = page[-1]
        after = rows.filter(seq__gte=seq).exclude(seq=seq, pk__lte=pk)


def log_entries(entries: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """Yield entries with their payloads, in the same order."""
    rows = entries.select_related("payload").order_by("seq", "pk")
    after = rows
    while page := list(after[:ROWS]):
        yield from page
        after = rows.filter(seq__gte=page[-1].seq).exclude(seq=page[-1].seq, pk__lte=page[-1].pk)
