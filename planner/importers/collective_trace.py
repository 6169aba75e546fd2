"""Traces of collectives, one call of one rank a row: CSV or JSON lines with eight columns.

``rank, node, device, group, kind, bytes, start, end``: global rank, any names for node, device and group, the kind of
collective, bytes of the message, start and end in microseconds of one clock. The n-th call of a group, by start, is
the same collective on every rank. The lag of a rank in it is its start after the first start. Everything else in a row
(tenants, requests, prompts) is dropped, and nodes are numbered in the order of the file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from planner.importers.checks import check_name
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.nccl_table import operation_named
from planner.importers.perf_metrics import number_of
from planner.importers.scrubbed import found
from planner.importers.sheet import Sheet
from planner.importers.source import Source
from planner.importers.trace_calls import Call, Calls, lags, late_clock, ranked
from planner.records.base import SAFE_INTEGER

__all__ = ["IMPORTER", "Trace", "read_trace"]

COLUMNS = ("rank", "node", "device", "group", "kind", "bytes", "start", "end")
MAX_RANKS = 100_000
MAX_KINDS = 1000
_GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
_EXPECTED = ("collective_ms.mean", "arrival_lag_ms", "rank_node", "rank_device")
_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99}


def _recognise(source: Source) -> Recognised | None:
    first = source.first
    if isinstance(first, dict):
        return Recognised(version="JSON lines") if first.keys() >= set(COLUMNS) else None
    header = set(source.header)
    return Recognised(version="CSV") if header >= set(COLUMNS) else None


def _rows(source: Source, version: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if version == "CSV":
        names: list[str] = []
        for line, row in source.rows():
            if names and any(row):
                yield line, dict(zip(names, row, strict=False))
            elif not names:
                names = [name.strip() for name in row]
    else:
        for document in source.documents():
            yield document.line, document.tree if isinstance(document.tree, dict) else {}


class Trace:
    """What the rows say, kept by group and rank; ``places`` is rank -> node (numbered), device, line."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.places: dict[int, tuple[str, str, int]] = {}
        self.moved: list[int] = []
        self.skipped: list[int] = []
        self.dropped: set[str] = set()
        self.nodes: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        self.full = False

    def add(self, line: int, row: Mapping[str, Any]) -> None:
        """Keep one row, or its line where it cannot be read."""
        if len(self.dropped) < MAX_KINDS:
            self.dropped.update(name for name in row if name not in COLUMNS)
        rank, size, start, end = (number_of(row.get(name)) for name in ("rank", "bytes", "start", "end"))
        if not isinstance(rank, int) or size is None or start is None or end is None or end < start:
            self.skipped.append(line)
            return
        if not 0 <= rank < MAX_RANKS or not 0 <= size <= SAFE_INTEGER or start < 0 or end > SAFE_INTEGER:
            self.skipped.append(line)
            return
        node = self.nodes.setdefault(str(row.get("node", "")), f"node-{len(self.nodes)}")
        device = str(row.get("device", "")).strip()[:64]
        known = self.places.setdefault(rank, (node, device, line))
        if known[:2] != (node, device):
            self.moved.append(rank)
        name = str(row.get("group", "")).strip()
        group = self.groups.setdefault(name, name if _GROUP.fullmatch(name) else f"group-{len(self.groups)}")
        kind = operation_named(str(row.get("kind", ""))[:64])
        self.full = not self.calls.add(group, rank, Call(float(start), float(end), kind, size, line)) or self.full


def read_trace(source: Source, known: Trace | None = None) -> Trace | None:
    """Return the calls of a file, with those of the ``known`` files before it; None where it is no such trace."""
    recognised = _recognise(source)
    return None if recognised is None else _trace(source, recognised, known)


def _trace(source: Source, recognised: Recognised, known: Trace | None = None) -> Trace:
    trace = Trace() if known is None else known
    for line, row in _rows(source, recognised.version):
        trace.add(line, row)
    return trace


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    trace = _trace(source, recognised)
    sheet = Sheet("run-1", {}, line=1)
    if not trace.places:
        sheet.remark("import/no_counters", "no row of the trace could be read", effect="refused")
    for rank, (node, device, line) in sorted(trace.places.items()):
        sheet.put_text("rank_node", node, Place(line=line, column="node"), of=f"rank-{rank}", standing="measured")
        if device:
            at = Place(line=line, column="device")
            sheet.put_text("rank_device", device, at, of=f"rank-{rank}", standing="measured")
    _take_collectives(sheet, trace)
    _take_lags(sheet, trace)
    _notes(sheet, trace)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _take_collectives(sheet: Sheet, trace: Trace) -> None:
    kinds = trace.calls.by_kind()
    for (group, kind, size), calls in list(kinds.items())[:MAX_KINDS]:
        of, at = f"{group}-{kind}-{size}-bytes", Place(line=calls[0].line)
        sheet.put_text("collective_operation", kind, at, of=of, standing="measured")
        sheet.put_text("group_kind", group, at, of=of, standing="measured")
        sheet.put("message_bytes", size, at, of=of)
        spans = sorted(call.end - call.start for call in calls)
        figures = {"n": len(spans), "mean": sum(spans) / len(spans), "min": spans[0], "max": spans[-1]}
        figures |= {name: ranked(spans, percent) for name, percent in _PERCENTILES.items()}
        for name, value in figures.items():
            sheet.put(f"collective_ms.{name}", value, at, unit="samples" if name == "n" else "us", of=of)
    if len(kinds) > MAX_KINDS:
        sheet.remark("import/truncated", f"{len(kinds)} kinds of calls, {MAX_KINDS} are listed", effect="held")
    if kinds:
        sentence = (
            "times of collectives are those of every rank, waiting for the others included; start and end are read "
        )
        sheet.remark("import/definition", sentence + "as microseconds")


def _take_lags(sheet: Sheet, trace: Trace) -> None:
    behind: dict[int, list[float]] = {}
    for group in trace.calls.groups():
        found_lags = lags(trace.calls, group)
        if found_lags is None:
            sentence = f"ranks of {group} have different calls: which belong together, and who waits, is not known"
            sheet.remark("import/unequal_calls", sentence, effect="held")
            continue
        for rank, values in found_lags.items():
            behind.setdefault(rank, []).extend(values)
        line = late_clock(trace.calls, group)
        if line is not None:
            sentence = f"a rank of {group} ended before another began: the clocks of nodes disagree"
            sheet.remark("import/clocks", sentence, Place(line=line), "held")
    for rank, values in sorted(behind.items()):
        at = Place(line=trace.places[rank][2], column="start")
        sheet.put("arrival_lag_ms", ranked(sorted(values), 50), at, unit="us", of=f"rank-{rank}")
    if behind and len({node for node, _, _ in trace.places.values()}) > 1:
        sheet.remark("import/clocks", "lags compare clocks of several nodes, which have to agree within the lag")


def _notes(sheet: Sheet, trace: Trace) -> None:
    if trace.dropped:
        names = ", ".join(found(name[:40]) for name in _some(trace.dropped))
        sheet.remark("import/columns_dropped", f"columns that are not kept: {names}")
    if trace.moved:
        sentence = f"rank {trace.moved[0]} stands on two devices or nodes: the first is taken"
        sheet.remark("import/contradiction", sentence, effect="held")
    if trace.skipped:
        sentence = f"{len(trace.skipped)} rows could not be read, or end before they start, and are left out"
        sheet.remark("import/line_skipped", sentence, Place(line=trace.skipped[0]))
    if trace.full:
        sheet.remark("import/truncated", "the trace is longer than is read; its rest is left out", effect="held")


def _some(names: Iterable[str]) -> list[str]:
    return sorted(names)[:10]


IMPORTER = Importer(id="collective-trace", title="trace of collectives", recognise=_recognise, read=_read)
