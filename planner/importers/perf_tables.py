"""Tables of GenAI-Perf and AIPerf: CSV of several tables, and what a console shows, framed or in Markdown."""

import re

from planner.importers.model import Place
from planner.importers.perf_metrics import Figure, Metric, label_metric, number_of
from planner.importers.source import Source

__all__ = ["console_header", "console_metrics", "csv_header", "csv_metrics"]

MAX_ROWS = 10_000

_SEPARATORS = re.compile(r"[|│┃]")
_HEADER = re.compile(r"^[ \t|│┃]*Statistic[ \t]*[|│┃][ \t]*avg[ \t]*[|│┃]", re.M)
_PLAIN = re.compile(
    r"\s*((?:Output token|Request) throughput \((?:per sec|tokens/sec|requests/sec)\))\s*:\s*([0-9.,]+)\s*", re.I
)


def csv_header(source: Source) -> tuple[str, ...] | None:
    """Return the first row of a CSV of metrics, None where the file is none."""
    return source.header if len(source.header) > 1 and source.header[0] == "Metric" else None


def csv_metrics(source: Source) -> dict[str, Metric]:
    """Return the metrics of all tables; a table has a header, and a blank line ends it."""
    metrics: dict[str, Metric] = {}
    header: list[str] | None = None
    for number, row in source.rows():
        if not any(cell.strip() for cell in row):
            header = None
        elif header is None:
            header = [cell.strip() for cell in row]
        elif header[0] == "Metric" and len(metrics) < MAX_ROWS:
            name, unit = label_metric(row[0])
            metrics[name] = Metric(unit, _figures(dict(zip(header[1:], row[1:], strict=False)), number))
    return metrics


def _figures(cells: dict[str, str], line: int) -> dict[str, Figure]:
    """Return the numbers of a row by statistic; a table of single values has one column, ``Value``."""
    read = {key: number_of(cell) for key, cell in cells.items()}
    return {
        "avg" if key == "Value" else key: Figure(value, Place(line=line, column=key))
        for key, value in read.items()
        if value is not None
    }


def console_header(source: Source) -> bool:
    """Say whether a table of a console stands in the file."""
    return source.shows(("Statistic",), _HEADER)


def console_metrics(source: Source) -> dict[str, Metric]:
    """Return the metrics of the first table; a label may go on in the next line."""
    rows = _Rows()
    for number, line in source.console():
        if not rows.take(number, line):
            break
    metrics: dict[str, Metric] = {}
    for label, figures in rows.found[:MAX_ROWS]:
        name, unit = label_metric(label)
        metrics.setdefault(name, Metric(unit, figures))
    return metrics


class _Rows:
    """Rows of the first table, line by line, and the single figures that stand below it."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.found: list[tuple[str, dict[str, Figure]]] = []

    def take(self, number: int, line: str) -> bool:
        """Read a line; say whether to go on, which another run's table ends."""
        plain = _PLAIN.fullmatch(line)
        cells = [cell.strip() for cell in _SEPARATORS.split(line)[1:-1]]
        if _HEADER.match(line):
            if self.columns:
                return False
            self.columns = cells[1:]
        elif plain:
            value = number_of(plain[2])
            if value is not None:
                self.found.append((plain[1], {"avg": Figure(value, Place(line=number))}))
        elif self.columns and len(cells) == len(self.columns) + 1:
            self._row(number, cells)
        return True

    def _row(self, number: int, cells: list[str]) -> None:
        if any(cells[1:]):
            self.found.append((cells[0], _figures(dict(zip(self.columns, cells[1:], strict=True)), number)))
        elif self.found:
            label, figures = self.found.pop()
            self.found.append((f"{label} {cells[0]}", figures))
