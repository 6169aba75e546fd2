"""Summaries of sampled ``nvidia-smi``: the largest memory of every device over the samples, in MiB.

The peak is the largest sample, so the number of samples and their interval stand beside it. Times have no zone.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_name
from planner.importers.device_samples import local_seconds
from planner.importers.json_runs import example, json_runs
from planner.importers.model import Importer, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_EXPECTED = ("device_used_peak_bytes", "device_memory_bytes", "samples", "sample_interval_s", "driver_version")
MAX_DEVICES = 4096


def _recognise(source: Source) -> Recognised | None:
    return Recognised() if _is_summary(example(source)) else None


def _is_summary(tree: Any) -> bool:
    return isinstance(tree, dict) and isinstance(tree.get("gpus"), dict) and "sample_count" in tree


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    for sheet, is_summary in json_runs(source, _is_summary, "summary of samples"):
        devices = sheet.get("gpus")
        if is_summary and (sheet.get("available") is False or not devices):
            sheet.remark("import/no_counters", "no device was sampled", sheet.place("gpus"), "refused")
        elif is_summary:
            _take(sheet, list(devices)[:MAX_DEVICES])
        check_name(sheet, source.name)
        yield sheet.finish(_EXPECTED)


def _take(sheet: Sheet, devices: list[str]) -> None:
    sheet.put("devices", len(devices), sheet.place("gpus"))
    for device in devices:
        of, at = f"gpu-{device[:16]}", ("gpus", device)
        sheet.number("device_used_peak_bytes", *at, "memory_used_mib_max", unit="MiB", of=of)
        sheet.number("device_memory_bytes", *at, "memory_total_mib_max", unit="MiB", of=of)
        sheet.number("device_power_w", *at, "power_draw_w_max", of=of)
        sheet.number("device_busy_share", *at, "gpu_utilization_percent_max", unit="percent", of=of)
        sheet.number("samples", *at, "samples", of=of)
        sheet.text("device_type", *at, "name", of=of, standing="measured")
        sheet.text("local_time", *at, "timestamp_start", of=of, standing="hint")
        _take_interval(sheet, at, of)
        used, whole = sheet.value("device_used_peak_bytes", of), sheet.value("device_memory_bytes", of)
        if used is not None and whole is not None and used > whole:
            sentence = f"{of} used {used} bytes, more than its {whole}"
            sheet.remark("import/contradiction", sentence, sheet.place(*at), "held")
    most = max((sheet.value("samples", of) or 0 for of in sheet.things("samples")), default=0)
    sentence = f"the peak is the largest of {most} samples: between and around them it may have been higher"
    sheet.remark("import/sampled", sentence, sheet.place("sample_count"))
    _check_overall(sheet)


def _take_interval(sheet: Sheet, at: tuple[str, str], of: str) -> None:
    samples = sheet.value("samples", of)
    start, end = (local_seconds(sheet.get(*at, key)) for key in ("timestamp_start", "timestamp_end"))
    if samples is not None and samples > 1 and start is not None and end is not None and end > start:
        sheet.put("sample_interval_s", (end - start) / (samples - 1), sheet.place(*at, "timestamp_end"), of=of)


def _check_overall(sheet: Sheet) -> None:
    stated = sheet.get("overall", "memory_used_mib_max")
    peaks = [sheet.value("device_used_peak_bytes", of) for of in sheet.things("device_used_peak_bytes")]
    if isinstance(stated, int | float) and not isinstance(stated, bool) and peaks and stated * 2**20 != max(peaks):
        sentence = f"the largest of all devices is stated as {stated} MiB, the devices have {max(peaks) / 2**20:g}"
        sheet.remark("import/contradiction", sentence, sheet.place("overall", "memory_used_mib_max"), "held")


IMPORTER = Importer(id="gpu-stats", title="summary of sampled nvidia-smi", recognise=_recognise, read=_read)
