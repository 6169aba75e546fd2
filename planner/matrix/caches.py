"""The KV cache as a contract has it: the prefix cache off, on, or not said, its share of hits, and names of formats."""

from fractions import Fraction

from planner.contract_view import ContractView
from planner.numbers import exact
from planner.records.base import UnsetType, stated
from planner.records.contract import Contract
from planner.records.matrix import CacheState

__all__ = ["FP8", "cache_states", "expected_hits", "prefix_cache_off"]

OFF = frozenset({"off", "none", "disabled"})
FP8 = frozenset({"fp8", "fp8_e4m3", "fp8_e5m2"})
"""KV cache formats that go by these names in every engine; others are left to the engine and named."""


def prefix_cache_off(contract: Contract) -> bool | None:
    """Say whether the contract has the prefix cache off; None where it does not say."""
    settings = stated(contract.identity.workload.prefix_cache)
    if settings is None:
        return None
    enabled, policy = settings.get("enabled"), settings.get("policy")
    if enabled is False or (isinstance(policy, str) and policy in OFF):
        return True
    return False if enabled is True or isinstance(policy, str) else None


def cache_states(contract: Contract) -> tuple[CacheState, ...]:
    """Return the states that a load point is measured in; with the cache on the warm one is the contract's own."""
    off = prefix_cache_off(contract)
    if off is None:
        return ("undeclared",)
    return ("off",) if off else ("warm", "cold")


def expected_hits(view: ContractView, load_point: str) -> Fraction | None:
    """Return the share of prompt tokens that a warm cache answers: ``workload_match``'s own, else the workload's."""
    for limit in view.limits.get("workload_match", {}).values():
        if limit.load_point == load_point and not isinstance(limit.cache_hit_share, UnsetType):
            return exact(limit.cache_hit_share)
    share = (stated(view.workload.prefix_cache) or {}).get("expected_hit_share")
    is_share = isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
    return exact(share) if is_share and isinstance(share, int | float) else None
