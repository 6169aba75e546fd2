"""Runs of earlier files in a row of imports: a sweep's summary holds the runs that lie beside it once more."""

from collections.abc import Hashable
from dataclasses import replace

from planner.importers.model import Imported, Remark, Run
from planner.importers.scrubbed import sentence_of

__all__ = ["Earlier"]

LEAST = 5
"""Figures below which two runs may be alike by chance."""


class Earlier:
    """Remembers the measured figures of every run, and where they stood first."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[str, str]] = {}

    def compared(self, imported: Imported) -> Imported:
        """Return the file, runs that an earlier one holds with a remark; then remember its runs."""
        runs = tuple(self._compared(imported.file, run) for run in imported.runs)
        for run in imported.runs:
            self._seen.setdefault(_figures(run), (imported.file, run.id))
        return replace(imported, runs=runs)

    def _compared(self, file: str, run: Run) -> Run:
        figures = _figures(run)
        first = self._seen.get(figures)
        if first is None or first[0] == file or len(figures) < LEAST:
            return run
        sentence = sentence_of(f"the figures of {first[1]} in {first[0]}: taken twice, it would count twice")
        remark = Remark(code="import/same_run", effect="note", sentence=sentence, place=run.place)
        return replace(run, remarks=(*run.remarks, remark))


def _figures(run: Run) -> frozenset[tuple[str, str, object]]:
    return frozenset((value.name, value.of, value.value) for value in run.values if value.standing == "measured")
