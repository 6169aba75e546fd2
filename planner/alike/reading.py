"""Reading the windows of many trials at once, of however many kinds: by blocks, in the order in which trials came.

Rules kept: trials of several kinds are read together where their windows differ at most in which replicas there are.
That is once for all of them, and in the order in which records mostly lie in memory, which takes a third less than kind
by kind. The identities that no replica matters to are tested while the records of a block are at hand; each kind then
picks its own columns. Not handled: which trials are of one kind (``planner.alike.verdicts``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

from planner.alike.columns import Column, Lazy, Table, replica_column
from planner.alike.form import AT_ONCE, Form
from planner.alike.identities import Test
from planner.alike.measures import Batch
from planner.records.base import UNSET
from planner.records.evidence import Trial

__all__ = ["Reading", "Rows"]

Forms = tuple[Form, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The columns of all trials that were read together, a sheet for each window of a trial.

    ``odd`` are the trials that may break an identity; ``strangers`` among them have windows of another form.
    """

    sheets: tuple["Sheet", ...]
    odd: set[int]
    strangers: set[int]

    def part(self, rows: Sequence[int], forms: Forms) -> tuple[Batch, set[int]]:
        """Return the columns of the trials of one kind, and which of them are strangers."""
        tables = tuple(sheet.part(rows, form) for sheet, form in zip(self.sheets, forms, strict=True))
        odd, strangers = ({at for at, row in enumerate(rows) if row in some} for some in (self.odd, self.strangers))
        return Batch(len(rows), tables, odd), strangers


class Sheet:
    """The columns of the windows of one id, joined from those of blocks when they are asked for."""

    def __init__(self, blocks: Sequence[Table], replicas: Sequence[int]) -> None:
        self.columns = Lazy(lambda name: list(chain.from_iterable(block.columns[name] for block in blocks)))
        self.starts = list(accumulate(replicas, initial=0))

    def part(self, rows: Sequence[int], form: Form) -> Table:
        """Return the columns of some windows, all of one form."""
        picked, replicas = _picking(rows), range(len(form.replicas.recorded))
        starts = picked(self.starts) if replicas else ()
        of_each = [_picking([start + place for start in starts]) for place in replicas]

        def by_replica(field: str) -> list[Column]:
            column = self.columns[replica_column(field)]
            return [pick(column) for pick in of_each]

        return Table(len(rows), Lazy(lambda name: picked(self.columns[name])), Lazy(by_replica), set())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """How the counted windows of trials are read: in which forms, and by which tests of identities."""

    forms: Forms
    tests: tuple[tuple[int, Test], ...]

    def takes(self, forms: Forms) -> bool:
        """Say whether windows of these forms can be read with those of the reading's own."""
        return all(own.is_read_with(form) for own, form in zip(self.forms, forms, strict=True))

    def read(self, trials: Sequence[Trial], forms: Sequence[Forms]) -> Rows:
        """Read the windows of trials; ``forms`` are those of each one's kind. Trials with injections are strangers."""
        blocks: list[list[Table]] = [[] for _ in self.forms]
        odd, strangers = set[int](), set[int]()
        replicas = [[own[at].replicas for own in forms] for at in range(len(self.forms))]
        for start in range(0, len(trials), AT_ONCE):
            block = slice(start, start + AT_ONCE)
            strangers.update(start + at for at, trial in enumerate(trials[block]) if trial.failures is not UNSET)
            windows = [trial.windows for trial in trials[block]]
            for at, form in enumerate(self.forms):
                of_id = list(map(itemgetter(form.window_id), windows))
                blocks[at].append(form.block(of_id, replicas[at][block]))
            tables = tuple(tables[-1] for tables in blocks)
            batch = Batch(len(windows), tables, set())
            for at, test in self.tests:
                batch.only(test(tables[at]))
            strangers.update(start + at for table in tables for at in table.strangers)
            odd.update(start + at for at in batch.odd)
        sheets = tuple(
            Sheet(tables, [len(own.recorded) for own in owns]) for tables, owns in zip(blocks, replicas, strict=True)
        )
        return Rows(sheets=sheets, odd=odd | strangers, strangers=strangers)


def _picking(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return what picks the entries at some places of a column."""
    return itemgetter(*places) if len(places) > 1 else lambda column: [column[place] for place in places]
