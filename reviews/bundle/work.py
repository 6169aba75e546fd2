"""How much work a bundle is, so that progress tells of all of it and not of its entries alone.

A unit is a row of a table; what the other parts take beside it was measured with the logs of ``bench.exporting_log``,
of much and of little talk, so the figures are of the right order and no more.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

ROW, ENTRY, DOCUMENT, REVISION, MEBIBYTE = 1, 4, 16, 100, 2_000
"""Units of: a row of a table, an entry that is replayed and written, a document, what is stated and told of a planned
revision, a MiB of kept files."""

Progress = Callable[[float], None]
"""Called with the share of the work that is done, from 0 to 1."""
Item = TypeVar("Item")


def work_of(*, entries: int, revisions: int, file_bytes: int) -> int:
    """Return the units of a bundle of so many entries and planned revisions, with so many bytes of kept files."""
    of_revisions = revisions * (REVISION + 3 * DOCUMENT)
    return entries * (ENTRY + 2 * ROW) + of_revisions + file_bytes * MEBIBYTE // (1 << 20)


class Work:
    """Counts what is done of the work, and tells the share of it."""

    def __init__(self, total: int, tell: Progress) -> None:
        self._total, self._tell, self._done = max(1, total), tell, 0.0

    def did(self, units: float) -> None:
        """Count so many units as done."""
        self._done += units
        self._tell(min(1.0, self._done / self._total))

    def over(self, items: Iterable[Item], units: float) -> Iterator[Item]:
        """Yield items, each of which is so much work."""
        for item in items:
            yield item
            self.did(units)
