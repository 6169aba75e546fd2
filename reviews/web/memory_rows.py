"""The memory of a trial's ranks as rows of text and lengths of bars. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from reviews.web.byte_text import bytes_text
from reviews.web.csv_text import Value, plain
from reviews.web.formats import count, number, percent, ranks_text
from reviews.web.memory_estimates import MATCHED
from reviews.web.memory_facts import RankMemory, WindowMemory, component_name, inside
from reviews.web.stacked import LENGTH, Fleet, Segment, scaled, segments, skyline

CLASSES = {
    "weights_bytes": "p1",
    "kv_cache_bytes": "p2",
    "activations_bytes": "p3",
    "communication_buffers_bytes": "p4",
    "graph_and_kernel_workspaces_bytes": "p5",
    "allocator_reserve_bytes": "p6",
}
OTHER, UNACCOUNTED, WHOLE = "p7", "p-rest", "p-whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An entry of the legend."""

    css: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One rank. ``limit`` and ``peak_at`` are places on its bar, None where there are none; ``end`` is the device's."""

    rank: int
    place: str
    segments: tuple[Segment, ...]
    over: Segment | None
    end: int
    limit: int | None
    peak_at: int | None
    peak: str
    most: str
    room: str
    is_over: bool
    is_worst: bool
    cells: tuple[str, ...]
    unaccounted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """One window in the list of windows."""

    id: str
    load_point: str
    purpose: str
    worst: str
    peak: str
    room: str
    is_over: bool
    href: str
    is_chosen: bool


def gib(value: Fraction | int | None) -> str:
    """Write bytes as a number of GiB, an en dash where there are none."""
    return "–" if value is None else number(value, "bytes")


def room_text(room: Fraction | None) -> str:
    """Say what is left, or by how much a rank is over."""
    if room is None:
        return ""
    return f"{gib(-room)} GiB over" if room < 0 else f"{gib(room)} GiB left"


def classes_of(memory: WindowMemory) -> tuple[str, ...]:
    """Return the class of every component, with that of what is not accounted for at the end."""
    if not memory.components:
        return (WHOLE,)
    return (*(CLASSES.get(name, OTHER) for name in memory.components), UNACCOUNTED)


def amounts(memory: WindowMemory, row: RankMemory) -> tuple[Fraction, ...] | None:
    """Return what is stacked for a rank, in the order of ``classes_of``; None where nothing was recorded."""
    if row.accounted is None:
        if row.peak is None:
            return None
        return (*(Fraction(0) for _ in row.parts), row.peak)
    return (*(part or Fraction(0) for part in row.parts), row.unaccounted or Fraction(0))


def keys_of(memory: WindowMemory) -> tuple[Key, ...]:
    """Return the legend: components that the window has, and what is not accounted for."""
    if not memory.components:
        return (Key(css=WHOLE, name="used at the peak, not broken down"),)
    keys = [Key(css=CLASSES.get(name, OTHER), name=inside(component_name(name))) for name in memory.components]
    if any(row.unaccounted for row in memory.ranks):
        keys.append(Key(css=UNACCOUNTED, name="not accounted for"))
    return tuple(keys)


def memory_rows(memory: WindowMemory, ranks: range) -> tuple[MemoryRow, ...]:
    """Make a row for each of the ranks."""
    return tuple(memory_row(memory, memory.ranks[rank]) for rank in ranks)


def memory_row(memory: WindowMemory, row: RankMemory) -> MemoryRow:
    """Make the row of one rank."""
    stacked = amounts(memory, row)
    parts = tuple(zip(classes_of(memory), stacked, strict=True)) if stacked else ()
    room = row.room
    is_over = room is not None and room < 0
    over = segments([("p-over", -room)], memory.scale, row.most or 0) if room is not None and is_over else ()
    return MemoryRow(
        rank=row.rank,
        place=f"{row.node} · {row.device}",
        segments=segments(parts, memory.scale),
        over=next(iter(over), None),
        end=scaled(row.device_bytes, memory.scale) if row.device_bytes else LENGTH,
        limit=None if row.most is None else scaled(row.most, memory.scale),
        peak_at=None if row.peak is None else scaled(row.peak, memory.scale),
        peak=gib(row.peak) if row.peak is not None else "missing",
        most=gib(row.most),
        room=room_text(room),
        is_over=is_over,
        is_worst=memory.worst is row,
        cells=tuple(gib(part) for part in row.parts),
        unaccounted=gib(row.unaccounted),
    )


def fleet_of(memory: WindowMemory) -> Fleet:
    """Draw all ranks at once."""
    columns = [amounts(memory, row) for row in memory.ranks]
    worst = memory.worst
    return Fleet(
        picture=skyline(classes_of(memory), columns, memory.scale, [row.most for row in memory.ranks]),
        worst_x=None if worst is None else worst.rank + 0.5,
        label=fleet_label(memory),
    )


def fleet_label(memory: WindowMemory) -> str:
    """Say what the picture of all ranks shows."""
    peaks = [row.peak for row in memory.ranks if row.peak is not None]
    if not peaks:
        return f"Components of the memory of {count(len(memory.ranks), 'rank')}; no peak was recorded"
    return f"Peak memory of {count(len(memory.ranks), 'rank')}: {gib(min(peaks))} to {gib(max(peaks))} GiB"


def notes_of(memory: WindowMemory) -> Iterator[str]:
    """Say what keeps the figures from being all there is to know."""
    missing = tuple(row.rank for row in memory.ranks if row.peak is None)
    if missing and len(missing) < len(memory.ranks):
        yield f"No peak was recorded for {ranks_text(missing)}."
    if missing and len(missing) == len(memory.ranks):
        yield "No peak of the device was recorded, so nothing says how much room is left."
    if memory.bound != "exact":
        yield f"The peaks are {memory.bound} bounds."
    if memory.sample_interval_s is not None:
        yield f"The peaks are the highest of samples {number(memory.sample_interval_s, 's')} s apart."
    overlap = max((row.overlap for row in memory.ranks), default=Fraction(0))
    if overlap:
        yield (
            f"Components sum to up to {bytes_text(overlap)} more than the peak: "
            "each has its highest value at a moment of its own."
        )
    homeless = tuple(row.rank for row in memory.ranks if row.device_bytes is None)
    if homeless:
        yield f"The contract does not declare the device of {ranks_text(homeless)}."


def headline(memory: WindowMemory) -> str:
    """Say in one sentence how the worst rank stands."""
    worst = memory.worst
    if worst is None:
        return "No peak was recorded."
    where = f"Rank {worst.rank} on {worst.node}, device {worst.device},"
    if worst.room is None or worst.most is None:
        return f"{where} has the highest peak: {gib(worst.peak)} GiB."
    if worst.room < 0:
        return f"{where} uses {gib(worst.peak)} GiB, {gib(-worst.room)} GiB more than the {gib(worst.most)} GiB it may."
    left = percent(worst.room / worst.most, signed=False) if worst.most else ""
    return f"{where} has the least room: {gib(worst.peak)} of {gib(worst.most)} GiB, {left} left."


def window_rows(windows: Sequence[WindowMemory], chosen: WindowMemory, hrefs: Sequence[str]) -> tuple[WindowRow, ...]:
    """Make a row for every window with memory of ranks; ``hrefs`` are their addresses."""
    rows = []
    for memory, href in zip(windows, hrefs, strict=True):
        worst = memory.worst
        room = None if worst is None else worst.room
        rows.append(
            WindowRow(
                id=memory.window.id,
                load_point=memory.window.record.load_point,
                purpose=memory.window.record.purpose,
                worst="–" if worst is None else f"rank {worst.rank}",
                peak="–" if worst is None else f"{gib(worst.peak)} GiB",
                room=room_text(room) or "–",
                is_over=room is not None and room < 0,
                href=href,
                is_chosen=memory is chosen,
            )
        )
    return tuple(rows)


HEADER = ("window", "load_point", "rank", "node", "device", "device_bytes", "most_bytes", "device_used_peak_bytes")


def download_header(memory: WindowMemory) -> list[str]:
    """Name the columns of the download."""
    return [*HEADER, *memory.components, "unaccounted_bytes", "room_bytes", *(f"estimated_{name}" for name in MATCHED)]


def download_rows(memory: WindowMemory, estimated: Sequence[dict[str, int | None]]) -> list[list[Value]]:
    """Return every rank in the order of ``download_header``."""
    record = memory.window.record
    return [
        [
            memory.window.id,
            record.load_point,
            row.rank,
            row.node,
            row.device,
            row.device_bytes,
            plain(row.most),
            plain(row.peak),
            *(plain(part) for part in row.parts),
            plain(row.unaccounted),
            plain(row.room),
            *(estimated[row.rank][name] for name in MATCHED),
        ]
        for row in memory.ranks
    ]
