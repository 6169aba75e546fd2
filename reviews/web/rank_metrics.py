"""Metrics that evidence has for every rank, as pages show them: one reading per rank, missing stays missing.

Rules kept: only counted windows are read where there are any; the reading of a rank is its highest value over them,
and the windows are named. Nothing here judges; gates read the evidence themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.numbers import exact
from planner.records.base import UnsetType
from planner.records.evidence import Trial, Window
from reviews.web.formats import quantity, unit_of

SUFFIXES = (
    ("_bytes_per_s", "bytes/s"),
    ("_bytes", "bytes"),
    ("_tokens", "tokens"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_watts", "W"),
    ("_share", "share"),
)
COMPONENTS = (
    ("weights_bytes", "Weights"),
    ("kv_cache_bytes", "KV cache"),
    ("activations_bytes", "Activations"),
    ("communication_buffers_bytes", "Communication buffers"),
    ("graph_and_kernel_workspaces_bytes", "Graph and kernel workspaces"),
    ("allocator_reserve_bytes", "Allocator reserve"),
)
PEAK = "device_used_peak_bytes"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric: ``values[rank]`` is the highest of the windows read, None where no window has one."""

    id: str
    name: str
    unit: str
    values: tuple[int | float | None, ...]
    windows: tuple[str, ...]
    bound: str

    @cached_property
    def present(self) -> tuple[tuple[int, int | float], ...]:
        """(rank, value) of the ranks that have one."""
        return tuple((rank, value) for rank, value in enumerate(self.values) if value is not None)

    @cached_property
    def worst(self) -> tuple[int, int | float] | None:
        """The rank with the highest value, the lowest such rank; None where nothing was measured."""
        return max(self.present, key=lambda row: (row[1], -row[0]), default=None)

    def text(self, rank: int) -> str:
        """Write a rank's value with its unit."""
        value = self.values[rank] if rank < len(self.values) else None
        return "missing" if value is None else quantity(value, self.unit)

    def scaled(self, rank: int) -> float | None:
        """The value in the shown unit, for charts."""
        value = self.values[rank] if rank < len(self.values) else None
        return None if value is None else float(exact(value) / unit_of(self.unit).scale)


def unit_from_name(metric: str) -> str:
    """Read the unit at the end of a metric's name."""
    return next((unit for suffix, unit in SUFFIXES if metric.endswith(suffix)), "")


def name_of(metric: str) -> str:
    """Write a metric's name without its unit."""
    suffix = next((suffix for suffix, _ in SUFFIXES if metric.endswith(suffix)), "")
    words = metric.removesuffix(suffix).replace("_", " ")
    return (words[:1].upper() + words[1:]).replace("Kv ", "KV ")


def windows_read(trial: Trial) -> tuple[tuple[str, Window], ...]:
    """Return the counted windows; all windows where none counts."""
    ordered = sorted(trial.windows.items())
    return tuple((name, window) for name, window in ordered if window.purpose == "counted") or tuple(ordered)


def highest(columns: Sequence[Sequence[int | float | None]], ranks: int) -> tuple[int | float | None, ...]:
    """Return the highest value of each rank."""
    found = []
    for rank in range(ranks):
        values = [column[rank] for column in columns if rank < len(column)]
        found.append(max((value for value in values if value is not None), default=None))
    return tuple(found)


def metrics_of(trial: Trial) -> tuple[Metric, ...]:
    """Return every metric that a window read has, the memory peak first, then by name."""
    columns: dict[str, list[tuple[str, Sequence[int | float | None], str]]] = {}
    for window_id, window in windows_read(trial):
        recorded = {} if isinstance(window.per_rank, UnsetType) else window.per_rank
        for metric, found in recorded.items():
            bound = "exact" if isinstance(found.bound, UnsetType) else found.bound
            columns.setdefault(metric, []).append((window_id, found.values, bound))
    ordered = sorted(columns, key=lambda metric: (metric != PEAK, metric))
    return tuple(
        Metric(
            id=metric,
            name=name_of(metric),
            unit=unit_from_name(metric),
            values=highest([values for _, values, _ in columns[metric]], len(trial.rank_map)),
            windows=tuple(window_id for window_id, _, _ in columns[metric]),
            bound=next((bound for _, _, bound in columns[metric] if bound != "exact"), "exact"),
        )
        for metric in ordered
    )
