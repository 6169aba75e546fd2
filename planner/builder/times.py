"""Local times of files, as far as they can be read: a moment without a zone, to be proposed and never taken."""

import re
from datetime import datetime, timedelta
from math import ceil

from planner.times import time_text

__all__ = ["MAX_SPAN_S", "moment_of", "span_before", "span_from"]

MAX_SPAN_S = 10 * 365 * 86_400
"""Ten years: no benchmark is longer, and no time before year 1 comes out."""

_FORMS = (
    (re.compile(r"([0-9]{8})-?([0-9]{6})"), "%Y%m%d%H%M%S"),
    (re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})"), "%Y-%m-%d%H:%M:%S"),
    (re.compile(r"([0-9]{4}/[0-9]{2}/[0-9]{2}) ([0-9]{2}:[0-9]{2}:[0-9]{2})"), "%Y/%m/%d%H:%M:%S"),
)
EARLIEST = 2000


def moment_of(text: str) -> datetime | None:
    """Return the moment that a text begins with, without zone; None where it holds none, or no year."""
    for form, layout in _FORMS:
        found = form.match(text)
        if found is None:
            continue
        try:
            moment = datetime.strptime(found[1] + found[2], layout)  # noqa: DTZ007 - files state no zone
        except ValueError:
            return None
        return moment if moment.year >= EARLIEST else None
    return None


def span_before(text: str, seconds: object) -> tuple[str, str] | None:
    """Return start and end of what took so long and ended at a local time, written as if that were UTC."""
    moment = moment_of(text)
    if moment is None or not _is_length(seconds):
        return None
    return time_text(moment - timedelta(seconds=ceil(float(str(seconds))))), time_text(moment)


def span_from(text: str, seconds: object) -> tuple[str, str] | None:
    """Return start and end of what began at a local time and took so long, written as if that were UTC."""
    moment = moment_of(text)
    if moment is None or not _is_length(seconds):
        return None
    try:
        return time_text(moment), time_text(moment + timedelta(seconds=ceil(float(str(seconds)))))
    except OverflowError:
        return None


def _is_length(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= MAX_SPAN_S
