"""Local times of files, as far as they can be read: a moment without a zone, to be proposed and never taken."""

import re
from datetime import datetime

__all__ = ["moment_of"]

_FORMS = (
    (re.compile(r"([0-9]{8})-?([0-9]{6})"), "%Y%m%d%H%M%S"),
    (re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})"), "%Y-%m-%d%H:%M:%S"),
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
