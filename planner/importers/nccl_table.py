"""One row of a table of nccl-tests, in every layout that its header may announce.

Before the figures stand size, count, type, and where the layout has them redop and root. Then come one or two groups:
time, algbw, busbw, errors, and behind them what an option adds (``#bitdiff``, ``i_min``, ``i_max``, ``i_p99``,
``i_cv%``); at the end perhaps a time of day. Old versions show an ``error``, a number of its own, not ``#wrong``.
"""

import re
from dataclasses import dataclass
from math import isfinite

import msgspec

__all__ = ["Layout", "Measured", "Row", "layout_of", "measured", "operation_named"]

_OPERATIONS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
    "sendrecv": "send_recv",
}
_JOINTS = str.maketrans("", "", "_ -")
_COUNT = re.compile(r"[0-9]{1,18}")
_WRONG = re.compile(r"[0-9]{1,18}|[0-9.]{1,8}e\+(?:0[6-9]|1[0-9])")
"""A count, with an exponent from a million on; what has another exponent is an ``error`` of an old version."""
_TYPE = re.compile(r"[a-z][a-z0-9_]{1,15}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPREAD = {"i_min": "min", "i_max": "max", "i_p99": "p99"}
_LEAST = 7
_MOST_BEFORE = 5


def operation_named(name: str) -> str:
    """Return our name of a collective, such as ``all_reduce`` for ``AllReduce``; another name in lower case."""
    plain = name.strip().lower()
    return _OPERATIONS.get(plain.translate(_JOINTS), plain)


@dataclass(frozen=True, slots=True)
class Layout:
    """The titles of one group of figures, ``time`` first."""

    titles: tuple[str, ...] = ("time", "algbw", "busbw", "#wrong")


class Measured(msgspec.Struct, frozen=True):
    """Out of place or in place: microseconds, decimal GB/s of algorithm and bus, wrong results if they are counted.

    ``spread`` holds further statistics of the iterations in microseconds.
    """

    time_us: float
    algorithm: float
    bus: float
    wrong: int | None
    spread: tuple[tuple[str, float], ...] = ()


class Row(msgspec.Struct, frozen=True):
    """Size of the message and what was measured: ``out`` of place, ``in`` place."""

    message_bytes: int
    key: str
    results: tuple[tuple[str, Measured], ...]


def layout_of(header: str) -> Layout:
    """Return the layout that a line of titles announces."""
    titles = ["time" if title == "cputime" else title for title in header.split()]
    starts = [index for index, title in enumerate(titles) if title == "time"]
    if not starts:
        return Layout()
    end = starts[1] if len(starts) > 1 else len(titles) - ("timestamp" in titles)
    group = tuple(titles[starts[0] : end])
    return Layout(group) if group[:3] == Layout().titles[:3] else Layout()


def measured(text: str, layout: Layout) -> Row | None:
    """Return a row, None where the text is none."""
    cells = text.split()
    if len(cells) < _LEAST or not _COUNT.fullmatch(cells[0]) or not _COUNT.fullmatch(cells[1]):
        return None
    if not _TYPE.fullmatch(cells[2]):
        return None
    if len(cells) > 2 and _DAY.fullmatch(cells[-2]):
        del cells[-2:]
    width = len(layout.titles)
    count = next((count for count in (2, 1) if 0 <= len(cells) - 3 - count * width <= _MOST_BEFORE - 3), 0)
    figures = cells[len(cells) - count * width :] if count else []
    groups = [_group(figures[start : start + width], layout) for start in range(0, len(figures), width)]
    if not groups or None in groups:
        return None
    results = tuple((way, group) for way, group in zip(("out", "in"), groups, strict=False) if group is not None)
    return Row(int(cells[0]), f"{cells[0]} {cells[2]}", results)


def _group(cells: list[str], layout: Layout) -> Measured | None:
    known = dict(zip(layout.titles, map(_number, cells), strict=True))
    time, algorithm, bus = (known[title] for title in layout.titles[:3])
    if time is None or algorithm is None or bus is None:
        return None
    errors = cells[3] if layout.titles[3:4] == ("#wrong",) and _WRONG.fullmatch(cells[3]) else ""
    wrong = int(float(errors)) if errors else None
    spread = tuple((ours, value) for title, ours in _SPREAD.items() if (value := known.get(title)) is not None)
    return Measured(time, algorithm, bus, wrong, spread)


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) else None
