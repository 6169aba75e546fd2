"""What flips are computed over: the judged trials with their order, and questions about one trial among them.

Rules kept: a flip is one changed reading or one changed limit (domain 6), so a trial with two failing limits has none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from planner.docket import ALWAYS
from planner.figures import number
from planner.keys import from_rate
from planner.numbers import plain
from planner.order import Order
from planner.records.plan import Candidate, Eligible, LimitOutcome, Value
from planner.selection import first_difference
from planner.view import TrialView

__all__ = ["Board", "Effect", "Spot"]

Effect = Literal["OTHER_WINS", "NONE_LEFT", "SAME_WINNER"]
Values = tuple[Value, ...]


class Spot(Struct, frozen=True, kw_only=True, gc=False):
    """One limit of one gate with what it says about one trial, both as numbers."""

    gate: str
    limit_id: str
    outcome: LimitOutcome
    reading: Fraction
    limit: Fraction

    @property
    def declared_id(self) -> str | None:
        """The limit's id in the contract; an always-on gate has none."""
        return None if self.limit_id == ALWAYS else self.limit_id

    @property
    def name(self) -> str:
        """The limit as text."""
        return self.gate if self.declared_id is None else f"{self.gate}.{self.declared_id}"

    @property
    def is_ceiling(self) -> bool:
        """Say whether the reading must stay at or below the limit."""
        return self.outcome.comparator == "<="


@dataclass(frozen=True, kw_only=True)
class Board:
    """All trials of one plan. ``eligible`` is in order; its first entry is the winner."""

    views: Mapping[str, TrialView]
    candidates: Mapping[str, Candidate]
    order: Order
    eligible: tuple[Eligible, ...]

    @property
    def winner(self) -> Eligible | None:
        """The first of the eligible trials."""
        return self.eligible[0] if self.eligible else None

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(key.label for key in self.order.keys)

    def values(self, trial: str) -> Values:
        """Return a trial's value of every key."""
        return tuple(map(self.candidates[trial].keys.get, self._labels))

    def would_win(self, values: Values, against: Eligible | None) -> bool:
        """Say whether a trial with these values stands before ``against``; anything stands before nothing."""
        return against is None or first_difference(self.order, values, against.values)[1] is True

    def spots(self, trial: str, gate: str | None = None) -> Iterator[Spot]:
        """Yield the declared limits that compare two numbers for a trial: those of one gate, or all."""
        gates = self.candidates[trial].gates
        for name, found in gates.items() if gate is None else ((gate, gates[gate]),):
            for limit_id, outcome in found.limits.items():
                spot = _spot(name, limit_id, outcome)
                if spot is not None:
                    yield spot

    def spot(self, trial: str, gate: str, limit_id: str) -> Spot | None:
        """Return one limit for a trial, if it compares two numbers."""
        outcome = self.candidates[trial].gates[gate].limits.get(limit_id)
        return None if outcome is None else _spot(gate, limit_id, outcome)

    @cached_property
    def kept_out(self) -> Mapping[str, Spot]:
        """The one limit that keeps a rejected trial out, by trial id in order; trials that more keeps out, or no
        number does, are left out."""
        rejected = ((name, each) for name, each in sorted(self.candidates.items()) if each.state == "REJECTED")
        found = ((name, self._only_failing(candidate)) for name, candidate in rejected)
        return {name: spot for name, spot in found if spot is not None}

    def _only_failing(self, candidate: Candidate) -> Spot | None:
        if len(candidate.failing) > 1 or candidate.unknown or candidate.missing_keys:
            return None
        failing = [
            (gate, limit_id, outcome)
            for gate in candidate.failing
            for limit_id, outcome in candidate.gates[gate].limits.items()
            if outcome.outcome == "FAIL"
        ]
        return _spot(*failing[0]) if len(failing) == 1 else None

    def values_at(self, trial: str, spot: Spot, reading: Fraction) -> Values:
        """Return a trial's keys with another reading at ``spot``: keys read from the same windows move with it."""
        view = self.views[trial]
        # An always-on gate has no limit record, and its reading is no key's.
        limit: Any = view.limits.get(spot.gate, {}).get(spot.limit_id)
        load_point = getattr(limit, "load_point", None)
        values = list(self.values(trial))
        for index, key in enumerate(self.order.keys):
            if key.load_point is None or key.load_point != load_point:
                continue
            if spot.gate == "ttft" and key.key == "ttft" and key.statistic == limit.statistic:
                values[index] = plain(reading)
            elif spot.gate == "throughput":
                values[index] = self._at_rate(view, index, reading, values[index])
        return tuple(values)

    def values_at_rate(self, trial: str, load_point: str, rate: Fraction) -> Values:
        """Return a trial's keys at another rate of output tokens at a load point."""
        view = self.views[trial]
        return tuple(
            self._at_rate(view, index, rate, value) if key.load_point == load_point else value
            for index, (key, value) in enumerate(zip(self.order.keys, self.values(trial), strict=True))
        )

    def _at_rate(self, view: TrialView, index: int, rate: Fraction, otherwise: Value) -> Value:
        change = from_rate(view, self.order.keys[index].key)
        return otherwise if change is None or not rate else plain(change(rate))


def _spot(gate: str, limit_id: str, outcome: LimitOutcome) -> Spot | None:
    reading, limit = number(outcome.measured), number(outcome.limit)
    if reading is None or limit is None or outcome.comparator not in ("<=", ">=") or outcome.limit_at is None:
        return None
    return Spot(gate=gate, limit_id=limit_id, outcome=outcome, reading=reading, limit=limit)
