"""Judge many trials: kind by kind by their numbers, and by the gates those that are of no kind.

Rules kept: every trial gets the verdict that the gates alone would give it, whichever trials stand beside it. Not
handled: sentences; ``planner.evaluate.judge`` writes those, of one trial at a time.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import attrgetter
from typing import cast

from planner.alike.columns import picking
from planner.alike.form import AT_ONCE, UnlikeError
from planner.alike.glances import Glance, Member
from planner.alike.kin import Kin, kin_of
from planner.alike.measures import Batch
from planner.alike.reading import Reading
from planner.evaluate import Verdict, weigh
from planner.frontier import figures_of, frontier_point, unbeaten_trials
from planner.numbers import Exactable
from planner.order import Order
from planner.records.evidence import Trial
from planner.records.plan import FrontierPoint
from planner.view import TrialView

__all__ = ["Verdicts", "weigh_all"]

PATIENCE = 16
"""How many trials without kin are tried among those placed alike before the gates judge all that are left."""
FEW_KIN, A_READING = 8, 5
"""A kind that fewer than one in so many of the others have costs as much patience as so many trials without kin: all
of them were read for it."""
AT_HAND = 16_384
"""Trials that are read before those of each kind are judged, so that what was read of them is still close by; more of
many kinds, which are judged a block at a time."""
WORTH_IT = 4
"""Trials of which one more is quicker judged by its numbers, with all that it takes to know how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What was decided of each trial, by trial id. ``drawn`` are the frontier points of trials that gates judged."""

    verdicts: Mapping[str, Verdict | Glance]
    drawn: Mapping[str, FrontierPoint]

    def point(self, trial: str) -> FrontierPoint:
        """Return where a trial stands beside the frontier."""
        verdict = self.verdicts[trial]
        return verdict.point if isinstance(verdict, Glance) else self.drawn[trial]

    def unbeaten(self) -> set[str]:
        """Return the eligible trials that no other one beats: the frontier."""
        eligible = [trial for trial, verdict in self.verdicts.items() if verdict.state == "ELIGIBLE"]
        return unbeaten_trials({trial: self._figures(trial) for trial in eligible})

    def _figures(self, trial: str) -> Sequence[Exactable | None]:
        """Return the frontier figures; of a glance as they are compared, which is not yet how they are written."""
        verdict = self.verdicts[trial]
        return verdict.measured if isinstance(verdict, Glance) else figures_of(self.drawn[trial])


def weigh_all(members: Iterable[Member], order: Order, view_of: Callable[[str], TrialView]) -> Verdicts:
    """Judge trials by every gate; read their keys and frontier figures. ``view_of`` makes the view of a trial."""
    every = list(members)
    trials = [member.trial for member in every]
    judging = _Judging(every, trials, order, view_of, [None] * len(every), {})
    for placements in _of_one_identity(every, trials, view_of):
        judging.judge([_Alike(sorted(places)) for places in placements])
    found = cast("list[Verdict | Glance]", judging.verdicts)
    return Verdicts(verdicts=dict(zip(map(attrgetter("id"), every), found, strict=True)), drawn=judging.drawn)


def _of_one_identity(
    members: Sequence[Member], trials: Sequence[Trial], view_of: Callable[[str], TrialView]
) -> Iterable[Iterable[Sequence[int]]]:
    """Yield the places of trials that ran one identity and have windows of the same names: of each placement apart."""
    found: dict[tuple[object, ...], dict[int, list[int]]] = {}
    for places in _of_same_records(trials):
        first = trials[places[0]]
        placements = found.setdefault((first.identity_id, *sorted(first.windows)), {})
        placements.setdefault(id(view_of(members[places[0]].id).placed), []).extend(places)
    return [placements.values() for placements in found.values()]


def _of_same_records(trials: Sequence[Trial]) -> Iterable[list[int]]:
    """Yield the places of trials that have one topology and one rank map, which mostly are the very same records."""
    found: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, trial in enumerate(trials):
        found[id(trial.topology), id(trial.rank_map), trial.identity_id, tuple(trial.windows)].append(place)
    return found.values()


@dataclass(slots=True)
class _Alike:
    """The places of trials placed alike that are not judged yet, in order, and the patience that is left with them."""

    left: Sequence[int]
    patience: int = PATIENCE

    def between(self, first: int, last: int) -> Sequence[int]:
        """Return the places from one place to another."""
        return self.left[bisect_left(self.left, first) : bisect_right(self.left, last)]

    def leave(self, others: Sequence[int]) -> None:
        """Leave those that are no kin of the first one; where most are none, that costs patience."""
        tried = len(self.left) - 1
        if (tried - len(others)) * FEW_KIN < tried:
            self.patience -= A_READING
        self.left = others

    @property
    def may_be_kin(self) -> bool:
        """Say whether it is worth while to look for kin among them."""
        return len(self.left) > WORTH_IT and self.patience > 0


@dataclass(frozen=True, slots=True)
class _Judging:
    """The verdicts so far, by the place of a trial among the members."""

    members: Sequence[Member]
    trials: Sequence[Trial]
    order: Order
    view_of: Callable[[str], TrialView]
    verdicts: list[Verdict | Glance | None]
    drawn: dict[str, FrontierPoint]

    def judge(self, placements: Sequence[_Alike]) -> None:
        """Judge trials of several placements: kind by kind, all of each together."""
        known: deque[Reading] = deque(maxlen=PATIENCE)
        while hopeful := [alike for alike in placements if alike.may_be_kin]:
            together: dict[Reading, list[tuple[Kin, _Alike]]] = {}
            for alike in hopeful:
                kin = self._of_first(alike, known)
                if kin is not None:
                    together.setdefault(kin.reading, []).append((kin, alike))
            for reading, kinds in together.items():
                self._by_numbers(reading, kinds)
        for place in chain.from_iterable(alike.left for alike in placements):
            self._by_gates(place)

    def _of_first(self, alike: _Alike, known: deque[Reading]) -> Kin | None:
        """Return the kin of the first trial; where it has none, the gates judge it."""
        try:
            kin = kin_of(self.view_of(self.members[alike.left[0]].id), self.order, known)
        except UnlikeError:
            self._by_gates(alike.left[0])
            alike.left, alike.patience = alike.left[1:], alike.patience - 1
            return None
        if kin.reading not in known:
            known.append(kin.reading)
        return kin

    def _by_numbers(self, reading: Reading, kinds: Sequence[tuple[Kin, _Alike]]) -> None:
        """Read trials of several kinds and judge all that are kin; what is left of each are the others."""
        owned = [repeat(kin.likeness.replicas, len(alike.left)) for kin, alike in kinds]
        replicas_of = dict(zip(chain.from_iterable(alike.left for _, alike in kinds), chain(*owned), strict=True))
        every = sorted(replicas_of)
        unlike: list[list[int]] = [[] for _ in kinds]
        at_hand = max(AT_HAND, AT_ONCE * len(kinds))
        for start in range(0, len(every), at_hand):
            places = every[start : start + at_hand]
            parts = [alike.between(places[0], places[-1]) for _, alike in kinds]
            rows = reading.read(picking(places)(self.trials), picking(places)(replicas_of))
            row_of = dict(zip(places, range(len(places)), strict=True))
            for (kin, alike), part, others in zip(kinds, parts, unlike, strict=True):
                if part and kin.is_sound:
                    own = rows.part(list(map(row_of.__getitem__, part)), kin.likeness.used)
                    others += self._judge_kin(kin, alike.left[0], part, *own)
                else:
                    others += part
        for (_, alike), others in zip(kinds, unlike, strict=True):
            alike.leave(others)

    def _judge_kin(
        self, kin: Kin, first: int, places: Sequence[int], batch: Batch, strangers: set[int]
    ) -> Sequence[int]:
        """Judge trials that are read as kin of the first one, and return those that are none."""
        glances = kin.judged(picking(places)(self.members), batch, self.view_of)
        # What holds for all was said of the first trial: if numbers do not settle that one, others do not follow it.
        if places[0] == first and 0 in batch.odd:
            kin.is_sound = False
            self._by_gates(first)
            return places[1:]
        settled = [place for at, place in enumerate(places) if at not in batch.odd] if batch.odd else places
        for place, glance in zip(settled, glances, strict=True):
            self.verdicts[place] = glance
        for at in sorted(batch.odd - strangers):
            self._by_gates(places[at])
        return [places[at] for at in sorted(strangers)]

    def _by_gates(self, place: int) -> None:
        view = self.view_of(self.members[place].id)
        verdict = self.verdicts[place] = weigh(view, self.order.keys)
        self.drawn[view.id] = frontier_point(view, verdict, self.order)
        view.forget()
