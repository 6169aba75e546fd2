"""The picture of throughput against latency and price: every measured trial, and which of them nothing beats.

Rules kept: shown beside the order, never used instead of it (spec 2.2); all figures are read at one load point by
the readings that the gates use; a figure that was not measured never counts as the better one. Only eligible trials
can be non-dominated.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

import msgspec

from planner.figures import number
from planner.keys import from_rate, key_reading
from planner.numbers import plain
from planner.order import Order, ttft_limit
from planner.records.base import UnsetType
from planner.records.plan import Candidate, FrontierPoint, OrderKey, Value
from planner.view import TrialView

__all__ = ["frontier"]

Scores = tuple[Fraction | None, ...]


def frontier(
    views: Mapping[str, TrialView], candidates: Mapping[str, Candidate], order: Order
) -> tuple[FrontierPoint, ...]:
    """Return one point per trial that has a rate at the order's load point, in trial id order."""
    points = [_point(view, candidates[trial], order) for trial, view in sorted(views.items())]
    shown = [point for point in points if point.output_tokens_per_s_per_charged_device is not None]
    best = _non_dominated(point for point in shown if point.state == "ELIGIBLE")
    return tuple(msgspec.structs.replace(point, non_dominated=point.trial in best) for point in shown)


def _point(view: TrialView, candidate: Candidate, order: Order) -> FrontierPoint:
    at = order.load_point
    rate = view.throughput(at).value
    return FrontierPoint(
        trial=view.id,
        state=candidate.state,
        output_tokens_per_s_per_charged_device=_at_rate(view, "output_tokens_per_s_per_charged_device", rate),
        output_tokens_per_s_per_request=_per_request(view, at, rate),
        ttft_ms=_ttft(view, at),
        usd_per_million_output_tokens=_at_rate(view, "usd_per_million_output_tokens", rate),
        non_dominated=False,
    )


def _at_rate(view: TrialView, key: str, rate: Fraction | None) -> Value:
    """Return what follows from the worst window's rate; it is the worst window's own figure too."""
    change = from_rate(view, OrderKey(key=key, direction="desc"))
    return None if change is None or not rate else plain(change(rate))


def _per_request(view: TrialView, load_point: str, rate: Fraction | None) -> Value:
    """Return the rate that one of the requests in flight sees; closed loop only, where their number is declared."""
    declared = view.workload.load_points.get(load_point)
    if declared is None or rate is None or isinstance(declared.concurrent_requests, UnsetType):
        return None
    return plain(rate / declared.concurrent_requests)


def _ttft(view: TrialView, load_point: str) -> Value:
    """Return the statistic that the contract's ttft limit names; without one no statistic is chosen here."""
    limit = ttft_limit(view.contract, load_point)
    if limit is None:
        return None
    statistic = str(view.contract.gates["ttft"][limit]["statistic"])
    reading = key_reading(view, OrderKey(key="ttft", direction="asc", load_point=load_point, statistic=statistic))
    return None if reading is None or reading.value is None else plain(reading.value)


def _non_dominated(points: Iterable[FrontierPoint]) -> set[str]:
    """Return the trials that no other beats in every figure.

    Best first by every figure, whoever dominates a point stands before it, so each point is compared with the
    frontier so far and not with all others.
    """
    scored = sorted(((_scores(point), point.trial) for point in points), key=lambda entry: _sortable(entry[0]))
    kept: list[tuple[Scores, str]] = []
    for scores, trial in scored:
        if not any(_dominates(other, scores) for other, _ in kept):
            kept.append((scores, trial))
    return {trial for _, trial in kept}


def _scores(point: FrontierPoint) -> Scores:
    """Return the figures of a point so that larger is better; None is the worst."""
    more_is_better = (point.output_tokens_per_s_per_charged_device, point.output_tokens_per_s_per_request)
    less_is_better = (point.ttft_ms, point.usd_per_million_output_tokens)
    costs = (number(value) for value in less_is_better)
    return (*map(number, more_is_better), *(None if cost is None else -cost for cost in costs))


def _sortable(scores: Scores) -> tuple[tuple[bool, Fraction], ...]:
    return tuple((score is None, Fraction(0) if score is None else -score) for score in scores)


def _dominates(other: Scores, scores: Scores) -> bool:
    """Say whether ``other`` is at least as good in every figure and better in one."""
    return other != scores and all(
        mine is None or (theirs is not None and theirs >= mine) for theirs, mine in zip(other, scores, strict=True)
    )
