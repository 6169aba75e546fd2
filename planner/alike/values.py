"""The selection keys and the frontier figures of trials alike: read off their numbers, written when asked for.

Rules kept: both are what ``planner.keys`` and ``planner.frontier`` give, of the same windows and by the same
arithmetic. A key that no number moves is the same for all trials alike, but for the content id, which each has for
itself.
"""

from dataclasses import dataclass
from fractions import Fraction

from planner.alike.form import Pair, UnlikeError
from planner.alike.limits import Likeness, Measured, Rows, inverse_of, measured_rate, measured_statistic, multiple_of
from planner.frontier import ttft_statistic
from planner.keys import key_value, usd_per_million
from planner.numbers import plain_ratio
from planner.order import Order
from planner.records.plan import FrontierPoint, OrderKey, State, Value
from planner.view import TrialView

__all__ = ["FrontierFigures", "KeyValue", "frontier_figures", "key_value_of"]

UNUSABLE: Pair = (0, 0)
"""In place of a value that the numbers of a trial do not give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValue:
    """One selection key. ``measure`` reads it off the numbers; without one all trials alike have the value ``same``."""

    key: OrderKey
    measure: Measured | None
    same: Value

    @property
    def label(self) -> str:
        """What the value of this key is called."""
        return self.key.label

    def read(self, rows: Rows) -> Pair | None:
        """Return what is measured, ``UNUSABLE`` where that is nothing; None for a key that is the same for all."""
        return None if self.measure is None else self.measure(rows) or UNUSABLE

    def written(self, found: Pair | None, content_id: str) -> Value:
        """Return the value as a plan writes it."""
        if found is not None:
            return plain_ratio(*found)
        return content_id if self.key.key == "trial_content_id" else self.same


def key_value_of(likeness: Likeness, key: OrderKey) -> KeyValue:
    """Return how trials alike get their value of a key.

    Raises:
        UnlikeError: a window does not record what the key reads.
    """
    view, load_point = likeness.view, key.load_point
    if load_point is None:
        return KeyValue(key=key, measure=None, same=key_value(view, key))
    if key.key == "ttft":
        measure: Measured | None = measured_statistic(likeness, "ttft_ms", str(key.statistic), load_point)
    else:
        measure = _from_rate(view, key.key, measured_rate(likeness, load_point))
    return KeyValue(key=key, measure=measure, same=None)


def _from_rate(view: TrialView, key: str, rate: Measured) -> Measured | None:
    """Return how a key follows from the output rate; None where the contract lacks a price or the charge is not known.

    Raises:
        UnlikeError: the key does not follow from it.
    """
    if key == "output_tokens_per_s":
        return rate
    if key == "output_tokens_per_s_per_charged_device":
        return None if view.charge.undefined else multiple_of(rate, Fraction(1, len(view.charge.devices)))
    if key != "usd_per_million_output_tokens":
        raise UnlikeError
    hourly = view.placed.usd_per_hour
    return None if hourly is None else inverse_of(rate, usd_per_million(hourly))


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierFigures:
    """How trials alike get the figures of their frontier point; None for one that none of them has."""

    per_device: Measured | None
    per_request: Measured | None
    ttft: Measured | None
    usd: Measured | None

    def point(self, trial: str, state: State, rows: Rows) -> FrontierPoint | None:
        """Return where a trial stands; None where its numbers do not give a figure that trials alike have."""
        found = [
            None if measure is None else measure(rows) or UNUSABLE
            for measure in (self.per_device, self.per_request, self.ttft, self.usd)
        ]
        if UNUSABLE in found:
            return None
        per_device, per_request, ttft, usd = [None if pair is None else plain_ratio(*pair) for pair in found]
        return FrontierPoint(
            trial=trial,
            state=state,
            output_tokens_per_s_per_charged_device=per_device,
            output_tokens_per_s_per_request=per_request,
            ttft_ms=ttft,
            usd_per_million_output_tokens=usd,
            non_dominated=False,
        )


def frontier_figures(likeness: Likeness, order: Order) -> FrontierFigures:
    """Return how trials alike get the figures of their frontier point.

    Raises:
        UnlikeError: a window does not record what a figure reads.
    """
    view, at = likeness.view, order.load_point
    rate, declared, statistic = measured_rate(likeness, at), view.workload.load_points.get(at), ttft_statistic(view, at)
    concurrent = None if declared is None else declared.concurrent_requests
    return FrontierFigures(
        per_device=_from_rate(view, "output_tokens_per_s_per_charged_device", rate),
        per_request=multiple_of(rate, Fraction(1, concurrent)) if isinstance(concurrent, int) else None,
        ttft=None if statistic is None else measured_statistic(likeness, "ttft_ms", statistic, at),
        usd=_from_rate(view, "usd_per_million_output_tokens", rate),
    )
