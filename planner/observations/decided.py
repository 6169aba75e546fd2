"""What a trial says that a diagnosis of its ranks needs: places, stages, times of collectives, hand-offs that waited.

Rules kept: a trial's times of collectives include waiting for the other ranks, so the largest middle of its windows is
the most that moving took; only what is slower than that is called slower.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.layouts import LayoutRefusedError
from planner.observations.slowest import handoff_suggestion
from planner.rankmap import topology_groups
from planner.records.base import stated
from planner.records.evidence import ObservedIdentity, Topology, Trial

__all__ = ["Decided", "decided", "is_moe", "stage_places"]

PURPOSES = ("counted", "instrumented")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Rank -> (node, device) and stage, (kind, bytes) -> microseconds, window -> what its hand-off suggests."""

    places: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    stages: Mapping[int, int] = field(default_factory=dict)
    expected_us: Mapping[tuple[str, int | float], float] = field(default_factory=dict)
    handoffs: Mapping[str, str] = field(default_factory=dict)


def decided(trial: Trial, *, moe: bool) -> Decided:
    """Return what a trial decides and measured; what it does not say is absent."""
    return Decided(
        places={place.rank: (place.node, place.device) for place in trial.rank_map},
        stages={rank: stage for rank, (_, stage) in stage_places(trial.topology, moe=moe).items()},
        expected_us=_collectives(trial),
        handoffs=dict(_handoffs(trial)),
    )


def is_moe(observed: ObservedIdentity | None) -> bool:
    """Say whether an observed identity is of a mixture of experts, as its layout has to know."""
    model: Any = None if observed is None else stated(observed.model)
    return bool(model) and model.get("architecture") == "moe"


def stage_places(topology: Topology, *, moe: bool) -> dict[int, tuple[int, int]]:
    """Return rank -> (instance, stage) of every rank of a pipeline of more than one stage."""
    try:
        groups = topology_groups(topology, moe=moe)
    except LayoutRefusedError:
        return {}
    found = {}
    stages = groups.coordinates["pp"] if "pp" in groups.groups else ()
    for index, (start, size) in enumerate(zip(groups.starts, groups.world_sizes, strict=True)):
        for rank in range(start, start + size):
            place = stages[rank] if rank < len(stages) else None
            if place is not None and topology.instances[index].pp > 1:
                found[rank] = (index, place[1])
    return found


def _collectives(trial: Trial) -> dict[tuple[str, int | float], float]:
    found: dict[tuple[str, int | float], float] = {}
    for window in trial.windows.values():
        for collective in (stated(window.collectives) or {}).values() if window.purpose in PURPOSES else ():
            size, times = stated(collective.message_bytes), stated(collective.time_ms)
            middle = None if times is None else _middle(stated(times.p50), stated(times.mean))
            if size is not None and middle is not None:
                key = (collective.operation, size)
                found[key] = max(found.get(key, 0.0), middle * 1000)
    return found


def _middle(median: Any, mean: Any) -> float | None:
    value = mean if median is None else median
    return None if value is None else float(value)


def _handoffs(trial: Trial) -> Iterator[tuple[str, str]]:
    for name, window in trial.windows.items():
        handoff = stated(window.handoff)
        said = None if handoff is None or window.purpose not in PURPOSES else handoff_suggestion(handoff)
        if said is not None:
            yield name, said
