"""Timelines of the ranks of one group around one collective: what each did, and how long it waited.

Rules kept: every rank's time is counted from its own end of that collective, in which all of them leave together, so no
common clock is needed; calls of all its groups are there, at most so many before and after.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.importers.trace_calls import Call, Calls

__all__ = ["MOST", "Span", "timelines"]

MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One call of one rank: microseconds from the end of the collective that all are counted from."""

    group: str
    kind: str
    message_bytes: int | float
    start_us: float
    end_us: float
    waiting_us: float


def timelines(calls: Calls, group: str, nth: int, *, most: int = MOST) -> dict[int, tuple[Span, ...]]:
    """Return rank -> its calls around the ``nth`` (from 0) of a group, in time.

    Raises:
        KeyError: there is no such group.
    """
    waits = {name: _waits(calls, name) for name in calls.groups()}
    made_by: dict[int, list[tuple[str, int, Call]]] = {rank: [] for rank in calls.ranks(group)}
    for name in calls.groups():
        for rank in calls.ranks(name):
            if rank in made_by:
                made_by[rank] += [(name, at, call) for at, call in enumerate(calls.of_rank(name, rank))]
    found: dict[int, tuple[Span, ...]] = {}
    for rank, made in made_by.items():
        own = calls.of_rank(group, rank)
        if nth >= len(own):
            continue
        zero = own[nth].end
        every = sorted(made, key=lambda entry: (entry[2].start, entry[0], entry[1]))
        place = next(index for index, entry in enumerate(every) if entry[:2] == (group, nth))
        around = every[max(0, place - most) : place + most + 1]
        found[rank] = tuple(_span(name, call, zero, waits[name].get((rank, at), 0.0)) for name, at, call in around)
    return found


def _waits(calls: Calls, group: str) -> Mapping[tuple[int, int], float]:
    """Return (rank, nth) -> how long the rank waited for the last one, of the calls that all ranks made."""
    ranks = calls.ranks(group)
    together = zip(*(calls.of_rank(group, rank) for rank in ranks), strict=False)
    found = {}
    for nth, each in enumerate(together):
        spans = [call.end - call.start for call in each]
        least = min(spans)
        found.update({(rank, nth): span - least for rank, span in zip(ranks, spans, strict=True)})
    return found


def _span(group: str, call: Call, zero: float, waiting: float) -> Span:
    return Span(
        group=group,
        kind=call.kind,
        message_bytes=call.message_bytes,
        start_us=call.start - zero,
        end_us=call.end - zero,
        waiting_us=waiting,
    )
