"""The tables of a bundle: entries of the log and sign-offs, as CSV that runs nothing.

A row is one line, so that a table is read line by line: where a text goes on on another line, ⏎ stands. The verifier
finds every row again in the log, all of it but the names of people.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from planner.canonical import file_sha256
from reviews.bundle.log_files import fields_of, is_shown
from reviews.bundle.reviewed import Names
from reviews.bundle.work import ROW, Work
from reviews.log_pages import log_rows
from reviews.models import AuditEntry
from reviews.spreadsheet import Value, csv_lines

ENTRY_COLUMNS = (
    *("seq", "at", "action", "decision", "revision", "who", "actor", "team", "meaning", "reason"),
    *("subject", "payload_type", "payload_sha256", "sha256"),
)
SIGNOFF_COLUMNS = (
    *("seq", "at", "decision", "revision", "team", "who", "person", "in_place_of", "meaning", "statement"),
    *("subject", "scope", "auth_method", "auth_age_s"),
)
_LINE_ENDS = re.compile("\r?\n")


def entries_csv(entries: QuerySet[AuditEntry], decision: int | None, names: Names, work: Work) -> Iterator[bytes]:
    """Yield the entries that are in the bundle in full; of what cannot be read its place and digest."""
    rows = work.over(log_rows(entries, "seq", "data"), ROW)
    return csv_lines(
        ENTRY_COLUMNS,
        (
            _entry({"seq": seq} | fields, file_sha256(bytes(data)), names)
            for seq, data in rows
            if is_shown(fields := fields_of(data), decision)
        ),
    )


def _entry(fields: dict[str, Any], sha256: str, names: Names) -> list[Value]:
    return table_cells(fields | {"who": names(fields.get("actor")), "sha256": sha256}, ENTRY_COLUMNS)


def signoffs_csv(entries: QuerySet[AuditEntry], decision: int | None, names: Names, work: Work) -> Iterator[bytes]:
    """Yield every sign-off that was given, whatever became of it."""
    rows = work.over(log_rows(entries, "data", "payload__data"), ROW)
    return csv_lines(
        SIGNOFF_COLUMNS,
        (
            _signoff(fields, fields_of(said), names)
            for data, said in rows
            if (fields := fields_of(data)).get("action") == "signoff.given"
            and decision in (None, fields.get("decision"))
        ),
    )


def _signoff(fields: dict[str, Any], said: dict[str, Any], names: Names) -> list[Value]:
    return table_cells(fields | said | {"who": names(said.get("person"))}, SIGNOFF_COLUMNS)


def table_cells(values: Mapping[str, Any], columns: Sequence[str]) -> list[Value]:
    """Return the cells of a row on one line: what is absent is empty, what is neither text nor number shown as text."""
    cells = (values.get(column) for column in columns)
    return [cell if cell is None or type(cell) is int else _LINE_ENDS.sub("⏎", str(cell)) for cell in cells]
