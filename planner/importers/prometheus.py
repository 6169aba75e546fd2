"""Prometheus texts: samples with their line, and scrapes where one file holds several.

Every line is read by the parser of the Prometheus client. What is around samples in files that were pasted (fences of
Markdown, dots for what was left out, prose) is no sample and is counted. A series that stands a second time begins
another scrape.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite

from prometheus_client.parser import text_string_to_metric_families

from planner.importers.client import UNIX_RANGE, unix_time
from planner.importers.model import Place
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["Sample", "Scrape", "anonymous", "note_skipped", "scrapes", "take_times"]

MAX_SAMPLE_LINE = 16 * 2**10
"""The parser of labels takes quadratic time, and no exporter writes more."""
MAX_SERIES = 200_000
MAX_NAME = 256
NO_VALUE = 9e18
"""DCGM writes numbers around 2^63 where it has no value."""

_NAME = re.compile(r"\s*([A-Za-z_:][A-Za-z0-9_:]*)\s*[{ \t]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: metric, labels, value, seconds since 1970 where the text has them, line."""

    name: str
    labels: dict[str, str]
    value: float
    time: float | None
    line: int

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(line=self.line)

    @property
    def series(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Metric and labels."""
        return self.name, tuple(sorted(self.labels.items()))


@dataclass(slots=True)
class Scrape:
    """The samples of one scrape, and the lines of its metrics that could not be read."""

    samples: list[Sample] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)

    def named(self, *names: str) -> Iterator[Sample]:
        """Yield the samples of some metrics that have a finite value, in the order of the file."""
        return (sample for sample in self.samples if sample.name in names and isfinite(sample.value))

    @property
    def line(self) -> int:
        """The line of its first sample."""
        return self.samples[0].line if self.samples else 1


def scrapes(source: Source, prefix: str) -> Iterator[Scrape]:
    """Yield the scrapes of a file, of metrics that begin with ``prefix`` only; at least one, which may be empty."""
    scrape = Scrape()
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for number, line in source.lines():
        name = _NAME.match(line)
        if name is None or not name[1].startswith(prefix):
            continue
        sample = _sample(line, number)
        if sample is None or len(sample.name) > MAX_NAME:
            scrape.skipped.append(number)
            continue
        if sample.series in seen or len(seen) >= MAX_SERIES:
            yield scrape
            scrape, seen = Scrape(), set()
        seen.add(sample.series)
        scrape.samples.append(sample)
    yield scrape


def _sample(line: str, number: int) -> Sample | None:
    if len(line) > MAX_SAMPLE_LINE:
        return None
    try:
        (family,) = text_string_to_metric_families(line)
        (sample,) = family.samples
        value, time = float(sample.value), sample.timestamp
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return Sample(sample.name, sample.labels, value, None if time is None else float(time), number)


def note_skipped(sheet: Sheet, lines: Sequence[int]) -> None:
    """Name the lines that could not be read."""
    if lines:
        sentence = f"{len(lines)} lines of its metrics could not be read and are left out"
        sheet.remark("import/line_skipped", sentence, Place(line=lines[0]))


def take_times(sheet: Sheet, first: Scrape, last: Scrape) -> None:
    """Take the window between two scrapes whose samples have times."""
    for name, sample in (("started_at", first.samples[0]), ("ended_at", last.samples[0])):
        if sample.time is not None and UNIX_RANGE[0] < sample.time < UNIX_RANGE[1]:
            sheet.put_text(name, unix_time(sample.time), sample.place, standing="measured")


def anonymous(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Return a number for every name, in the order of the file: names of machines are not kept."""
    return {name: f"{kind}-{index}" for index, name in enumerate(dict.fromkeys(names))}
