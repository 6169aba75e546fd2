"""The slowest rank of a group: who keeps the others waiting, since when, and what the pattern suggests.

Rules kept: a collective moves for as long as the rank that came last is in it; what others spend in it beyond that is
waiting, and waiting needs no common clock. A rank is late by the longest wait that it causes. Whether it is the cause
is told by its own work, from leaving one collective to entering the next: a rank that was held up elsewhere worked no
longer than the others. The n-th call of a group is the same collective on every rank; a rank with fewer calls never
came to the rest. Who reports a time-out first is told apart: it is a rank that waited. What a pattern suggests is a
place to look, no finding.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, TypeVar

from planner.importers.trace_calls import SYNCHRONOUS, Call, Calls, ranked
from planner.numbers import exact
from planner.observations.time_outs import TimeOut
from planner.records.base import stated
from planner.records.sections import Handoff

__all__ = ["LATE_US", "Late", "Missing", "RankTimes", "Slowest", "handoff_suggestion", "slowest"]

LATE_US = 100.0
"""Waiting that is told as lateness, where nobody says otherwise: launches alone differ by tens of microseconds."""
MOSTLY = 0.8
MOST_LATE = 1000
RISES = (11, 10)
"""More than a tenth more, as steady state has it of a backlog; moving counts as slower from there on as well."""
HANDOFF = "hand-off or allocation on the decode side, not prefill: transfers queue while decode devices idle."

Pattern = Literal["one_rank", "one_node", "one_stage", "rotating", "symmetric", "none"]
SUGGESTS: Mapping[Pattern, str] = {
    "one_rank": "placement, device, host or local contention of this rank: its kernels, clocks, throttling, corrected "
    "errors, other work on the device.",
    "one_node": "the node or its NIC: host scheduling, a link that sends again, other jobs on the node.",
    "one_stage": "the share of the stage: layers split unevenly, or the work of the first or last stage.",
    "rotating": "software or uneven work that moves: routing to experts, request lengths, garbage collection.",
    "symmetric": "a shared link or the shape of the collective: all ranks are slower together.",
    "none": "nothing here: no rank kept the others waiting.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """One collective to which a rank came late: the ``nth`` (from 0) of a group, times in microseconds.

    ``waited_us`` is the longest wait of another rank. ``work_us`` is the rank's own work before it, ``usual_us`` the
    median of the others' (None before the first collective). ``is_cause`` says that its work was longer by most of the
    wait, so that it was not held up elsewhere.
    """

    group: str
    nth: int
    kind: str
    rank: int
    start_us: float
    waited_us: float
    work_us: float | None
    usual_us: float | None
    is_cause: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTimes:
    """One rank over the trace: calls, how often it came late and how late, its waiting, moving and own work."""

    rank: int
    node: str
    device: str
    calls: int
    late: int
    late_p50_us: float
    late_max_us: float
    waiting_us: float
    moving_us: float
    working_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A rank that never came: it made ``made`` of the ``most`` calls that another rank of the group made."""

    group: str
    rank: int
    made: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowest:
    """The answer. ``rank`` is who the pattern points at, None where it is no single one; ``nodes`` where it is.

    ``earliest`` is the first late arrival that is a cause; ``reporter`` whose time-out stands first in the logs.
    ``share`` is the part of late collectives that fits the pattern. ``late`` holds at most ``MOST_LATE``, in time.
    """

    pattern: Pattern
    suggests: str
    rank: int | None
    nodes: tuple[str, ...]
    share: float
    collectives: int
    late_collectives: int
    earliest: Late | None
    reporter: TimeOut | None
    missing: tuple[Missing, ...]
    ranks: tuple[RankTimes, ...]
    late: tuple[Late, ...]
    notes: tuple[str, ...] = ()


Places = Mapping[int, tuple[str, str]]


@dataclass(slots=True)
class _Sums:
    calls: int = 0
    waits: list[float] = field(default_factory=list)
    waiting: float = 0
    moving: float = 0
    working: float = 0


def slowest(
    calls: Calls,
    places: Places,
    *,
    time_outs: Sequence[TimeOut] = (),
    stages: Mapping[int, int] | None = None,
    expected_us: Mapping[tuple[str, int | float], float] | None = None,
    late_us: float = LATE_US,
) -> Slowest:
    """Analyse a trace. ``places`` is rank -> (node, device), ``stages`` rank -> pipeline stage.

    ``expected_us`` is (kind, bytes) -> time in which such a collective moved when it was qualified; slower moving by
    more than a tenth without a late rank is a symmetric slowdown.
    """
    return _Analysis(calls, places, late_us).answer(time_outs, stages or {}, expected_us or {})


class _Analysis:
    def __init__(self, calls: Calls, places: Places, late_us: float) -> None:
        self.calls, self.places, self.late_us = calls, places, late_us
        self.sums: dict[int, _Sums] = {}
        self.late: list[Late] = []
        self.collectives = 0
        self.moves: dict[tuple[str, int | float], list[float]] = {}
        self.notes: dict[str, None] = {}
        self.ends = self._all_ends()

    def _all_ends(self) -> dict[int, list[float]]:
        """Return when every rank left its collectives, of all groups, in time."""
        ends: dict[int, list[float]] = {}
        for group in self.calls.groups():
            for rank in self.calls.ranks(group):
                ends.setdefault(rank, []).extend(call.end for call in self.calls.of_rank(group, rank))
        return {rank: sorted(found) for rank, found in ends.items()}

    def answer(
        self,
        time_outs: Sequence[TimeOut],
        stages: Mapping[int, int],
        expected: Mapping[tuple[str, int | float], float],
    ) -> Slowest:
        missing = [entry for group in self.calls.groups() for entry in self._group(group)]
        self.late.sort(key=lambda late: (late.start_us, late.group, late.nth))
        causes = [late for late in self.late if late.is_cause]
        pattern, rank, nodes, share = _pattern(causes or self.late, self.places, stages)
        if pattern == "none" and self._slower_than(expected):
            pattern = "symmetric"
        if missing and pattern in ("none", "rotating"):
            worst = min(missing, key=lambda entry: (entry.made - entry.most, entry.rank))
            pattern, rank, nodes, share = "one_rank", worst.rank, (self._node(worst.rank),), 1.0
        return Slowest(
            pattern=pattern,
            suggests=SUGGESTS[pattern],
            rank=rank,
            nodes=nodes,
            share=share,
            collectives=self.collectives,
            late_collectives=len(self.late),
            earliest=causes[0] if causes else None,
            reporter=time_outs[0] if time_outs else None,
            missing=tuple(missing),
            ranks=tuple(self._rank_times(rank) for rank in sorted(self.sums)),
            late=tuple(self.late[:MOST_LATE]),
            notes=tuple(self.notes),
        )

    def _node(self, rank: int) -> str:
        return self.places.get(rank, ("", ""))[0]

    def _group(self, group: str) -> Iterator[Missing]:
        ranks = self.calls.ranks(group)
        by_rank = [self.calls.of_rank(group, rank) for rank in ranks]
        most = max(map(len, by_rank))
        for nth, together in enumerate(zip(*by_rank, strict=False)):
            if len({(call.kind, call.message_bytes) for call in together}) > 1:
                self.notes[f"{group}: calls differ between ranks from call {nth + 1} on, and are not compared"] = None
                break
            self._collective(group, nth, ranks, together)
        for rank, made in zip(ranks, map(len, by_rank), strict=True):
            if made < most:
                yield Missing(group=group, rank=rank, made=made, most=most)

    def _collective(self, group: str, nth: int, ranks: Sequence[int], together: Sequence[Call]) -> None:
        self.collectives += 1
        spans = [call.end - call.start for call in together]
        moving = min(spans)
        works = [self._work(rank, call) for rank, call in zip(ranks, together, strict=True)]
        for rank, span, work in zip(ranks, spans, works, strict=True):
            sums = self.sums.setdefault(rank, _Sums())
            sums.calls += 1
            sums.moving += moving
            sums.waiting += span - moving
            sums.working += work or 0.0
        if together[0].kind not in SYNCHRONOUS:
            self.notes[f"{together[0].kind}: ranks may leave before others come, so nobody is called late"] = None
            return
        self.moves.setdefault((together[0].kind, together[0].message_bytes), []).append(moving)
        waited, last = max(spans) - moving, spans.index(moving)
        if len(ranks) > 1 and waited > self.late_us:
            self._keep(group, nth, ranks, together, (last, waited), works)

    def _keep(
        self,
        group: str,
        nth: int,
        ranks: Sequence[int],
        together: Sequence[Call],
        found: tuple[int, float],
        works: Sequence[float | None],
    ) -> None:
        last, waited = found
        others = [work for at, work in enumerate(works) if at != last and work is not None]
        work, usual = works[last], median(others) if others else None
        more = work - usual if work is not None and usual is not None else None
        self.sums[ranks[last]].waits.append(waited)
        self.late.append(
            Late(
                group=group,
                nth=nth,
                kind=together[last].kind,
                rank=ranks[last],
                start_us=together[last].start,
                waited_us=waited,
                work_us=work,
                usual_us=usual,
                is_cause=more is not None and more > waited / 2,
            )
        )

    def _work(self, rank: int, call: Call) -> float | None:
        """Return what a rank did since it left its collective before this one, of any group; None before the first."""
        ends = self.ends[rank]
        at = bisect_left(ends, call.start)
        if at < len(ends) and ends[at] == call.start:
            return 0.0
        return call.start - ends[at - 1] if at else None

    def _slower_than(self, expected: Mapping[tuple[str, int | float], float]) -> bool:
        return any(
            median(self.moves[key]) * RISES[1] > usual * RISES[0]
            for key, usual in expected.items()
            if key in self.moves
        )

    def _rank_times(self, rank: int) -> RankTimes:
        sums, (node, device) = self.sums[rank], self.places.get(rank, ("", ""))
        waits = sorted(sums.waits)
        return RankTimes(
            rank=rank,
            node=node,
            device=device,
            calls=sums.calls,
            late=len(waits),
            late_p50_us=ranked(waits, 50) if waits else 0.0,
            late_max_us=waits[-1] if waits else 0.0,
            waiting_us=sums.waiting,
            moving_us=sums.moving,
            working_us=sums.working,
        )


def _pattern(
    late: Sequence[Late], places: Places, stages: Mapping[int, int]
) -> tuple[Pattern, int | None, tuple[str, ...], float]:
    """Return pattern, the rank and the nodes that it points at, and the part of late collectives that fits it."""
    if not late:
        return "none", None, (), 0.0
    ranks = Counter(entry.rank for entry in late)
    rank, most = _commonest(ranks)
    if most >= MOSTLY * len(late):
        return "one_rank", rank, (places.get(rank, ("", ""))[0],), most / len(late)
    nodes = Counter(places[entry.rank][0] for entry in late if entry.rank in places)
    if len({node for node, _ in places.values()}) > 1 and nodes:
        node, count = _commonest(nodes)
        if count >= MOSTLY * len(late):
            return "one_node", None, (node,), count / len(late)
    of_stage = Counter(stages[entry.rank] for entry in late if entry.rank in stages)
    if len(set(stages.values())) > 1 and of_stage:
        _, count = _commonest(of_stage)
        if count >= MOSTLY * len(late):
            return "one_stage", None, tuple(sorted(nodes)), count / len(late)
    return "rotating", None, (), most / len(late)


def handoff_suggestion(handoff: Handoff) -> str | None:
    """Return what transfers between pools suggest: they queue more and more while decode devices idle; None if not."""
    first, last = stated(handoff.queued_first_third_mean), stated(handoff.queued_last_third_mean)
    idle = stated(handoff.decode_idle_share)
    if first is None or last is None or idle is None:
        return None
    rises = exact(last) * RISES[1] > exact(first) * RISES[0]
    return HANDOFF if rises and exact(idle) * RISES[1] > 1 else None


T = TypeVar("T", int, str)


def _commonest(counts: Mapping[T, int]) -> tuple[T, int]:
    key = min(counts, key=lambda name: (-counts[name], name))
    return key, counts[key]
