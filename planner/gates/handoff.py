"""Hand-off between a prefill and a decode pool: did it happen, is there room for it, does the route carry it?

Rules kept: transfers are counted as the engine counts them, so a count pooled over ranks is divided by what one
request makes; whole requests are staged, so room is rounded down; the route keeps its bandwidth reserve; a topology
without both pools hands nothing over; TTFT and TPOT across the hand-off are those of requests that were handed over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from planner.compare import Comparator, Comparison, compare
from planner.consistency import PER_REQUEST_DECODE
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.handoff_queue import queue_hint
from planner.gates.slo import Statistic
from planner.gates.wording import apart, count, ms, no_window, share, unjudged, why
from planner.needs import reserved_bandwidth
from planner.numbers import exact
from planner.readings import Reading, Sample, Unfit, WindowView, absent, number, statistic_at, unusable, zero
from planner.records.base import UNSET, Count, Id, Number, PositiveCount, Share, UnsetType
from planner.records.contract import Lengths
from planner.records.evidence import Handoff
from planner.shown import shown
from planner.view import TrialView

FAMILY = "handoff"


class KvHandoffLimit(Limit, frozen=True, kw_only=True):
    """A bound of one side of the hand-off.

    ``tokens_per_request`` is prompt and output together, for staging room; left out, it is the sum of the contract's
    fixed lengths. ``max_route_utilization`` is needed over measured bytes per second, before the bandwidth reserve.
    ``min_pool_balance`` is the smaller of the pools' request rates over the larger. ``statistic`` is that of TTFT and
    TPOT across the hand-off.
    """

    one_of: ClassVar[tuple[str, ...]] = (
        "min_handed_over_share",
        "min_staging_requests",
        "max_route_utilization",
        "min_pool_balance",
        "max_ttft_ms",
        "max_tpot_ms",
    )

    load_point: Id
    statistic: Statistic = "p99"
    tokens_per_request: PositiveCount | UnsetType = UNSET
    kv_bytes_per_token: PositiveCount | UnsetType = UNSET
    block_tokens: PositiveCount = 1
    min_handed_over_share: Share | UnsetType = UNSET
    min_staging_requests: Count | UnsetType = UNSET
    max_route_utilization: Number | UnsetType = UNSET
    min_pool_balance: Share | UnsetType = UNSET
    max_ttft_ms: Number | UnsetType = UNSET
    max_tpot_ms: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the hand-off, where there are pools."""
        return (Ask(metric="handoff.transfers", load_point=self.load_point, conditional=True),)


@gate(
    "kv_handoff",
    family=FAMILY,
    title="The decode pool gets what the prefill pool made",
    limit=KvHandoffLimit,
    reads=(
        "handoff.transfers",
        "handoff.decode_kv_tokens",
        "handoff.decode_running_max",
        "handoff.tokens_sent_total",
        "handoff.peak_requests_per_s",
        "handoff.route_bytes_per_s",
        "handoff.prefill_requests_per_s",
        "handoff.decode_requests_per_s",
        "handoff.ttft_ms",
        "handoff.tpot_ms",
        "load.requests",
        "load.ttft_ms",
        "load.tpot_ms",
    ),
    needs=("groups", "devices"),
    hint="Check that requests reach the decode pool, give it KV room, or resize the pools.",
)
def kv_handoff(view: TrialView, limit: KvHandoffLimit) -> Finding:
    """Of the completed requests the floor was handed over; or whole requests that the decode KV cache holds beyond
    those running are at least the floor; or KV bytes per token x tokens sent x peak rate x copies over the measured
    route stay under the ceiling after the bandwidth reserve; or the pools' rates are balanced; or the statistic of TTFT
    or TPOT across the hand-off is at most the ceiling. Figures of all requests answer it only where every one of them
    was handed over."""
    if not {"prefill", "decode"} <= set(view.group_roles):
        return not_applicable("No prefill and decode pools.")
    field = limit.given
    comparator: Comparator = "<=" if field.startswith("max") else ">="
    bound = exact(getattr(limit, field))
    if field == "max_route_utilization":
        bound *= 1 - reserved_bandwidth(view.contract)
    samples = tuple(MEASURES[field](view, window, limit) for window in view.windows(limit.load_point))
    reading = Reading(samples=samples, worst_is="highest" if comparator == "<=" else "lowest")
    result = compare(view.qualified(reading, limit.load_point), comparator, bound)
    hints = tuple(hint for window in view.windows(limit.load_point) if (hint := queue_hint(window)))
    finding = compared(result, _sentence(result, limit, field, bound), limit_field=field, notes=hints)
    return replace(finding, comparator=comparator, unit=UNITS.get(field, "share"))


UNITS = {"min_staging_requests": "requests", "max_ttft_ms": "ms", "max_tpot_ms": "ms"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Numbers of a window by their pointer below it; one that is missing is None.

    ``divisors`` says of those that something is divided by what does not follow where they are 0.
    """

    window: WindowView
    found: dict[str, Fraction | None]
    divisors: dict[str, str]

    def value(self, at: str) -> Fraction:
        """Return a number that is known to be there."""
        return self.found[at] or Fraction(0)

    @property
    def missing(self) -> tuple[str, ...]:
        """Pointers of what is not there."""
        return tuple(self.window.at + at for at, value in self.found.items() if value is None)

    @property
    def unfit(self) -> tuple[Unfit, ...]:
        """Say which of the divisors are 0."""
        empty = [(at, no) for at, no in self.divisors.items() if self.found[at] == 0]
        return tuple(unfit for at, no in empty for unfit in zero(self.window.at, at, no=no))

    def sample(
        self, value: Fraction | None, *notes: str, missing: tuple[str, ...] = (), unfit: tuple[Unfit, ...] = ()
    ) -> Sample:
        """Make the sample of a value that was computed from these numbers."""
        lacking = (*self.missing, *missing)
        usable = None if lacking else value
        return Sample(
            value=None if self.missing else value,
            low=usable,
            high=usable,
            where=(("window", self.window.id),),
            read=() if self.missing else tuple(self.window.at + at for at in self.found),
            missing=lacking,
            doubts=self.window.doubts(self.found),
            notes=notes,
            unfit=unfit or self.unfit,
        )


COMPLETED = "/load/requests/completed"
NO_DIVISOR: Mapping[str, str] = {}


def _figures(window: WindowView, *fields: str, divisors: Mapping[str, str] = NO_DIVISOR) -> Figures:
    """Read fields of the hand-off; ``divisors`` are those that something is divided by, with what does not follow
    where they are 0."""
    handoff = _handoff(window)
    found = {f"/handoff/{name}": number(getattr(handoff, name)) for name in fields}
    if COMPLETED in divisors:
        load = window.record.load
        requests = UNSET if isinstance(load, UnsetType) else load.requests
        found[COMPLETED] = None if isinstance(requests, UnsetType) else number(requests.completed)
    return Figures(window=window, found=found, divisors=dict(divisors))


def _handoff(window: WindowView) -> Handoff:
    return Handoff() if isinstance(window.record.handoff, UnsetType) else window.record.handoff


def _handed_over(view: TrialView, window: WindowView, limit: KvHandoffLimit) -> Sample:
    figures = _figures(window, "transfers", divisors={COMPLETED: "share"})
    handoff = _handoff(window)
    if figures.missing or figures.unfit:
        return figures.sample(None)
    transfers, completed = figures.value("/handoff/transfers"), figures.value(COMPLETED)
    if handoff.counted_per == "rank" and isinstance(handoff.transfers_per_request, UnsetType):
        note = "Transfers are counted per rank; how many one request makes is not recorded."
        return figures.sample(None, note, missing=(f"{window.at}/handoff/transfers_per_request",))
    per_request = 1 if isinstance(handoff.transfers_per_request, UnsetType) else handoff.transfers_per_request
    handed = transfers / (completed * per_request)
    if transfers and isinstance(handoff.counted_per, UnsetType):
        note = "What one transfer counts for is not recorded."
        return figures.sample(handed, note, missing=(f"{window.at}/handoff/counted_per",))
    return figures.sample(handed)


def _staging(view: TrialView, window: WindowView, limit: KvHandoffLimit) -> Sample:
    figures = _figures(window, "decode_kv_tokens", "decode_running_max")
    tokens = _tokens_per_request(view, limit)
    if tokens is None:
        sentence = "The contract has no fixed lengths, and the limit no tokens_per_request."
        return figures.sample(None, unfit=() if figures.missing else (Unfit(at=(), sentence=sentence),))
    block = -(-tokens // limit.block_tokens) * limit.block_tokens
    held = Fraction(figures.value("/handoff/decode_kv_tokens") // block)
    return figures.sample(held - figures.value("/handoff/decode_running_max"))


def _tokens_per_request(view: TrialView, limit: KvHandoffLimit) -> int | None:
    if not isinstance(limit.tokens_per_request, UnsetType):
        return limit.tokens_per_request
    lengths = (view.workload.prompt_tokens, view.workload.output_tokens)
    fixed = [each.fixed for each in lengths if isinstance(each, Lengths) and not isinstance(each.fixed, UnsetType)]
    return sum(fixed) or None if len(fixed) == len(lengths) else None


def _route(view: TrialView, window: WindowView, limit: KvHandoffLimit) -> Sample:
    figures, need = route_need(window, limit.kv_bytes_per_token)
    return figures.sample(None if need is None else need.needed / need.route)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteNeed:
    """What the hand-off needs at its peak and what its route was measured to carry, in bytes per second."""

    needed: Fraction
    route: Fraction


def route_need(window: WindowView, kv_bytes_per_token: int | UnsetType = UNSET) -> tuple[Figures, RouteNeed | None]:
    """Return the numbers read and what follows: bytes of one request x peak requests per second.

    Bytes of one request are KV bytes per token x tokens sent x copies, or the bytes that were counted where the first
    is not given, over the completed requests. None where a number is missing, nothing completed, or the route carries
    nothing.
    """
    source = "bytes_total" if isinstance(kv_bytes_per_token, UnsetType) else "tokens_sent_total"
    divisors = {COMPLETED: "size of a request", "/handoff/route_bytes_per_s": "utilisation"}
    figures = _figures(window, source, "peak_requests_per_s", "route_bytes_per_s", divisors=divisors)
    route = figures.value("/handoff/route_bytes_per_s")
    if figures.missing or figures.unfit:
        return figures, None
    per_request = figures.value(f"/handoff/{source}") / figures.value(COMPLETED)
    if not isinstance(kv_bytes_per_token, UnsetType):
        copies = _handoff(window).copies
        per_request *= kv_bytes_per_token * (1 if isinstance(copies, UnsetType) else copies)
    return figures, RouteNeed(needed=per_request * figures.value("/handoff/peak_requests_per_s"), route=route)


def _pools(view: TrialView, window: WindowView, limit: KvHandoffLimit) -> Sample:
    figures = _figures(window, "prefill_requests_per_s", "decode_requests_per_s")
    rates = sorted(value or Fraction(0) for value in figures.found.values())
    if figures.missing:
        return figures.sample(None)
    if rates[1] == 0:
        return figures.sample(None, unfit=zero(window.at, *figures.found, no="balance"))
    return figures.sample(rates[0] / rates[1])


def _across(view: TrialView, window: WindowView, limit: KvHandoffLimit) -> Sample:
    """Read TTFT or TPOT of requests that were handed over, or of all where all were."""
    name = limit.given.removeprefix("max_")
    at, recorded = f"/handoff/{name}", getattr(_handoff(window), name)
    notes: tuple[str, ...] = ()
    if isinstance(recorded, UnsetType):
        load = window.record.load
        of_all = UNSET if isinstance(load, UnsetType) else getattr(load, name)
        if isinstance(of_all, UnsetType) or _handed_over(view, window, limit).low != 1:
            return absent(window, at, notes=("Figures of all requests say nothing of those handed over.",))
        at, recorded, notes = f"/load/{name}", of_all, ("All requests were handed over.",)
    sample = statistic_at(window, at, recorded, limit.statistic, view.beyond)
    sample = replace(sample, notes=(*sample.notes, *notes))
    definition = recorded.definition
    if name == "tpot_ms" and sample.value is not None and definition != PER_REQUEST_DECODE:
        found = "without a definition" if isinstance(definition, UnsetType) else f"as {shown(definition)}"
        note = f"Recorded {found}; the limit is for {PER_REQUEST_DECODE}."
        return unusable(sample, missing=f"{window.at}{at}/definition", note=note)
    return sample


MEASURES: Mapping[str, Callable[[TrialView, WindowView, KvHandoffLimit], Sample]] = {
    "min_handed_over_share": _handed_over,
    "min_staging_requests": _staging,
    "max_route_utilization": _route,
    "min_pool_balance": _pools,
    "max_ttft_ms": _across,
    "max_tpot_ms": _across,
}


def _sentence(result: Comparison, limit: KvHandoffLimit, field: str, bound: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    where = f"in window {decides.place['window']}"
    if decides.value is None:
        said = unjudged(decides, "The hand-off", f"as asked {where}" if not decides.unfit else where)
        return said if decides.unfit else f"{said}{why(result)}"
    if field == "min_staging_requests":
        room = f"The decode pool has room for {count(decides.value)} more requests {where}"
        return f"{room}; at least {count(bound)}.{why(result)}"
    if field in ("max_ttft_ms", "max_tpot_ms"):
        name = f"{field[4:8].upper()} {limit.statistic.replace('_', '.')} across the hand-off"
        found, allowed = apart(ms, decides.value, bound, 2)
        return f"{name} is {found} {where}; at most {allowed}.{why(result)}"
    found, allowed = apart(share, decides.value, bound, 3)
    if field == "min_handed_over_share":
        return f"{found} of the completed requests were handed over {where}; at least {allowed}.{why(result)}"
    if field == "max_route_utilization":
        return f"The hand-off needs {found} of its route at peak {where}; at most {allowed}.{why(result)}"
    return f"The slower pool keeps up with {found} of the faster {where}; at least {allowed}.{why(result)}"
