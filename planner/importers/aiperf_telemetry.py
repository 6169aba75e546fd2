"""AIPerf ``gpu_telemetry_export.jsonl``: one JSON line a sample of a device, read in a stream.

The peak is the most of all samples; how many there were, and how far apart, stands beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.importers.aiperf_devices import MEMORY_TOTAL, MEMORY_USED, Devices, seen_twice
from planner.importers.client import unix_time
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

MAX_DEVICES = 4096
NS = 10**9


@dataclass(slots=True)
class _Device:
    model: Any
    line: int
    first: int | float
    last: int | float
    samples: int = 0
    used: int | float | None = None
    used_line: int = 0
    memory: int | float | None = None


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
    names = Devices()
    devices: dict[str, _Device] = {}
    again: set[tuple[str, str]] = set()
    others = 0
    for document in source.documents():
        sample = document.tree
        if not _is_sample(sample):
            others += 1
            continue
        exporter = sample.get("dcgm_url", sample.get("hostname"))
        of = names.name(sample.get("gpu_uuid"), sample["gpu_index"], exporter)
        if of is None and len(again) < MAX_DEVICES:
            again.add((str(sample.get("gpu_uuid")), str(sample["gpu_index"])))
        elif of is not None and (of in devices or len(devices) < MAX_DEVICES):
            _add(devices, of, sample, document.line)
    for of, device in devices.items():
        _take(sheet, of, device)
    for _, index in sorted(again):
        seen_twice(sheet, index, sheet.place())
    if others:
        sheet.remark("import/format", f"{others} lines are no samples of devices", effect="refused")
    names.finish(sheet, sheet.place())
    yield sheet.finish(("device_used_peak_bytes", "device_memory_bytes", "samples", "sample_interval_s"))


def _add(devices: dict[str, _Device], of: str, sample: dict[str, Any], line: int) -> None:
    time = number_of(sample["timestamp_ns"]) or 0
    device = devices.setdefault(of, _Device(sample.get("gpu_model_name"), line, time, time))
    device.samples += 1
    device.first, device.last = min(device.first, time), max(device.last, time)
    data = sample["telemetry_data"]
    used = next((value for name in MEMORY_USED if (value := number_of(data.get(name))) is not None), None)
    if used is not None and (device.used is None or used > device.used):
        device.used, device.used_line = used, line
    device.memory = next((value for name in MEMORY_TOTAL if (value := number_of(data.get(name)))), device.memory)


def _take(sheet: Sheet, of: str, device: _Device) -> None:
    if isinstance(device.model, str):
        sheet.put_text("device_type", device.model, Place(pointer="/gpu_model_name", line=device.line), of=of)
    if device.used is not None:
        place = Place(pointer="/telemetry_data", line=device.used_line)
        sheet.put("device_used_peak_bytes", device.used, place, unit="GB", of=of)
    if device.memory is not None:
        sheet.put(
            "device_memory_bytes", device.memory, Place(pointer="/telemetry_data", line=device.line), unit="GB", of=of
        )
    times = Place(pointer="/timestamp_ns", line=device.line)
    sheet.put("samples", device.samples, times, of=of)
    if device.samples > 1 and device.last > device.first:
        sheet.put("sample_interval_s", (device.last - device.first) / (device.samples - 1), times, unit="ns", of=of)
        if NS**2 < device.first < 4 * NS**2:
            sheet.put_text("started_at", unix_time(device.first // NS), times, of=of, standing="measured")


IMPORTER = Importer(id="aiperf-telemetry", title="AIPerf telemetry of devices", recognise=_recognise, read=_read)
