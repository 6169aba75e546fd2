"""Units and devices for the declared load: arithmetic on one measured trial, labelled so.

Rules kept: a unit is the whole measured deployment and its charge; copies of it were not measured and never pass a
gate; the replica reserve multiplies the supply (settled question 10); one spare unit is given beside it.
"""

from fractions import Fraction

from planner.gates.wording import rate
from planner.keys import key_value
from planner.numbers import exact, plain
from planner.order import Order
from planner.records.base import UnsetType
from planner.records.contract import Contract
from planner.records.plan import Demand, OrderKey
from planner.view import TrialView

__all__ = ["demand", "required_rate", "reserved_capacity", "units_needed"]


def demand(view: TrialView, order: Order) -> Demand | None:
    """Return what the declared need takes in units of one trial; None without a need or a measured rate."""
    required = required_rate(view.contract)
    measured = view.throughput(order.load_point).value
    units = units_needed(view, order)
    devices = key_value(view, OrderKey(key="charged_devices", direction="asc"))
    if required is None or measured is None or units is None or not isinstance(devices, int):
        return None
    usable = measured * (1 - reserved_capacity(view.contract))
    return Demand(
        required_output_tokens_per_s=plain(required),
        measured_output_tokens_per_s=plain(measured),
        usable_output_tokens_per_s=plain(usable),
        units=units,
        devices=units * devices,
        units_with_spare=units + 1,
        devices_with_spare=(units + 1) * devices,
        sentence=_sentence(required, usable, units, devices),
    )


def units_needed(view: TrialView, order: Order) -> int | None:
    """Return how many units of a trial carry the declared load after the reserve.

    1 without a declared load; None where the trial has no usable rate, or the reserve leaves nothing of it.
    """
    required = required_rate(view.contract)
    if required is None:
        return 1
    measured = view.throughput(order.load_point).value
    usable = None if measured is None else measured * (1 - reserved_capacity(view.contract))
    if not usable:
        return None
    return max(1, -(-required // usable))


def required_rate(contract: Contract) -> Fraction | None:
    """Return the declared load times its peak factor, in output tokens per second; None without one."""
    if isinstance(contract.needs, UnsetType) or isinstance(contract.needs.capacity, UnsetType):
        return None
    need = contract.needs.capacity
    factor = 1 if isinstance(need.peak_factor, UnsetType) else need.peak_factor
    return exact(need.output_tokens_per_s) * exact(factor)


def reserved_capacity(contract: Contract) -> Fraction:
    """Return the share of capacity that is kept free for lost replicas; 0 without a reserve."""
    if isinstance(contract.headroom, UnsetType) or isinstance(contract.headroom.replica_capacity, UnsetType):
        return Fraction(0)
    return exact(contract.headroom.replica_capacity.reserved_share)


def _sentence(required: Fraction, usable: Fraction, units: int, devices: int) -> str:
    plural = "unit" if units == 1 else "units"
    how = "as measured" if units == 1 else "arithmetic, not measured"
    return (
        f"{rate(required)} of output needed, {rate(usable)} usable per unit: "
        f"{units} {plural} = {units * devices} devices ({how}); with one spare unit {(units + 1) * devices} devices."
    )
