"""Cost: what the charged devices cost, per hour and per million output tokens.

Rules kept: charged are ranks, spares, and what ``charge`` leaves stranded beside them; every device has its type's
price; the lowest counted window's output rate is the divisor, the same reading that the throughput floor uses.
"""

from fractions import Fraction
from functools import partial
from typing import ClassVar

from planner.compare import Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, unknown
from planner.gates.slo import THROUGHPUT_READS
from planner.gates.wording import apart, counted, unjudged, usd, why
from planner.keys import key_reading
from planner.numbers import exact
from planner.readings import Reading, Sample, zero
from planner.records.base import UNSET, Id, Number, UnsetType
from planner.records.plan import OrderKey
from planner.site import Charge, unpriced
from planner.view import TrialView

FAMILY = "cost"
PER_MILLION = "max_usd_per_million_output_tokens"
PER_HOUR = "max_usd_per_hour"


class CostLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the price of the charged devices: per million output tokens at a load point, or per hour."""

    one_of: ClassVar[tuple[str, ...]] = (PER_MILLION, PER_HOUR)

    load_point: Id = "saturated"
    max_usd_per_million_output_tokens: Number | UnsetType = UNSET
    max_usd_per_hour: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the output rate where the price is per token; a price per hour needs no measurement."""
        if self.given == PER_HOUR:
            return ()
        return tuple(Ask(metric=metric, load_point=self.load_point) for metric, _ in THROUGHPUT_READS[:2])


@gate(
    "cost",
    family=FAMILY,
    title="The price stays under its ceiling",
    limit=CostLimit,
    reads=tuple(metric for metric, _ in THROUGHPUT_READS[:2]),
    unit="USD",
    comparator="<=",
    needs=("devices",),
    hint="Smaller replicas, or a topology that strands fewer devices.",
)
def cost(view: TrialView, limit: CostLimit) -> Finding:
    """Charged devices (ranks, spares, stranded) x their price per device-hour, per hour or over the output tokens of
    the slowest counted window, is at most the ceiling."""
    hourly = view.placed.usd_per_hour
    if hourly is None:
        return unknown(unpriced(view.site, view.charge))
    if not isinstance(limit.max_usd_per_hour, UnsetType):
        sample = Sample(value=hourly, low=hourly, high=hourly, where=())
        result = compare(Reading(samples=(sample,), worst_is="highest"), "<=", exact(limit.max_usd_per_hour))
        return _priced(view, limit, PER_HOUR, hourly, result)
    key = OrderKey(key="usd_per_million_output_tokens", direction="asc", load_point=limit.load_point)
    reading = key_reading(view, key)
    if reading is None:
        return _no_tokens(view, limit)
    most = limit.max_usd_per_million_output_tokens
    result = compare(reading, "<=", None if isinstance(most, UnsetType) else exact(most))
    return _priced(view, limit, PER_MILLION, hourly, result)


def _no_tokens(view: TrialView, limit: CostLimit) -> Finding:
    """Say that a window without output tokens has no price per token."""
    empty = [sample for sample in view.throughput(limit.load_point).samples if sample.value == 0]
    windows = [sample.place["window"] for sample in empty]
    found = [zero(f"{view.at}/windows/{window}/load", "/output_tokens_total", no="price") for window in windows]
    what = f"The price per token at {limit.load_point} cannot be judged in window {windows[0]}."
    return unknown(f"{what} {found[0][0].sentence}", measured_at=tuple(at for (each,) in found for at in each.at))


def _priced(view: TrialView, limit: CostLimit, field: str, hourly: Fraction, result: Comparison) -> Finding:
    stranded = view.placed.kept.once("stranded", lambda: _stranded(view.charge))
    return compared(
        result,
        partial(_sentence, view, limit, field, hourly, result),
        limit_field=field,
        notes=(stranded,),
        unit="USD/h" if field == PER_HOUR else "USD/M tokens",
    )


def _stranded(charge: Charge) -> str:
    return f"{len(charge.used):,} used, {len(charge.spares):,} spare, {len(charge.stranded):,} stranded."


def _sentence(view: TrialView, limit: CostLimit, field: str, hourly: Fraction, result: Comparison) -> str:
    decides = result.decides
    if decides is None:
        return "".join(result.notes[:1])
    devices = f"{counted(len(view.charge.devices), 'charged device')} cost {usd(hourly)} per hour"
    if decides.value is None or result.limit is None:
        rate, where = f"the output rate at {limit.load_point}", f"in window {decides.place['window']}"
        return f"{devices}; {unjudged(decides, rate, where)}"
    found, most = apart(usd, decides.value, result.limit, 2)
    if field == PER_HOUR:
        return f"{devices}; at most {most}."
    return (
        f"{devices}, {found} per million output tokens at {limit.load_point} in window {decides.place['window']}; "
        f"at most {most}.{why(result)}"
    )
