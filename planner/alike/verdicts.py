"""Judge many trials: each new kind by the gates, and those like it by their numbers.

Rules kept: every trial gets the verdict that the gates alone would give it, whichever trials stand beside it. Not
handled: sentences; ``planner.evaluate.judge`` writes those, of one trial at a time.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from planner.alike.form import UnlikeError
from planner.alike.kin import Glance, Judged, Kin, kin_of
from planner.evaluate import Verdict, weigh
from planner.frontier import frontier_point
from planner.order import Order
from planner.records.evidence import Trial
from planner.records.plan import FrontierPoint
from planner.view import TrialView

__all__ = ["Verdicts", "weigh_all"]

TRIES = 16
"""Kinds that are looked for among trials placed alike; one kind serves thousands, or there is none to be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What was decided of each trial, and where it stands beside the frontier, by trial id."""

    verdicts: dict[str, Verdict | Glance] = field(default_factory=dict)
    points: list[FrontierPoint] = field(default_factory=list)


@dataclass(slots=True)
class _Kinds:
    """The kin found so far among trials placed alike, and how often one was looked for."""

    known: list[Kin] = field(default_factory=list)
    tries: int = 0


def weigh_all(trials: Iterable[tuple[str, Trial, str]], order: Order, view_of: Callable[[str], TrialView]) -> Verdicts:
    """Judge trials, given as id, record and content id, by every gate; read their keys and frontier figures.

    ``view_of`` makes the view of a trial.
    """
    decided = Verdicts()
    kinds: dict[tuple[object, ...], _Kinds] = {}
    ground = None
    for trial_id, trial, content_id in trials:
        view = partial(view_of, trial_id)
        if ground is None:
            ground = view().ground
        likely = (id(ground.placed(trial)), trial.identity_id, *sorted(trial.windows))
        found = kinds.get(likely)
        if found is None:
            found = kinds[likely] = _Kinds()
        verdict, point = _at_a_glance(found, view, trial_id, trial, content_id) or _by_gates(found, view(), order)
        decided.verdicts[trial_id] = verdict
        decided.points.append(point)
    return decided


def _at_a_glance(
    kinds: _Kinds, view: Callable[[], TrialView], trial_id: str, trial: Trial, content_id: str
) -> Judged | None:
    for kin in kinds.known:
        rows = kin.read(trial)
        if rows is not None:
            return kin.judged(view, trial_id, content_id, rows)
    return None


def _by_gates(kinds: _Kinds, view: TrialView, order: Order) -> tuple[Verdict, FrontierPoint]:
    verdict = weigh(view, order.keys)
    point = frontier_point(view, verdict, order)
    if kinds.tries < TRIES and not any(kin.read(view.trial) for kin in kinds.known):
        kinds.tries += 1
        kin = _kin_of(view, verdict, order)
        if kin is not None:
            kinds.known.append(kin)
            return verdict, point
    view.forget()
    return verdict, point


def _kin_of(view: TrialView, verdict: Verdict, order: Order) -> Kin | None:
    """Return the kin of a trial, if it has any and is itself one that numbers settle."""
    try:
        kin = kin_of(view, verdict, order)
    except UnlikeError:
        return None
    rows = kin.read(view.trial)
    settled = rows is not None and kin.judged(lambda: view, view.id, view.content_id, rows) is not None
    return kin if settled else None
