"""JSON of ``amd-smi`` (metric, static) and of ``rocm-smi``: memory, load and power of every device.

The MB of ``amd-smi`` is MiB; ``rocm-smi`` counts bytes and writes numbers as text. One value of the file is one moment
and shows no peak; several are samples. What a device has no figure for is "N/A" and is missing.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from planner.importers.checks import check_name
from planner.importers.device_samples import DeviceSamples, put_largest
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Path, Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER", "finish_devices", "take_device"]

_CARD = re.compile(r"card([0-9]{1,4})")
_PARTS = ("mem_usage", "usage", "power", "asic", "vram")
_MEMORY = ("VRAM Total Memory (B)", "VRAM Total Used Memory (B)")
_CARD_KEYS = (*_MEMORY, "GPU use (%)", "GPU Memory Allocated (VRAM%)")
_NAMES = ("Card Series", "Card series", "Card Model", "Device Name")
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
"""What the tool calls kilo and mega is a power of 1,024."""
_EXPECTED = ("device_used_peak_bytes", "device_used_bytes", "device_memory_bytes", "device_type", "driver_version")


def _recognise(source: Source) -> Recognised | None:
    if _devices(source.first):
        return Recognised(version="amd-smi")
    return Recognised(version="rocm-smi") if _cards(source.first) else None


def _devices(tree: Any) -> list[tuple[Path, dict[str, Any]]]:
    """Return path and body of every device of ``amd-smi``, whose array newer versions wrap."""
    base: Path = ("gpu_data",) if isinstance(tree, dict) and "gpu_data" in tree else ()
    listed = tree.get("gpu_data") if isinstance(tree, dict) else tree
    devices = [
        ((*base, index), device)
        for index, device in enumerate(listed if isinstance(listed, list) else [])
        if isinstance(device, dict) and "gpu" in device and any(part in device for part in _PARTS)
    ]
    return devices if isinstance(listed, list) and len(devices) == len(listed) else []


def _cards(tree: Any) -> dict[str, dict[str, Any]]:
    """Return the bodies of the cards of ``rocm-smi`` by number."""
    known = {key: body for key, body in tree.items() if isinstance(body, dict)} if isinstance(tree, dict) else {}
    cards = {match[1]: body for key, body in known.items() if (match := _CARD.fullmatch(str(key)))}
    return cards if any(key in body for body in cards.values() for key in _CARD_KEYS) else {}


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", recognised.version, sheet.place())
    samples = DeviceSamples("bytes")
    others = 0
    for document in source.documents():
        moment = Sheet("", document.tree, line=document.line)
        if devices := _devices(document.tree):
            for path, device in devices:
                take_device(sheet, samples, device, partial(moment.place, *path), f"gpu-{str(device['gpu'])[:8]}")
        elif cards := _cards(document.tree):
            for number, card in cards.items():
                _take_card(sheet, samples, moment, number, card)
            version = moment.get("system", "Driver version")
            if isinstance(version, str):
                sheet.put_text("driver_version", version, moment.place("system", "Driver version"))
        else:
            others += 1
    finish_devices(sheet, samples)
    if others:
        sheet.remark("import/format", f"{others} values are no devices", effect="refused")
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def finish_devices(sheet: Sheet, samples: DeviceSamples) -> None:
    """Put what was sampled, and say how often."""
    samples.take(sheet, peaks=samples.most > 1)
    sheet.put("devices", len(samples.names()), sheet.place())
    once = "one moment: it shows no peak, which needs samples over the whole window"
    many = f"the peak is the largest of {samples.most} samples: between them it may have been higher"
    sheet.remark("import/sampled", many if samples.most > 1 else once)


def take_device(
    sheet: Sheet, samples: DeviceSamples, device: dict[str, Any], place: Callable[..., Place], of: str
) -> None:
    """Take a device as ``amd-smi`` shows it; ``place`` returns where a section or value of it stands."""
    found = Sheet("", device)
    kind = found.get("asic", "market_name")
    total = _bytes(found.get("mem_usage", "total_vram"))
    samples.add(
        of,
        place(),
        kind=kind if isinstance(kind, str) and kind != "N/A" else "",
        used=_bytes(found.get("mem_usage", "used_vram")),
        memory=_bytes(found.get("vram", "size")) if total is None else total,
    )
    for name, unit, where in (
        ("device_busy_share", "percent", ("usage", "gfx_activity")),
        ("device_power_w", "W", ("power", "socket_power")),
    ):
        value = _plain(found.get(*where))
        if value is not None and value >= 0:
            put_largest(sheet, name, value, place(*where), unit=unit, of=of)
    version = found.get("driver", "version")
    if isinstance(version, str) and version != "N/A":
        sheet.put_text("driver_version", version, place("driver", "version"))


def _take_card(sheet: Sheet, samples: DeviceSamples, moment: Sheet, number: str, card: dict[str, Any]) -> None:
    kind = next((card[name] for name in _NAMES if isinstance(card.get(name), str)), "")
    total, used = (_positive(number_of(card.get(key))) for key in _MEMORY)
    samples.add(f"gpu-{number}", moment.place(f"card{number}"), kind=kind, used=used, memory=total)
    busy = number_of(card.get("GPU use (%)"))
    if busy is not None and busy >= 0:
        at = moment.place(f"card{number}", "GPU use (%)")
        sheet.put("device_busy_share", busy, at, unit="percent", of=f"gpu-{number}")


def _plain(raw: Any) -> int | float | None:
    """Return a figure that is a number, its text, or an object of value and unit."""
    return number_of(raw.get("value")) if isinstance(raw, dict) else number_of(raw)


def _bytes(raw: Any) -> int | float | None:
    value = _positive(_plain(raw))
    unit = _UNITS.get(str(raw.get("unit", "MB")) if isinstance(raw, dict) else "MB")
    return None if value is None or unit is None else value * unit


def _positive(value: int | float | None) -> int | float | None:
    return value if value is not None and 0 <= value < 10**18 else None


IMPORTER = Importer(id="amd-smi", title="amd-smi, rocm-smi (JSON)", recognise=_recognise, read=_read)
