"""Samples of devices, whichever tool took them: the most memory of each, and how closely it was watched.

A peak between two samples is in none of them, so their number and spacing stand beside the largest.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from planner.importers.model import NOWHERE, Place
from planner.importers.sheet import Sheet

__all__ = ["DeviceSamples", "local_seconds", "put_largest"]

MAX_DEVICES = 4096

_TIME = re.compile(r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?")


@dataclass(slots=True)
class _Device:
    place: Place
    kind: str = ""
    samples: int = 0
    used: int | float | None = None
    used_at: Place = NOWHERE
    memory: int | float | None = None
    first: int | float | None = None
    last: int | float | None = None


class DeviceSamples:
    """Samples by device; memory is in ``unit``, times are in ``time_unit``."""

    def __init__(self, unit: str, time_unit: str = "s") -> None:
        self._unit = unit
        self._time_unit = time_unit
        self._devices: dict[str, _Device] = {}

    def add(
        self,
        of: str,
        place: Place,
        *,
        kind: str = "",
        used: int | float | None = None,
        memory: int | float | None = None,
        time: int | float | None = None,
    ) -> None:
        """Count one sample of a device; beyond 4,096 devices nothing is kept."""
        if of not in self._devices and len(self._devices) >= MAX_DEVICES:
            return
        device = self._devices.setdefault(of, _Device(place, kind))
        device.samples += 1
        if used is not None and (device.used is None or used > device.used):
            device.used, device.used_at = used, place
        device.memory = device.memory if memory is None else memory
        if time is not None:
            device.first = time if device.first is None else min(device.first, time)
            device.last = time if device.last is None else max(device.last, time)

    @property
    def most(self) -> int:
        """The most samples of one device."""
        return max((device.samples for device in self._devices.values()), default=0)

    def first_time(self, of: str) -> int | float | None:
        """Return when the first sample of a device was taken."""
        return self._devices[of].first

    def names(self) -> tuple[str, ...]:
        """Return the devices in the order they were seen."""
        return tuple(self._devices)

    def take(self, sheet: Sheet, *, peaks: bool) -> None:
        """Put what every device showed; without ``peaks`` the memory is that of one moment."""
        for of, device in self._devices.items():
            if device.kind:
                sheet.put_text("device_type", device.kind, device.place, of=of, standing="measured")
            if device.used is not None:
                name = "device_used_peak_bytes" if peaks else "device_used_bytes"
                sheet.put(name, device.used, device.used_at, unit=self._unit, of=of)
            if device.memory is not None:
                sheet.put("device_memory_bytes", device.memory, device.place, unit=self._unit, of=of)
            if peaks:
                self._take_spacing(sheet, of, device)

    def _take_spacing(self, sheet: Sheet, of: str, device: _Device) -> None:
        sheet.put("samples", device.samples, device.place, of=of)
        if device.samples > 1 and device.first is not None and device.last is not None and device.last > device.first:
            between = (device.last - device.first) / (device.samples - 1)
            sheet.put("sample_interval_s", between, device.place, unit=self._time_unit, of=of)


def put_largest(sheet: Sheet, name: str, value: int | float, place: Place, *, unit: str, of: str) -> None:
    """Take a figure of one sample where it is the largest so far."""
    before, probe = sheet.value(name, of), Sheet("", {})
    taken = probe.put(name, value, place, unit=unit)
    if taken is not None and (before is None or taken > before):
        sheet.put(name, value, place, unit=unit, of=of)


def local_seconds(text: object) -> float | None:
    """Return seconds of a time such as ``2026/03/01 10:15:00.250``; without a zone only differences mean something."""
    if not isinstance(text, str) or _TIME.fullmatch(text) is None:
        return None
    form = "%Y/%m/%d %H:%M:%S.%f" if "." in text else "%Y/%m/%d %H:%M:%S"
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
