"""What a contract needs and what it holds back, as exact numbers that gates, demand and faults share.

Rules kept: the required load is the declared one times its peak factor; a reserve that is not declared is 0.
"""

from fractions import Fraction

from planner.numbers import exact
from planner.records.base import UnsetType
from planner.records.contract import Contract

__all__ = ["required_rate", "reserved_bandwidth", "reserved_capacity"]


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
        return Fraction(0)
    return exact(contract.headroom.replica_capacity.reserved_share)


def reserved_bandwidth(contract: Contract) -> Fraction:
    """Return the share of every link's rate that is kept free."""
    if isinstance(contract.headroom, UnsetType) or isinstance(contract.headroom.bandwidth, UnsetType):
        return Fraction(0)
    return exact(contract.headroom.bandwidth.reserved_share)
