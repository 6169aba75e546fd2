"""What ``nvidia-smi`` prints: sampled queries as CSV, its table, and lists of devices and of their instances (MIG).

Memory is MiB everywhere. One table is one moment and shows no peak; rows of a query, and tables one after the other,
are samples. Times have no zone. Instances of a split device stand apart. Ids of devices are not kept.
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

_COLUMN = re.compile(r"[a-z_.]{2,40}(?: \[[A-Za-z%]{1,8}\])?")
_SAMPLED = ("memory.used [MiB]", "utilization.gpu [%]", "power.draw [W]", "memory.total [MiB]")
_TABLE = re.compile(r"^\| NVIDIA-SMI ([0-9.]{3,20}) {1,80}Driver Version: ([0-9.]{3,20})", re.M)
_NAMED = re.compile(r"\|\s{1,9}([0-9]{1,4})\s{1,9}(\S.{0,60}?)\s{1,60}(?:On|Off|N/A)\s{1,9}\|")
_USAGE = re.compile(r"\|.{0,60}\|\s{0,20}([0-9]{1,9})MiB\s{0,4}/\s{0,9}([0-9]{1,9})MiB\s{0,9}\|")
_INSTANCE_USAGE = re.compile(
    r"\|\s{1,9}([0-9]{1,4})\s{1,9}([0-9]{1,4})\s{1,9}[0-9]{1,4}\s{1,9}[0-9]{1,4}\s{1,9}\|"
    r"\s{0,20}([0-9]{1,9})MiB\s{0,4}/\s{0,9}([0-9]{1,9})MiB"
)
_LISTED = re.compile(r"^GPU ([0-9]{1,4}): (.{2,80}?) \(UUID: GPU-", re.M)
_LISTED_INSTANCE = re.compile(r"\s{1,8}MIG (\S{2,20})\s{1,20}Device\s{1,8}([0-9]{1,3}): \(UUID: ")
_GROUPS = re.compile(r"^\| GPU instances:", re.M)
_GROUP = re.compile(r"\|\s{1,9}([0-9]{1,4})\s{1,9}MIG (\S{2,20})\s{1,20}[0-9]{1,4}\s{1,20}([0-9]{1,4})\s")
_EXPECTED = ("device_used_peak_bytes", "device_used_bytes", "device_memory_bytes", "device_type", "driver_version")
HEADER_LINES = 50
_MIG = "a device is split into instances: figures are theirs, not the device's"


def _recognise(source: Source) -> Recognised | None:
    # A topology that stands in the same text is worth more than what is listed around it.
    if _header(source):
        return Recognised(version="query", confidence=75)
    if source.shows(("NVIDIA-SMI",), _TABLE):
        return Recognised(version="table", confidence=35)
    is_list = source.shows(("(UUID: GPU-",), _LISTED) or source.shows(("GPU instances:",), _GROUPS)
    return Recognised(version="list", confidence=30) if is_list else None


def _header(source: Source) -> list[str]:
    """Return the columns of a query, which may stand below the command that made it; none where there is no query."""
    if not source.has(*_SAMPLED):
        return []
    for line in source.head.splitlines()[:HEADER_LINES]:
        cells = [cell.strip() for cell in line.split(",")]
        if any(cell in _SAMPLED for cell in cells) and all(_COLUMN.fullmatch(cell) for cell in cells):
            return cells
    return []


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    sheet = Sheet("run-1", {}, line=1)
    sheet.put_text("tool_name", "nvidia-smi", sheet.place())
    if recognised.version == "query":
        _take_query(sheet, source, _header(source))
    elif recognised.version == "table":
        _take_tables(sheet, source)
    else:
        _take_lists(sheet, source)
    if not sheet.things("device_type") and not sheet.things("device_memory_bytes"):
        sheet.remark("import/no_counters", "no device could be read", effect="refused")
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _take_query(sheet: Sheet, source: Source, header: list[str]) -> None:
    samples = DeviceSamples("MiB")
    skipped: list[int] = []
    for line, cells in _rows_below(source, header):
        if len(cells) != len(header):
            skipped.append(line)
            continue
        row = dict(zip(header, cells, strict=True))
        samples.add(
            _device(row),
            Place(line=line, column="memory.used [MiB]"),
            kind=row.get("name", row.get("gpu_name", "")),
            used=_amount(row.get("memory.used [MiB]")),
            memory=_amount(row.get("memory.total [MiB]")),
            time=local_seconds(row.get("timestamp")),
        )
        _take_peaks(sheet, row, line)
    samples.take(sheet, peaks=True)
    sheet.put("devices", len(samples.names()), sheet.place())
    if not {"index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id"} & set(header):
        sheet.drop("devices")
        sentence = "no column tells devices apart: which row is of which device is not known"
        sheet.remark("import/instances_unknown", sentence, effect="held")
    if skipped:
        sentence = f"{len(skipped)} rows have other columns than the header and are left out"
        sheet.remark("import/line_skipped", sentence, Place(line=skipped[0]))
    sentence = f"the peak is the largest of {samples.most} samples: between them it may have been higher"
    sheet.remark("import/sampled", sentence)


def _rows_below(source: Source, header: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below the first header; a loop of the tool may print it again."""
    begun = False
    for line, row in source.rows():
        cells = [cell.strip() for cell in row]
        if cells == header:
            begun = True
        elif begun and any(cells):
            yield line, cells


def _device(row: Mapping[str, str]) -> str:
    index = row.get("index", "")
    return f"gpu-{index[:8]}" if index.isdecimal() else f"gpu-{_key(row)[-12:]}" if _key(row) else "gpu"


def _key(row: Mapping[str, str]) -> str:
    return next((row[name] for name in ("pci.bus_id", "gpu_bus_id", "uuid", "gpu_uuid") if row.get(name)), "")


def _amount(text: str | None) -> int | float | None:
    """Return the number of a cell such as ``1234 MiB`` or ``45 %``; None for ``[N/A]``."""
    return number_of(text.split(" ")[0]) if text else None


def _take_peaks(sheet: Sheet, row: Mapping[str, str], line: int) -> None:
    of = _device(row)
    for name, column, unit in (
        ("device_power_w", "power.draw [W]", "W"),
        ("device_busy_share", "utilization.gpu [%]", "percent"),
    ):
        value = _amount(row.get(column))
        if value is not None:
            put_largest(sheet, name, value, Place(line=line, column=column), unit=unit, of=of)
    driver = row.get("driver_version")
    if driver and sheet.value("driver_version") is None:
        sheet.put_text("driver_version", driver, Place(line=line, column="driver_version"), standing="measured")


def _take_tables(sheet: Sheet, source: Source) -> None:
    samples = DeviceSamples("MiB")
    named: tuple[str, str] | None = None
    is_split = False
    for number, line in source.console():
        text, place = line[:400].strip(), Place(line=number)
        version, device = _TABLE.match(text), _NAMED.match(text)
        instance, usage = _INSTANCE_USAGE.match(text), _USAGE.match(text)
        if version:
            sheet.put_text("driver_version", version[2], place, standing="measured")
        elif device:
            named = (f"gpu-{device[1]}", device[2])
        elif instance:
            is_split = True
            of = f"gpu-{instance[1]}-mig-{instance[2]}"
            samples.add(of, place, used=int(instance[3]), memory=int(instance[4]))
        elif usage and named:
            samples.add(named[0], place, kind=named[1], used=int(usage[1]), memory=int(usage[2]))
            named = None
    samples.take(sheet, peaks=samples.most > 1)
    sheet.put("devices", sum("-mig-" not in name for name in samples.names()), sheet.place())
    if is_split:
        sheet.remark("import/mig", _MIG)
    once = "one moment: it shows no peak, which needs samples over the whole window"
    many = f"the peak is the largest of {samples.most} tables: between them it may have been higher"
    sheet.remark("import/sampled", many if samples.most > 1 else once)


def _take_lists(sheet: Sheet, source: Source) -> None:
    devices: set[str] = set()
    device = ""
    is_split = False
    for number, line in source.console():
        text, place = line[:400], Place(line=number)
        listed, instance, group = _LISTED.match(text), _LISTED_INSTANCE.match(text), _GROUP.match(text.strip())
        if listed:
            device = f"gpu-{listed[1]}"
            devices.add(device)
            sheet.put_text("device_type", listed[2], place, of=device, standing="measured")
        elif (instance and device) or group:
            is_split = True
            of = f"gpu-{group[1]}-mig-{group[3]}" if group else f"{device}-mig-{instance[2] if instance else ''}"
            kind = group[2] if group else instance[1] if instance else ""
            devices.add(of.partition("-mig-")[0])
            sheet.put_text("device_type", f"MIG {kind}", place, of=of, standing="measured")
    sheet.put("devices", len(devices), sheet.place())
    if is_split:
        sheet.remark("import/mig", _MIG)


IMPORTER = Importer(id="nvidia-smi", title="nvidia-smi (query, table, list)", recognise=_recognise, read=_read)
