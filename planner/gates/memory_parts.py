"""The parts that a device's memory is recorded in, and whether they explain its peak.

Rules kept: parts need not peak together, so their sum may be above the peak; a partial breakdown says nothing. Not
handled: limits (``planner.gates.memory``).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import sub
from typing import Any

from planner.gates.wording import apart, gib
from planner.numbers import exact
from planner.readings import WindowView
from planner.records.base import UnsetType
from planner.records.evidence import PerRank
from planner.view import TrialView

__all__ = ["COMPONENTS", "EVERY_COMPONENT", "MORE_COMPONENTS", "PEAK", "metrics_of", "unexplained"]

PEAK = "device_used_peak_bytes"
COMPONENTS = (
    "weights_bytes",
    "kv_cache_bytes",
    "activations_bytes",
    "communication_buffers_bytes",
    "graph_and_kernel_workspaces_bytes",
    "allocator_reserve_bytes",
)
EVERY_COMPONENT = frozenset(COMPONENTS)
MORE_COMPONENTS = ("adapters_bytes", "draft_model_bytes", "co_tenants_bytes", "recovery_overlap_bytes")
_ANY_COMPONENT = (*COMPONENTS, *MORE_COMPONENTS)


def unexplained(view: TrialView, window: WindowView) -> dict[int, str]:
    """Map ranks whose components sum to less than the peak, beyond tolerance, to a sentence that says so.

    Tested only where all six components are recorded for the rank, or the breakdown is said to be complete (settled
    question 24): a partial breakdown must not be worse than none.
    """
    metrics = metrics_of(window)
    complete = window.record.breakdown_complete is True
    if not complete and not metrics.keys() >= EVERY_COMPONENT:
        return {}
    components = [metrics[name].values for name in _ANY_COMPONENT if name in metrics]
    if all_explained(metrics[PEAK].values, components):
        return {}
    found: dict[int, str] = {}
    for rank, peak in enumerate(metrics[PEAK].values):
        total = None if peak is None else added(components, rank, partial=complete)
        if peak is None or total is None or total >= peak:
            continue
        if exact(total) < (1 - view.tolerance) * exact(peak):
            shown_total, shown_peak = apart(gib, exact(total), exact(peak), 1)
            found[rank] = f"Components of rank {rank} sum to {shown_total}; its peak is {shown_peak}."
    return found


def all_explained(peaks: Sequence[int | float | None], components: Sequence[Sequence[int | float | None]]) -> bool:
    """Say whether whole numbers of bytes are recorded for every rank and reach its peak; False settles nothing."""
    if set(map(len, components)) != {len(peaks)}:
        return False
    left: Iterable[Any] = peaks
    for values in components:
        left = map(sub, left, values)
    try:
        unexplained_bytes = list(left)
        # A decimal anywhere makes the sum of all of them one.
        return type(sum(unexplained_bytes)) is int and max(unexplained_bytes, default=0) <= 0
    except TypeError:
        # What is missing cannot be added up.
        return False


def added(components: Sequence[Sequence[int | float | None]], rank: int, *, partial: bool) -> int | Fraction | None:
    """Add a rank's components; None where there is none, or one is missing and that is not permitted."""
    parts = [values[rank] if rank < len(values) else None for values in components]
    known = [part for part in parts if part is not None]
    if not known or (len(known) < len(parts) and not partial):
        return None
    whole = [part for part in known if isinstance(part, int)]
    return sum(whole) if len(whole) == len(known) else sum(map(exact, known), Fraction(0))


def metrics_of(window: WindowView) -> dict[str, PerRank]:
    """The per-rank metrics of a window, by name."""
    return {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
