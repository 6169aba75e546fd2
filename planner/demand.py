"""Units and devices for the declared load: arithmetic on one measured trial, labelled so.

Rules kept: a unit is the whole measured deployment and its charge; copies of it were not measured and never pass a
gate; the replica reserve multiplies the supply (settled question 10); one spare unit is given beside it.
"""

from fractions import Fraction

from planner.gates.wording import rate
from planner.keys import key_value
from planner.needs import required_rate, reserved_capacity
from planner.numbers import plain
from planner.order import Order
from planner.records.plan import Demand, OrderKey
from planner.view import TrialView

__all__ = ["demand", "units_needed"]


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


def _sentence(required: Fraction, usable: Fraction, units: int, devices: int) -> str:
    plural = "unit" if units == 1 else "units"
    how = "as measured" if units == 1 else "arithmetic, not measured"
    return (
        f"{rate(required)} of output needed, {rate(usable)} usable per unit: "
        f"{units} {plural} = {units * devices} devices ({how}); with one spare unit {(units + 1) * devices} devices."
    )
