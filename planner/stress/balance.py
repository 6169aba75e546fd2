"""Ranks that do not keep step: a hot expert rank, a slow pipeline stage, a slow rank."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec

from planner.rank_times import own_work_ms
from planner.readings import WindowView, number, number_at
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import ExpertLayer, Phase, StageTimes, Window
from planner.records.figures import Values
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection, size, written
from planner.stress.changes import metrics, with_values, with_windows
from planner.view import TrialView

STEP = "step_ms"
WAITS = ("collective_wait_ms", "collective_ms", "collective_exposed_ms")
"""Times of a rank that grow while it waits for another."""


# A hot expert


@injection(
    "hot_expert",
    title="Hot expert",
    fault="one rank of an expert group takes {hot_rank_over_mean} times the mean tokens, the others the rest",
    gates=("expert_balance",),
    needs=("groups", "devices"),
)
def hot_expert(case: Case) -> Fault:
    """In the first layer with tokens by rank, tokens move to the rank of an expert group that has most already,
    until it has so many times the mean; its peers give in proportion and the sum stays. Tokens by expert, where
    recorded, are moved alike."""
    view = case.view
    groups = [
        group for kind in ("ep", "moe_ep") for group in view.topology_groups.groups.get(kind, ()) if len(group) > 1
    ]
    if not groups:
        return NotInjectable(sentence="No expert group has more than one rank.")
    factor = size(case.sizes.hot_rank_over_mean)
    for at, layer in _layers(view):
        values = () if isinstance(layer.tokens_by_rank, UnsetType) else layer.tokens_by_rank
        heated = next((found for group in groups if (found := _heated(values, group, factor)) is not None), None)
        if heated is not None:
            hot = msgspec.structs.replace(
                layer, tokens_by_rank=heated, tokens_by_expert=_hot_experts(layer.tokens_by_expert, factor)
            )
            window, load, name = at
            return Injected(
                trial=with_windows(view.trial, {window: _with_layer(view.trial.windows[window], load, name, hot)}),
                changed=(f"{view.at}/windows/{window}/experts/{load}/layers/{name}/tokens_by_rank",),
            )
    return NotInjectable(sentence="No layer records tokens of every rank that could move.")


Layer = tuple[str, str, str]
"""A window, a record of expert load in it, and a layer of that."""


def _layers(view: TrialView) -> Iterator[tuple[Layer, ExpertLayer]]:
    for window_id, window in sorted(view.trial.windows.items()):
        for name, load in sorted({} if isinstance(window.experts, UnsetType) else window.experts.items()):
            for layer, record in sorted({} if isinstance(load.layers, UnsetType) else load.layers.items()):
                yield (window_id, name, layer), record


def _heated(values: Values, places: Sequence[int], factor: Fraction) -> Values | None:
    """Move values to the largest of some places; None where one is missing or there is nothing to move."""
    known = {place: value for place in places if (value := number_at(values, place)) is not None}
    total = sum(known.values(), Fraction(0))
    if len(known) < len(places) or total == 0:
        return None
    hottest = max(known, key=lambda place: (known[place], -place))
    wanted, rest = Fraction(round(factor * total / len(known))), total - known[hottest]
    if wanted > total or wanted <= known[hottest]:
        return None
    kept = (total - wanted) / rest
    moved = {place: Fraction(int(value * kept)) for place, value in known.items() if place != hottest}
    moved[hottest] = total - sum(moved.values(), Fraction(0))
    return tuple(written(moved[place]) if place in moved else value for place, value in enumerate(values))


def _hot_experts(values: Values | UnsetType, factor: Fraction) -> Values | UnsetType:
    if isinstance(values, UnsetType):
        return values
    return _heated(values, range(len(values)), factor) or values


def _with_layer(window: Window, load: str, name: str, layer: ExpertLayer) -> Window:
    experts = {} if isinstance(window.experts, UnsetType) else window.experts
    layers = experts[load].layers
    others = {} if isinstance(layers, UnsetType) else layers
    changed = msgspec.structs.replace(experts[load], layers={**others, name: layer})
    return msgspec.structs.replace(window, experts={**experts, load: changed})


# A slow stage


@injection(
    "stage_bubble",
    title="Stage bubble",
    fault="the slowest stage of a pipeline takes {slow_stage_factor} times as long; the others idle",
    gates=("stage_balance",),
    needs=("groups",),
)
def stage_bubble(case: Case) -> Fault:
    """In the first record of a pipeline's stages, the slowest one gets slower and the cycle grows by as much. The
    step of every rank that is recorded grows in proportion, for ranks of other stages as waiting."""
    view, factor = case.view, size(case.sizes.slow_stage_factor)
    for window_id, window in sorted(view.trial.windows.items()):
        for name, stages in sorted({} if isinstance(window.stages, UnsetType) else window.stages.items()):
            busy = [number(value) for value in stages.busy_ms]
            known = [value for value in busy if value is not None]
            if len(known) < len(busy) or len(known) < 2 or max(known) == 0:
                continue
            changed = _with_bubble(view, window, name, stages, known, factor)
            return Injected(
                trial=with_windows(view.trial, {window_id: changed}),
                changed=(f"{view.at}/windows/{window_id}/stages/{name}/busy_ms/{known.index(max(known))}",),
            )
    return NotInjectable(sentence="No busy times of several pipeline stages are recorded.")


def _with_bubble(
    view: TrialView, window: Window, name: str, stages: StageTimes, busy: Sequence[Fraction], factor: Fraction
) -> Window:
    slowest = busy.index(max(busy))
    more, cycle = busy[slowest] * (factor - 1), number(stages.cycle_ms)
    slower = msgspec.structs.replace(
        stages,
        busy_ms=tuple(written(value + (more if stage == slowest else 0)) for stage, value in enumerate(busy)),
        cycle_ms=stages.cycle_ms if cycle is None else written(cycle + more),
    )
    recorded = {} if isinstance(window.stages, UnsetType) else window.stages
    window = msgspec.structs.replace(window, stages={**recorded, name: slower})
    if STEP not in metrics(window):
        return window
    growth = more / (cycle or max(busy))
    ranks = _ranks_of(view, 0 if isinstance(stages.instance, UnsetType) else stages.instance)
    steps = {rank: number_at(metrics(window)[STEP].values, rank) for rank in ranks}
    longer = {rank: step * growth for rank, step in steps.items() if step is not None}
    coordinates = view.topology_groups.coordinates.get("pp", (None,) * view.ranks)
    slow = [rank for rank in ranks if (at := coordinates[rank]) is not None and at[1] == slowest]
    return _longer_steps(window, longer, at_work=slow, phase=stages.phase)


def _ranks_of(view: TrialView, instance: int) -> range:
    """Return the global ranks of an engine instance; none where the topology has no such instance."""
    ends = (*view.topology_groups.starts, view.ranks)
    return range(*ends[instance : instance + 2]) if instance + 1 < len(ends) else range(0)


def _longer_steps(
    window: Window, longer: Mapping[int, Fraction], *, at_work: Iterable[int], phase: Phase | UnsetType = UNSET
) -> Window:
    """Make steps longer by so much for each rank; those not at work for all of it wait in a collective."""
    recorded, working = metrics(window), frozenset(at_work)
    wanted = "mixed" if isinstance(phase, UnsetType) else phase
    grown: dict[str, dict[int, Fraction]] = {}
    for name in (STEP, *WAITS):
        metric = recorded.get(name)
        if metric is None or ("mixed" if isinstance(metric.phase, UnsetType) else metric.phase) != wanted:
            continue
        grown[name] = {
            rank: value + more
            for rank, more in longer.items()
            if (name == STEP or rank not in working) and (value := number_at(metric.values, rank)) is not None
        }
    return with_values(window, grown)


# A slow rank


@injection(
    "slow_rank",
    title="Slow rank",
    fault="the own work of one rank grows by {slow_rank_added_share} of its step; its group waits for it",
    gates=("straggler", "communication_share"),
    needs=("groups", "devices"),
)
def slow_rank(case: Case) -> Fault:
    """The rank with the most own work of those that serve with others gets slower in every window that records its
    step. It arrives later by as much, and steps and waits of its serving group grow by the same."""
    view = case.view
    works = [
        (name, rank, work)
        for name, window in sorted(view.trial.windows.items())
        for group in view.serving_groups
        for rank in (group if len(group) > 1 else ())
        if (work := _own_work(window, name, rank)) is not None
    ]
    if not works:
        return NotInjectable(sentence="No step is recorded for a rank that serves with others.")
    slowest = max(works, key=lambda entry: (entry[2], -entry[1]))[1]
    group = next(group for group in view.serving_groups if slowest in group)
    windows = dict.fromkeys(name for name, rank, _ in works if rank == slowest)
    share = size(case.sizes.slow_rank_added_share)
    return Injected(
        trial=with_windows(
            view.trial, {name: _with_slow_rank(view.trial.windows[name], slowest, group, share) for name in windows}
        ),
        changed=tuple(f"{view.at}/windows/{name}/per_rank/{STEP}/values/{slowest}" for name in windows),
    )


def _own_work(window: Window, name: str, rank: int) -> Fraction | None:
    """Return a rank's own work, or its whole step where nothing says what of it was own."""
    metric = metrics(window).get(STEP)
    step = None if metric is None else number_at(metric.values, rank)
    if metric is None or step is None:
        return None
    own = own_work_ms(WindowView(id=name, at="", record=window), rank, metric.phase).value
    return step if own is None else own


def _with_slow_rank(window: Window, rank: int, group: Sequence[int], share: Fraction) -> Window:
    metric = metrics(window)[STEP]
    more = (number_at(metric.values, rank) or Fraction(0)) * share
    window = _longer_steps(window, dict.fromkeys(group, more), at_work=(rank,), phase=metric.phase)
    lags = metrics(window).get("arrival_lag_ms")
    lag = None if lags is None else number_at(lags.values, rank)
    return window if lag is None else with_values(window, {"arrival_lag_ms": {rank: lag + more}})
