"""Devices in the files of AIPerf: memory in decimal GB, sampled by exporters, a device that two of them see once.

The metric is ``gpu_memory_used``, from schema 1.4 on ``nvidia_memory_used`` or ``amd_memory_used``.
"""

from planner.importers.model import Place
from planner.importers.perf_metrics import label_metric, number_of
from planner.importers.scrubbed import found
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["MEMORY_TOTAL", "MEMORY_USED", "Devices", "take_export_devices", "take_table_devices"]

MEMORY_USED = ("gpu_memory_used", "nvidia_memory_used", "amd_memory_used")
MEMORY_TOTAL = ("gpu_memory_total", "nvidia_memory_total", "amd_memory_total")
_UNITS = {"GB": "GB", "MB": "MB", "MiB": "MiB", "GiB": "GiB"}


class Devices:
    """The devices of a file by what tells them apart, in the order they are seen."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], tuple[str, str]] = {}

    def name(self, uuid: object, index: object, exporter: object) -> str | None:
        """Return the name of a device for values, None where another exporter has shown it already."""
        first = self._names.setdefault((str(uuid), str(index)), (f"gpu-{len(self._names)}", str(exporter)))
        return first[0] if first[1] == str(exporter) else None

    def finish(self, sheet: Sheet, place: Place) -> None:
        """Count the devices and say how their memory was seen."""
        if self._names:
            sheet.put("devices", len(self._names), place)
            sentence = (
                "memory was sampled where exporters listened: other nodes and the time between samples are not in it"
            )
            sheet.remark("import/sampled", sentence, place)


def seen_twice(sheet: Sheet, device: object, place: Place) -> None:
    """Say that an exporter shows a device again."""
    sentence = f"{found(device)} of another exporter is a device that was seen already: counted once"
    sheet.remark("import/seen_twice", sentence, place)


def take_export_devices(sheet: Sheet) -> None:
    """Take the devices of ``telemetry_data`` of a JSON export."""
    devices = Devices()
    endpoints = sheet.get("telemetry_data", "endpoints")
    for host, body in (endpoints if isinstance(endpoints, dict) else {}).items():
        gpus = body.get("gpus") if isinstance(body, dict) else None
        for key, gpu in (gpus if isinstance(gpus, dict) else {}).items():
            path: Path = ("telemetry_data", "endpoints", host, "gpus", key)
            if not isinstance(gpu, dict):
                continue
            of = devices.name(gpu.get("gpu_uuid"), gpu.get("gpu_index"), host)
            if of is None:
                seen_twice(sheet, key, sheet.place(*path))
            else:
                _take_device(sheet, path, of)
    devices.finish(sheet, sheet.place("telemetry_data", "endpoints"))


def _take_device(sheet: Sheet, path: Path, of: str) -> None:
    sheet.text("device_type", *path, "gpu_name", of=of)
    for name, metrics in (("device_used_peak_bytes", MEMORY_USED), ("device_memory_bytes", MEMORY_TOTAL)):
        for metric in metrics:
            unit = _UNITS.get(str(sheet.get(*path, "metrics", metric, "unit")))
            if unit:
                sheet.number(name, *path, "metrics", metric, "max", unit=unit, of=of)


def take_table_devices(sheet: Sheet, source: Source) -> None:
    """Take the devices of the last table of a CSV export, which may be a header without rows."""
    devices = Devices()
    header: list[str] | None = None
    last = Place()
    for line, row in source.rows():
        if not any(cell.strip() for cell in row):
            header = None
        elif header is None:
            header = [cell.strip() for cell in row]
        elif header[0] == "Endpoint":
            cells = dict(zip(header, row, strict=False))
            last = Place(line=line, column="max")
            _take_cells(sheet, cells, devices, last)
    devices.finish(sheet, last)


def _take_cells(sheet: Sheet, cells: dict[str, str], devices: Devices, place: Place) -> None:
    metric, unit = label_metric(cells.get("Metric", ""))
    of = devices.name(cells.get("GPU_UUID"), cells.get("GPU_Index"), cells.get("Endpoint"))
    if of is None:
        return
    if cells.get("GPU_Name"):
        sheet.put_text("device_type", cells["GPU_Name"], Place(line=place.line, column="GPU_Name"), of=of)
    most = number_of(cells.get("max"))
    for name, metrics in (("device_used_peak_bytes", MEMORY_USED), ("device_memory_bytes", MEMORY_TOTAL)):
        if metric in metrics and unit in _UNITS and most is not None:
            sheet.put(name, most, place, unit=_UNITS[unit], of=of)
