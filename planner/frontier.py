"""The picture of throughput against latency and price: every measured trial, and which of them nothing beats.

Rules kept: shown beside the order, never used instead of it (spec 2.2); all figures are read at one load point by
the readings that the gates use; a figure that was not measured never counts as the better one. Only eligible trials
can be non-dominated.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import le

import msgspec

from planner.figures import number
from planner.keys import from_rate
from planner.numbers import plain
from planner.order import Order, ttft_limit
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.plan import FrontierPoint, Value
from planner.selection import Weighed
from planner.view import TrialView

__all__ = ["frontier", "frontier_point"]

PER_DEVICE = "output_tokens_per_s_per_charged_device"

Places = tuple[int, ...]


def frontier(points: Iterable[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """Return the points that have a rate, by trial id, with those marked that nothing beats."""
    shown = [point for point in points if point.output_tokens_per_s_per_charged_device is not None]
    shown.sort(key=lambda point: point.trial)
    best = _non_dominated([point for point in shown if point.state == "ELIGIBLE"])
    return tuple(msgspec.structs.replace(point, non_dominated=point.trial in best) for point in shown)


def frontier_point(view: TrialView, candidate: Weighed, order: Order) -> FrontierPoint:
    """Return where a trial stands at the order's load point; which trials nothing beats is not known here."""
    at = order.load_point
    rate = view.throughput(at).value
    return FrontierPoint(
        trial=view.id,
        state=candidate.state,
        output_tokens_per_s_per_charged_device=_per_device(view, candidate, order, rate),
        output_tokens_per_s_per_request=_per_request(view, at, rate),
        ttft_ms=_ttft(view, at),
        usd_per_million_output_tokens=_at_rate(view, "usd_per_million_output_tokens", rate),
        non_dominated=False,
    )


def _per_device(view: TrialView, candidate: Weighed, order: Order, rate: Fraction | None) -> Value:
    """Return the selection key of that name, where it is read at the same load point; else compute it."""
    for key in order.keys:
        if key.key == PER_DEVICE and key.load_point == order.load_point and rate:
            return candidate.keys[key.label]
    return _at_rate(view, PER_DEVICE, rate)


def _at_rate(view: TrialView, key: str, rate: Fraction | None) -> Value:
    """Return what follows from the worst window's rate; it is the worst window's own figure too."""
    change = from_rate(view, key)
    return None if change is None or not rate else plain(change(rate))


def _per_request(view: TrialView, load_point: str, rate: Fraction | None) -> Value:
    """Return the rate that one of the requests in flight sees; closed loop only, where their number is declared."""
    declared = view.workload.load_points.get(load_point)
    if declared is None or rate is None or isinstance(declared.concurrent_requests, UnsetType):
        return None
    return plain(rate / declared.concurrent_requests)


def _ttft(view: TrialView, load_point: str) -> Value:
    """Return the statistic that the contract's ttft limit names; without one no statistic is chosen here."""
    name = view.ground.kept.once(("frontier ttft", load_point), lambda: _ttft_statistic(view.contract, load_point))
    found = None if name is None else view.statistic("ttft_ms", name, load_point).value
    return None if found is None else plain(found)


def _ttft_statistic(contract: Contract, load_point: str) -> str | None:
    limit = ttft_limit(contract, load_point)
    return None if limit is None else str(contract.gates["ttft"][limit]["statistic"])


def _non_dominated(points: Sequence[FrontierPoint]) -> set[str]:
    """Return the trials that no other beats in every figure.

    Best first by every figure, whoever dominates a point stands before it, so each point is compared with the
    frontier so far and not with all others.
    """
    columns = [_places(figure(point) for point in points) for figure in FIGURES]
    kept: list[Places] = []
    best = set()
    for places, trial in sorted(zip(zip(*columns, strict=True), (point.trial for point in points), strict=True)):
        if not any(_dominates(other, places) for other in kept):
            kept.append(places)
            best.add(trial)
    return best


def _negative(value: Value) -> Fraction | None:
    found = number(value)
    return None if found is None else -found


FIGURES: tuple[Callable[[FrontierPoint], Fraction | None], ...] = (
    lambda point: number(point.output_tokens_per_s_per_charged_device),
    lambda point: number(point.output_tokens_per_s_per_request),
    lambda point: _negative(point.ttft_ms),
    lambda point: _negative(point.usd_per_million_output_tokens),
)
"""The figures of a point so that larger is better; None is the worst."""


def _places(figures: Iterable[Fraction | None]) -> list[int]:
    """Return the place of each figure among all of them, 0 for the best; places compare as the figures do."""
    listed = list(figures)
    known = sorted({figure for figure in listed if figure is not None}, reverse=True)
    places: dict[Fraction | None, int] = {figure: place for place, figure in enumerate(known)}
    return [places.get(figure, len(known)) for figure in listed]


def _dominates(other: Places, places: Places) -> bool:
    """Say whether ``other`` is at least as good in every figure and better in one."""
    return other != places and all(map(le, other, places))
