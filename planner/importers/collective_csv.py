"""Profiles of collectives as CSV (the layout of vidur): statistics in milliseconds, one row a rank and size.

Columns ``time_stats.<operation>.{min,max,mean,median,std}``, ``rank``, ``num_workers``, ``size`` (bytes),
``collective``, ``devices_per_node``. One run is one collective over one number of ranks on one number of nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from planner.importers.checks import check_name
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_ALWAYS = frozenset({"rank", "num_workers", "size", "devices_per_node"})
_STATISTICS = {"min": "min", "max": "max", "mean": "mean", "median": "p50", "std": "std"}
_EXPECTED = (
    "collective_operation",
    "collective_ms.mean",
    "bus_bytes_per_s",
    "device_type",
    "collective_library_version",
)
MAX_GROUPS = 1000
MAX_ROWS = 200_000

_Group = tuple[str, str, str]


@dataclass(slots=True)
class _Profile:
    """One collective over one placement; ``sizes`` holds the ranks that were recorded of every size."""

    sheet: Sheet
    ranks: int
    sizes: dict[str, set[str]]


def _header(row: list[str]) -> dict[str, int]:
    return {name.strip(): index for index, name in enumerate(row)}


def _recognise(source: Source) -> Recognised | None:
    timed = any(name.startswith("time_stats.") for name in source.header)
    return Recognised() if timed and set(source.header) >= _ALWAYS else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    columns: dict[str, int] = {}
    profiles: dict[_Group, _Profile] = {}
    skipped: list[int] = []
    for count, (line, row) in enumerate(source.rows()):
        if not columns:
            columns = _header(row) if any(row) else columns
        elif any(row) and (count > MAX_ROWS or not _take(profiles, columns, row, line)):
            skipped.append(line)
    for profile in profiles.values():
        _finish(profile, skipped)
        check_name(profile.sheet, source.name)
        yield profile.sheet.finish(_EXPECTED)


def _take(profiles: dict[_Group, _Profile], columns: dict[str, int], row: list[str], line: int) -> bool:
    cells = {name: row[index].strip() for name, index in columns.items() if index < len(row)}
    ranks, size, per_node = (number_of(cells.get(name, "")) for name in ("num_workers", "size", "devices_per_node"))
    operation = cells.get("collective", "") or _named(columns)
    if not isinstance(ranks, int) or ranks < 1 or size is None or size <= 0 or not operation:
        return False
    key = (operation, cells["num_workers"], cells.get("devices_per_node", ""))
    profile = profiles.get(key)
    if profile is None:
        if len(profiles) >= MAX_GROUPS:
            return False
        profile = profiles[key] = _Profile(Sheet(f"run-{len(profiles) + 1}", {}, line=line), ranks, {})
        sheet = profile.sheet
        sheet.put_text("collective_operation", operation, Place(line=line, column="collective"))
        sheet.put("group_ranks", ranks, Place(line=line, column="num_workers"))
        sheet.put("devices", ranks, Place(line=line, column="num_workers"))
        if isinstance(per_node, int) and per_node > 0:
            sheet.put("nodes", -(-ranks // per_node), Place(line=line, column="devices_per_node"))
    seen = profile.sizes.setdefault(cells["size"], set())
    rank = cells.get("rank", "")[:8]
    if rank in seen:
        return False
    seen.add(rank)
    _figures(profile.sheet, cells, operation, f"{cells['size'][:20]}-bytes-rank-{rank}", line)
    return True


def _named(columns: dict[str, int]) -> str:
    return next((name.split(".")[1] for name in columns if name.startswith("time_stats.") and name.count(".") > 1), "")


def _figures(sheet: Sheet, cells: dict[str, str], operation: str, of: str, line: int) -> None:
    size = number_of(cells["size"])
    sheet.put("message_bytes", size, Place(line=line, column="size"), of=of, standing="stated")
    for statistic, ours in _STATISTICS.items():
        column = f"time_stats.{operation}.{statistic}"
        value = number_of(cells.get(column, ""))
        if value is not None:
            sheet.put(f"collective_ms.{ours}", value, Place(line=line, column=column), of=of)
    least, middle, most = (sheet.value(f"collective_ms.{name}", of) for name in ("min", "p50", "max"))
    if None not in (least, middle, most) and not least <= middle <= most:
        sentence = f"{of}: the median is {middle}, outside {least} to {most}"
        sheet.remark("import/contradiction", sentence, Place(line=line), "held")


def _finish(profile: _Profile, skipped: list[int]) -> None:
    sheet, sizes = profile.sheet, profile.sizes
    few = sum(len(seen) < profile.ranks for seen in sizes.values())
    if few:
        sentence = f"{few} of {len(sizes)} sizes are recorded by some ranks only: the slowest rank is not known"
        sheet.remark("import/per_rank", sentence)
    numbers = sorted(number for number in map(number_of, sizes) if number is not None)
    if numbers:
        sentence = f"sizes go from {numbers[0]} to {numbers[-1]} bytes: take the size that the model sends"
        sheet.remark("import/message_size", sentence)
    if skipped:
        sentence = f"{len(skipped)} rows could not be read, or repeat a rank and size, and are left out"
        sheet.remark("import/line_skipped", sentence, Place(line=skipped[0]))


IMPORTER = Importer(id="collective-csv", title="profile of collectives (CSV)", recognise=_recognise, read=_read)
