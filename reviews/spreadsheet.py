"""Cells that a spreadsheet opens as data: text that it would run as a formula is defused, numbers stay numbers."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["RISKY", "Value", "csv_lines", "defused"]

Value = str | int | float | None
# A spreadsheet runs a cell that begins with one of these; the last four are their full-width forms.
RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")


def defused(value: Value) -> Value:
    """Return the value with an apostrophe before text that a spreadsheet would run."""
    return f"'{value}" if isinstance(value, str) and value.startswith(RISKY) else value


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[bytes]:
    """Yield the lines of a CSV file one by one; an absent value is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(header)
    yield _taken(text)
    for row in rows:
        writer.writerow(["" if value is None else defused(value) for value in row])
        yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    line = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return line
