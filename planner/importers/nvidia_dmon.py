"""``nvidia-smi dmon``: samples of every device, one a line, as text or with commas.

The second line of the header has the units, and counts: memory in ``MB`` is MiB here, ``-`` is no value, and a header
comes again every few lines. Which columns there are is the caller's choice: without ``-s m`` there is no memory. Dates
and times stand in the lines only with ``-o DT``, and have no zone.
"""

import re
from collections.abc import Iterator, Mapping

from planner.importers.checks import check_name
from planner.importers.device_samples import DeviceSamples, local_seconds, put_largest
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_HEADER = re.compile(
    r"^#[ \t]*(?:Date[ \t,]+)?(?:Time[ \t,]+)?gpu[ \t,]+(?:pwr|gtemp|sm|mclk|pviol|fb|sbecc|rxpci)\b", re.M
)
_UNITS = re.compile(r"#[ \t]*(?:YYYYMMDD[ \t,]+)?(?:HH:MM:SS[ \t,]+)?Idx\b")
_BEGINNINGS = ("#gpu", "# gpu", "#Date", "# Date", "#Time", "# Time")
_MEMORY_UNITS = {"MB": "MiB", "MiB": "MiB"}
_EXPECTED = ("device_used_peak_bytes", "device_busy_share", "samples", "sample_interval_s", "device_type")
MAX_LINE = 2000


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=80) if source.shows(_BEGINNINGS, _HEADER) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", "nvidia-smi dmon", sheet.place())
    samples = DeviceSamples("MiB")
    names: list[str] = []
    units: dict[str, str] = {}
    skipped: list[int] = []
    for number, line in source.console():
        cells = line[:MAX_LINE].replace(",", " ").lstrip("# \t").split()
        if _HEADER.match(line):
            names, units = [name.lower() for name in cells], {}
        elif names and _UNITS.match(line):
            units = dict(zip(names, cells, strict=False))
        elif names and cells and not line.lstrip().startswith("#"):
            row = dict(zip(names, cells, strict=False))
            if len(cells) != len(names) or not row["gpu"].isdecimal() or not units:
                skipped.append(number)
            else:
                _take(sheet, samples, row, units, number)
    _finish(sheet, samples, skipped, has_memory="fb" in units)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _take(sheet: Sheet, samples: DeviceSamples, row: Mapping[str, str], units: Mapping[str, str], number: int) -> None:
    of = f"gpu-{row['gpu'][:8]}"
    used = number_of(row.get("fb", "")) if units.get("fb") in _MEMORY_UNITS else None
    samples.add(of, Place(line=number, column="fb"), used=used, time=_time(row))
    for name, column, unit, written in (
        ("device_power_w", "pwr", "W", "W"),
        ("device_busy_share", "sm", "percent", "%"),
    ):
        value = number_of(row.get(column, ""))
        if value is not None and units.get(column) == written:
            put_largest(sheet, name, value, Place(line=number, column=column), unit=unit, of=of)


def _time(row: Mapping[str, str]) -> float | None:
    date, time = row.get("date", "20000101"), row.get("time")
    return None if time is None else local_seconds(f"{date[:4]}/{date[4:6]}/{date[6:8]} {time}")


def _finish(sheet: Sheet, samples: DeviceSamples, skipped: list[int], *, has_memory: bool) -> None:
    samples.take(sheet, peaks=True)
    sheet.put("devices", len(samples.names()), sheet.place())
    if not samples.names():
        sheet.remark("import/no_counters", "no device could be read", effect="refused")
    if skipped:
        sentence = f"{len(skipped)} lines have other columns than the header, or no units above them, and are left out"
        sheet.remark("import/line_skipped", sentence, Place(line=skipped[0]))
    if not has_memory:
        sheet.remark("import/no_memory", "no column of memory: dmon shows it with -s m")
    sentence = f"the peak is the largest of {samples.most} samples: between them it may have been higher"
    sheet.remark("import/sampled", sentence)


IMPORTER = Importer(id="nvidia-dmon", title="nvidia-smi dmon", recognise=_recognise, read=_read)
