"""CSV that a spreadsheet opens as data: text that would be read as a formula is defused, numbers stay numbers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from django.http import HttpResponse

from reviews.spreadsheet import RISKY, Value, csv_lines, defused

__all__ = ["RISKY", "Value", "attachment", "csv_response", "defused", "plain"]


def plain(value: Fraction | None) -> Value:
    """Return a figure for a spreadsheet: whole numbers in full, others as the nearest double, or in digits where there
    is none that large."""
    if value is None:
        return None
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return str(round(value))


def csv_response(name: str, header: Sequence[str], rows: Iterable[Sequence[Value]]) -> HttpResponse:
    """Answer with a CSV file; an absent value is an empty field."""
    return attachment(b"".join(csv_lines(header, rows)), name, "text/csv; charset=utf-8")


def attachment(data: bytes, name: str, content_type: str) -> HttpResponse:
    """Answer with bytes to be saved, never to be shown or guessed at."""
    return HttpResponse(
        data,
        content_type=content_type,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )
