"""AIPerf ``gpu_telemetry_export.jsonl``: one JSON line a sample of a device, read in a stream.

The peak is the most of all samples; how many there were, and how far apart, stands beside it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from planner.importers.aiperf_devices import MEMORY_TOTAL, MEMORY_USED, Devices, seen_twice
from planner.importers.client import unix_time
from planner.importers.device_samples import DeviceSamples
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

MAX_AGAIN = 1000
NS = 10**9


def _recognise(source: Source) -> Recognised | None:
    return Recognised(version="telemetry of devices") if _is_sample(source.first) else None


def _is_sample(tree: Any) -> bool:
    return (
        isinstance(tree, dict)
        and "gpu_index" in tree
        and "timestamp_ns" in tree
        and isinstance(tree.get("telemetry_data"), dict)
    )


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", "aiperf", sheet.place())
    names, samples = Devices(), DeviceSamples("GB", "ns")
    again: dict[str, None] = {}
    others = 0
    for document in source.documents():
        sample = document.tree
        if not _is_sample(sample):
            others += 1
            continue
        exporter = sample.get("dcgm_url", sample.get("hostname"))
        of = names.name(sample.get("gpu_uuid"), sample["gpu_index"], exporter)
        if of is not None:
            _add(samples, of, sample, document.line)
        elif len(again) < MAX_AGAIN:
            again[str(sample["gpu_index"])] = None
    samples.take(sheet, peaks=True)
    _take_starts(sheet, samples)
    for index in sorted(again):
        seen_twice(sheet, index, sheet.place())
    if others:
        sheet.remark("import/format", f"{others} lines are no samples of devices", effect="refused")
    names.finish(sheet, sheet.place())
    yield sheet.finish(("device_used_peak_bytes", "device_memory_bytes", "samples", "sample_interval_s"))


def _take_starts(sheet: Sheet, samples: DeviceSamples) -> None:
    for of in samples.names():
        first = samples.first_time(of)
        if first is not None and NS**2 < first < 4 * NS**2:
            place = Place(pointer="/timestamp_ns", line=1)
            sheet.put_text("started_at", unix_time(first // NS), place, of=of, standing="measured")


def _add(samples: DeviceSamples, of: str, sample: dict[str, Any], line: int) -> None:
    data, kind = sample["telemetry_data"], sample.get("gpu_model_name")
    samples.add(
        of,
        Place(pointer="/telemetry_data", line=line),
        kind=kind if isinstance(kind, str) else "",
        used=_first(data, MEMORY_USED),
        memory=_first(data, MEMORY_TOTAL),
        time=number_of(sample["timestamp_ns"]),
    )


def _first(data: dict[str, Any], names: Iterable[str]) -> int | float | None:
    return next((value for name in names if (value := number_of(data.get(name))) is not None), None)


IMPORTER = Importer(id="aiperf-telemetry", title="AIPerf telemetry of devices", recognise=_recognise, read=_read)
