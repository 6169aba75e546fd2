"""Rows of InferenceX, from JSON or CSV, in the names of the aggregate."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

from planner.importers.client import PER_REQUEST_DECODE, flat_latency, take_definitions
from planner.importers.model import Place
from planner.importers.perf_metrics import number_of
from planner.importers.scrubbed import found
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["Row", "csv_rows", "is_csv", "json_row", "take_row"]

_COLUMNS = {
    "model": "model",
    "isl": "isl",
    "osl": "osl",
    "hardware": "hw",
    "framework": "framework",
    "precision": "precision",
    "tp": "tp",
    "ep": "ep",
    "concurrency": "conc",
    "date": "date",
    "throughput/gpu (tok/s)": "tput_per_gpu",
    "output throughput/gpu (tok/s)": "output_tput_per_gpu",
    "input throughput/gpu (tok/s)": "input_tput_per_gpu",
    "disaggregated": "disagg",
    "num prefill gpus": "num_prefill_gpu",
    "num decode gpus": "num_decode_gpu",
    "spec decoding": "spec_decoding",
    "dp attention": "dp_attention",
    "is multinode": "is_multinode",
    **{
        f"{statistic} {family} (ms)": f"{statistic}_{key}"
        for statistic in ("mean", "median", "p90", "p99", "p99.9", "std")
        for family, key in (("ttft", "ttft"), ("tpot", "tpot"), ("itl", "itl"), ("e2e latency", "e2el"))
    },
}
_TEXTS = {
    "model": "model_name",
    "hw": "device_type",
    "framework": "engine_name",
    "precision": "precision_weights",
    "spec_decoding": "speculation",
    "image": "engine_image",
    "date": "local_time",
}
_COUNTS = {"conc": "concurrent_requests", "isl": "prompt_tokens", "osl": "output_tokens"}
_DEGREES = {"tp": "tp", "pp": "pp", "ep": "ep", "pcp_size": "cp", "dcp_size": "dcp"}
_UNIT_FACTOR = 30
"""How far latency and the one that rate and load give may be apart; seconds and milliseconds are 1,000 apart."""
_BASIS_TOLERANCE = 0.2


@dataclass(frozen=True, slots=True)
class Row:
    """Cells by name with their places; ``header`` is the unit that a header claims, "" where there is none."""

    cells: dict[str, tuple[Any, Place]]
    header: str = ""

    def number(self, name: str) -> int | float | None:
        """Return a number, None for anything else."""
        return number_of(self.cells[name][0]) if name in self.cells else None

    def switch(self, name: str) -> bool | None:
        """Return a switch, which is a boolean or its text."""
        raw = self.cells[name][0] if name in self.cells else None
        return {"true": True, "false": False}.get(str(raw).lower())


def json_row(sheet: Sheet) -> Row:
    """Return the row of an object."""
    return Row({key: (raw, sheet.place(key)) for key, raw in sheet.tree.items() if raw is not None})


def is_csv(source: Source) -> bool:
    """Say whether the file has the header of the CSV, below lines of comment."""
    if source.first is not None:
        return False
    lines = (line for line in StringIO(source.head) if line.strip() and not line.startswith("#"))
    header = next(lines, "").lower()
    return "throughput/gpu (tok/s)" in header and "concurrency" in header and "framework" in header


def csv_rows(source: Source) -> Iterator[tuple[Sheet, Row | None]]:
    """Yield the rows below the header; empty cells are missing."""
    header: list[str] | None = None
    count = 0
    for number, cells in source.rows():
        if not any(cells) or (header is None and cells[0].startswith("#")):
            continue
        if header is None:
            header = [cell.strip() for cell in cells]
            continue
        count += 1
        sheet = Sheet(f"run-{count}", {}, line=number)
        known = {
            _COLUMNS[column.lower()]: (cell.strip(), Place(line=number, column=column))
            for column, cell in zip(header, cells, strict=False)
            if column.lower() in _COLUMNS and cell.strip()
        }
        if len(cells) != len(header):
            sheet.remark("import/format", "this line is no row of InferenceX: it has other columns", effect="refused")
            yield sheet, None
        else:
            yield sheet, Row(known, header="ms")


def take_row(sheet: Sheet, row: Row) -> None:
    """Take a row: what ran, on what, under which load, and how fast."""
    sheet.put_text("tool_name", "inferencex", sheet.place())
    for key, name in _TEXTS.items():
        raw, place = row.cells.get(key, (None, None))
        if isinstance(raw, str) and place:
            sheet.put_text(name, raw, place)
    for key, name in _COUNTS.items():
        _put(sheet, row, key, name)
    if sheet.value("concurrent_requests") is not None:
        sheet.put_text("arrival", "closed", sheet.place_of("concurrent_requests"))
    _take_topology(sheet, row)
    _take_rates(sheet, row)
    unit = _latency_unit(sheet, row)
    for key, (_, place) in row.cells.items():
        latency = flat_latency(key)
        value = row.number(key) if latency else None
        if latency and value is not None:
            sheet.put(latency[0], value, place, unit="ms" if key.endswith("_ms") else unit)
    take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
    sheet.remark("import/failed_unknown", "a row counts neither requests nor failures")


def _put(sheet: Sheet, row: Row, key: str, name: str, of: str = "") -> None:
    if key not in row.cells:
        return
    raw, place = row.cells[key]
    value = row.number(key)
    if value is None:
        sheet.remark("import/type", f"{name} is left out: expected a number, found {found(raw)}", place)
    else:
        sheet.put(name, value, place, of=of, standing="stated")


def _take_topology(sheet: Sheet, row: Row) -> None:
    if row.switch("disagg"):
        _take_pools(sheet, row)
    elif "tp" in row.cells:
        for key, name in _DEGREES.items():
            _put(sheet, row, key, name)
        _take_switch(sheet, row, "dp_attention")
        devices = int((row.number("tp") or 0) * (row.number("pp") or 1) * (row.number("pcp_size") or 1))
        sheet.put("devices", devices, row.cells["tp"][1], standing="stated")
    elif row.number("num_decode_gpu"):
        _take_pool(sheet, row, "decode", of="")
        _put(sheet, row, "num_decode_gpu", "devices")
        if row.number("num_prefill_gpu"):
            sentence = "serving is not disaggregated: prefill and decode are the same devices, counted once"
            sheet.remark("import/seen_twice", sentence, row.cells["num_prefill_gpu"][1])


def _take_pools(sheet: Sheet, row: Row) -> None:
    pools = {role: row.number(f"num_{role}_gpu") for role in ("prefill", "decode")}
    for role in pools:
        _take_pool(sheet, row, role, of=f"{role}-0")
    if all(pools.values()):
        devices = sum(count for count in pools.values() if count)
        sheet.put("devices", devices, row.cells["num_decode_gpu"][1], standing="stated")
    if "prefill_tp" not in row.cells or "decode_tp" not in row.cells:
        sentence = "serving is disaggregated, and the row does not tell the degrees of both pools"
        sheet.remark("import/instances_unknown", sentence)


def _take_pool(sheet: Sheet, row: Row, role: str, *, of: str) -> None:
    for name in ("tp", "ep"):
        _put(sheet, row, f"{role}_{name}", name, of)
    _take_switch(sheet, row, f"{role}_dp_attention", of)
    if of:
        _put(sheet, row, f"{role}_num_workers", "replicas", of)
        _put(sheet, row, f"num_{role}_gpu", "devices", of)
        sheet.put_text("role", role, sheet.place(), of=of)


def _take_switch(sheet: Sheet, row: Row, key: str, of: str = "") -> None:
    value = row.switch(key)
    if value is not None:
        sheet.put_switch("attention_dp", value, row.cells[key][1], of=of)


def _take_rates(sheet: Sheet, row: Row) -> None:
    output, total = row.number("output_tput_per_gpu"), row.number("tput_per_gpu")
    prompt, answer = sheet.value("prompt_tokens"), sheet.value("output_tokens")
    if output is not None:
        place = row.cells["output_tput_per_gpu"][1]
        if row.switch("disagg"):
            sheet.put("output_tokens_per_s_per_decode_device", output, place)
            sheet.remark("import/basis", "output throughput is per decode device, not per device", place)
        else:
            sheet.put("output_tokens_per_s_per_device", output, place)
            sheet.put_text("output_tokens_per_s_scope", "device", place, standing="measured")
    if row.number("input_tput_per_gpu") is not None:
        sheet.put("input_tokens_per_s_per_device", row.number("input_tput_per_gpu"), row.cells["input_tput_per_gpu"][1])
    if total is None:
        return
    place = row.cells["tput_per_gpu"][1]
    expected = output * (prompt + answer) / answer if output and prompt and answer else None
    if expected is None or row.switch("disagg") or abs(total - expected) <= _BASIS_TOLERANCE * expected:
        sheet.put("total_tokens_per_s_per_device", total, place)
    elif output and abs(total - output) <= 0.01 * output:
        sheet.remark("import/basis", "tput_per_gpu is of output tokens in this row; the total is missing", place)
    else:
        sentence = f"tput_per_gpu is {total}, but output and lengths give {expected:.6g}"
        sheet.remark("import/contradiction", sentence, place, "held")


def _latency_unit(sheet: Sheet, row: Row) -> str:
    """Return ``s`` or ``ms``: what fits the time that load and rate give a request; ``s`` where nothing tells."""
    whole = row.number("median_e2el") or row.number("mean_e2el")
    load, answer, devices = (sheet.value(name) for name in ("concurrent_requests", "output_tokens", "devices"))
    rate = sheet.value("output_tokens_per_s_per_device")
    place = row.cells["median_e2el"][1] if "median_e2el" in row.cells else None
    if not (whole and load and answer and devices and rate):
        return "s"
    expected = load * answer / (rate * devices)
    fits = [
        unit
        for unit, factor in (("s", 1), ("ms", 1000))
        if expected / _UNIT_FACTOR < whole / factor < expected * _UNIT_FACTOR
    ]
    if not fits:
        sentence = f"an answer takes {whole:.6g} s or ms, but load and rate give {expected:.6g} s"
        sheet.remark("import/unit", sentence, place, "held")
        return "s"
    if row.header and row.header != fits[0]:
        sheet.remark(
            "import/header_unit", f"the header says {row.header}, the values are {fits[0]}: rate and load tell", place
        )
    return fits[0]
