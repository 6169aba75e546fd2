"""Times of every rank in one window, by phase: steps, collectives apart from waiting, and a rank's own work.

Rules kept: a time of another phase than the one asked for is no time of it; the time that a rank spends in a
collective is its wait and its move together; where only the whole was recorded, the least over the ranks that took
part bounds what moving can have taken, because the fastest wait is still a wait.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.readings import Side, Unfit, WindowView, number_at
from planner.records.base import UnsetType
from planner.records.evidence import PerRank, Phase

__all__ = ["RankTime", "collective_ms", "median", "moving_ms", "own_work_ms", "rank_time"]

WHOLE, WAIT, MOVE = "collective_ms", "collective_wait_ms", "collective_move_ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTime:
    """A time of one rank in ms, or what is missing for it; ``unfit`` are times that cannot be true together."""

    value: Fraction | None = None
    side: Side = "exact"
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()


def rank_time(window: WindowView, name: str, rank: int, phase: Phase | UnsetType) -> RankTime:
    """Return one recorded time of a rank."""
    at = f"{window.at}/per_rank/{name}"
    metric = _metric(window, name)
    if metric is None:
        return RankTime(missing=(at,))
    found: Phase = "mixed" if isinstance(metric.phase, UnsetType) else metric.phase
    if not isinstance(phase, UnsetType) and found != phase:
        return RankTime(missing=(f"{at}/phase",), notes=(f"{name} is recorded for {found}, the limit is for {phase}.",))
    if not isinstance(metric.scope, UnsetType) and metric.scope not in ("rank", "device"):
        return RankTime(missing=(f"{at}/scope",), notes=(f"{name} is recorded per {metric.scope}, not per rank.",))
    value = number_at(metric.values, rank)
    place = f"{at}/values/{rank}"
    if value is None:
        return RankTime(missing=(place,))
    return RankTime(value=value, side="exact" if isinstance(metric.bound, UnsetType) else metric.bound, read=(place,))


def collective_ms(window: WindowView, rank: int, phase: Phase | UnsetType) -> RankTime:
    """Return the time that a rank spends in collectives: as recorded, else its wait and its move."""
    if _metric(window, WHOLE) is not None:
        return rank_time(window, WHOLE, rank, phase)
    if _metric(window, WAIT) is None and _metric(window, MOVE) is None:
        return RankTime(missing=(f"{window.at}/per_rank/{WHOLE}",))
    return _sum(rank_time(window, name, rank, phase) for name in (WAIT, MOVE))


def moving_ms(window: WindowView, rank: int, group: Sequence[int], phase: Phase | UnsetType) -> RankTime:
    """Return the time in which a rank's collectives move bytes; only bounded where waits were not split off."""
    if _metric(window, MOVE) is not None or _metric(window, WHOLE) is None:
        return rank_time(window, MOVE, rank, phase)
    peers = [rank_time(window, WHOLE, peer, phase) for peer in group]
    known = [peer for peer in peers if peer.value is not None and peer.side in ("exact", "upper")]
    if not known:
        missing = tuple(at for peer in peers for at in peer.missing)
        sentence = f"No {WHOLE} of its group is exact or an upper bound: none bounds moving from above."
        unfit = () if missing else (Unfit(at=tuple(at for peer in peers for at in peer.read), sentence=sentence),)
        return RankTime(missing=missing, unfit=unfit)
    least = min(known, key=lambda peer: peer.value or Fraction(0))
    note = "Waiting and moving are not split: the least over the group bounds moving from above."
    return RankTime(value=least.value, side="upper", read=least.read, notes=(note,))


def own_work_ms(window: WindowView, rank: int, phase: Phase | UnsetType) -> RankTime:
    """Return a rank's step without its collectives."""
    step, shared = rank_time(window, "step_ms", rank, phase), collective_ms(window, rank, phase)
    missing, notes = (*step.missing, *shared.missing), (*step.notes, *shared.notes)
    if step.value is None or shared.value is None:
        return RankTime(missing=missing, notes=notes)
    side: Side = "exact" if step.side == shared.side == "exact" else "none"
    own = step.value - shared.value
    if own < 0:
        sentence = f"Rank {rank} spends more time in collectives than in its step."
        return RankTime(unfit=(Unfit(at=(*shared.read, *step.read), sentence=sentence),))
    return RankTime(value=own, side=side, read=(*step.read, *shared.read), notes=notes)


def median(values: Iterable[Fraction]) -> Fraction:
    """Return the median of at least one value, exactly."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _metric(window: WindowView, name: str) -> PerRank | None:
    return None if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank.get(name)


def _sum(parts: Iterable[RankTime]) -> RankTime:
    every = tuple(parts)
    missing = tuple(at for part in every for at in part.missing)
    notes = tuple(note for part in every for note in part.notes)
    known = [part.value for part in every if part.value is not None]
    if len(known) < len(every):
        return RankTime(missing=missing, notes=notes)
    sides = {part.side for part in every} - {"exact"}
    side: Side = "exact" if not sides else "none" if len(sides) > 1 else sides.pop()
    return RankTime(
        value=sum(known, Fraction(0)), side=side, read=tuple(at for part in every for at in part.read), notes=notes
    )
