"""Slower service: long tails with the same middle, and a lower rate."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from fractions import Fraction

import msgspec

from planner.consistency import PER_REQUEST_DECODE
from planner.readings import number
from planner.records.base import UnsetType
from planner.records.evidence import Handoff, Load, ShapeLoad, Statistics, Window
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection, size
from planner.stress.changes import added, loads, scaled, scaled_number, scaled_rate, with_windows
from planner.times import parsed_time, time_text

TAIL = ("p95", "p99", "p99_9", "max")


@injection(
    "tail_latency",
    title="Tail-latency loss",
    fault="p95 and above of TTFT and E2E grow by {tail_added_share} of the TTFT p99; mean and median stay",
    gates=("ttft", "e2e", "tails_by_shape"),
)
def tail_latency(case: Case) -> Fault:
    """In every window with a TTFT p99, a share of it is added to p95, p99, p99.9 and maximum of TTFT and E2E, those
    of request shapes too. Mean, p50 and p90 stay, as they do when a few requests wait."""
    slower = {
        name: msgspec.structs.replace(window, load=_long_tail(load, p99 * size(case.sizes.tail_added_share)))
        for name, (window, load) in loads(case.view.trial).items()
        if (p99 := _p99(load)) is not None
    }
    if not slower:
        return NotInjectable(sentence="No TTFT p99 is recorded.")
    return Injected(
        trial=with_windows(case.view.trial, slower),
        changed=tuple(
            f"{case.view.at}/windows/{name}/load/{latency}" for name in slower for latency in ("ttft_ms", "e2e_ms")
        ),
    )


def _p99(load: Load) -> Fraction | None:
    return None if isinstance(load.ttft_ms, UnsetType) else number(load.ttft_ms.p99)


def _long_tail(load: Load, more: Fraction) -> Load:
    return msgspec.structs.replace(
        load,
        ttft_ms=added(load.ttft_ms, TAIL, more),
        e2e_ms=added(load.e2e_ms, TAIL, more),
        shapes=_shapes(load, lambda shape: _long_tail_of_shape(shape, more)),
    )


def _long_tail_of_shape(shape: ShapeLoad, more: Fraction) -> ShapeLoad:
    return msgspec.structs.replace(
        shape, ttft_ms=added(shape.ttft_ms, TAIL, more), e2e_ms=added(shape.e2e_ms, TAIL, more)
    )


def _shapes(load: Load, change: Callable[[ShapeLoad], ShapeLoad]) -> dict[str, ShapeLoad] | UnsetType:
    if isinstance(load.shapes, UnsetType):
        return load.shapes
    return {name: change(shape) for name, shape in load.shapes.items()}


@injection(
    "low_throughput",
    title="Low throughput",
    fault="rates fall to {rate_left_share}; durations, E2E and TPOT grow to match",
    gates=("throughput", "tpot", "itl", "e2e"),
)
def low_throughput(case: Case) -> Fault:
    """Durations, E2E, TPOT and ITL are divided by the share of the rate that is left; counts stay, stated rates
    fall. TPOT takes what TTFT, which stays, leaves of the longer E2E. All windows are stretched about the end of the
    last one, so that none overlaps another and none ends after the as-of time."""
    trial, left = case.view.trial, size(case.sizes.rate_left_share)
    measured = {name: load for name, (_, load) in loads(trial).items() if number(load.duration_s) is not None}
    if not measured:
        return NotInjectable(sentence="No duration is recorded.")
    slower = {
        name: msgspec.structs.replace(
            window,
            load=window.load if isinstance(window.load, UnsetType) else _slower(window.load, left),
            handoff=window.handoff if isinstance(window.handoff, UnsetType) else _slower_handoff(window.handoff, left),
        )
        for name, window in sorted(trial.windows.items())
    }
    return Injected(
        trial=with_windows(trial, _stretched(slower, left)),
        changed=tuple(f"{case.view.at}/windows/{name}/load/duration_s" for name in measured),
    )


def _slower(load: Load, left: Fraction) -> Load:
    return msgspec.structs.replace(
        load,
        duration_s=scaled_number(load.duration_s, 1 / left),
        requests_per_s=scaled_rate(load.requests_per_s, left),
        output_tokens_per_s=scaled_rate(load.output_tokens_per_s, left),
        total_tokens_per_s=scaled_rate(load.total_tokens_per_s, left),
        tpot_ms=scaled(load.tpot_ms, _tpot_factor(load, left)),
        itl_ms=scaled(load.itl_ms, 1 / left),
        e2e_ms=scaled(load.e2e_ms, 1 / left),
        shapes=_shapes(load, lambda shape: _slower_shape(shape, 1 / left)),
    )


def _tpot_factor(load: Load, left: Fraction) -> Fraction:
    """TPOT over the tokens after the first is (E2E - TTFT) / (n - 1), so it grows by what E2E - TTFT does."""
    whole = number(load.e2e_ms.mean) if isinstance(load.e2e_ms, Statistics) else None
    first = number(load.ttft_ms.mean) if isinstance(load.ttft_ms, Statistics) else None
    per_request = isinstance(load.tpot_ms, Statistics) and load.tpot_ms.definition == PER_REQUEST_DECODE
    if not per_request or whole is None or first is None or first >= whole:
        return 1 / left
    return (whole / left - first) / (whole - first)


def _slower_shape(shape: ShapeLoad, factor: Fraction) -> ShapeLoad:
    return msgspec.structs.replace(
        shape,
        tpot_ms=scaled(shape.tpot_ms, factor),
        itl_ms=scaled(shape.itl_ms, factor),
        e2e_ms=scaled(shape.e2e_ms, factor),
    )


def _slower_handoff(handoff: Handoff, left: Fraction) -> Handoff:
    return msgspec.structs.replace(
        handoff,
        peak_requests_per_s=scaled_number(handoff.peak_requests_per_s, left),
        prefill_requests_per_s=scaled_number(handoff.prefill_requests_per_s, left),
        decode_requests_per_s=scaled_number(handoff.decode_requests_per_s, left),
    )


def _stretched(windows: Mapping[str, Window], left: Fraction) -> dict[str, Window]:
    """Make every span longer, seen from the last end; a window whose times have no zone stays."""
    times = {name: (parsed_time(window.start), parsed_time(window.end)) for name, window in windows.items()}
    known = {name: (start, end) for name, (start, end) in times.items() if start is not None and end is not None}
    if not known:
        return dict(windows)
    last = max(end for _, end in known.values())
    return {
        name: msgspec.structs.replace(
            window, start=_before(last, known[name][0], left), end=_before(last, known[name][1], left)
        )
        if name in known
        else window
        for name, window in windows.items()
    }


def _before(last: datetime, moment: datetime, left: Fraction) -> str:
    return time_text(last - timedelta(seconds=round(int((last - moment).total_seconds()) / left)))
