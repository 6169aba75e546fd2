"""Power: the energy of an output token, and the hottest rank against its cap.

Rules kept: energy comes from counters over the counted window and is divided by the tokens of the same window; the
worst rank decides a cap, never the mean; what is not in the figure (hosts, switches, idle devices) is said.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Literal

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import Ask, Finding, Limit, compared, gate
from planner.gates.wording import apart, no_window, unjudged, why
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView, bounded, number, number_at, peak_bound, zero
from planner.records.base import UNSET, Id, Number, UnsetType
from planner.records.evidence import PerRank
from planner.view import TrialView

FAMILY = "cost"
ENERGY, PEAK = "energy_joules", "power_peak_watts"
BY_ENERGY = "max_joules_per_output_token"
BOUNDARY = "Devices that hold a rank only: hosts, switches and idle devices are not in it."


class PowerLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for joules per output token, for watts of any rank, or the caps under ``fleet.power_cap_watts``.

    ``max_sample_interval_s`` is the longest interval at which sampled watts still count as the peak.
    """

    one_of: ClassVar[tuple[str, ...]] = (BY_ENERGY, "max_watts_per_rank", "cap")

    load_point: Id
    max_sample_interval_s: Number | UnsetType = UNSET
    max_joules_per_output_token: Number | UnsetType = UNSET
    max_watts_per_rank: Number | UnsetType = UNSET
    cap: Literal["fleet"] | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the energy and the tokens, or for the peak of every rank."""
        if self.given != BY_ENERGY:
            return (Ask(metric=f"per_rank.{PEAK}", load_point=self.load_point),)
        return (
            Ask(metric=f"per_rank.{ENERGY}", load_point=self.load_point),
            Ask(metric="load.output_tokens_total", load_point=self.load_point),
        )


@gate(
    "power",
    family=FAMILY,
    title="Power stays under its ceiling",
    limit=PowerLimit,
    reads=(f"per_rank.{ENERGY}", f"per_rank.{PEAK}", "load.output_tokens_total"),
    comparator="<=",
    needs=("devices",),
    hint="Larger batches per joule, or a lower clock where latency allows.",
)
def power(view: TrialView, limit: PowerLimit) -> Finding:
    """Energy of all ranks over the output tokens of the worst counted window is at most the ceiling; or the peak
    power of every rank is at most the declared watts, or at most the cap of its device type."""
    windows = view.windows(limit.load_point)
    per_token = limit.given == BY_ENERGY
    if per_token:
        samples = tuple(_per_token(view, window) for window in windows)
    else:
        samples = tuple(sample for window in windows for sample in _peaks(view, window, limit))
    reading = view.qualified(Reading(samples=samples, worst_is="highest"), limit.load_point)
    field = limit.given
    result = compare(reading, "<=", exact(getattr(limit, field)) if field != "cap" else None)
    finding = compared(result, _sentence(result, limit, per_token), limit_field=field, notes=(BOUNDARY,))
    if field == "cap":
        finding = replace(finding, limit_field=None, limit_at="/fleet/power_cap_watts")
    return replace(finding, unit="J/token" if per_token else "W")


def _metric(window: WindowView, name: str) -> PerRank | None:
    return None if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank.get(name)


def _per_token(view: TrialView, window: WindowView) -> Sample:
    metric, load = _metric(window, ENERGY), window.record.load
    tokens = None if isinstance(load, UnsetType) else number(load.output_tokens_total)
    at, tokens_at = f"/per_rank/{ENERGY}", "/load/output_tokens_total"
    values = [None if metric is None else number_at(metric.values, rank) for rank in range(view.ranks)]
    known = [value for value in values if value is not None]
    missing = [window.at + tokens_at] if tokens is None else []
    if metric is None:
        missing.append(window.at + at)
    else:
        missing.extend(f"{window.at}{at}/values/{rank}" for rank, value in enumerate(values) if value is None)
    value = None if missing or not tokens else sum(known, Fraction(0)) / tokens
    side = "exact" if metric is None or isinstance(metric.bound, UnsetType) else metric.bound
    low, high = (None, None) if value is None else bounded(value, side)
    return Sample(
        value=value,
        low=low,
        high=high,
        where=(("window", window.id),),
        read=() if missing else (window.at + at, window.at + tokens_at),
        missing=tuple(missing),
        doubts=window.doubts((at, tokens_at)),
        unfit=zero(window.at, tokens_at, no="energy per token") if tokens == 0 else (),
    )


def _peaks(view: TrialView, window: WindowView, limit: PowerLimit) -> Iterator[Sample]:
    metric = _metric(window, PEAK)
    at = f"/per_rank/{PEAK}"
    side = "exact" if metric is None else peak_bound(window, metric, limit.max_sample_interval_s)
    for rank in range(view.ranks):
        value = None if metric is None else number_at(metric.values, rank)
        low, high = (None, None) if value is None else bounded(value, side)
        place = f"{window.at}{at}/values/{rank}" if metric is not None else window.at + at
        yield Sample(
            value=value,
            low=low,
            high=high,
            where=(("window", window.id), ("rank", str(rank)), ("node", view.rank_node[rank])),
            read=() if value is None else (place,),
            missing=(place,) if value is None else (),
            doubts=window.doubts((at,)),
            notes=()
            if side == "exact"
            else (f"The recorded peak is {'a lower' if side == 'lower' else 'no exact'} bound.",),
            limit=_cap(view, rank),
        )


def _cap(view: TrialView, rank: int) -> Fraction | None:
    """Return the cap of the rank's device type; None where the contract has none."""
    caps = view.site.fleet.power_cap_watts
    kind = view.site.hardware.devices[view.rank_device[rank]].type
    return None if isinstance(caps, UnsetType) else number(caps.get(kind))


def _sentence(result: Comparison, limit: PowerLimit, per_token: bool) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    if per_token:
        if decides.value is None or result.limit is None:
            what = "Energy per token" if decides.unfit else "Energy or output tokens"
            return unjudged(decides, what, f"in window {place['window']}", "are")
        found, most = apart(grouped, decides.value, result.limit, 3)
        return f"An output token takes {found} J in window {place['window']}; at most {most} J.{why(result)}"
    rank = f"Rank {place['rank']} on {place['node']}"
    if decides.value is None:
        return f"{rank} has no recorded peak power in window {place['window']}."
    if result.limit is None:
        return f"The contract has no power cap for the device type of rank {place['rank']}."
    found, most = apart(grouped, decides.value, result.limit, 1)
    return f"{rank} peaks at {found} W in window {place['window']}; at most {most} W.{why(result)}"
