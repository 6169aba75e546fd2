"""The part of the envelope that follows from how a model is split: all-to-all, stages, experts, and recovery of groups.

Rules kept: a stage's idle time is that of every rank in it; limits for one phase or one mix of tokens are left out,
because observations of all of them answer none.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from planner.documents import ContractDocument
from planner.numbers import exact
from planner.observations.decided import stage_places
from planner.observations.measured import Entry, Measured, Seen, entry_of
from planner.records.base import UnsetType, stated
from planner.records.evidence import Trial, Window

__all__ = ["parts_of"]

Bound = tuple[Fraction, str]


def parts_of(contract: ContractDocument, trial: Trial, measured: Measured) -> Iterator[Entry]:
    """Yield the entries."""
    yield from _all_to_all(contract, measured)
    yield from _stages(contract, trial, measured)
    yield from _experts(contract, measured)
    yield from _recovery(contract, trial, measured)


def _least(bounds: Mapping[str, Bound]) -> Bound | None:
    return min(bounds.values(), key=lambda bound: bound[0], default=None)


def _limits(contract: ContractDocument, gate: str, member: str) -> dict[str, Bound]:
    """Return the limits of one member of a gate that name neither a phase nor a mix of tokens."""
    found = {}
    for name, limit in contract.limits.get(gate, {}).items():
        most = getattr(limit, member)
        narrowed = [getattr(limit, each, None) for each in ("phase", "token_mix")]
        if not isinstance(most, UnsetType) and all(each is None or isinstance(each, UnsetType) for each in narrowed):
            found[name] = (exact(most), f"/gates/{gate}/{name}/{member}")
    return found


def _all_to_all(contract: ContractDocument, measured: Measured) -> Iterator[Entry]:
    bounds = _limits(contract, "all_to_all_tail", "max_ms")
    limits = contract.limits.get("all_to_all_tail", {})
    for name, bound in bounds.items():
        statistic = limits[name].statistic
        yield entry_of("all_to_all_ms", statistic, measured.worst(_times(statistic), "collectives", traced=True), bound)
    if not bounds:
        for statistic in ("mean", "p99"):
            seen = measured.worst(_times(statistic), "collectives", traced=True)
            if seen is not None:
                yield entry_of("all_to_all_ms", statistic, seen, None)


def _times(statistic: str) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        found = []
        for collective in (stated(window.collectives) or {}).values():
            times = stated(collective.time_ms)
            value = None if times is None else stated(getattr(times, statistic))
            if collective.operation == "all_to_all" and value is not None:
                found.append(exact(value))
        return max(found, default=None)

    return read


def _stages(contract: ContractDocument, trial: Trial, measured: Measured) -> Iterator[Entry]:
    bound = _least(_limits(contract, "stage_balance", "max_idle_share"))
    moe = contract.record.identity.model.architecture == "moe"
    for rank, (index, stage) in stage_places(trial.topology, moe=moe).items():
        seen = measured.worst(_idle(index, stage), "stages", traced=True)
        if seen is not None or bound is not None:
            yield entry_of("stage_idle_share", "mean", seen, bound, rank=rank)


def _idle(index: int, stage: int) -> Callable[[Window], Any]:
    def read(window: Window) -> Any:
        found = []
        for times in (stated(window.stages) or {}).values():
            busy = times.busy_ms[stage] if stage < len(times.busy_ms) else None
            known = [value for value in times.busy_ms if value is not None]
            cycle = stated(times.cycle_ms) or max(known, default=0)
            if (stated(times.instance) or 0) == index and busy is not None and cycle:
                found.append(1 - exact(busy) / exact(cycle))
        return max(found, default=None)

    return read


def _experts(contract: ContractDocument, measured: Measured) -> Iterator[Entry]:
    bound = _least(_limits(contract, "expert_balance", "max_rank_over_mean"))
    seen = measured.worst(_heat, "experts", traced=True)
    if seen is not None or bound is not None:
        yield entry_of("expert_peak_to_mean", "max", seen, bound)


def _heat(window: Window) -> Any:
    found = []
    for load in (stated(window.experts) or {}).values():
        for layer in (stated(load.layers) or {}).values():
            tokens = [exact(value) for value in stated(layer.tokens_by_rank) or () if value is not None]
            if tokens and sum(tokens):
                found.append(max(tokens) * len(tokens) / sum(tokens))
    return max(found, default=None)


def _recovery(contract: ContractDocument, trial: Trial, measured: Measured) -> Iterator[Entry]:
    bound = _least(_limits(contract, "recovery", "max_floor_rate_s"))
    seen: Seen | None = None
    for name, fault in (stated(trial.failures) or {}).items():
        seconds = stated(fault.floor_rate_s)
        if seconds is not None and (seen is None or exact(seconds) > seen.value):
            seen = Seen(exact(seconds), f"{measured.at}/failures/{name}/floor_rate_s")
    if seen is not None or bound is not None:
        yield entry_of("recovery_s", "max", seen, bound)
