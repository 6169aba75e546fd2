"""``amd-smi metric`` and ``amd-smi static`` as text: a block for each device, sections and values by indentation.

Text is what the tool prints unless JSON is asked for, with the same names in capitals. ``MB`` is MiB as there, ``N/A``
is no value. Blocks of the same device one below the other are samples, as ``--watch`` prints them.
"""

import re
from collections.abc import Iterator
from typing import Any

from planner.importers.amd_smi import finish_devices, take_device
from planner.importers.checks import check_name
from planner.importers.device_samples import DeviceSamples
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_BLOCK = re.compile(r"[ \t]*GPU: ([0-9]{1,4})[ \t]*")
_SHOWN = re.compile(r"^[ \t]+(?:USAGE|POWER|MEM_USAGE|ASIC|VRAM|DRIVER|CLOCK|TEMPERATURE):[ \t]*$", re.M)
_PAIR = re.compile(r"([ \t]*)([A-Z][A-Z0-9_]{0,63}):[ \t]*(.{0,200})")
_AMOUNT = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?) ([A-Za-z%/]{1,8})")
_READ = {"USAGE", "POWER", "MEM_USAGE", "ASIC", "VRAM", "DRIVER"}
_EXPECTED = ("device_used_peak_bytes", "device_used_bytes", "device_memory_bytes", "device_type", "driver_version")


def _recognise(source: Source) -> Recognised | None:
    has_block = source.shows(("GPU: ",), re.compile(f"^{_BLOCK.pattern}$", re.M))
    is_shown = has_block and source.shows(("USAGE", "POWER", "ASIC", "VRAM", "DRIVER", "CLOCK", "TEMPERATURE"), _SHOWN)
    return Recognised(version="text", confidence=70) if is_shown else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", "amd-smi", sheet.place())
    samples = DeviceSamples("bytes")
    for device, tree, places in _blocks(source):
        take_device(sheet, samples, tree, places, f"gpu-{device}")
    finish_devices(sheet, samples)
    if not samples.names():
        sheet.remark("import/no_counters", "no device could be read", effect="refused")
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


class _Places:
    """Where values stand: by line, which a text has instead of pointers."""

    def __init__(self, line: int) -> None:
        self.lines: dict[tuple[str, str], int] = {}
        self._line = line

    def __call__(self, *path: str) -> Place:
        return Place(line=self.lines.get((path[0], path[1]), self._line) if len(path) > 1 else self._line)


def _blocks(source: Source) -> Iterator[tuple[str, dict[str, Any], _Places]]:
    """Yield every block as the JSON of the tool has it: sections of values, names in small letters."""
    device, tree, places = "", dict[str, Any](), _Places(1)
    section, indent = "", 0
    for number, line in source.console():
        block, pair = _BLOCK.fullmatch(line[:400]), _PAIR.match(line[:400])
        if block:
            if device:
                yield device, tree, places
            device, tree, places, section = block[1], {}, _Places(number), ""
        elif pair and device and not pair[3].strip():
            # The first level below a device is a section; deeper ones are of no use here.
            if not section or len(pair[1]) <= indent:
                section, indent = pair[2].lower() if pair[2] in _READ else "other", len(pair[1])
        elif pair and section not in ("", "other") and len(pair[1]) > indent:
            name = pair[2].lower()
            tree.setdefault(section, {}).setdefault(name, _value(pair[3].strip()))
            places.lines.setdefault((section, name), number)
    if device:
        yield device, tree, places


def _value(text: str) -> Any:
    amount = _AMOUNT.fullmatch(text)
    return {"value": float(amount[1]), "unit": amount[2]} if amount else text


IMPORTER = Importer(id="amd-smi-text", title="amd-smi (text)", recognise=_recognise, read=_read)
