"""When a value of production counts as out of its envelope, and when no more. Pure.

Rules kept: what is seen once stands out at once, for a rank that runs out of memory waits for nobody; it is over only
after it was judged and found within for half an hour of production's own time, so a value that goes up and down around
its limit is one finding and not one every ten minutes, however often collectors report. What cannot be judged neither
opens nor ends anything.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

__all__ = ["CALM", "Level", "Standing", "level_of", "next_standing"]

CALM = timedelta(minutes=30)
"""For so long a value has to be within before its finding is closed, or a breach counts as drift alone."""

Level = Literal["BREACH", "DRIFT", "WITHIN"]
_WEIGHT: dict[str, int] = {"WITHIN": 0, "DRIFT": 1, "BREACH": 2}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a finding stands: its level, and since when the value is calmer than that, None while it is not."""

    level: Level
    calm_since: datetime | None = None


def level_of(state: str, drifted: bool | None) -> Level | None:
    """Return what a comparison says of a value: ``state`` and ``drifted`` as the planner has them; None: nothing."""
    if state == "BREACH":
        return "BREACH"
    if drifted:
        return "DRIFT"
    if state == "WITHIN" or (state == "NO_LIMIT" and drifted is False):
        return "WITHIN"
    return None


def next_standing(known: Standing, seen: Level, at: datetime, *, judged_at: datetime) -> Standing:
    """Return how a finding stands after a span that ended at ``at``; at the level WITHIN it is over.

    ``judged_at`` is the end of the last span that it was judged by: a calm one from before the value was seen out of
    bounds, sent late, says nothing of what came after it.
    """
    if _WEIGHT[seen] >= _WEIGHT[known.level]:
        return Standing(seen)
    if known.calm_since is None and at < judged_at:
        return known
    since = known.calm_since or at
    return Standing(seen) if at - since >= CALM else Standing(known.level, since)
