"""Prometheus texts: samples with their line, and scrapes where one file holds several.

Every line is read by the parser of the Prometheus client. What is around samples in files that were pasted (fences of
Markdown, dots for what was left out, prose) is no sample and is counted. A series that stands a second time begins
another scrape.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

import msgspec
from prometheus_client import samples
from prometheus_client.parser import text_string_to_metric_families

from planner.importers.client import UNIX_RANGE, unix_time
from planner.importers.model import Place
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["NO_VALUE", "Sample", "Scrape", "Series", "Window", "anonymous", "take_notes", "take_times", "window"]

MAX_SAMPLE_LINE = 16 * 2**10
"""The parser of labels takes quadratic time, and no exporter writes more."""
MAX_SERIES = 200_000
MAX_NAME = 256
LINES_AT_ONCE = 64
NO_VALUE = 9e18
"""DCGM writes numbers around 2^63 where it has no value."""

CUMULATIVE = ("_total", "_count", "_sum", "_bucket")
"""How the names of counters end, and of the parts of histograms."""

Series = tuple[str, tuple[tuple[str, str], ...]]
"""Metric and labels."""

_NAME = re.compile(r"[ \t]*([A-Za-z_:][A-Za-z0-9_:]*)[ \t]*[{ \t]")
_EXEMPLAR = " # {"


class Sample(msgspec.Struct, frozen=True):
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
    def series(self) -> Series:
        """Metric and labels."""
        return self.name, tuple(sorted(self.labels.items()))


def _line_of(sample: Sample) -> int:
    return sample.line


@dataclass(slots=True)
class Scrape:
    """The samples of one scrape, and the lines of its metrics that could not be read."""

    samples: list[Sample] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    _by_name: dict[str, list[Sample]] = field(default_factory=dict)
    _indexed: int = 0

    def named(self, *names: str) -> Iterator[Sample]:
        """Yield the samples of some metrics that have a finite value, in the order of the file."""
        for sample in self.samples[self._indexed :]:
            self._by_name.setdefault(sample.name, []).append(sample)
        self._indexed = len(self.samples)
        found = [sample for name in names for sample in self._by_name.get(name, ()) if isfinite(sample.value)]
        yield from sorted(found, key=_line_of) if len(names) > 1 else found

    def counters(self) -> Mapping[Series, Sample]:
        """Return the samples that only grow, by series."""
        return {sample.series: sample for sample in self.samples if sample.name.endswith(CUMULATIVE)}

    @property
    def line(self) -> int:
        """The line of its first sample."""
        return self.samples[0].line if self.samples else 1


@dataclass(slots=True)
class Window:
    """What lies between the first and the last scrape of a file, or since an earlier file, ``since`` by name."""

    first: Scrape
    last: Scrape
    count: int
    skipped: list[int]
    since: str = ""


def window(source: Source, *prefixes: str, each: Callable[[Scrape], None] = lambda scrape: None) -> Window:
    """Read the scrapes of a file, of metrics that begin with one of ``prefixes``, and show ``each`` of them.

    An earlier file counts where it holds a counter of the same series.
    """
    found: Window | None = None
    for scrape in _scrapes(source, prefixes):
        each(scrape)
        if found is None:
            found = Window(scrape, scrape, 1, [*scrape.skipped])
        else:
            found.last, found.count = scrape, found.count + 1
            found.skipped += scrape.skipped
    assert found is not None  # noqa: S101 - a file has at least one scrape
    earlier = window(source.before, *prefixes).last if source.before else Scrape()
    if source.before and earlier.counters().keys() & found.first.counters().keys():
        each(earlier)
        return Window(earlier, found.last, found.count + 1, found.skipped, source.before.name)
    return found


def _scrapes(source: Source, prefixes: tuple[str, ...]) -> Iterator[Scrape]:
    """Yield at least one scrape, which may be empty."""
    scrape = Scrape()
    seen: set[Series] = set()
    for number, sample in _lines_read(source, prefixes):
        if sample is None:
            scrape.skipped.append(number)
            continue
        series = sample.series
        if series in seen or len(seen) >= MAX_SERIES:
            yield scrape
            scrape, seen = Scrape(), set()
        seen.add(series)
        scrape.samples.append(sample)
    yield scrape


def _lines_read(source: Source, prefixes: tuple[str, ...]) -> Iterator[tuple[int, Sample | None]]:
    """Yield number and sample of every line of the metrics, None where it cannot be read."""
    lines: list[tuple[int, str]] = []
    for number, line in source.lines():
        name = _NAME.match(line)
        if name is None or not name[1].startswith(prefixes):
            continue
        if len(line) > MAX_SAMPLE_LINE or len(name[1]) > MAX_NAME:
            yield number, None
            continue
        lines.append((number, line.partition(_EXEMPLAR)[0]))
        if len(lines) == LINES_AT_ONCE:
            yield from _samples(lines)
            lines = []
    yield from _samples(lines)


def _samples(lines: list[tuple[int, str]]) -> list[tuple[int, Sample | None]]:
    """Read lines at once, which is faster, or each by itself where one of them cannot be read."""
    text = "\n".join(line for _, line in lines)
    try:
        found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        return [(number, _sample(sample, number)) for (number, _), sample in zip(lines, found, strict=True)]
    except (ValueError, TypeError, IndexError, OverflowError):
        return [(lines[0][0], None)] if len(lines) == 1 else [one for line in lines for one in _samples([line])]


def _sample(sample: samples.Sample, number: int) -> Sample:
    time = None if sample.timestamp is None else _seconds(float(sample.timestamp))
    return Sample(sample.name, sample.labels, float(sample.value), time, number)


def _seconds(time: float) -> float:
    """Return seconds of what the parser took for milliseconds, which OpenMetrics writes as seconds."""
    return time * 1000 if UNIX_RANGE[0] < time * 1000 < UNIX_RANGE[1] else time


def take_notes(sheet: Sheet, window: Window) -> None:
    """Name the lines that could not be read, and the earlier file."""
    if window.since:
        sentence = f"counters are those since the scrape in {window.since}: what both hold is a window"
        sheet.remark("import/window", sentence)
    if window.skipped:
        sentence = f"{len(window.skipped)} lines of its metrics could not be read and are left out"
        sheet.remark("import/line_skipped", sentence, Place(line=window.skipped[0]))


def take_times(sheet: Sheet, window: Window) -> None:
    """Take start and end where the samples have times."""
    for name, scrape in (("started_at", window.first), ("ended_at", window.last)):
        sample = scrape.samples[0]
        if sample.time is not None and UNIX_RANGE[0] < sample.time < UNIX_RANGE[1]:
            sheet.put_text(name, unix_time(sample.time), sample.place, standing="measured")


def anonymous(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Return a number for every name, in the order of the file: names of machines are not kept."""
    return {name: f"{kind}-{index}" for index, name in enumerate(dict.fromkeys(names))}
