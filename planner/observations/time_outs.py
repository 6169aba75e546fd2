"""Which rank reports a collective that timed out, as PyTorch's watchdog prints it in engines' logs.

Rules kept: the order of the lines is the order of the reports; the rank that reports is one that waited, never proof of
who kept it waiting. Nothing else of a line is kept.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["TimeOut", "time_outs_in"]

MAX_LINE = 4000
MOST = 10_000
_REPORTED = re.compile(
    r"\[Rank (?P<rank>[0-9]{1,6})\] Watchdog caught collective operation timeout: "
    r"WorkNCCL\(SeqNum=(?P<number>[0-9]{1,12}), OpType=(?P<operation>[A-Z_]{1,40})"
)


@dataclass(frozen=True, slots=True)
class TimeOut:
    """One report: the rank that waited, the number and kind of the collective, the line (from 1)."""

    rank: int
    number: int
    operation: str
    line: int


def time_outs_in(lines: Iterable[tuple[int, str]]) -> Iterator[TimeOut]:
    """Yield the reports of a log in its order, at most ``MOST``."""
    count = 0
    for number, text in lines:
        found = _REPORTED.search(text[:MAX_LINE]) if "Watchdog caught" in text else None
        if found is not None and count < MOST:
            count += 1
            yield TimeOut(int(found["rank"]), int(found["number"]), found["operation"].lower(), number)
