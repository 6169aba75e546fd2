"""One row of a table of nccl-tests, in every layout: with and without ``root``, with ``error`` or ``#wrong``."""

import re
from dataclasses import dataclass
from math import isfinite

__all__ = ["Measured", "Row", "measured", "operation_named"]

_OPERATIONS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "sendrecv": "send_recv",
}


def operation_named(name: str) -> str:
    """Return our name of a collective, such as ``all_reduce`` for ``AllReduce``; another name in lower case."""
    plain = name.strip().lower()
    return _OPERATIONS.get(re.sub(r"[_ -]", "", plain), plain)


_COUNT = re.compile(r"[0-9]{1,18}")
_TYPE = re.compile(r"[a-z][a-z0-9_]{1,15}")


@dataclass(frozen=True, slots=True)
class Measured:
    """Out of place or in place: microseconds, decimal GB/s of algorithm and bus, wrong results if they are counted."""

    time_us: float
    algorithm: float
    bus: float
    wrong: int | None


@dataclass(frozen=True, slots=True)
class Row:
    """Size of the message and what was measured: ``out`` of place, ``in`` place."""

    message_bytes: int
    key: str
    results: tuple[tuple[str, Measured], ...]


def measured(text: str) -> Row | None:
    """Return a row, None where the text is none.

    Before the figures stand size, count, type, and where the layout has them redop and root; then one or two groups
    of time, algbw, busbw and errors.
    """
    cells = text.split()
    if len(cells) < _LEAST or not _COUNT.fullmatch(cells[0]) or not _COUNT.fullmatch(cells[1]):
        return None
    if not _TYPE.fullmatch(cells[2]):
        return None
    figures = cells[3:]
    while figures and len(figures) not in (4, 8):
        figures = figures[1:]
    groups = [_group(figures[start : start + 4]) for start in range(0, len(figures), 4)]
    if not groups or None in groups or len(cells) - len(figures) > _MOST_BEFORE:
        return None
    results = tuple((way, group) for way, group in zip(("out", "in"), groups, strict=False) if group is not None)
    return Row(int(cells[0]), f"{cells[0]} {cells[2]}", results)


_LEAST = 7
_MOST_BEFORE = 5


def _group(cells: list[str]) -> Measured | None:
    try:
        time, algorithm, bus = (float(cell) for cell in cells[:3])
    except ValueError:
        return None
    if not all(map(isfinite, (time, algorithm, bus))):
        return None
    return Measured(time, algorithm, bus, int(cells[3]) if _COUNT.fullmatch(cells[3]) else None)
