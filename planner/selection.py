"""From judged candidates to the decision: order, winner, contenders, whether the lead is beyond the noise.

Rules kept: only ELIGIBLE trials are ordered, by the contract's keys alone; the order is total, so neither the order
of trials nor a dictionary's order ever decides; topologies compare by their integers (tp4 before tp16); withholding
a rival's evidence cannot win quietly, because an inconclusive trial that could outrank the winner is a contender.
Not handled: what makes a trial eligible (``planner.evaluate``).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from typing import Any, Protocol, cast

from planner.figures import number
from planner.numbers import exact, plain
from planner.order import Order
from planner.ranking import sort_keys
from planner.records.plan import Contender, DecisionWord, Eligible, OrderKey, Ratio, State, Value

__all__ = ["Selection", "Weighed", "first_difference", "select", "topology_integers"]

Number = int | float | Ratio
NUMBERS = frozenset({int, float, Ratio})

SCALED_BY_UNITS = frozenset({"charged_devices", "output_tokens_per_s"})
"""Keys that grow with the number of units; every other key is the same for one unit and for many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The decision. ``decisive`` is None where there is nothing to compare the lead with."""

    decision: DecisionWord
    winner: str | None
    eligible: tuple[Eligible, ...]
    contenders: tuple[Contender, ...]
    decisive: bool | None


class Weighed(Protocol):
    """What ordering trials takes of a verdict."""

    @property
    def state(self) -> State:
        """ELIGIBLE, REJECTED or INCONCLUSIVE."""

    @property
    def keys(self) -> Mapping[str, Value]:
        """The value of every selection key."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Gates without an answer."""

    @property
    def topology(self) -> str:
        """The name made of degrees."""


def select(
    candidates: Mapping[str, Weighed],
    order: Order,
    *,
    spread_of: Callable[[str], Fraction | None],
    units_of: Callable[[str], int | None],
) -> Selection:
    """Order the eligible trials and decide (spec 2.2; domain 5).

    ``spread_of`` gives a trial's largest minus smallest value of the first key over its counted windows, or None
    where fewer than two windows have one. ``units_of`` gives how many units of a trial carry the declared load, None
    where that is not known; it is asked only where the contract allows copies.
    """
    units = units_of if order.copies else _one_unit
    ordered = _ordered(candidates, order, units)
    winner = ordered[0] if ordered else None
    return Selection(
        decision=_decision(candidates, winner),
        winner=None if winner is None else winner.trial,
        eligible=tuple(ordered),
        contenders=() if winner is None else _contenders(candidates, order, winner, units),
        decisive=_decisive(ordered, spread_of),
    )


@lru_cache(maxsize=1024)
def topology_integers(name: str) -> tuple[str | int, ...]:
    """Split a topology's name so that it compares by its integers: tp4 before tp16, never as text.

    Text and integers alternate, starting with text, so two names always compare like with like.
    """
    return tuple(int(part) if index % 2 else part for index, part in enumerate(re.split(r"(\d+)", name)))


def _one_unit(trial: str) -> int:
    return 1


def _ordered(candidates: Mapping[str, Weighed], order: Order, units_of: Callable[[str], int | None]) -> list[Eligible]:
    labels = [key.label for key in order.keys]
    entries = []
    for trial, candidate in candidates.items():
        if candidate.state == "ELIGIBLE":
            units, values = units_of(trial) or 1, tuple(map(candidate.keys.__getitem__, labels))
            own = values if units == 1 else tuple(map(_scaled, order.keys, values, repeat(units)))
            entries.append(Eligible(trial=trial, values=own, units=units))
    places = list(range(len(entries)))
    # What is equal stays in the order that it has, so the first key comes last.
    for index, key in reversed(list(enumerate(order.keys))):
        sorted_by = _sort_keys(key, [entry.values[index] for entry in entries])
        places.sort(key=sorted_by.__getitem__, reverse=key.direction == "desc")
    return [entries[place] for place in places]


def _sort_keys(key: OrderKey, values: Sequence[Value]) -> Sequence[Any]:
    """Return what trials sort by, of their values of a key."""
    if NUMBERS.issuperset(map(type, values)):
        return sort_keys(cast("Sequence[Number]", values))
    return [_comparable(key, value) for value in values]


def _scaled(key: OrderKey, value: Value, units: int | None) -> Value:
    """Return the value for ``units`` units; None where it depends on their number and that is not known."""
    if units == 1 or key.key not in SCALED_BY_UNITS:
        return value
    one = number(value)
    if one is None:
        return value
    return None if units is None else plain(one * units)


def _comparable(key: OrderKey, value: Value) -> Any:
    """Return what a value of a key sorts by as the key is meant to; all of one key are of one type.

    Raises:
        TypeError: an eligible trial without a value, which evaluation never gives: a missing key makes a trial
            INCONCLUSIVE.
    """
    if value is None:
        raise TypeError(f"the key {key.label} has no value")
    if isinstance(value, str):
        return topology_integers(value) if key.key == "topology" else value
    return exact(value)


def _decision(candidates: Mapping[str, Weighed], winner: Eligible | None) -> DecisionWord:
    if winner is not None:
        return "SELECT_TOPOLOGY"
    if any(candidate.state == "INCONCLUSIVE" for candidate in candidates.values()):
        return "INCONCLUSIVE"
    return "NO_ELIGIBLE_TOPOLOGY"


def _contenders(
    candidates: Mapping[str, Weighed], order: Order, winner: Eligible, units_of: Callable[[str], int | None]
) -> tuple[Contender, ...]:
    found = []
    for trial in sorted(trial for trial, candidate in candidates.items() if candidate.state == "INCONCLUSIVE"):
        candidate, units = candidates[trial], units_of(trial)
        keys = candidate.keys
        values = [_scaled(key, keys.get(key.label), units) for key in order.keys]
        sentence = _could_win(values, order, winner, _doubt(candidate))
        if sentence is not None:
            found.append(Contender(trial=trial, topology=candidate.topology, sentence=sentence))
    return tuple(found)


def _could_win(values: list[Value], order: Order, winner: Eligible, doubt: str) -> str | None:
    """Say by which key an inconclusive trial would outrank the winner; None where it would not."""
    key, ahead = first_difference(order, values, winner.values)
    if ahead is None:
        return f"Could win if {doubt}: it has no usable value for {key}, so nothing shows that it is behind."
    return f"Would win on {key} if {doubt}." if ahead else None


def first_difference(order: Order, mine: Sequence[Value], theirs: Sequence[Value]) -> tuple[str, bool | None]:
    """Return the first key on which two trials differ and whether the first of them is ahead by it.

    None in place of the answer where the first trial has no value there. Trials without any difference are one and
    the same, which is not ahead of itself.
    """
    for key, own, other in zip(order.keys, mine, theirs, strict=True):
        if own is None:
            return key.label, None
        first, second = _comparable(key, own), _comparable(key, other)
        if first != second:
            return key.label, first > second if key.direction == "desc" else first < second
    return "", False


def _doubt(candidate: Weighed) -> str:
    if not candidate.unknown:
        return "its missing values were measured"
    return f"its unknown gates passed ({', '.join(candidate.unknown)})"


def _decisive(ordered: list[Eligible], spread_of: Callable[[str], Fraction | None]) -> bool | None:
    """Say whether the lead on the first key is larger than the larger spread of the first two (settled 35)."""
    if len(ordered) < 2:
        return None
    best, next_best = (number(entry.values[0]) for entry in ordered[:2])
    spreads = [spread_of(entry.trial) for entry in ordered[:2]]
    if best is None or next_best is None:
        return None
    lead = abs(best - next_best)
    known = [spread for spread in spreads if spread is not None]
    return lead > max(known) if len(known) == len(spreads) else None
