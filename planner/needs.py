"""What a contract needs and what it holds back: the gates that answer a need, and exact numbers that many share.

Rules kept: the required load is the declared one times its peak factor; a reserve that is not declared is 0.
"""

from collections.abc import Mapping
from fractions import Fraction

from planner.numbers import exact
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.plan import Constraint

__all__ = ["HELD_BY", "RESOLVED_BY", "required_rate", "reserved_bandwidth", "reserved_capacity"]

NOTHING = Fraction(0)

HELD_BY: Mapping[str, tuple[str, ...]] = {
    "residency": ("memory_headroom", "kv_capacity"),
    "latency": ("ttft", "tpot", "itl", "e2e", "tails_by_shape"),
    "capacity": ("throughput", "goodput"),
    "isolation": ("failure_domain",),
    "tenancy": (),
}
"""Gates that hold a need; any one of them will do. No gate holds tenancy."""

RESOLVED_BY: Mapping[Constraint, tuple[str, ...]] = {
    "residency": HELD_BY["residency"],
    "latency": HELD_BY["latency"],
    "capacity": HELD_BY["capacity"],
    # How long a loss lasts is no limit of what it takes down, so alone it does not hold the need (settled 31).
    "isolation": (*HELD_BY["isolation"], "recovery"),
}
"""Gates whose failure in a smaller trial justifies more of an axis, in the order in which they are named."""


def required_rate(contract: Contract) -> Fraction | None:
    """Return the declared load times its peak factor, in output tokens per second; None without one."""
    if isinstance(contract.needs, UnsetType) or isinstance(contract.needs.capacity, UnsetType):
        return None
    need = contract.needs.capacity
    factor = 1 if isinstance(need.peak_factor, UnsetType) else need.peak_factor
    return exact(need.output_tokens_per_s) * exact(factor)


def reserved_capacity(contract: Contract) -> Fraction:
    """Return the share of capacity that is kept free for lost replicas."""
    if isinstance(contract.headroom, UnsetType) or isinstance(contract.headroom.replica_capacity, UnsetType):
        return NOTHING
    return exact(contract.headroom.replica_capacity.reserved_share)


def reserved_bandwidth(contract: Contract) -> Fraction:
    """Return the share of every link's rate that is kept free."""
    if isinstance(contract.headroom, UnsetType) or isinstance(contract.headroom.bandwidth, UnsetType):
        return NOTHING
    return exact(contract.headroom.bandwidth.reserved_share)
