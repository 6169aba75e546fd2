"""Times of documents: UTC, whole seconds, written with a Z."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache

from planner.records.evidence import Window

__all__ = ["lasting", "parsed_day", "parsed_time", "repeats", "seconds_between", "time_text", "window_seconds"]

# fromisoformat takes more forms than one, and the same moment must not have two texts in two plans.
_UTC = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def lasting(seconds: int) -> str:
    """Write a whole number of seconds in the largest unit that is exact: ``14 days``, ``90 minutes``."""
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    number = seconds // size
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


@lru_cache(maxsize=4096)
def parsed_time(text: str) -> datetime | None:
    """Read a UTC time of whole seconds; None where the zone is missing or there is no such time.

    What is no plain text is no time either: a caller of the library may give anything.
    """
    if type(text) is not str or not _UTC.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def parsed_day(text: str) -> date | None:
    """Read a day written ``2026-09-20``; None for every other form, and where there is no such day."""
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def time_text(moment: datetime) -> str:
    """Write a UTC time of whole seconds as documents have it; unlike ``strftime``, with four digits for any year."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def window_seconds(window: Window) -> Fraction | None:
    """Return end - start, 0 within one second; None where a time has no zone or is no time, or the end comes first."""
    return seconds_between(window.start, window.end)


@lru_cache(maxsize=4096)
def seconds_between(first: str, last: str) -> Fraction | None:
    """Return end - start of two written times; None where one is no time, or the end comes first."""
    start, end = parsed_time(first), parsed_time(last)
    if start is None or end is None or end < start:
        return None
    return Fraction(int((end - start).total_seconds()))


def repeats(spans: Sequence[tuple[str, str]]) -> int:
    """Count the spans (start, end) that repeat a measurement; times of equal form (UTC, whole seconds, Z) order as
    text."""
    if len(spans) < 2:
        return len(spans)
    found, last = 0, ("", "")
    for span in sorted((end, start) for start, end in spans):
        if found == 0 or (span[1] >= last[0] and span != last):
            found, last = found + 1, span
    return found
