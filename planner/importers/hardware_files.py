"""Topology files of a machine (``planner.hardware``): what is there, as an importer sees it.

Read by the readers of ``topogate hardware``, which prints the whole, with paths and the part of a contract; here are
the figures that results are held against. Refused by them with their own codes.
"""

import re
from collections.abc import Iterator

from planner.errors import DocumentRefusedError
from planner.hardware import SIGN, Hardware, missing, read_hardware
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source
from planner.strict_json import MAX_BYTES

__all__ = ["IMPORTER"]


WHOLE = Place(pointer="")
"""What a matrix shows, it shows as a whole."""
_NUMBERED = re.compile(r"GPU ?\[?[0-9]")


def _recognise(source: Source) -> Recognised | None:
    is_json = source.first is not None and "opology)" in source.head
    if source.size > MAX_BYTES or not (is_json or _is_text(source)):
        return None
    try:
        hardware = read_hardware(source.raw())
    except DocumentRefusedError as refused:
        if any(problem.code == "hardware/format" for problem in refused.problems):
            return None
        # Of a known format, but damaged: to be refused by ``read`` with its reasons, unless another format fits better.
        return Recognised(confidence=40, kept=refused)
    return Recognised(version=hardware.source, confidence=80, kept=hardware)


def _is_text(source: Source) -> bool:
    # Logs and exporters name GPUs in most lines, but rarely one by its number.
    if source.first is not None or not (_NUMBERED.search(source.head) or source.has("<system", "two GPUs", "opology)")):
        return False
    return source.shows(("GPU", "<system"), SIGN)


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    if isinstance(recognised.kept, DocumentRefusedError):
        raise recognised.kept
    hardware: Hardware = recognised.kept
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", hardware.source, WHOLE)
    sheet.put("nodes", len(hardware.nodes), WHOLE)
    sheet.put("devices", len(hardware.devices), WHOLE)
    _take_devices(sheet, hardware)
    for note in hardware.notes:
        sheet.remark("import/hardware", note.sentence)
    for entry in missing(hardware):
        sheet.ask_field("contract", entry.pointer, entry.question)
    yield sheet.finish(("device_type", "device_memory_bytes"), asked=False)


def _take_devices(sheet: Sheet, hardware: Hardware) -> None:
    for device in hardware.devices:
        place = WHOLE if device.line is None else Place(line=device.line)
        if device.type:
            sheet.put_text("device_type", device.type, place, of=device.id)
        if device.memory_bytes is not None:
            sheet.put("device_memory_bytes", device.memory_bytes, place, of=device.id)
    for island in hardware.islands or ():
        sheet.put("devices", len(island.devices), WHOLE, of=island.id)
        if island.kind:
            sheet.put_text("device_interconnect", island.kind, WHOLE, of=island.id)


IMPORTER = Importer(id="hardware-topology", title="topology of a machine", recognise=_recognise, read=_read)
