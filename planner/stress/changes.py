"""Changes to a copy of a trial: nested records are frozen, so every change makes new ones from the inside out."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

import msgspec

from planner.readings import number
from planner.records.base import UnsetType
from planner.records.evidence import Load, PerRank, Rate, Statistics, Trial, Window
from planner.records.figures import Values
from planner.stress.base import written

__all__ = [
    "added",
    "loads",
    "metrics",
    "scaled",
    "scaled_number",
    "scaled_rate",
    "scaled_values",
    "with_values",
    "with_windows",
]

FIGURES = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")

Recorded = TypeVar("Recorded", bound=int | float | UnsetType | None)


def loads(trial: Trial) -> dict[str, tuple[Window, Load]]:
    """Return every window with what the load client saw in it, in window id order."""
    return {
        name: (window, window.load)
        for name, window in sorted(trial.windows.items())
        if not isinstance(window.load, UnsetType)
    }


def metrics(window: Window) -> Mapping[str, PerRank]:
    """Return the per-rank metrics of a window."""
    return {} if isinstance(window.per_rank, UnsetType) else window.per_rank


def scaled(statistics: Statistics | UnsetType, factor: Fraction) -> Statistics | UnsetType:
    """Multiply every figure of a distribution; the number of samples stays."""
    if isinstance(statistics, UnsetType):
        return statistics
    return msgspec.structs.replace(statistics, **_moved(statistics, FIGURES, lambda value: value * factor))


def added(statistics: Statistics | UnsetType, names: Iterable[str], more: Fraction) -> Statistics | UnsetType:
    """Add to the figures named, as far as they are recorded."""
    if isinstance(statistics, UnsetType):
        return statistics
    return msgspec.structs.replace(statistics, **_moved(statistics, names, lambda value: value + more))


def _moved(
    statistics: Statistics, names: Iterable[str], change: Callable[[Fraction], Fraction]
) -> dict[str, int | float]:
    found = {name: number(getattr(statistics, name)) for name in names}
    return {name: written(change(value)) for name, value in found.items() if value is not None}


def scaled_number(value: Recorded, factor: Fraction) -> int | float | Recorded:
    """Multiply a number; what is absent or null stays so."""
    found = number(value)
    return value if found is None else written(found * factor)


def scaled_rate(rate: Rate | UnsetType, factor: Fraction) -> Rate | UnsetType:
    """Multiply a stated rate."""
    if isinstance(rate, UnsetType):
        return rate
    return msgspec.structs.replace(rate, value=scaled_number(rate.value, factor))


def scaled_values(values: Values, factor: Fraction, places: Iterable[int]) -> Values:
    """Multiply the values at some places of an array."""
    changed = set(places)
    return tuple(scaled_number(value, factor) if place in changed else value for place, value in enumerate(values))


def with_values(window: Window, changes: Mapping[str, Mapping[int, Fraction]]) -> Window:
    """Put values into per-rank metrics: metric -> rank -> value."""
    recorded = metrics(window)
    changed = {
        name: msgspec.structs.replace(
            recorded[name],
            values=tuple(
                written(values[rank]) if rank in values else value for rank, value in enumerate(recorded[name].values)
            ),
        )
        for name, values in changes.items()
    }
    return msgspec.structs.replace(window, per_rank={**recorded, **changed})


def with_windows(trial: Trial, changed: Mapping[str, Window]) -> Trial:
    """Put windows in place of those with the same ids."""
    return msgspec.structs.replace(trial, windows={**trial.windows, **changed})
