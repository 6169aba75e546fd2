"""The selection keys and the frontier figures of trials alike: read off their numbers, written when asked for.

Rules kept: both are what ``planner.keys`` and ``planner.frontier`` give, of the same windows and by the same
arithmetic. A key that no number moves is the same for all trials alike, but for the content id, which each has for
itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.alike.columns import Pair
from planner.alike.form import UnlikeError
from planner.alike.measures import (
    Likeness,
    Measure,
    measured_price,
    measured_rate,
    measured_statistic,
    multiple_of,
)
from planner.frontier import FIGURES, ttft_statistic
from planner.keys import PER_DEVICE, PER_MILLION, key_value, usd_per_million
from planner.numbers import plain_ratio
from planner.order import Order
from planner.records.plan import FrontierPoint, OrderKey, State, Value

__all__ = ["KeyValue", "figure_measures", "key_value_of", "point_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """One selection key, by its label: what ``measure`` reads off the numbers, the content id, or what is the same."""

    label: str
    measure: Measure | None = None
    is_content_id: bool = False
    same: Value = None

    @property
    def is_missing(self) -> bool:
        """Say whether none of the trials has a value."""
        return self.same is None and self.measure is None and not self.is_content_id


def key_value_of(likeness: Likeness, key: OrderKey) -> KeyValue:
    """Return how trials alike get their value of a key.

    Raises:
        UnlikeError: a window does not record what the key reads.
    """
    view, load_point = likeness.view, key.load_point
    if load_point is None:
        if key.key == "trial_content_id":
            return KeyValue(label=key.label, is_content_id=True)
        return KeyValue(label=key.label, same=key_value(view, key))
    if key.key == "ttft":
        measure: Measure | None = measured_statistic(likeness, "ttft_ms", str(key.statistic), load_point)
    else:
        measure = _from_rate(likeness, key.key, load_point)
    return KeyValue(label=key.label, measure=measure)


def _from_rate(likeness: Likeness, key: str, load_point: str) -> Measure | None:
    """Return how a key follows from the output rate; None where the contract lacks a price or the charge is not known.

    Raises:
        UnlikeError: the key does not follow from it, or the rate is not recorded.
    """
    placed, rate = likeness.view.placed, measured_rate(likeness, load_point)
    if key == "output_tokens_per_s":
        return rate
    if key == PER_DEVICE:
        each = None if placed.charge.undefined else Fraction(1, len(placed.charge.devices))
        return None if each is None else likeness.once((key, load_point), lambda: multiple_of(rate, each))
    if key != PER_MILLION:
        raise UnlikeError
    hourly = placed.usd_per_hour
    price = None if hourly is None else usd_per_million(hourly)
    return None if price is None else measured_price(likeness, price, load_point)


def figure_measures(likeness: Likeness, order: Order) -> tuple[Measure | None, ...]:
    """Return how trials alike get each figure of ``FIGURES``; None for one that none of them has.

    Raises:
        UnlikeError: a window does not record what a figure reads.
    """
    view, at = likeness.view, order.load_point
    rate, declared, statistic = measured_rate(likeness, at), view.workload.load_points.get(at), ttft_statistic(view, at)
    concurrent = None if declared is None else declared.concurrent_requests
    return (
        _from_rate(likeness, PER_DEVICE, at),
        multiple_of(rate, Fraction(1, concurrent)) if isinstance(concurrent, int) else None,
        None if statistic is None else measured_statistic(likeness, "ttft_ms", statistic, at),
        _from_rate(likeness, PER_MILLION, at),
    )


def point_of(trial: str, state: State, figures: Sequence[Pair | None]) -> FrontierPoint:
    """Return where a trial stands; which trials nothing beats is not known here."""
    values = {name: None if pair is None else plain_ratio(*pair) for name, pair in zip(FIGURES, figures, strict=True)}
    return FrontierPoint(trial=trial, state=state, non_dominated=False, **values)
