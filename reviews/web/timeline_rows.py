"""Timelines of ranks around a late arrival: bars, and the same as a table. Pure.

Rules kept: one scale for all ranks, on which zero is the end of the late collective, in which all leave together; what
lies between calls is a rank's own work and is not drawn as if it were measured; only calls near the late one are drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.observations.diagnosis import Diagnosis as Found
from planner.observations.timelines import Span
from reviews.web.slowest_rows import ms, place_of
from reviews.web.stacked import LENGTH, Segment

BEFORE, AFTER = 4, 2
"""Calls that are drawn before and after the late one."""
PER_PAGE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One rank's bar."""

    rank: int
    place: str
    segments: tuple[Segment, ...]
    figure: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLine:
    """One call of one rank in the table; times in milliseconds from the end of the late collective."""

    rank: int
    group: str
    kind: str
    size: str
    begins: str
    ends: str
    waits: str
    is_late_call: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines:
    """One page of ranks; ``zero`` is where the late collective ends, in units of a bar, ``begins`` and ``ends`` ms."""

    rows: tuple[TimelineRow, ...]
    lines: tuple[SpanLine, ...]
    zero: int
    begins: str
    ends: str
    total: int


def timelines_of(found: Found, start: int) -> Timelines | None:
    """Return the timelines of ``PER_PAGE`` ranks from ``start`` on, the late one first; None where nobody was late."""
    around = found.around
    if around is None or not found.timelines:
        return None
    order = sorted(found.timelines, key=lambda rank: (rank != around.rank, rank))
    near = {rank: _near(found.timelines[rank]) for rank in order}
    low = min(span.start_us for spans in near.values() for span in spans)
    high = max(span.end_us for spans in near.values() for span in spans)
    shown = order[start : start + PER_PAGE]
    return Timelines(
        rows=tuple(_row(found, rank, near[rank], low, high) for rank in shown),
        lines=tuple(_line(rank, span) for rank in shown for span in near[rank]),
        zero=_scaled(0, low, high),
        begins=ms(low),
        ends=ms(high),
        total=len(order),
    )


def _near(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return the calls around the one that ends at zero."""
    at = min(range(len(spans)), key=lambda index: (abs(spans[index].end_us), -index))
    return spans[max(0, at - BEFORE) : at + AFTER + 1]


def _scaled(value: float, low: float, high: float) -> int:
    return round(LENGTH * (value - low) / (high - low)) if high > low else 0


def _row(found: Found, rank: int, spans: tuple[Span, ...], low: float, high: float) -> TimelineRow:
    segments = []
    for span in spans:
        parts: Mapping[str, tuple[float, float]] = {
            "p-wait": (span.start_us, span.start_us + span.waiting_us),
            "p2": (span.start_us + span.waiting_us, span.end_us),
        }
        for css, (begins, ends) in parts.items():
            x, end = _scaled(begins, low, high), _scaled(ends, low, high)
            if ends > begins:
                segments.append(Segment(css, x, max(1, end - x)))
    waited = next((span.waiting_us for span in spans if span.end_us == 0), None)
    is_late = found.around is not None and rank == found.around.rank
    reported = found.reporter is not None and found.reporter.rank == rank
    return TimelineRow(
        rank=rank,
        place=place_of(found, rank),
        segments=tuple(segments),
        figure="comes last" if is_late else f"waits {ms(waited)} ms",
        mark="late" if is_late else "reported" if reported else "",
    )


def _line(rank: int, span: Span) -> SpanLine:
    return SpanLine(
        rank=rank,
        group=span.group,
        kind=span.kind,
        size=f"{span.message_bytes:,}",
        begins=ms(span.start_us),
        ends=ms(span.end_us),
        waits=ms(span.waiting_us),
        is_late_call=span.end_us == 0,
    )
