"""Calls of collectives by group and rank, which of them belong together, and how late every rank came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["SYNCHRONOUS", "Call", "Calls", "lags", "late_clock", "ranked"]

MAX_CALLS = 500_000

SYNCHRONOUS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
"""No rank can end one of these before the last has begun."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one rank: microseconds, kind, bytes of the message, line of the file."""

    start: float
    end: float
    kind: str
    message_bytes: int | float
    line: int


class Calls:
    """The calls of a trace."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[int, list[Call]]] = {}
        self._count = 0

    def add(self, group: str, rank: int, call: Call) -> bool:
        """Keep a call; say whether there was room."""
        if self._count >= MAX_CALLS:
            return False
        self._count += 1
        self._calls.setdefault(group, {}).setdefault(rank, []).append(call)
        return True

    def groups(self) -> list[str]:
        """Return the groups in the order of the file."""
        return list(self._calls)

    def by_kind(self) -> dict[tuple[str, str, int | float], list[Call]]:
        """Return the calls of every group, kind and size."""
        kinds: dict[tuple[str, str, int | float], list[Call]] = {}
        for group, ranks in self._calls.items():
            for calls in ranks.values():
                for call in calls:
                    kinds.setdefault((group, call.kind, call.message_bytes), []).append(call)
        return kinds

    def ranks(self, group: str) -> list[int]:
        """Return the ranks of a group, lowest first."""
        return sorted(self._calls[group])

    def of_rank(self, group: str, rank: int) -> list[Call]:
        """Return the calls of one rank, first to last."""
        return sorted(self._calls[group].get(rank, ()), key=lambda call: call.start)

    def together(self, group: str) -> Iterator[tuple[Call, ...]]:
        """Yield the calls of every collective, one a rank in the order of ``ranks``: the n-th of every rank by start.

        Raises:
            ValueError: the ranks have different numbers of calls.
        """
        return zip(*(self.of_rank(group, rank) for rank in self.ranks(group)), strict=True)


def lags(calls: Calls, group: str) -> dict[int, list[float]] | None:
    """Return how long after the first every rank began each collective; None where the calls do not match."""
    ranks = calls.ranks(group)
    behind: dict[int, list[float]] = {rank: [] for rank in ranks}
    try:
        for together in calls.together(group):
            if len({(call.kind, call.message_bytes) for call in together}) > 1:
                return None
            first = min(call.start for call in together)
            for rank, call in zip(ranks, together, strict=True):
                behind[rank].append(call.start - first)
    except ValueError:
        return None
    return behind


def late_clock(calls: Calls, group: str) -> int | None:
    """Return the line of a call that ended before another rank began it, which only clocks that disagree can show."""
    for together in calls.together(group):
        earliest = min(together, key=lambda call: call.end)
        if earliest.kind in SYNCHRONOUS and earliest.end < max(call.start for call in together):
            return earliest.line
    return None


def ranked(values: Sequence[float], percent: int) -> float:
    """Return the nearest-rank percentile of sorted values."""
    return values[-(-percent * len(values) // 100) - 1]
