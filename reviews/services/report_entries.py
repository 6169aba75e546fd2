"""What an entry of the log says of a report, and of a place that flaps or has settled."""

from collections.abc import Sequence
from typing import Any

from reviews.clock import utc_text, when_exactly
from reviews.policies.report_news import News
from reviews.policies.validity import Difference, also_text
from reviews.selectors.slot_check import difference_text
from reviews.services.host_places import Change

REASON_LENGTH = 2000


def told_text(change: Change, differences: Sequence[Difference], place: str = "") -> str | None:
    """Say what a report is of: the first key in full, others by name, and whether its place flaps or has settled."""
    said = []
    course = change.told
    if change.news is News.FLAPS:
        said.append(f"It flaps: {course.changes} changes, each within an hour of the one before.")
    if change.news is News.SETTLED and course.flaps_since is not None:
        said.append(f"It has settled, after {course.changes:,} changes until {when_exactly(course.since)} UTC.")
    if differences:
        said.append(f"{difference_text(differences[0])}{also_text(differences)}")
    return f"{f'{place}: ' if place else ''}{' '.join(said)}"[:REASON_LENGTH] if said else None


def course_value(change: Change) -> dict[str, Any]:
    """Return what the payload says of a place that flaps or has settled; nothing of any other."""
    course = change.told
    if change.news not in (News.FLAPS, News.SETTLED) or course.flaps_since is None:
        return {}
    return {
        "flaps": change.news is News.FLAPS,
        "flaps_since": utc_text(course.flaps_since),
        "changes": course.changes,
        "flapped": list(course.flapped),
    }


def told_differences(now: Sequence[Difference], before: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return what differs now, and after it what did before and is as decided now."""
    keys = {one.key for one in now}
    return (*now, *(one for one in before if one.key not in keys))
