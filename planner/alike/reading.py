"""Reading the windows of many trials at once, of however many kinds: by blocks, in the order in which trials came.

Rules kept: trials of several kinds are read together where their windows differ at most in which replicas there are.
What neither a placement nor the ranks of replicas matter to (identities, repeats, most measures) is worked out once for
all of them, while the records of a block are at hand; each kind then picks what is its own. Records mostly lie in
memory in the order of trials: to read them kind by kind takes half as long again. Not handled: which trials are of one
kind (``planner.alike.verdicts``).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from planner.alike.columns import SPAN, Ratios, Table, picking, replica_column
from planner.alike.form import AT_ONCE, Form
from planner.alike.identities import Test
from planner.alike.measures import Batch, Measure
from planner.alike.replicas import Replicas
from planner.records.base import UNSET
from planner.records.evidence import Trial
from planner.times import repeats

__all__ = ["Reading", "Rows"]

Ends = tuple[str, str]
"""Purpose and load point of a window."""
KEPT = "output_tokens_total"
"""What measures of one kind read of the replicas of each window; all other columns are let go of block by block."""


class Rows:
    """All trials that were read together, in the order in which they came.

    Of ``odd`` ones an identity may not hold; ``strangers`` among them are of another form.
    """

    def __init__(self, windows: int, measures: Iterable[Measure]) -> None:
        self.size = 0
        self.odd = set[int]()
        self.strangers = set[int]()
        self._kept: list[list[tuple[int, ...]]] = [[] for _ in range(windows)]
        self._measured: dict[Measure, tuple[list[int], list[int], set[int]]] = {
            measure: ([], [], set()) for measure in measures
        }

    def add(self, batch: Batch, strangers: set[int]) -> None:
        """Measure more trials; those that are odd so far are so whatever is measured."""
        self.odd.update(self.size + at for at in batch.odd)
        self.strangers.update(self.size + at for at in strangers)
        for measure, (tops, bottoms, odd) in self._measured.items():
            batch.odd = set()
            ratios = measure(batch)
            tops += ratios.tops
            bottoms += ratios.bottoms
            odd.update(self.size + at for at in batch.odd)
        for table, kept in zip(batch.tables, self._kept, strict=True):
            if replica_column(KEPT) in table.columns:
                kept += table.by_window(KEPT)
        self.size += batch.size

    def part(self, rows: Sequence[int], measures: Iterable[Measure]) -> tuple[Batch, set[int]]:
        """Return what was measured of the trials of one kind, and which of them are strangers."""
        picked = picking(rows)
        batch = Batch(len(rows), (), set(), {}, tuple(picked(kept) if kept else () for kept in self._kept))
        strangers = _found(self.strangers, rows)
        batch.odd |= strangers | _found(self.odd, rows)
        for measure in measures:
            tops, bottoms, unsettled = self._measured[measure]
            batch.measured[measure] = Ratios(picked(tops), picked(bottoms))
            batch.odd |= _found(unsettled, rows)
        return batch, strangers


def _found(some: set[int], rows: Sequence[int]) -> set[int]:
    return {at for at, row in enumerate(rows) if row in some} if some else set()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """How trials are read: in which forms of their counted windows, by which tests of identities, for which measures.

    ``beside`` says what the other windows are for, ``repeated`` which windows have to be at least ``min_repeats``
    measurements.
    """

    forms: tuple[Form, ...]
    tests: tuple[tuple[int, Test], ...]
    beside: Mapping[str, Ends]
    repeated: tuple[tuple[int, ...], ...]
    min_repeats: int
    measures: dict[Hashable, Measure] = field(default_factory=dict)

    def takes(self, forms: Sequence[Form], beside: Mapping[str, Ends]) -> bool:
        """Say whether trials with windows of these forms can be read with those of the reading's own."""
        return beside == self.beside and all(map(Form.is_read_with, self.forms, forms))

    def read(self, trials: Sequence[Trial], replicas: Sequence[tuple[Replicas, ...]]) -> Rows:
        """Read trials; ``replicas`` are those of each one's kind, by window. Trials with injections are strangers."""
        by_window = [[own[at] for own in replicas] for at in range(len(self.forms))]
        rows = Rows(len(self.forms), self.measures.values())
        for start in range(0, len(trials), AT_ONCE):
            block = slice(start, start + AT_ONCE)
            windows = [trial.windows for trial in trials[block]]
            tables = tuple(
                form.table(list(map(itemgetter(form.window_id), windows)), owns[block])
                for form, owns in zip(self.forms, by_window, strict=True)
            )
            batch = Batch(len(windows), tables, set(), {})
            self._test(batch)
            rows.add(batch, self._strangers(trials[block], tables))
        return rows

    def _test(self, batch: Batch) -> None:
        """Find trials of which an identity may not hold, or with too few measurements."""
        for at, test in self.tests:
            batch.only(test(batch.tables[at]))
        for places in self.repeated:
            spans = zip(*(batch.tables[at].columns[SPAN] for at in places), strict=True)
            batch.only([repeats(each) >= self.min_repeats for each in spans])

    def _strangers(self, trials: Sequence[Trial], tables: Sequence[Table]) -> set[int]:
        found = {at for at, trial in enumerate(trials) if trial.failures is not UNSET}
        for name, ends in self.beside.items():
            others = enumerate(trial.windows[name] for trial in trials)
            found.update(at for at, own in others if (own.purpose, own.load_point) != ends)
        return found.union(*(table.strangers for table in tables))
