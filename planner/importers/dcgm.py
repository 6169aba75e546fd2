"""DCGM exporter: memory, load and links of every device at one moment, in MiB, percent, W and bytes per second.

One scrape is no peak; several scrapes in one file are samples, and their largest is a lower bound of the peak. Numbers
above 9e18 say "no value". Zero on a counter of links does not show idle links: some devices never count. Instances of
a split device (MIG) stand apart. Names of hosts and device ids are not kept.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from planner.importers.checks import check_name
from planner.importers.model import Importer, Recognised, Run
from planner.importers.prometheus import NO_VALUE, Sample, Scrape, Window, anonymous, take_notes, take_times, window
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(r"^[ \t]*(?:# (?:HELP|TYPE) )?DCGM_FI_[A-Z]", re.M)
_GAUGES = {
    "DCGM_FI_DEV_FB_USED": ("device_used_bytes", "MiB"),
    "DCGM_FI_DEV_GPU_UTIL": ("device_busy_share", "percent"),
    "DCGM_FI_DEV_POWER_USAGE": ("device_power_w", "W"),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": ("link_tx_bytes_per_s", "bytes/s"),
    "DCGM_FI_PROF_NVLINK_RX_BYTES": ("link_rx_bytes_per_s", "bytes/s"),
}
_PCIE = {
    "DCGM_FI_PROF_PCIE_TX_BYTES": "link_tx_bytes_per_s",
    "DCGM_FI_PROF_PCIE_RX_BYTES": "link_rx_bytes_per_s",
}
_LINKS = ("DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_PROF_NVLINK_RX_BYTES", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL")
_MEMORY = ("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED")
_EXPECTED = ("device_used_peak_bytes", "device_used_bytes", "device_memory_bytes", "device_type", "driver_version")


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=85) if source.shows(("DCGM_FI_",), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    peaks: dict[tuple[str, ...], tuple[int, Sample]] = {}
    scraped = window(source, "DCGM_FI_", each=partial(_keep_peaks, peaks))
    sheet = Sheet("run-1", {}, line=scraped.last.line)
    of = _namer(scraped.last.samples)
    _take(sheet, scraped.last, of)
    _note(sheet, scraped.last, of)
    if scraped.count > 1:
        _take_peaks(sheet, peaks, of, scraped)
    elif sheet.things("device_used_bytes"):
        sheet.remark("import/sampled", "one moment: it shows no peak, which needs samples over the whole window")
    take_notes(sheet, scraped)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _device(sample: Sample) -> tuple[str, ...]:
    labels = sample.labels
    return _host(sample), labels.get("gpu", ""), labels.get("GPU_I_ID", "")


def _host(sample: Sample) -> str:
    return sample.labels.get("Hostname") or sample.labels.get("hostname") or ""


def _namer(samples: Sequence[Sample]) -> Callable[[Sample], str]:
    nodes = anonymous("node", (_host(sample) for sample in samples))

    def named(sample: Sample) -> str:
        _, device, instance = _device(sample)
        node = f"{nodes.get(_host(sample), 'node-?')}-" if len(nodes) > 1 else ""
        return f"{node}gpu-{device[:16]}" + (f"-mig-{instance[:16]}" if instance else "")

    return named


def _has_value(sample: Sample) -> bool:
    return abs(sample.value) < NO_VALUE and "gpu" in sample.labels


def _keep_peaks(peaks: dict[tuple[str, ...], tuple[int, Sample]], scrape: Scrape) -> None:
    for sample in filter(_has_value, scrape.named("DCGM_FI_DEV_FB_USED")):
        samples, peak = peaks.get(_device(sample), (0, sample))
        peaks[_device(sample)] = (samples + 1, sample if sample.value > peak.value else peak)


def _take(sheet: Sheet, scrape: Scrape, of: Callable[[Sample], str]) -> None:
    devices = [sample for sample in scrape.samples if "gpu" in sample.labels]
    if not devices:
        sheet.remark("import/no_counters", "no sample of a device could be read", effect="refused")
        return
    at = devices[0].place
    sheet.put("devices", len({(_host(sample), sample.labels["gpu"]) for sample in devices}), at)
    hosts = {_host(sample) for sample in devices}
    if hosts != {""}:
        sheet.put("nodes", len(hosts), at)
    _take_identity(sheet, devices, of)
    for sample in filter(_has_value, scrape.named(*_GAUGES)):
        name, unit = _GAUGES[sample.name]
        sheet.put(name, sample.value, sample.place, unit=unit, of=of(sample))
    for sample in filter(_has_value, scrape.named(*_PCIE)):
        sheet.put(_PCIE[sample.name], sample.value, sample.place, of=f"{of(sample)}-pcie")
    _take_memory(sheet, scrape, of)


def _take_memory(sheet: Sheet, scrape: Scrape, of: Callable[[Sample], str]) -> None:
    parts: dict[str, list[Sample]] = {}
    for sample in filter(_has_value, scrape.named(*_MEMORY)):
        parts.setdefault(of(sample), []).append(sample)
    for device, found in parts.items():
        if len(found) == len(_MEMORY):
            whole = sum(sample.value for sample in found)
            sheet.put("device_memory_bytes", whole, found[0].place, unit="MiB", of=device)
    for sample in filter(_has_value, scrape.named("DCGM_FI_DEV_FB_TOTAL")):
        sheet.put("device_memory_bytes", sample.value, sample.place, unit="MiB", of=of(sample))


def _take_identity(sheet: Sheet, samples: Sequence[Sample], of: Callable[[Sample], str]) -> None:
    types = {of(sample): sample for sample in reversed(samples) if sample.labels.get("modelName")}
    for device, sample in sorted(types.items()):
        sheet.put_text("device_type", sample.labels["modelName"], sample.place, of=device, standing="measured")
    drivers = {sample.labels["DCGM_FI_DRIVER_VERSION"]: sample for sample in reversed(samples) if _driver(sample)}
    for driver, sample in drivers.items():
        sheet.put_text("driver_version", driver, sample.place, of="" if len(drivers) == 1 else of(sample))


def _driver(sample: Sample) -> bool:
    return bool(sample.labels.get("DCGM_FI_DRIVER_VERSION"))


def _note(sheet: Sheet, scrape: Scrape, of: Callable[[Sample], str]) -> None:
    empty = [sample for sample in scrape.samples if abs(sample.value) >= NO_VALUE]
    if empty:
        names = ", ".join(sorted({sample.name for sample in empty})[:10])
        sheet.remark("import/no_value", f"the exporter has no value for {names}", empty[0].place)
    zero = [sample for sample in scrape.named(*_LINKS) if sample.value == 0]
    if zero:
        sentence = "zero on a counter of links does not show idle links: some devices and versions never count"
        sheet.remark("import/zero_unproven", sentence, zero[0].place)
    split = next((sample for sample in scrape.samples if sample.labels.get("GPU_I_ID")), None)
    if split:
        sheet.remark(
            "import/mig", "a device is split into instances: figures are theirs, not the device's", split.place
        )
    for sample in filter(_has_value, scrape.named("DCGM_FI_DEV_XID_ERRORS")):
        if sample.value > 0:
            sheet.put("device_error_code", sample.value, sample.place, of=of(sample))
            sentence = f"{of(sample)} reports device error (XID) {sample.value:g}, when is not said"
            sheet.remark("import/device_error", sentence, sample.place, "held")


def _take_peaks(
    sheet: Sheet,
    peaks: dict[tuple[str, ...], tuple[int, Sample]],
    of: Callable[[Sample], str],
    scraped: Window,
) -> None:
    for samples, sample in peaks.values():
        sheet.put("device_used_peak_bytes", sample.value, sample.place, unit="MiB", of=of(sample))
        sheet.put("samples", samples, sample.place, of=of(sample))
    take_times(sheet, scraped)
    first, last = scraped.first.samples[0], scraped.last.samples[0]
    most = max((samples for samples, _ in peaks.values()), default=0)
    if most > 1 and first.time is not None and last.time is not None:
        sheet.put("sample_interval_s", (last.time - first.time) / (most - 1), last.place)
    sheet.remark("import/sampled", f"the peak is the largest of {most} samples: between them it may have been higher")


IMPORTER = Importer(id="dcgm", title="DCGM exporter", recognise=_recognise, read=_read)
