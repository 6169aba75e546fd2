"""A diagnosis in lines for people: the pattern, who was late first, who reported, late ranks, what stands beside."""

from collections.abc import Callable, Iterator, Mapping

from planner.observations.diagnosis import Diagnosis
from planner.observations.ras import NO_VERDICT, RasSnapshot
from planner.observations.slowest import Slowest
from planner.observations.time_outs import TimeOut
from planner.shown import printable

__all__ = ["diagnosis_lines", "slowest_lines"]

MOST_RANKS = 20


def diagnosis_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines; snapshots come last, as what they are."""
    found, places = diagnosis.slowest, {rank: (at.node, at.device) for rank, at in diagnosis.places.items()}
    if found is not None:
        yield from slowest_lines(found, places)
    elif diagnosis.reporter is not None:
        yield f"reported first: {_reported(diagnosis.reporter, _naming(places))}"
    yield from (f"window {window}: {said}" for window, said in diagnosis.handoffs.items())
    for snapshot in diagnosis.snapshots:
        yield from _snapshot_lines(snapshot)
    if diagnosis.snapshots:
        yield f"snapshots: {NO_VERDICT}"


def _snapshot_lines(found: RasSnapshot) -> Iterator[str]:
    version = f"NCCL {found.version}" if found.version else "NCCL of unknown version"
    yield printable(f"{found.file} line {found.line}: {version}{f' at {found.at}' if found.at else ''}")
    for one in found.communicators:
        alike = f" ({one.count} alike)" if one.count > 1 else ""
        yield f"  {one.name}{alike}: {one.status} {one.errors}"
        yield from (f"    {text}" for text in one.operations)
        yield from (f"    rank {rank.rank}: {rank.status}" for rank in one.standing_out[:MOST_RANKS])
    yield from (f"  {text}" for text in found.problems)


def _naming(places: Mapping[int, tuple[str, str]]) -> Callable[[int], str]:
    def named(rank: int) -> str:
        node, device = places.get(rank, ("", ""))
        where = " ".join(part for part in (node, device) if part)
        return printable(f"rank {rank} ({where})" if where else f"rank {rank}")

    return named


def _reported(reporter: TimeOut, named: Callable[[int], str]) -> str:
    return f"{named(reporter.rank)}, {reporter.operation} {reporter.number}"


def slowest_lines(found: Slowest, places: Mapping[int, tuple[str, str]]) -> Iterator[str]:
    """Yield the lines."""

    named = _naming(places)
    yield f"pattern={found.pattern};late={found.late_collectives} of {found.collectives} collectives"
    if found.rank is not None:
        yield f"points at {named(found.rank)}: {found.share:.0%} of what was late"
    elif found.nodes:
        yield f"points at {printable(', '.join(found.nodes))}: {found.share:.0%} of what was late"
    yield f"look at {found.suggests}"
    yield from _first(found, named)
    for entry in found.missing:
        yield f"{named(entry.rank)} made {entry.made:,} of {entry.most:,} calls in {printable(entry.group)}"
    late = sorted((one for one in found.ranks if one.late), key=lambda one: (-one.late, one.rank))
    for one in late[:MOST_RANKS]:
        yield (
            f"{named(one.rank)} came late {one.late} of {one.calls} times, p50 {one.late_p50_us / 1000:.3f} ms, "
            f"most {one.late_max_us / 1000:.3f} ms"
        )
    yield from (f"note: {printable(note)}" for note in found.notes)


def _first(found: Slowest, named: Callable[[int], str]) -> Iterator[str]:
    early, reporter = found.earliest, found.reporter
    if early is not None:
        work = (
            ""
            if early.work_us is None or early.usual_us is None
            else (f", after {early.work_us / 1000:.3f} ms of own work where others had {early.usual_us / 1000:.3f}")
        )
        yield f"late first: {named(early.rank)} to call {early.nth + 1} of {printable(early.group)}{work}"
    if reporter is not None:
        same = early is not None and reporter.rank == early.rank
        other = "" if same or early is None else ": it waited, and is not who was late first"
        yield f"reported first: {_reported(reporter, named)}{other}"
