"""Judge many trials: each new kind by the gates, and those like it by their numbers.

Rules kept: every trial gets the verdict that the gates alone would give it, whichever trials stand beside it. Not
handled: sentences; ``planner.evaluate.judge`` writes those, of one trial at a time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner.alike.form import AT_ONCE, UnlikeError
from planner.alike.glances import Glance
from planner.alike.kin import Kin, Member, kin_of
from planner.evaluate import Verdict, weigh
from planner.frontier import FIGURES, figure_of, frontier_point, unbeaten_trials
from planner.numbers import Exactable
from planner.order import Order
from planner.records.plan import FrontierPoint
from planner.view import TrialView

__all__ = ["Member", "Verdicts", "weigh_all"]

PATIENCE = 16
"""How many trials without kin are tried among those placed alike before the gates judge all that are left."""
FEW_KIN, A_READING = 8, 5
"""A kind that fewer than one in so many of the others have costs as much patience as so many trials without kin: all
of them were read for it."""
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
        eligible = [(trial, verdict) for trial, verdict in self.verdicts.items() if verdict.state == "ELIGIBLE"]
        figures = {name: [self._figure(trial, verdict, name) for trial, verdict in eligible] for name in FIGURES}
        return unbeaten_trials([trial for trial, _ in eligible], figures)

    def _figure(self, trial: str, verdict: Verdict | Glance, name: str) -> Exactable | None:
        """Return a frontier figure; of a glance as it is compared, which is not yet how it is written."""
        return verdict.measured(name) if isinstance(verdict, Glance) else figure_of(self.drawn[trial], name)


def weigh_all(members: Iterable[Member], order: Order, view_of: Callable[[str], TrialView]) -> Verdicts:
    """Judge trials by every gate; read their keys and frontier figures. ``view_of`` makes the view of a trial."""
    every = list(members)
    judging = _Judging(order, view_of, {}, {})
    for alike in _placed_alike(every, view_of):
        judging.judge(alike)
    names = [member.id for member in every]
    found = map(judging.verdicts.__getitem__, names)
    return Verdicts(verdicts=dict(zip(names, found, strict=True)), drawn=judging.drawn)


def _placed_alike(members: Sequence[Member], view_of: Callable[[str], TrialView]) -> Iterable[list[Member]]:
    """Yield trials that are placed alike, ran one identity and have windows of the same names."""
    found: dict[tuple[object, ...], list[Member]] = {}
    for same in _of_same_records(members):
        first = same[0]
        likely = (id(view_of(first.id).placed), first.trial.identity_id, *sorted(first.trial.windows))
        found.setdefault(likely, []).extend(same)
    return found.values()


def _of_same_records(members: Sequence[Member]) -> Iterable[list[Member]]:
    """Yield trials that have one topology and one rank map, which mostly are the very same records."""
    found: dict[tuple[object, ...], list[Member]] = {}
    for member in members:
        trial = member.trial
        same = (id(trial.topology), id(trial.rank_map), trial.identity_id, *trial.windows)
        if same in found:
            found[same].append(member)
        else:
            found[same] = [member]
    return found.values()


@dataclass(frozen=True, slots=True)
class _Judging:
    """The verdicts so far."""

    order: Order
    view_of: Callable[[str], TrialView]
    verdicts: dict[str, Verdict | Glance]
    drawn: dict[str, FrontierPoint]

    def judge(self, members: list[Member]) -> None:
        """Judge trials that are placed alike: kind by kind, the first of each by the gates."""
        left, patience = members, PATIENCE
        while len(left) > WORTH_IT and patience > 0:
            first, *others = left
            kin = self._by_gates(first, look_for_kin=True)
            left = others if kin is None else self._by_kin(kin, others)
            if kin is None:
                patience -= 1
            elif (len(others) - len(left)) * FEW_KIN < len(others):
                patience -= A_READING
        for member in left:
            self._by_gates(member)

    def _by_kin(self, kin: Kin, members: Sequence[Member]) -> list[Member]:
        """Judge all that are kin, and return the others."""
        left: list[Member] = []
        for start in range(0, len(members), AT_ONCE):
            block = members[start : start + AT_ONCE]
            glances, strangers = kin.judged(block, self.view_of)
            self.verdicts.update({glance.trial: glance for glance in glances if glance is not None})
            for at in [at for at, glance in enumerate(glances) if glance is None]:
                if at in strangers:
                    left.append(block[at])
                else:
                    self._by_gates(block[at])
        return left

    def _by_gates(self, member: Member, *, look_for_kin: bool = False) -> Kin | None:
        view = self.view_of(member.id)
        verdict = self.verdicts[member.id] = weigh(view, self.order.keys)
        self.drawn[member.id] = frontier_point(view, verdict, self.order)
        kin = _kin_of(view, verdict, self.order) if look_for_kin else None
        if kin is None:
            view.forget()
        return kin


def _kin_of(view: TrialView, verdict: Verdict, order: Order) -> Kin | None:
    """Return the kin of a trial, if it has any and is itself one that numbers settle."""
    try:
        kin = kin_of(view, verdict, order)
    except UnlikeError:
        return None
    glances, _ = kin.judged([Member(view.id, view.trial, view.content_id)], lambda _: view)
    return kin if glances[0] is not None else None
