"""What of reports that come every minute is told: what a host says anew, and why it is refused. Pure.

Rules kept: nothing is told twice, and what changes too often is told when that begins and when it ends; in between a
host flaps, which never counts as decided. Another subject begins anew: what flapped was of another decision.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

CALM = timedelta(hours=1)
"""A change sooner than this after the one before is one of a series; who flapped has settled after as long."""
MOST_CHANGES = 3
"""Changes of a series that are told each; with one more it flaps."""
KEYS_KEPT = 50
REFUSED_ANEW = timedelta(days=1)
"""A refusal is told again where there was none for that reason for so long."""


class News(StrEnum):
    """What a report is, after the one before it."""

    NOTHING = "nothing"
    NEW = "new"
    FLAPS = "flaps"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a place went on: it says the same ``since``, after so many ``changes`` of one series.

    ``flapped`` are the first keys that differed while it flaps, which it does since ``flaps_since``.
    """

    since: datetime
    changes: int = 0
    flaps_since: datetime | None = None
    flapped: tuple[str, ...] = ()


def course_after(known: Course | None, *, is_same: bool, keys: Sequence[str], now: datetime) -> tuple[Course, News]:
    """Return how a place goes on with a report, and what that report is.

    ``known`` is None where nothing was compared with this subject before; ``is_same`` where its outcome is the last
    one; ``keys`` differ now.
    """
    if known is None:
        return Course(since=now), News.NEW
    if is_same:
        if known.flaps_since is not None and now - known.since >= CALM:
            return Course(since=known.since), News.SETTLED
        return known, News.NOTHING
    if known.flaps_since is not None:
        flapped = tuple(dict.fromkeys((*known.flapped, *keys)))[:KEYS_KEPT]
        return replace(known, since=now, changes=known.changes + 1, flapped=flapped), News.NOTHING
    changes = known.changes + 1 if now - known.since < CALM else 1
    if changes <= MOST_CHANGES:
        return Course(since=now, changes=changes), News.NEW
    return Course(since=now, changes=changes, flaps_since=now, flapped=tuple(keys[:KEYS_KEPT])), News.FLAPS


def refused_again(kept: str, reasons: Iterable[str], now: datetime) -> tuple[str, bool]:
    """Return what is kept of refusals with one more, and whether it is for no reason that is new."""
    known = msgspec.json.decode(kept, type=dict[str, int]) if kept else {}
    second = int(now.astimezone(UTC).timestamp())
    anew = second - int(REFUSED_ANEW.total_seconds())
    fresh = {reason: at for reason, at in known.items() if at > anew}
    told = dict.fromkeys(reasons, second)
    return msgspec.json.encode(fresh | told, order="sorted").decode(), told.keys() <= fresh.keys()
