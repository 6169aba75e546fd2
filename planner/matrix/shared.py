"""What holds for every cell, in words of the contract: lengths, batching, affinity, quality, power, recovery, expiry.

Rules kept: what the contract states is repeated, what it does not state is called not stated; nothing is assumed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract_view import ContractView
from planner.matrix.caches import prefix_cache_off
from planner.records.base import UnsetType, stated
from planner.records.contract import Lengths
from planner.records.matrix import Shared
from planner.times import lasting

__all__ = ["shared_of"]

NOT_STATED = "not stated"


def shared_of(view: ContractView) -> Shared:
    """Return the words."""
    contract, workload = view.contract, view.workload
    stack = contract.identity.stack
    return Shared(
        dataset_digest=stated(workload.dataset_digest),
        prompt_tokens=_lengths(stated(workload.prompt_tokens)),
        output_tokens=_lengths(stated(workload.output_tokens)),
        context_tokens=stated(workload.context_tokens),
        batching=_both(stated(workload.batch), stated(stack.scheduler)),
        affinity=_settings(stated(stack.router)),
        cache=_cache(view),
        quality="; ".join(_quality(view)) or "no limit on quality: nothing says that the output is still good",
        power="; ".join(_power(view)) or "no limit on power",
        recovery=_recovery(view),
        expiry=tuple(_expiry(view)),
    )


def _lengths(lengths: Lengths | None) -> str:
    if lengths is None:
        return NOT_STATED
    if not isinstance(lengths.fixed, UnsetType):
        return f"{lengths.fixed:,} tokens, fixed"
    parts = [
        f"{name} {value:,}"
        for name in ("mean", "p50", "p95", "max")
        for value in (getattr(lengths, name),)
        if not isinstance(value, UnsetType)
    ]
    return f"{', '.join(parts)} tokens" if parts else NOT_STATED


def _settings(settings: Mapping[str, Any] | None) -> str:
    """Write settings as ``name value``; nested ones are named only."""
    if not settings:
        return NOT_STATED
    plain = {name: value for name, value in settings.items() if not isinstance(value, dict | list)}
    rest = [name for name in settings if name not in plain]
    return ", ".join([f"{name} {value}" for name, value in sorted(plain.items())] + sorted(rest))


def _both(batch: Mapping[str, Any] | None, scheduler: Mapping[str, Any] | None) -> str:
    said = [_settings(each) for each in (batch, scheduler) if each]
    return "; ".join(said) or NOT_STATED


def _cache(view: ContractView) -> str:
    off = prefix_cache_off(view.contract)
    if off is None:
        return "prefix cache not stated: every window runs with the engine's default, and evidence has to say which"
    return "prefix cache off" if off else "prefix cache on: warm windows are the contract's, cold ones show its loss"


def _quality(view: ContractView) -> Iterator[str]:
    for name, limit in view.limits.get("quality", {}).items():
        floor = "" if isinstance(limit.min_score, UnsetType) else f" at least {limit.min_score}"
        drop = "" if isinstance(limit.max_drop, UnsetType) else f" at most {limit.max_drop} below the reference"
        yield f"{limit.benchmark}{floor}{drop}, on each topology ({name})"


def _power(view: ContractView) -> Iterator[str]:
    for name, limit in view.limits.get("power", {}).items():
        if not isinstance(limit.max_joules_per_output_token, UnsetType):
            yield f"at most {limit.max_joules_per_output_token} J per output token, from energy counters ({name})"
        elif not isinstance(limit.max_watts_per_rank, UnsetType):
            yield f"at most {limit.max_watts_per_rank} W for each rank ({name})"
        else:
            yield f"at most the fleet's power cap for each rank ({name})"


def _recovery(view: ContractView) -> str:
    recovery = view.contract.recovery
    if isinstance(recovery, UnsetType):
        return NOT_STATED
    return (
        f"on rank loss {recovery.on_rank_loss} after at most {recovery.timeout_s} s, in flight "
        f"{recovery.in_flight_requests}, {recovery.drain}"
    )


def _expiry(view: ContractView) -> Iterator[str]:
    validity = view.contract.validity
    if isinstance(validity, UnsetType):
        yield "The contract sets no maximum age of evidence and no expiry of the decision."
        return
    if not isinstance(validity.max_evidence_age_s, UnsetType):
        yield f"Evidence older than {lasting(validity.max_evidence_age_s)} fails freshness."
    if not isinstance(validity.decision_expires_after_s, UnsetType):
        yield f"The decision expires {lasting(validity.decision_expires_after_s)} after it is made."
    keys = "every leaf of the identity"
    if not isinstance(validity.requalify_on, UnsetType):
        keys = ", ".join(validity.requalify_on) or "nothing"
    yield f"A change of {keys} asks for new evidence."
