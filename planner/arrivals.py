"""Who comes late to a group's collectives, and who would be the first to say so. For pages; no gate reads it.

Rules kept: arrivals are compared inside a group of peers only, so no clocks need aligning; the rank that waits longest
is the one that arrived first, and its timeout would expire first, so it reports what another rank caused; a rank is
late when it is behind the mean by more than one standard deviation and behind the median by more than a tenth of the
step, so that without a step nobody is called late; of late ranks that serve a request together, the one in the earliest
stage is named, because it makes the others late.

Not handled: single collectives of a trace, which evidence does not hold: lags and waits are those of a step.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from planner.rank_times import median, rank_time
from planner.readings import WindowView
from planner.records.base import UNSET

__all__ = ["LEAST_SHARE", "GroupArrivals", "Source", "arrivals", "earliest_late", "late_ranks"]

LEAST_SHARE = Fraction(1, 10)
"""Of the step: what a rank must be behind the median by to be late."""
Source = Literal["arrival_lag_ms", "collective_wait_ms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupArrivals:
    """One group of peers: ``behind`` is how long after the first each rank arrives, in ms."""

    ranks: tuple[int, ...]
    behind: Mapping[int, Fraction]
    late: tuple[int, ...]

    @property
    def first(self) -> int:
        """The rank that arrives first and waits longest; the lowest such."""
        return min(self.behind, key=lambda rank: (self.behind[rank], rank))

    @property
    def last(self) -> int:
        """The rank that arrives last; the lowest such."""
        return min(self.behind, key=lambda rank: (-self.behind[rank], rank))

    @property
    def spread(self) -> Fraction:
        """Time from the first arrival to the last, in ms."""
        return self.behind[self.last]


def arrivals(window: WindowView, groups: Iterable[Sequence[int]]) -> tuple[Source | None, tuple[GroupArrivals, ...]]:
    """Return what arrivals are read from, and the arrivals of every group of which all ranks have them.

    Recorded lags come first; without any, waits are turned round: who waits longest came first.
    """
    listed = [tuple(group) for group in groups if len(group) > 1]
    sources: tuple[Source, ...] = ("arrival_lag_ms", "collective_wait_ms")
    for source in sources:
        found = tuple(group for ranks in listed if (group := _group(window, source, ranks)) is not None)
        if found:
            return source, found
    return None, ()


def _group(window: WindowView, source: Source, ranks: tuple[int, ...]) -> GroupArrivals | None:
    values = {rank: rank_time(window, source, rank, UNSET).value for rank in ranks}
    known = {rank: value for rank, value in values.items() if value is not None}
    if len(known) < len(ranks):
        return None
    least, most = min(known.values()), max(known.values())
    behind = {rank: value - least if source == "arrival_lag_ms" else most - value for rank, value in known.items()}
    steps = [rank_time(window, "step_ms", rank, UNSET).value for rank in ranks]
    longest = max((step for step in steps if step is not None), default=None)
    return GroupArrivals(ranks=ranks, behind=behind, late=late_ranks(behind, longest))


def late_ranks(behind: Mapping[int, Fraction], step: Fraction | None) -> tuple[int, ...]:
    """Return the ranks that are late among their peers: all in ms; without a step nobody is."""
    if step is None:
        return ()
    values = list(behind.values())
    middle, mean = median(values), sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
    return tuple(
        rank
        for rank, value in behind.items()
        if value > mean and value - middle > LEAST_SHARE * step and (value - mean) ** 2 > variance
    )


def earliest_late(groups: Sequence[GroupArrivals], stage_of: Mapping[int, int]) -> tuple[int, tuple[int, ...]] | None:
    """Return the late rank of the earliest stage and the late ranks of later stages; None where nobody is late.

    ``groups`` serve a request together. Of several in that stage it is the one furthest behind, then the lowest.
    """
    late = [(stage_of.get(rank, 0), -group.behind[rank], rank) for group in groups for rank in group.late]
    if not late:
        return None
    stage, _, rank = min(late)
    return rank, tuple(sorted(other for at, _, other in late if at > stage))
