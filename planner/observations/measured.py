"""One bound of the envelope, and the windows that it is read from."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from planner.numbers import exact
from planner.records.evidence import Trial, Window

__all__ = ["Entry", "Measured", "Seen", "entry_of"]

TRACED = ("counted", "instrumented")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One bound. ``statistic`` is max, mean, a percentile (p95), ``share`` (of requests) or ``rate`` (a second).

    ``rank``, ``link`` and ``shape`` say of what it is, None of every one; ``limit`` may not be exceeded, ``qualified``
    is the worst that was measured. Pointers are of contract and evidence. ``load`` is how many requests run at once at
    the load point that it was measured and limited at, None where it holds at any load.
    """

    metric: str
    statistic: str
    load: int | None = None
    rank: int | None = None
    link: str | None = None
    shape: str | None = None
    limit: Fraction | None = None
    limit_at: str = ""
    qualified: Fraction | None = None
    qualified_at: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A measured value and its pointer."""

    value: Fraction
    at: str


class Measured:
    """The windows of the trial, with their pointers."""

    def __init__(self, trial_id: str, trial: Trial) -> None:
        self.at = f"/trials/{trial_id}"
        self.windows = [(f"{self.at}/windows/{name}", window) for name, window in trial.windows.items()]

    def worst(
        self, read: Callable[[Window], Any], place: str, *, load_point: str | None = None, traced: bool = False
    ) -> Seen | None:
        """Return the largest value that ``read`` gives in a counted window, None where none gives one."""
        purposes = TRACED if traced else ("counted",)
        found = []
        for at, window in self.windows:
            if window.purpose in purposes and load_point in (None, window.load_point):
                value = read(window)
                if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
                    found.append(Seen(exact(value), f"{at}/{place}"))
        return max(found, key=lambda seen: seen.value, default=None)


def entry_of(metric: str, statistic: str, seen: Seen | None, bound: tuple[Fraction, str] | None, **of: Any) -> Entry:
    """Return an entry of what was measured and allowed; ``bound`` is limit and pointer, ``of`` what it is of."""
    return Entry(
        metric=metric,
        statistic=statistic,
        limit=None if bound is None else bound[0],
        limit_at="" if bound is None else bound[1],
        qualified=None if seen is None else seen.value,
        qualified_at="" if seen is None else seen.at,
        **of,
    )
