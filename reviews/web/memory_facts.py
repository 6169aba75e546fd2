"""What one window says of the memory of every rank, in bytes, against the device and the reserve. Pure, no text.

Rules kept: components have their peaks at moments of their own, so their sum may exceed the peak of the device, and
that is said; what no component accounts for has a name; a missing value stays missing. Nothing here judges: the verdict
shown beside is that of the gate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from planner.gates.memory import MemoryHeadroomLimit, ceiling
from planner.gates.memory_parts import COMPONENTS, MORE_COMPONENTS, PEAK
from planner.readings import WindowView, number_at
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import PerRank
from planner.view import TrialView
from reviews.web.rank_metrics import COMPONENTS as NAMED
from reviews.web.rank_metrics import name_of

NAMES: Mapping[str, str] = dict(NAMED)
ALL_COMPONENTS = (*COMPONENTS, *MORE_COMPONENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMemory:
    """One rank: ``parts`` in the order of the window's components, None where nothing was recorded.

    ``most`` is what the rank may use of its device; both are None where the device is not declared.
    """

    rank: int
    node: str
    device: str
    device_bytes: int | None
    most: Fraction | None
    peak: Fraction | None
    parts: tuple[Fraction | None, ...]

    @property
    def accounted(self) -> Fraction | None:
        """The sum of the components; None where none is recorded."""
        known = [part for part in self.parts if part is not None]
        return sum(known, Fraction(0)) if known else None

    @property
    def unaccounted(self) -> Fraction | None:
        """What of the peak no component accounts for; None where there is no peak or no component."""
        if self.peak is None or self.accounted is None:
            return None
        return max(Fraction(0), self.peak - self.accounted)

    @property
    def overlap(self) -> Fraction:
        """By how much components together exceed the peak: they were not at their peaks at once."""
        if self.peak is None or self.accounted is None:
            return Fraction(0)
        return max(Fraction(0), self.accounted - self.peak)

    @property
    def room(self) -> Fraction | None:
        """What is left below the most that the rank may use; negative where it uses more."""
        return None if self.peak is None or self.most is None else self.most - self.peak


@dataclass(frozen=True, kw_only=True)
class WindowMemory:
    """All ranks of a trial in one window. ``components`` are the metrics that the window has."""

    window: WindowView
    components: tuple[str, ...]
    ranks: tuple[RankMemory, ...]
    bound: str
    sample_interval_s: Fraction | None

    @property
    def has_peak(self) -> bool:
        """Whether the window records peaks at all."""
        return any(row.peak is not None for row in self.ranks)

    @cached_property
    def worst(self) -> RankMemory | None:
        """The rank with the least room, the lowest such; without limits the one with the highest peak."""
        with_room = [(row.room, row.rank, row) for row in self.ranks if row.room is not None]
        if with_room:
            return min(with_room, key=lambda found: found[:2])[2]
        peaks = [(-row.peak, row.rank, row) for row in self.ranks if row.peak is not None]
        return min(peaks, key=lambda found: found[:2])[2] if peaks else None

    @cached_property
    def scale(self) -> Fraction:
        """The bytes that a whole bar stands for: the largest device, or more where a rank used more."""
        sizes = [Fraction(row.device_bytes) for row in self.ranks if row.device_bytes]
        return max([*sizes, *(row.peak or row.accounted or Fraction(0) for row in self.ranks)], default=Fraction(0))


def component_name(metric: str) -> str:
    """Name a component."""
    return NAMES.get(metric) or name_of(metric)


def inside(name: str) -> str:
    """Write a name as it stands inside a sentence; an abbreviation stays as it is."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def windows_with_memory(view: TrialView) -> tuple[WindowMemory, ...]:
    """Return every window that records memory of ranks, counted ones first, then by id."""
    order = sorted(view.trial.windows.items(), key=lambda item: (item[1].purpose != "counted", item[0]))
    found = (window_of(view, window_id) for window_id, _ in order)
    return tuple(memory_of(view, window) for window in found if set(_recorded(window)) & {PEAK, *ALL_COMPONENTS})


def tightest(windows: Sequence[WindowMemory]) -> WindowMemory | None:
    """Return the counted window whose worst rank has the least room; any window where none counts."""
    counted = [window for window in windows if window.window.record.purpose == "counted"]
    rooms = [
        (window.worst.room, at, window)
        for at, window in enumerate(counted)
        if window.worst is not None and window.worst.room is not None
    ]
    if rooms:
        return min(rooms, key=lambda found: found[:2])[2]
    return next(iter([*counted, *windows]), None)


def window_of(view: TrialView, window_id: str) -> WindowView:
    """Return a window of a trial, whatever its purpose."""
    record = view.trial.windows[window_id]
    return next(found for found in view.stretches(record.load_point, record.purpose) if found.id == window_id)


def memory_of(view: TrialView, window: WindowView) -> WindowMemory:
    """Read the memory of every rank from one window."""
    recorded = _recorded(window)
    peak = recorded.get(PEAK)
    components = tuple(name for name in ALL_COMPONENTS if name in recorded)
    most = ceilings(view, window.record.load_point)
    devices = view.site.hardware.devices
    ranks = []
    for rank, place in enumerate(view.trial.rank_map):
        device = devices.get(place.device)
        ranks.append(
            RankMemory(
                rank=rank,
                node=place.node,
                device=place.device,
                device_bytes=None if device is None else device.memory_bytes,
                most=None if device is None else most[device.memory_bytes],
                peak=None if peak is None else number_at(peak.values, rank),
                parts=tuple(number_at(recorded[name].values, rank) for name in components),
            )
        )
    return WindowMemory(
        window=window,
        components=components,
        ranks=tuple(ranks),
        bound="exact" if peak is None or isinstance(peak.bound, UnsetType) else peak.bound,
        sample_interval_s=None
        if peak is None or isinstance(peak.sample_interval_s, UnsetType)
        else Fraction(str(peak.sample_interval_s)),
    )


def ceilings(view: TrialView, load_point: str) -> Mapping[int, Fraction]:
    """Return what a rank may use of a device of each size: the lowest of the limits at the load point, or the reserve
    alone where no limit is declared there."""
    declared = [
        limit
        for limit in view.limits.get("memory_headroom", {}).values()
        if isinstance(limit, MemoryHeadroomLimit) and limit.load_point == load_point
    ]
    sizes = {device.memory_bytes for device in view.site.hardware.devices.values()}
    stated = [limit.max_used_bytes for limit in declared] or [UNSET]
    return {size: min(ceiling(view.contract, size, most) for most in stated) for size in sizes}


def _recorded(window: WindowView) -> Mapping[str, PerRank]:
    return {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
