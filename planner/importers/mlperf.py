"""MLPerf LoadGen: ``mlperf_log_summary.txt``, and the system and measurement files that lie beside it.

Lines ``key : value`` with latencies in ns. A result that is INVALID has full figures all the same and is refused, as
is a run for accuracy. Tokens are output tokens. Offline, every sample is there from the start, so its latencies are
those of waiting. Degrees and engine are in no file of it.
"""

import re
from collections.abc import Iterator
from typing import Any

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, take_definitions
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.scrubbed import found
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["MEASUREMENT", "SUMMARY", "SYSTEM"]

MAX_KEY = 200
_TITLE = "MLPerf Results Summary"
_LATENCY = re.compile(
    r"(?:(Min|Max|Mean)|([0-9.]{2,5}) percentile) (latency|First Token latency|Time to Output Token) \(ns\)",
    re.IGNORECASE,
)
_FAMILIES = {"latency": "e2e_ms", "first token latency": "ttft_ms", "time to output token": "tpot_ms"}
_PERCENTILES = {"50.00": "p50", "90.00": "p90", "95.00": "p95", "99.00": "p99", "99.90": "p99_9"}
_RATES = {
    "completed samples per second": "completed_per_s",
    "samples per second": "completed_per_s",
    "completed tokens per second": "output_tokens_per_s",
    "tokens per second": "output_tokens_per_s",
}
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?")
_OTHER_FOLDERS = re.compile(r"(?:^|/)(?:compliance|ranging)(?:/|$)|(?:^|[/_])TEST0[0-9](?:[/_]|$)")
_DRIVER = re.compile(r"\bDriver (\d[\d.]{2,20})")
_SYSTEM_KEYS = {"accelerators_per_node", "accelerator_model_name", "number_of_nodes", "host_networking"}
_MEASUREMENT_KEYS = {"weight_data_types", "weight_transformations", "input_data_types"}


def _summary(source: Source) -> Recognised | None:
    return Recognised(version="LoadGen summary") if source.has(_TITLE) else None


def _read_summary(source: Source, recognised: Recognised) -> Iterator[Run]:
    facts: dict[str, tuple[str, Place]] = {}
    reasons: list[str] = []
    sheet = Sheet("run-1", {}, line=1)
    for number, line in source.console():
        if line.lstrip().startswith("* ") and "not met" in line:
            reasons.append(line.strip()[2:])
        key, colon, text = line.partition(":")
        if colon and len(key) <= MAX_KEY:
            # Some lines stand twice and say the same; the first one counts.
            facts.setdefault(" ".join(key.lower().split()), (text.strip(), Place(line=number)))
    _take_summary(sheet, facts, reasons)
    check_client(sheet)
    check_name(sheet, source.name)
    if _OTHER_FOLDERS.search(source.name):
        sentence = "the folder holds runs for compliance or for finding a load, which are no results"
        sheet.remark("import/name_contradicts", sentence, effect="held")
    yield sheet.finish(client_quantities("offered_requests_per_s"))


def _take_summary(sheet: Sheet, facts: dict[str, tuple[str, Place]], reasons: list[str]) -> None:
    sheet.put_text("tool_name", "mlperf-loadgen", sheet.place())
    scenario, at = facts.get("scenario", ("", sheet.place()))
    offline = scenario == "Offline"
    for key, (text, place) in facts.items():
        latency = _LATENCY.fullmatch(key)
        statistic = (latency[1] or _PERCENTILES.get(latency[2], "")) if latency else ""
        if latency and statistic and not (offline and latency[3].lower() == "latency"):
            _number(sheet, f"{_FAMILIES[latency[3].lower()]}.{statistic.lower()}", text, place, "ns")
        elif key in _RATES:
            _number(sheet, _RATES[key], text, place)
    take_definitions(sheet, tpot=PER_REQUEST_DECODE)
    if scenario == "Server" and "target_qps" in facts:
        _number(sheet, "offered_requests_per_s", *facts["target_qps"])
        sheet.put_text("arrival", "open", at)
    elif offline:
        sheet.remark(
            "import/all_at_once", "Offline: every sample was there from the start, so latencies are missing", at
        )
    _judge(sheet, facts, reasons)


def _judge(sheet: Sheet, facts: dict[str, tuple[str, Place]], reasons: list[str]) -> None:
    result, at = facts.get("result is", ("", sheet.place()))
    if result != "VALID":
        why = f": {'; '.join(found(reason) for reason in reasons)}" if reasons else ""
        sheet.remark("import/invalid", f"the tool calls the result {found(result)}, not VALID{why}", at, "refused")
    mode, at = facts.get("mode", ("", sheet.place()))
    if mode and mode != "PerformanceOnly":
        sheet.remark("import/invalid", f"the run is for {found(mode)}, not for performance", at, "refused")
    per_query, at = facts.get("samples_per_query", ("1", sheet.place()))
    if per_query != "1":
        sentence = f"{found(per_query)} samples were in a query: a sample is no request"
        sheet.remark("import/definition", sentence, at, "held")
    if sheet.value("output_tokens_per_s") is None:
        sheet.remark(
            "import/no_tokens", "the summary has no tokens: the benchmark is of no language model", effect="refused"
        )
    limits = [f"{name} {found(facts[key][0])} ns" for name, key in _LIMITS if key in facts]
    if limits:
        sheet.remark("import/limits", f"the run was held against {' and '.join(limits)} at p99")
    sheet.remark("import/failed_unknown", "the summary counts neither requests nor failures, only validity")


_LIMITS = (("TTFT", "ttft_latency (ns)"), ("TPOT", "tpot_latency (ns)"))


def _number(sheet: Sheet, name: str, text: str, place: Place, unit: str | None = None) -> None:
    if _NUMBER.fullmatch(text):
        sheet.put(name, int(text) if text.isdecimal() else float(text), place, unit=unit)
    else:
        sheet.remark("import/type", f"{name} is left out: expected a number, found {found(text)}", place)


def _system(source: Source) -> Recognised | None:
    first = source.first
    return Recognised(version="system description") if _has(first, _SYSTEM_KEYS, 3) else None


def _measurement(source: Source) -> Recognised | None:
    first = source.first
    return Recognised(version="measurement description") if _has(first, _MEASUREMENT_KEYS, 2) else None


def _has(tree: Any, keys: set[str], least: int) -> bool:
    return isinstance(tree, dict) and len(keys & tree.keys()) >= least


def _read_system(source: Source, recognised: Recognised) -> Iterator[Run]:
    for document in source.documents():
        sheet = Sheet("run-1", document.tree, line=document.line)
        for name, key in (("nodes", "number_of_nodes"), ("devices_per_node", "accelerators_per_node")):
            raw = sheet.get(key)
            if raw:
                count = int(raw) if isinstance(raw, str) and raw.isdecimal() and len(raw) < 10 else raw
                sheet.put(name, count, sheet.place(key), standing="stated")
        per_node, nodes = sheet.value("devices_per_node"), sheet.value("nodes")
        if per_node and nodes:
            sheet.put("devices", per_node * nodes, sheet.place("accelerators_per_node"))
        sheet.text("device_type", "accelerator_model_name")
        sheet.text("device_interconnect", "accelerator_interconnect", standing="hint")
        sheet.text("network", "host_networking", standing="hint")
        for key in ("accelerator_memory_capacity", "framework", "other_software_stack"):
            if sheet.get(key):
                sheet.remark("import/metadata", f"{key} is {found(sheet.get(key))}: free text", sheet.place(key))
        driver = _DRIVER.search(str(sheet.get("other_software_stack") or ""))
        if driver:
            sheet.put_text("driver_version", driver[1], sheet.place("other_software_stack"), standing="hint")
        yield sheet.finish(("nodes", "devices", "device_type", "device_memory_bytes", "driver_version"))


def _read_measurement(source: Source, recognised: Recognised) -> Iterator[Run]:
    for document in source.documents():
        sheet = Sheet("run-1", document.tree, line=document.line)
        sheet.text("precision_weights", "weight_data_types")
        yield sheet.finish(("precision_weights", "precision_activations", "precision_kv_cache"))


SUMMARY = Importer(id="mlperf-summary", title="MLPerf LoadGen summary", recognise=_summary, read=_read_summary)
SYSTEM = Importer(id="mlperf-system", title="MLPerf system description", recognise=_system, read=_read_system)
MEASUREMENT = Importer(
    id="mlperf-measurement", title="MLPerf measurement description", recognise=_measurement, read=_read_measurement
)
