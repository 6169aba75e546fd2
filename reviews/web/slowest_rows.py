"""Diagnoses of the slowest rank as rows of text: what the pattern points at, who was late first, who reported. Pure.

Rules kept: a pattern is a place to look and no verdict, so none of it has a verdict's colour; who reported a time-out
stands apart from who was late; snapshots of NCCL RAS are told in the words of the tool.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from planner.observations.diagnosis import Diagnosis as Found
from planner.observations.slowest import Late, Slowest
from reviews.clock import when
from reviews.selectors.diagnoses import DiagnosisRow
from reviews.web.csv_text import Value
from reviews.web.formats import ago, count, grouped, listed, percent, ranks_text

PATTERNS = {
    "one_rank": "One rank keeps the others waiting",
    "one_node": "One node keeps the others waiting",
    "one_stage": "One pipeline stage keeps the others waiting",
    "rotating": "Whoever is late changes",
    "symmetric": "All ranks together are slower than when this was measured",
    "none": "No rank kept the others waiting",
    "": "No trace was given",
}
KINDS = {"trace": "trace of collectives", "ras": "NCCL RAS", "log": "log of an engine"}
COLUMNS = (
    "rank",
    "node",
    "device",
    "calls",
    "late",
    "late_p50_us",
    "late_max_us",
    "waiting_us",
    "moving_us",
    "working_us",
)
"""Fields of a rank that a download has, in order; microseconds."""
MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Line:
    """A diagnosis in the list of a decision."""

    number: int
    href: str
    pattern: str
    points_at: str
    note: str
    against: str
    made: str
    ago: str
    person: str
    files: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One of the things that a diagnosis begins with."""

    title: str
    value: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankLine:
    """One rank over the whole trace; ``mark`` names what is remarkable of it."""

    rank: int
    place: str
    calls: str
    late: str
    p50: str
    most: str
    waiting: str
    moving: str
    working: str
    mark: str


def ms(microseconds: float | None) -> str:
    """Write a time in milliseconds to the microsecond, without its unit; an en dash where there is none."""
    return "–" if microseconds is None else grouped(f"{microseconds / 1000:.3f}")


def diagnosis_line(row: DiagnosisRow, href: str, now: datetime) -> Line:
    """Make the row of a list."""
    return Line(
        number=row.number,
        href=href,
        pattern=PATTERNS[row.pattern],
        points_at=row.points_at,
        note=row.note,
        against=f"{row.trial}, r{row.revision}",
        made=when(row.made_at),
        ago=ago(row.made_at, now),
        person=row.person,
        files=count(row.files, "file"),
    )


def headline(found: Found) -> str:
    """Say in one sentence what a diagnosis found."""
    slowest = found.slowest
    if slowest is None:
        return PATTERNS[""]
    if slowest.pattern == "one_rank" and slowest.rank is not None:
        return f"Rank {slowest.rank} keeps the others waiting"
    if slowest.pattern == "one_node" and slowest.nodes:
        return f"Ranks of {slowest.nodes[0]} keep the others waiting"
    return PATTERNS[slowest.pattern]


def place_of(found: Found, rank: int) -> str:
    """Name where a rank is, as it was decided; empty where nobody said."""
    at = found.places.get(rank)
    return " · ".join(part for part in (at.node, at.device) if part) if at else ""


def shares(slowest: Slowest) -> str:
    """Say how much of what was late fits the pattern."""
    late = f"{slowest.late_collectives:,} of {count(slowest.collectives, 'collective')} had a late rank"
    if slowest.pattern in ("none", "symmetric"):
        return f"{late}."
    if not slowest.late_collectives:
        return f"{late}, but not all ranks came."
    return f"{late}; {percent(slowest.share, signed=False)} of the causes fit this pattern."


def facts_of(found: Found) -> Iterator[Fact]:
    """Yield who was late first, who reported first, who never came, and how late the latest was."""
    slowest, reporter = found.slowest, found.reporter
    early = slowest.earliest if slowest else None
    if early is not None:
        yield Fact("Late first", _named(found, early.rank), _late_text(early))
    if reporter is not None:
        waited = " It waited, and is not who was late first." if early and early.rank != reporter.rank else ""
        text = f"{reporter.operation} {reporter.number:,}, line {reporter.line:,} of the log.{waited}"
        yield Fact("Reported a time-out first", _named(found, reporter.rank), text)
    if slowest is None:
        return
    if slowest.missing:
        worst = min(slowest.missing, key=lambda entry: (entry.made - entry.most, entry.rank))
        missing = tuple(sorted({entry.rank for entry in slowest.missing}))
        text = f"{worst.made:,} of {worst.most:,} calls of {worst.group} by rank {worst.rank}."
        yield Fact("Never came", ranks_text(missing).capitalize(), text)
    if slowest.late:
        latest = max(slowest.late, key=lambda late: late.waited_us)
        text = f"Rank {latest.rank} to call {latest.nth + 1:,} of {latest.group}: the longest wait of another rank."
        yield Fact("Latest by", f"{ms(latest.waited_us)} ms", text)


def _named(found: Found, rank: int) -> str:
    place = place_of(found, rank)
    return f"Rank {rank}, {place}" if place else f"Rank {rank}"


def _late_text(early: Late) -> str:
    call = f"To call {early.nth + 1:,} of {early.group} ({early.kind}), by {ms(early.waited_us)} ms"
    if early.work_us is None or early.usual_us is None:
        return f"{call}."
    return f"{call}: {ms(early.work_us)} ms of own work where the middle of the others had {ms(early.usual_us)}."


def rank_lines(found: Found, start: int, end: int) -> tuple[RankLine, ...]:
    """Return some of the ranks, those that were late most often first."""
    slowest = found.slowest
    if slowest is None:
        return ()
    ordered = sorted(slowest.ranks, key=lambda one: (-one.late, -one.late_max_us, one.rank))
    early = slowest.earliest.rank if slowest.earliest else None
    reporter = found.reporter.rank if found.reporter else None
    missing = {entry.rank for entry in slowest.missing}

    def mark(rank: int) -> str:
        words = [("late first", rank == early), ("reported", rank == reporter), ("never came", rank in missing)]
        return ", ".join(word for word, holds in words if holds)

    return tuple(
        RankLine(
            rank=one.rank,
            place=" · ".join(part for part in (one.node, one.device) if part),
            calls=f"{one.calls:,}",
            late=f"{one.late:,}",
            p50=ms(one.late_p50_us) if one.late else "–",
            most=ms(one.late_max_us) if one.late else "–",
            waiting=ms(one.waiting_us),
            moving=ms(one.moving_us),
            working=ms(one.working_us),
            mark=mark(one.rank),
        )
        for one in ordered[start:end]
    )


def download_rows(found: Found) -> list[list[Value]]:
    """Return every rank as a row of a download."""
    ranks = found.slowest.ranks if found.slowest else ()
    return [[getattr(one, name) for name in COLUMNS] for one in ranks]


def notes_of(found: Found) -> tuple[str, ...]:
    """Return what limits the answer, as sentences."""
    notes = found.slowest.notes if found.slowest else ()
    return tuple(f"{note[:1].upper()}{note[1:]}." for note in notes[:MOST_NAMED])


def handoff_lines(handoffs: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what hand-offs suggest, with the windows that say it."""
    windows: dict[str, list[str]] = {}
    for window, said in handoffs.items():
        windows.setdefault(said, []).append(window)
    return tuple((f"{said[:1].upper()}{said[1:]}", listed(names)) for said, names in windows.items())
