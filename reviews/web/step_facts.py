"""What one window says of the steps of every rank, in ms: own work, waiting and moving apart, and arrivals. Pure.

Rules kept: a step of ranks that step together shows no slow rank by itself, so own work and arrivals are what is
compared, with the peers of a rank's group and stage; a collective whose waiting was not split off stays one time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from planner.arrivals import GroupArrivals, Source, arrivals, earliest_late
from planner.gates.balance import peers
from planner.layouts import LayoutRefusedError
from planner.rank_times import collective_ms, median, own_work_ms, rank_time
from planner.readings import WindowView
from planner.records.base import UNSET, UnsetType
from planner.view import TrialView

METRICS = ("step_ms", "collective_wait_ms", "collective_move_ms", "arrival_lag_ms")
"""Metrics that this page wants of every rank."""
OTHER_METRICS = ("collective_ms", "collective_exposed_ms", "slowest_sample_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankStep:
    """One rank, in ms; None is "not recorded". ``over_median`` is own work over the median of the peers."""

    rank: int
    node: str
    device: str
    step: Fraction | None
    own: Fraction | None
    wait: Fraction | None
    move: Fraction | None
    collective: Fraction | None
    exposed: Fraction | None
    over_median: Fraction | None
    behind: Fraction | None

    def share(self, part: Fraction | None) -> Fraction | None:
        """Return a part of the step as a share of it."""
        return None if part is None or not self.step else part / self.step

    @property
    def parts(self) -> tuple[Fraction, Fraction, Fraction, Fraction] | None:
        """Own work, collectives that are not split, waiting and moving, to be laid end to end; None without any."""
        zero = Fraction(0)
        if self.wait is not None or self.move is not None:
            return self.own or zero, zero, self.wait or zero, self.move or zero
        if self.collective is not None:
            return self.own or zero, self.collective, zero, zero
        return None if self.step is None else (self.step, zero, zero, zero)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """The late rank that others wait for, who would report it first, and who is late behind it."""

    rank: int
    behind: Fraction
    reporter: int
    followers: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class WindowSteps:
    """All ranks of a trial in one window. ``absent`` are the metrics that it does not have."""

    window: WindowView
    ranks: tuple[RankStep, ...]
    source: Source | None
    groups: tuple[GroupArrivals, ...]
    lateness: tuple[Lateness, ...]
    absent: tuple[str, ...]
    phases: tuple[str, ...]

    @property
    def has_times(self) -> bool:
        """Whether there is a time of any rank."""
        return any(row.parts is not None for row in self.ranks)

    @property
    def has_unsplit(self) -> bool:
        """Whether waiting was not split off from moving on some rank."""
        return any(row.parts is not None and row.parts[1] for row in self.ranks)

    @cached_property
    def longest(self) -> Fraction:
        """The longest of what is laid end to end, in ms."""
        sums = (sum(row.parts, Fraction(0)) for row in self.ranks if row.parts)
        steps = (row.step for row in self.ranks if row.step is not None)
        return max([*sums, *steps], default=Fraction(0))

    @cached_property
    def slowest(self) -> RankStep | None:
        """The rank furthest over the median of its peers' own work; without it the one furthest behind its group."""
        over = [(row.over_median, -row.rank, row) for row in self.ranks if row.over_median is not None]
        if over:
            return max(over, key=lambda found: found[:2])[2]
        behind = [(row.behind, -row.rank, row) for row in self.ranks if row.behind is not None]
        return max(behind, key=lambda found: found[:2])[2] if behind else None

    @property
    def worst(self) -> int | None:
        """The late rank that the others wait for; the slowest one where nobody is late."""
        if self.lateness:
            return self.lateness[0].rank
        return self.slowest.rank if self.slowest else None

    @cached_property
    def heaviest(self) -> RankStep | None:
        """The rank whose collectives take the largest share of its step."""
        shares = [(share, -row.rank, row) for row in self.ranks if (share := row.share(row.collective)) is not None]
        return max(shares, key=lambda found: found[:2])[2] if shares else None


def steps_of(view: TrialView, window: WindowView) -> WindowSteps:
    """Read the steps of every rank from one window."""
    groups = peer_groups(view)
    source, arrived = arrivals(window, groups)
    recorded = {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
    phases = {
        "mixed" if isinstance(found.phase, UnsetType) else found.phase
        for name, found in recorded.items()
        if name in METRICS
    }
    return WindowSteps(
        window=window,
        ranks=_rank_steps(view, window, groups, arrived),
        source=source,
        groups=arrived,
        lateness=_lateness(view, arrived),
        absent=tuple(name for name in METRICS if name not in recorded),
        phases=tuple(sorted(phases)),
    )


def _rank_steps(
    view: TrialView, window: WindowView, groups: list[list[int]], arrived: tuple[GroupArrivals, ...]
) -> tuple[RankStep, ...]:
    behind = {rank: late for group in arrived for rank, late in group.behind.items()}
    own = {rank: own_work_ms(window, rank, UNSET).value for rank in range(view.ranks)}
    middles = _middles(groups, own)
    ranks = []
    for rank, place in enumerate(view.trial.rank_map):
        step, wait, move, exposed = (
            rank_time(window, name, rank, UNSET).value
            for name in ("step_ms", "collective_wait_ms", "collective_move_ms", "collective_exposed_ms")
        )
        mine, middle = own[rank], middles.get(rank)
        ranks.append(
            RankStep(
                rank=rank,
                node=place.node,
                device=place.device,
                step=step,
                own=mine,
                wait=wait,
                move=move,
                collective=collective_ms(window, rank, UNSET).value,
                exposed=exposed,
                over_median=mine / middle if mine is not None and middle else None,
                behind=behind.get(rank),
            )
        )
    return tuple(ranks)


def peer_groups(view: TrialView) -> list[list[int]]:
    """Return the ranks that are compared with each other; none where the layout refuses the degrees."""
    try:
        found = peers(view)
    except LayoutRefusedError:
        return []
    return [ranks for ranks in ([rank for rank in group if rank < view.ranks] for group in found) if len(ranks) > 1]


def _middles(groups: list[list[int]], own: Mapping[int, Fraction | None]) -> dict[int, Fraction]:
    """Return for every rank the median of its peers' own work; only of groups of which all is known."""
    found: dict[int, Fraction] = {}
    for ranks in groups:
        known = [value for rank in ranks if (value := own[rank]) is not None]
        if len(known) == len(ranks):
            found |= dict.fromkeys(ranks, median(known))
    return found


def _lateness(view: TrialView, groups: tuple[GroupArrivals, ...]) -> tuple[Lateness, ...]:
    """Return, for every serving group with a late rank, the one that the others wait for; the worst first."""
    if not groups:
        return ()
    coordinates = view.topology_groups.coordinates.get("pp", ())
    stage_of = {rank: place[1] for rank, place in enumerate(coordinates) if place}
    found = []
    for serving in view.serving_groups:
        members = frozenset(serving)
        inside = [group for group in groups if group.ranks[0] in members]
        earliest = earliest_late(inside, stage_of)
        if earliest is None:
            continue
        rank, followers = earliest
        group = next(group for group in inside if rank in group.behind)
        found.append(Lateness(rank=rank, behind=group.behind[rank], reporter=group.first, followers=followers))
    return tuple(sorted(found, key=lambda late: (-late.behind, late.rank)))
