"""What ``/metrics`` of inference servers have in common: gauges with their peaks, counters, histograms in seconds.

Counters run since the start of a server, so what was counted is the difference of two scrapes. Buckets of a histogram
bound a percentile from above.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, isinf

from planner.importers.checks import check_name
from planner.importers.log_lines import number_in
from planner.importers.model import Run
from planner.importers.prometheus import Sample, Scrape, Series, Window, take_notes, take_times, window
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["EngineMetrics", "ran_backwards", "since", "take_histograms"]

Taking = Callable[[Sheet, Scrape, Mapping[Series, Sample], str], bool]
"""Takes the samples of one engine, of which counters have grown since earlier ones; says whether it served anything."""

_QUANTILES = {"p50": (1, 2), "p90": (9, 10), "p95": (19, 20), "p99": (99, 100)}


@dataclass(slots=True)
class Peaks:
    """The largest of every gauge over scrapes, by engine; ``engine_of`` is None for a sample that is not to count."""

    gauges: Mapping[str, str]
    engine_of: Callable[[Sample], str | None]
    largest: dict[tuple[str, str], Sample] = field(default_factory=dict)

    def keep(self, scrape: Scrape) -> None:
        """Look at one scrape."""
        for sample in scrape.named(*self.gauges):
            engine = self.engine_of(sample)
            if engine is None:
                continue
            key = (engine, self.gauges[sample.name])
            if key not in self.largest or sample.value > self.largest[key].value:
                self.largest[key] = sample

    def take(self, sheet: Sheet, count: int) -> None:
        """Put the largest queue and KV use of ``count`` scrapes."""
        several = len({engine for engine, _ in self.largest}) > 1
        for (engine, name), sample in self.largest.items():
            peak = {"kv_used_share": "kv_used_peak_share", "waiting_requests": "queued_requests_max"}.get(name)
            if peak:
                sheet.put(peak, sample.value, sample.place, of=f"engine-{engine[:16]}" if several else "")
        sheet.remark("import/sampled", f"queue and KV use are the largest of {count} scrapes")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineMetrics:
    """What one kind of server exports: ``gauges`` by metric, and how the samples of one engine are told and taken."""

    name: str
    title: str
    prefix: str
    gauges: Mapping[str, str]
    engine_of: Callable[[Sample], str | None]
    take: Taking
    expected: tuple[str, ...]

    def run_of(self, source: Source, also: Callable[[Sheet, Scrape], None] = lambda sheet, scrape: None) -> Run:
        """Read the scrapes of a file; ``also`` takes what the last of them says of all engines."""
        peaks = Peaks(self.gauges, self.engine_of)
        scraped = window(source, self.prefix, each=peaks.keep)
        sheet = Sheet("run-1", {}, line=scraped.last.line)
        self._take(sheet, scraped, also)
        if scraped.count > 1:
            peaks.take(sheet, scraped.count)
        take_notes(sheet, scraped)
        check_name(sheet, source.name)
        return sheet.finish(self.expected)

    def _take(self, sheet: Sheet, scraped: Window, also: Callable[[Sheet, Scrape], None]) -> None:
        engines: dict[str, list[Sample]] = {}
        for sample in scraped.last.samples:
            engine = self.engine_of(sample)
            if engine is not None:
                engines.setdefault(engine, []).append(sample)
        if not engines:
            sheet.remark("import/no_counters", f"no sample of {self.title} could be read", effect="refused")
            return
        sheet.put_text("engine_name", self.name, sheet.place())
        put_model_of(sheet, scraped.last.samples)
        also(sheet, scraped.last)
        before = scraped.first.counters() if scraped.count > 1 else {}
        served = False
        for engine, samples in sorted(engines.items()):
            of = "" if len(engines) == 1 else f"engine-{engine[:16]}"
            if scraped.count == 1:
                self._take_gauges(sheet, Scrape(samples), of)
            served = self.take(sheet, Scrape(samples), before, of) or served
        note_window(sheet, scraped, served=served)

    def _take_gauges(self, sheet: Sheet, scrape: Scrape, of: str) -> None:
        for sample in scrape.named(*self.gauges):
            name = self.gauges[sample.name]
            sheet.put(name, sample.value, sample.place, of=of)
            if name == "kv_used_share" and sample.value > 1:
                sentence = f"KV use is {sample.value}, but it is a share of 1: the unit is in doubt"
                sheet.remark("import/unit", sentence, sample.place, "held")


def note_window(sheet: Sheet, scraped: Window, *, served: bool) -> None:
    """Say what counters are of: a window with its times, or all since the start, which holds the run."""
    if scraped.count == 1 and served:
        sentence = "counters run since the start of the server, with its warm-up: a second scrape makes a window"
        sheet.remark("import/since_start", sentence, effect="held")
    elif not served:
        sheet.remark("import/idle", "nothing was served: counters are zero")
    if scraped.count > 1:
        take_times(sheet, scraped)


def put_model_of(sheet: Sheet, samples: Iterable[Sample]) -> None:
    """Take the name of the model where all samples name the same one; of a path its last part."""
    models = {sample.labels["model_name"]: sample for sample in samples if sample.labels.get("model_name")}
    if len(models) == 1:
        sheet.put_text("model_name", *next((last_part(name), sample.place) for name, sample in models.items()))


def since(samples: Iterable[Sample], before: Mapping[Series, Sample]) -> list[Sample]:
    """Return samples as what they grew by since an earlier scrape; those that it had not stay."""
    return [_grown(sample, before) for sample in samples]


def ran_backwards(sheet: Sheet, grown: Iterable[Sample]) -> bool:
    """Refuse the run where a counter fell, and say whether one did."""
    fell = any(sample.value < 0 for sample in grown if sample.name.endswith(("_total", "_count")))
    if fell:
        sentence = "a counter ran backwards: the server started anew, or the later scrape was given first"
        sheet.remark("import/counter_reset", sentence, effect="refused")
    return fell


def take_histograms(sheet: Sheet, change: Scrape, histograms: Mapping[str, str], of: str) -> bool:
    """Take histograms by their metric, and say whether any held something."""
    taken = [_take_histogram(sheet, change, metric, family, of) for metric, family in histograms.items()]
    if any(taken):
        sheet.put_text("quantile_method", "histogram_upper", sheet.place(), of=of)
        sentence = "percentiles are upper ends of buckets, measured by the server: the way to the client is not in them"
        sheet.remark("import/upper_bound", sentence)
    return any(taken)


def _grown(sample: Sample, before: Mapping[Series, Sample]) -> Sample:
    earlier = before.get(sample.series)
    if earlier is None:
        return sample
    return Sample(sample.name, sample.labels, sample.value - earlier.value, sample.time, sample.line)


def _take_histogram(sheet: Sheet, change: Scrape, metric: str, family: str, of: str) -> bool:
    count = next(change.named(f"{metric}_count"), None)
    if count is None or count.value <= 0 or sheet.value(f"{family}.n", of) is not None:
        return False
    sheet.put(f"{family}.n", count.value, count.place, of=of)
    total = next(change.named(f"{metric}_sum"), None)
    if total is not None:
        sheet.put(f"{family}.mean", total.value / count.value, total.place, unit="s", of=of)
    buckets: list[tuple[float, Sample]] = []
    for sample in change.named(f"{metric}_bucket"):
        edge = number_in(sample.labels.get("le", ""))
        if edge is not None:
            buckets.append((edge, sample))
    buckets.sort(key=lambda pair: pair[0])
    for statistic, (part, whole) in _QUANTILES.items():
        rank = ceil(int(count.value) * part / whole)
        reached = next(((edge, sample) for edge, sample in buckets if sample.value >= rank), None)
        if reached is not None and not isinf(reached[0]):
            sheet.put(f"{family}.{statistic}", reached[0], reached[1].place, unit="s", of=of)
    return True
