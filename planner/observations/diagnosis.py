"""One diagnosis of the slowest rank: traces, logs and snapshots of a moment, beside what was decided.

Rules kept: files are told by content; traces of several files are one trace, because ranks write their own; ranks are
named by the decided node and device, and by the trace's where nothing was decided. Snapshots of NCCL RAS stand beside
the answer and change nothing of it. Timelines are those around the earliest late arrival that is a cause, of the late
rank and of those who waited longest.

Not handled: files of which nothing was recognised; they are refused by whoever keeps files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import msgspec

from planner.importers.collective_trace import Trace, read_trace
from planner.importers.source import Source
from planner.observations.decided import Decided
from planner.observations.ras import RasSnapshot, ras_snapshots
from planner.observations.slowest import LATE_US, Late, Slowest, slowest
from planner.observations.time_outs import TimeOut, time_outs_in
from planner.observations.timelines import Span, timelines

__all__ = ["SCHEMA", "Diagnosis", "Kind", "Reading", "diagnosed", "diagnosis_tree", "read_diagnosis"]

SCHEMA = "topogate.slowest/v1"
MOST_TIMELINES = 256
NAMED = 8

Kind = Literal["trace", "ras", "log"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rank is."""

    node: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The answer and what stands beside it.

    ``slowest`` is None without a trace, and ``reporter`` then the only thing known of ranks. ``around`` is the late
    arrival that timelines are drawn around, ``timelines`` rank -> its calls; ``places`` where those ranks and all that
    the answer names are. ``handoffs`` is window of the evidence -> what its hand-off suggests.
    """

    slowest: Slowest | None
    reporter: TimeOut | None = None
    around: Late | None = None
    timelines: dict[int, tuple[Span, ...]] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    snapshots: tuple[RasSnapshot, ...] = ()
    handoffs: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """Files as far as they are read."""

    trace: Trace | None = None
    time_outs: list[TimeOut] = field(default_factory=list)
    snapshots: list[RasSnapshot] = field(default_factory=list)

    def add(self, source: Source) -> Kind | None:
        """Read one more file; None where nothing in it is of use.

        Raises:
            DocumentRefusedError: the file cannot be read.
        """
        source.check()
        trace = read_trace(source, self.trace)
        if trace is not None:
            self.trace = trace
            return "trace" if trace.places else None
        snapshots = ras_snapshots(source)
        if snapshots is not None:
            self.snapshots.extend(snapshots)
            return "ras"
        found = list(time_outs_in(source.console()))
        self.time_outs.extend(found)
        return "log" if found else None


def diagnosed(reading: Reading, decided: Decided, *, late_us: float = LATE_US) -> Diagnosis:
    """Return the diagnosis of what was read."""
    reporter = reading.time_outs[0] if reading.time_outs else None
    beside: dict[str, Any] = {
        "reporter": reporter,
        "snapshots": tuple(reading.snapshots),
        "handoffs": dict(decided.handoffs),
    }
    trace = reading.trace
    if trace is None or not trace.places:
        named = () if reporter is None else (reporter.rank,)
        places = {rank: Place(*decided.places[rank]) for rank in named if rank in decided.places}
        return Diagnosis(slowest=None, places=places, **beside)
    known = {rank: decided.places.get(rank, (node, device)) for rank, (node, device, _) in trace.places.items()}
    found = slowest(
        trace.calls,
        known,
        time_outs=reading.time_outs,
        stages=decided.stages,
        expected_us=decided.expected_us,
        late_us=late_us,
    )
    found = replace(found, notes=(*found.notes, *_notes(trace, decided)))
    around = found.earliest or next(iter(found.late), None)
    spans = {} if around is None else _worst(timelines(trace.calls, around.group, around.nth), around)
    places = {rank: Place(*known[rank]) for rank in sorted(_named(found, spans)) if rank in known}
    return Diagnosis(slowest=found, around=around, timelines=spans, places=places, **beside)


def _notes(trace: Trace, decided: Decided) -> Iterator[str]:
    """Say how the trace and the decided map differ, and what of the trace was not read."""
    if trace.skipped:
        yield f"{len(trace.skipped):,} rows could not be read, the first in line {trace.skipped[0]:,}"
    if trace.full:
        yield "the trace is longer than is read; its rest is left out"
    if not decided.places:
        return
    absent = sorted(decided.places.keys() - trace.places.keys())
    strange = sorted(trace.places.keys() - decided.places.keys())
    if absent:
        yield f"{len(absent):,} of {len(decided.places):,} decided ranks are not in the trace: {_listed(absent)}"
    if strange:
        yield f"the decided map has no {_listed(strange)}: they are named as the trace has them"


def _listed(ranks: Sequence[int]) -> str:
    named = ", ".join(str(rank) for rank in ranks[:NAMED])
    more = f" and {len(ranks) - NAMED:,} more" if len(ranks) > NAMED else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {named}{more}"


def _worst(spans: dict[int, tuple[Span, ...]], around: Late) -> dict[int, tuple[Span, ...]]:
    """Keep the late rank and those who waited longest for it, in the order of ranks."""
    waited = {rank: max((one.waiting_us for one in of if one.end_us == 0), default=0.0) for rank, of in spans.items()}
    first = sorted(spans, key=lambda rank: (rank != around.rank, -waited[rank], rank))
    return {rank: spans[rank] for rank in sorted(first[:MOST_TIMELINES])}


def _named(found: Slowest, spans: dict[int, tuple[Span, ...]]) -> set[int]:
    """Return the ranks that an answer names."""
    named = {*spans, *(entry.rank for entry in found.missing), *(late.rank for late in found.late)}
    named |= set() if found.rank is None else {found.rank}
    return named | {one.rank for one in (found.earliest, found.reporter) if one is not None}


def diagnosis_tree(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as JSON has it (``topogate.slowest/v1``); ``read_diagnosis`` reads it again."""
    tree: dict[str, Any] = msgspec.to_builtins({"schema": SCHEMA, **asdict(diagnosis)}, str_keys=True)
    return tree


def read_diagnosis(raw: bytes) -> Diagnosis:
    """Return a diagnosis of its JSON."""
    return msgspec.json.decode(raw, type=Diagnosis)
