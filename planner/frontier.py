"""The picture of throughput against latency and price: every measured trial, and which of them nothing beats.

Rules kept: shown beside the order, never used instead of it (spec 2.2); all figures are read at one load point by
the readings that the gates use; a figure that was not measured never counts as the better one. Only eligible trials
can be non-dominated.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec

from planner.dominance import unbeaten
from planner.keys import PER_DEVICE, PER_MILLION, value_at_rate
from planner.numbers import Exactable, plain, plain_ratio
from planner.order import Order, ttft_limit
from planner.ranking import sort_keys
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.plan import FrontierPoint, Ratio, Value
from planner.selection import Weighed
from planner.view import TrialView

__all__ = ["FIGURES", "figures_of", "frontier", "frontier_point", "ttft_statistic", "unbeaten_trials"]

FIGURES = {
    PER_DEVICE: True,
    "output_tokens_per_s_per_request": True,
    "ttft_ms": False,
    PER_MILLION: False,
}
"""The figures of a point, each with whether the highest is the best; none at all is the worst."""


def frontier(points: Iterable[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """Return the points that have a rate, by trial id, with those marked that nothing beats."""
    shown = [point for point in points if point.output_tokens_per_s_per_charged_device is not None]
    shown.sort(key=lambda point: point.trial)
    best = unbeaten_trials({point.trial: figures_of(point) for point in shown if point.state == "ELIGIBLE"})
    return tuple(msgspec.structs.replace(point, non_dominated=point.trial in best) for point in shown)


def frontier_point(view: TrialView, candidate: Weighed, order: Order) -> FrontierPoint:
    """Return where a trial stands at the order's load point; which trials nothing beats is not known here."""
    at = order.load_point
    rate = view.throughput(at).value
    known = {(key.key, key.statistic): candidate.keys[key.label] for key in order.keys if key.load_point == at}
    return FrontierPoint(
        trial=view.id,
        state=candidate.state,
        output_tokens_per_s_per_charged_device=_at_rate(view, PER_DEVICE, rate, known),
        output_tokens_per_s_per_request=_per_request(view, at, rate),
        ttft_ms=_ttft(view, at, known),
        usd_per_million_output_tokens=_at_rate(view, PER_MILLION, rate, known),
        non_dominated=False,
    )


Known = Mapping[tuple[str, str | None], Value]
"""A trial's value of the selection keys that are read at the order's load point, by key and statistic."""


def _at_rate(view: TrialView, key: str, rate: Fraction | None, known: Known) -> Value:
    """Return what follows from the worst window's rate, unless that is 0."""
    if not rate:
        return None
    return known[key, None] if (key, None) in known else value_at_rate(view, key, rate)


def _per_request(view: TrialView, load_point: str, rate: Fraction | None) -> Value:
    """Return the rate that one of the requests in flight sees; closed loop only, where their number is declared."""
    declared = view.workload.load_points.get(load_point)
    if declared is None or rate is None or isinstance(declared.concurrent_requests, UnsetType):
        return None
    return plain_ratio(rate.numerator, rate.denominator * declared.concurrent_requests)


def _ttft(view: TrialView, load_point: str, known: Known) -> Value:
    """Return the statistic that the contract's ttft limit names; without one no statistic is chosen here."""
    name = ttft_statistic(view, load_point)
    if name is None:
        return None
    if ("ttft", name) in known:
        return known["ttft", name]
    found = view.statistic("ttft_ms", name, load_point).value
    return None if found is None else plain(found)


def ttft_statistic(view: TrialView, load_point: str) -> str | None:
    """Name the statistic of TTFT that the figure is of; None where the contract names none."""
    return view.ground.kept.once(("frontier ttft", load_point), lambda: _ttft_statistic(view.contract, load_point))


def _ttft_statistic(contract: Contract, load_point: str) -> str | None:
    limit = ttft_limit(contract, load_point)
    return None if limit is None else str(contract.gates["ttft"][limit]["statistic"])


def figures_of(point: FrontierPoint) -> Sequence[Exactable | None]:
    """Return the figures of a point as numbers, in the order of ``FIGURES``."""
    values = [getattr(point, name) for name in FIGURES]
    return [value if isinstance(value, (int, float, Ratio)) else None for value in values]


def unbeaten_trials(figures: Mapping[str, Sequence[Exactable | None]]) -> set[str]:
    """Return the trials that no other beats in every figure; each has those of ``FIGURES``, in that order."""
    columns = zip(*figures.values(), strict=True)
    places = [_places(column, highest=highest) for column, highest in zip(columns, FIGURES.values(), strict=False)]
    rows = list(zip(*places, strict=True))
    best = unbeaten(rows)
    return {trial for trial, row in zip(figures, rows, strict=True) if row in best}


def _places(values: Sequence[Exactable | None], *, highest: bool) -> list[int]:
    """Return the place of each value among all of them, 0 for the best; equal values share one, none is the worst."""
    keys = sort_keys([value for value in values if value is not None])
    place_of = {key: place for place, key in enumerate(sorted(set(keys), reverse=highest))}
    places = map(place_of.__getitem__, keys)
    return [len(place_of) if value is None else next(places) for value in values]
