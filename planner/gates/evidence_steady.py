"""Evidence: were the counted windows a steady state?

Rules kept: what is not steady is UNKNOWN, never FAIL, and so is everything read at that load point; a window that does
not count stays in the record. Not handled: timeouts, hangs and restarts (``errors``).
"""

from collections.abc import Iterator
from fractions import Fraction

from planner.figures import grouped
from planner.gates.base import Finding, Limit, gate
from planner.gates.wording import apart, counted, named, no_window, share, unjudged
from planner.numbers import exact
from planner.readings import Sample, WindowView, number
from planner.records.base import UNSET, Id, Number, Share, UnsetType
from planner.records.evidence import Load
from planner.times import window_seconds
from planner.view import TrialView

FAMILY = "evidence"
GROWTH = Fraction(110, 100)
"""Most that the backlog of an open loop may grow from the first to the last third of a window (domain rules 1)."""


class SteadyStateLimit(Limit, frozen=True, kw_only=True):
    """What makes the counted windows of a load point steady.

    Compile events and concurrent runs must be recorded as 0 wherever this is declared. ``max_spread_share`` limits
    (highest - lowest) / highest of the windows' output rates; ``min_soak_s`` asks for a soak window of that length.
    """

    load_point: Id
    max_spread_share: Share | UnsetType = UNSET
    min_window_s: Number | UnsetType = UNSET
    min_soak_s: Number | UnsetType = UNSET


@gate(
    "steady_state",
    family=FAMILY,
    title="Counted windows are steady",
    limit=SteadyStateLimit,
    reads=(
        "window.compile_events",
        "window.concurrent_runs",
        "load.output_tokens_total",
        "load.duration_s",
        "load.backlog_first_third_mean",
        "load.backlog_last_third_mean",
    ),
)
def steady_state(view: TrialView, limit: SteadyStateLimit) -> Finding:
    """Counted windows of the load point hold no compile event and no other run, overlap no warm-up, no injection and
    no other counted window, are as many and as long as declared, and differ in output rate by at most
    max_spread_share. In open loop the requests that wait or run do not grow by more than a tenth from the first to the
    last third of a window. What is not steady is UNKNOWN, never FAIL, and so is everything read there."""
    windows = view.windows(limit.load_point)
    faults = list(_unsteady(view, limit, windows))
    missing = view.unmeasured(limit.load_point) or tuple(at for _, at in faults if at)
    sentence = (
        named([text for text, _ in faults])
        or f"{counted(len(windows), 'counted window')} at {limit.load_point}, steady."
    )
    return Finding(
        outcome="UNKNOWN" if faults else "PASS",
        sentence=sentence,
        measured=Fraction(len(windows)),
        missing=missing,
        spreads_to=(limit.load_point,) if faults else (),
    )


Fault = tuple[str, str | None]
DISTURBING = {"warmup": "the warm-up", "counted": "the counted window", "injection": "the injection"}
"""Windows that are another run, or none that counts, at the same time."""


def _unsteady(view: TrialView, limit: SteadyStateLimit, windows: tuple[WindowView, ...]) -> Iterator[Fault]:
    if not windows:
        yield no_window(limit.load_point), None
    elif view.repeats(limit.load_point) < view.min_repeats:
        yield view.too_few_windows(limit.load_point)[0], None
    for window in windows:
        yield from _disturbed(view, limit, window)
        yield from _backlog(window)
    yield from _spread(view, limit)
    yield from _soak(view, limit)


def _disturbed(view: TrialView, limit: SteadyStateLimit, window: WindowView) -> Iterator[Fault]:
    for field, what in (("compile_events", "compile event"), ("concurrent_runs", "concurrent run")):
        found = number(getattr(window.record, field))
        if found is None:
            yield f"{field} is not recorded in window {window.id}.", f"{window.at}/{field}"
        elif found > 0:
            yield f"{counted(int(found), what)} in window {window.id}.", None
    seconds = window_seconds(window.record)
    if not isinstance(limit.min_window_s, UnsetType) and (seconds is None or seconds < exact(limit.min_window_s)):
        yield f"Window {window.id} is shorter than {limit.min_window_s} s.", None
    for name, other in sorted(view.trial.windows.items()):
        # Times of equal form (UTC, whole seconds, Z) order as text.
        together = other.start < window.record.end and window.record.start < other.end
        if together and name != window.id and other.purpose in DISTURBING:
            yield f"Window {window.id} overlaps {DISTURBING[other.purpose]} {name}.", None


def _backlog(window: WindowView) -> Iterator[Fault]:
    """In open loop nothing holds requests back: a rate that cannot be carried shows as a backlog that grows."""
    if window.load_point is None or window.load_point.arrival != "open":
        return
    load = Load() if isinstance(window.record.load, UnsetType) else window.record.load
    fields = ("backlog_first_third_mean", "backlog_last_third_mean")
    first, last = (number(getattr(load, field)) for field in fields)
    if first is None or last is None:
        field = fields[0] if first is None else fields[1]
        yield f"The backlog of window {window.id} is not recorded.", f"{window.at}/load/{field}"
    elif last > first * GROWTH:
        grown = f"grows from {grouped(first)} to {grouped(last)} requests"
        yield f"The backlog of window {window.id} {grown} between its first and last third.", None


def _spread(view: TrialView, limit: SteadyStateLimit) -> Iterator[Fault]:
    if isinstance(limit.max_spread_share, UnsetType):
        return
    samples = view.throughput(limit.load_point).samples
    lacking = next((sample for sample in samples if not sample.usable), None)
    known = [sample.value for sample in samples if sample.value is not None]
    if lacking is not None:
        yield f"The spread of the output rate is not known. {_rateless(lacking)}", next(iter(lacking.missing), None)
        return
    if not known or max(known) == 0:
        reason = " output_tokens_total is 0 in every window: no spread follows from it." if known else ""
        yield f"The spread of the output rate is not known.{reason}", None
        return
    spread, most = (max(known) - min(known)) / max(known), exact(limit.max_spread_share)
    if spread > most:
        found, allowed = apart(share, spread, most, 3)
        yield f"Output rates differ by {found} of the highest; at most {allowed}.", None


def _rateless(sample: Sample) -> str:
    """Say why a window has no rate that can be used."""
    where = f"in window {sample.place['window']}"
    if sample.value is not None and sample.doubts:
        return f"The output rate is in doubt {where}. {sample.doubts[0]}"
    return unjudged(sample, "The output rate", where)


def _soak(view: TrialView, limit: SteadyStateLimit) -> Iterator[Fault]:
    if isinstance(limit.min_soak_s, UnsetType):
        return
    soaks = (w for w in view.trial.windows.values() if w.purpose == "soak" and w.load_point == limit.load_point)
    longest = max((window_seconds(window) or Fraction(0) for window in soaks), default=Fraction(0))
    if longest < exact(limit.min_soak_s):
        yield f"The longest soak at {limit.load_point} is {int(longest):,} s; at least {limit.min_soak_s} s.", None
