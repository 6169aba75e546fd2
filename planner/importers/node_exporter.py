"""InfiniBand counters of the node exporter: bytes since the port came up, its rate in one direction, its state.

Counters of one scrape show no window; of several scrapes in one file the difference is taken. The rate is a gauge in
bytes per second. Everything else that a node exporter writes is not read.
"""

import re
from collections.abc import Iterator

from planner.importers.checks import check_name
from planner.importers.model import Importer, Recognised, Run
from planner.importers.prometheus import Sample, Scrape, note_skipped, scrapes, take_times
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(
    r"^[ \t]*(?:# (?:HELP|TYPE) )?node_(?:infiniband|cpu|load|memory|network|disk|uname|exporter)_?[a-z0-9]", re.M
)
_PREFIX = "node_infiniband_"
_BYTES = {
    f"{_PREFIX}port_data_transmitted_bytes_total": "link_tx_bytes",
    f"{_PREFIX}port_data_received_bytes_total": "link_rx_bytes",
}
_RATE = f"{_PREFIX}rate_bytes_per_second"
_STATES = {f"{_PREFIX}state_id": (4, "active"), f"{_PREFIX}physical_state_id": (5, "link up")}
_ERRORS = re.compile(r"_(?:errors?|error_recovery|link_downed|discards|dropped|vl15_dropped)(?:_\w+)?_total$")
_EXPECTED = ("link_tx_bytes_total", "link_rx_bytes_total", "link_rate_bytes_per_s")


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=82) if source.shows(("node_",), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    scraped = scrapes(source, _PREFIX)
    first = last = next(scraped)
    skipped, count = [*first.skipped], 1
    for scrape in scraped:
        last, count = scrape, count + 1
        skipped += scrape.skipped
    sheet = Sheet("run-1", {}, line=first.line)
    if not last.samples:
        sentence = "no InfiniBand counter is in the file, and a node exporter has no other of links between devices"
        sheet.remark("import/no_counters", sentence, effect="refused")
    else:
        _take(sheet, last)
        if count > 1:
            _take_change(sheet, first, last)
        else:
            _take_counters(sheet, last)
    note_skipped(sheet, skipped)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _port(sample: Sample) -> str:
    return f"{sample.labels.get('device', '')[:32]}-{sample.labels.get('port', '')[:8]}"


def _take(sheet: Sheet, scrape: Scrape) -> None:
    for sample in scrape.named(_RATE):
        sheet.put("link_rate_bytes_per_s", sample.value, sample.place, of=_port(sample), standing="stated")
    for sample in scrape.named(*_STATES):
        good, meaning = _STATES[sample.name]
        if sample.value != good:
            sentence = f"port {_port(sample)}: {sample.name} is {sample.value:g}, not {good} ({meaning})"
            sheet.remark("import/device_error", sentence, sample.place, "held")
    wrong = [sample for sample in scrape.samples if sample.value > 0 and _ERRORS.search(sample.name)]
    if wrong:
        named = ", ".join(f"{sample.name} of {_port(sample)}" for sample in wrong[:5])
        sentence = f"{len(wrong)} counters of errors are above zero since the port came up: {named}"
        sheet.remark("import/device_error", sentence, wrong[0].place)


def _take_counters(sheet: Sheet, scrape: Scrape) -> None:
    for sample in scrape.named(*_BYTES):
        sheet.put(f"{_BYTES[sample.name]}_counter", sample.value, sample.place, of=_port(sample))
    sentence = "bytes are counted since the port came up: a second scrape makes a window"
    sheet.remark("import/since_start", sentence)


def _take_change(sheet: Sheet, first: Scrape, last: Scrape) -> None:
    before = {sample.series: sample.value for sample in first.named(*_BYTES)}
    for sample in last.named(*_BYTES):
        earlier = before.get(sample.series)
        if earlier is None:
            continue
        if sample.value < earlier:
            sentence = f"a counter of port {_port(sample)} ran backwards: the port started anew"
            sheet.remark("import/counter_reset", sentence, sample.place, "refused")
        else:
            sheet.put(f"{_BYTES[sample.name]}_total", sample.value - earlier, sample.place, of=_port(sample))
    take_times(sheet, first, last)


IMPORTER = Importer(id="node-exporter", title="node exporter (InfiniBand)", recognise=_recognise, read=_read)
