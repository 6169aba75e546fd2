"""A trial's value of each selection key.

Rules kept: measured keys are read from the same windows and by the same readings as the gates (settled question 5);
a value that is missing in any counted window, or that a broken identity puts in doubt, is no value (None), never the
better window's. Not handled: which keys there are (``planner.order``) and ordering by them (``planner.selection``).
"""

from collections.abc import Callable
from fractions import Fraction

from planner.numbers import fraction_of, plain
from planner.readings import Reading
from planner.records.plan import OrderKey, Value
from planner.view import TrialView

__all__ = [
    "PER_DEVICE",
    "PER_MILLION",
    "from_rate",
    "key_reading",
    "key_spread",
    "key_value",
    "usd_per_million",
    "value_at_rate",
]

PER_DEVICE, PER_MILLION = "output_tokens_per_s_per_charged_device", "usd_per_million_output_tokens"
"""Keys that follow from the output rate and what the ranks stand on."""
SECONDS_PER_HOUR = 3600
MILLION = 1_000_000


def key_value(view: TrialView, key: OrderKey) -> Value:
    """Return the trial's value of a key, exactly; None where there is none that can be used."""
    if key.load_point is not None:
        if key.key != "ttft":
            return value_at_rate(view, key.key, view.throughput(key.load_point).value)
        value = view.statistic("ttft_ms", str(key.statistic), key.load_point).value
        return None if value is None else plain(value)
    if key.key == "serving_group_ranks":
        return view.placed.largest_group
    if key.key == "charged_devices":
        return len(view.charge.devices) if view.charge.undefined is None else None
    return view.placed.name if key.key == "topology" else view.content_id


def value_at_rate(view: TrialView, key: str, rate: Fraction | None) -> Value:
    """Return what follows from the worst window's rate: the worst window's own value too, as keys rise or fall with it.

    None as for ``key_reading``, and where there is no rate that can be used.
    """
    change = from_rate(view, key)
    if change is None or rate is None or (key == PER_MILLION and rate.numerator == 0):
        return None
    return plain(change(rate))


def key_reading(view: TrialView, key: OrderKey) -> Reading | None:
    """Return the reading of a measured key over its counted windows.

    None where the contract lacks what turns a measurement into the key (a price, a whole charge), and for a key that
    no window holds.
    """
    if key.load_point is None:
        return None
    if key.key == "ttft":
        return view.statistic("ttft_ms", str(key.statistic), key.load_point)
    change = from_rate(view, key.key)
    rates = view.throughput(key.load_point)
    is_price = key.key == PER_MILLION
    if change is None or (is_price and any(_is_zero(sample.value) for sample in rates.samples)):
        return None
    return rates.map(change, worst_is="highest" if is_price else "lowest")


def _is_zero(value: Fraction | None) -> bool:
    return value is not None and value.numerator == 0


def from_rate(view: TrialView, key: str) -> Callable[[Fraction], Fraction] | None:
    """Return how a key follows from the deployment's output tokens per second (above 0 for a price).

    None for a key that does not follow from it, and where the contract lacks a price or the charge is not known.
    """
    return view.placed.kept.once(("from rate", key), lambda: _from_rate(view, key))


def _from_rate(view: TrialView, key: str) -> Callable[[Fraction], Fraction] | None:
    if key == "output_tokens_per_s":
        return lambda rate: rate
    if key == PER_DEVICE:
        devices = len(view.charge.devices)
        return None if view.charge.undefined else lambda rate: fraction_of(rate, devices)
    hourly = view.placed.usd_per_hour if key == PER_MILLION else None
    if hourly is None:
        return None
    per_million = usd_per_million(hourly)
    return lambda rate: fraction_of(per_million, rate)


def usd_per_million(usd_per_hour: Fraction) -> Fraction:
    """Return the price of a million tokens at one token per second."""
    return usd_per_hour * MILLION / SECONDS_PER_HOUR


def key_spread(view: TrialView, key: OrderKey) -> Fraction | None:
    """Return largest minus smallest value of a key over the counted windows (settled question 35).

    None with fewer than two windows, or where one of them has no usable value; 0 for a key that windows do not change.
    """
    if key.load_point is None:
        return Fraction(0)
    reading = key_reading(view, key)
    values = [] if reading is None else list(reading.windows.values())
    known = [value for value in values if value is not None]
    return max(known) - min(known) if len(known) == len(values) >= 2 else None
