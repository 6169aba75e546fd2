"""Links of a machine as the node exporter counts them: InfiniBand ports and network devices, bytes and rate.

Counters of one scrape show no window; of several scrapes, in one file or in two, the difference is taken. Rates are
gauges in bytes per second. Of network devices only those with a rate count, and none that are made of others (bridges,
tunnels, pairs of containers). Everything else that a node exporter writes is not read.
"""

import re
from collections.abc import Iterator

from planner.importers.checks import check_name
from planner.importers.model import Importer, Recognised, Run
from planner.importers.prometheus import Sample, Scrape, Window, take_notes, take_times, window
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(
    r"^[ \t]*(?:# (?:HELP|TYPE) )?node_(?:infiniband|cpu|load|memory|network|disk|uname|exporter)_?[a-z0-9]", re.M
)
_PORTS, _DEVICES = "node_infiniband_", "node_network_"
_BYTES = {
    f"{_PORTS}port_data_transmitted_bytes_total": "link_tx_bytes",
    f"{_PORTS}port_data_received_bytes_total": "link_rx_bytes",
    f"{_DEVICES}transmit_bytes_total": "link_tx_bytes",
    f"{_DEVICES}receive_bytes_total": "link_rx_bytes",
}
_RATES = (f"{_PORTS}rate_bytes_per_second", f"{_DEVICES}speed_bytes")
_STATES = {f"{_PORTS}state_id": (4, "active"), f"{_PORTS}physical_state_id": (5, "link up")}
_ERRORS = re.compile(
    r"_(?:errors?|errs|error_recovery|link_downed|discards|drop|dropped|vl15_dropped)(?:_[a-z0-9]{1,40}){0,8}_total$"
)
_MADE_OF_OTHERS = re.compile(r"lo$|br-|bond|cali|cni|docker|dummy|flannel|kube|lxc|ovs|tap|tun|veth|virbr|vxlan")
_EXPECTED = ("link_tx_bytes_total", "link_rx_bytes_total", "link_rate_bytes_per_s")


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=82) if source.shows(("node_",), _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    scraped = window(source, _PORTS, _DEVICES)
    sheet = Sheet("run-1", {}, line=scraped.last.line)
    links = _links(scraped.last)
    if not links:
        sentence = "no counter of InfiniBand or of a network device with a rate is in the file"
        sheet.remark("import/no_counters", sentence, effect="refused")
    else:
        _take(sheet, scraped.last, links)
        if scraped.count > 1:
            _take_change(sheet, scraped, links)
        else:
            _take_counters(sheet, scraped.last, links)
    take_notes(sheet, scraped)
    check_name(sheet, source.name)
    yield sheet.finish(_EXPECTED)


def _link(sample: Sample) -> str:
    device = sample.labels.get("device", "")[:32]
    return f"{device}-{sample.labels.get('port', '')[:8]}" if sample.name.startswith(_PORTS) else device


def _links(scrape: Scrape) -> set[str]:
    """Return the links that count: all ports, and devices that have a rate of their own."""
    links = {_link(sample) for sample in scrape.samples if sample.name.startswith(_PORTS)}
    for sample in scrape.named(f"{_DEVICES}speed_bytes"):
        if sample.value > 0 and not _MADE_OF_OTHERS.match(_link(sample)):
            links.add(_link(sample))
    return links


def _take(sheet: Sheet, scrape: Scrape, links: set[str]) -> None:
    for sample in scrape.named(*_RATES):
        if _link(sample) in links:
            sheet.put("link_rate_bytes_per_s", sample.value, sample.place, of=_link(sample), standing="stated")
    for sample in scrape.named(*_STATES):
        good, meaning = _STATES[sample.name]
        if sample.value != good:
            sentence = f"port {_link(sample)}: {sample.name} is {sample.value:g}, not {good} ({meaning})"
            sheet.remark("import/device_error", sentence, sample.place, "held")
    wrong = [
        sample
        for sample in scrape.samples
        if sample.value > 0 and _link(sample) in links and _ERRORS.search(sample.name)
    ]
    if wrong:
        named = ", ".join(f"{sample.name} of {_link(sample)}" for sample in wrong[:5])
        sentence = f"{len(wrong)} counters of errors are above zero since the port came up: {named}"
        sheet.remark("import/device_error", sentence, wrong[0].place)


def _take_counters(sheet: Sheet, scrape: Scrape, links: set[str]) -> None:
    for sample in scrape.named(*_BYTES):
        if _link(sample) in links:
            sheet.put(f"{_BYTES[sample.name]}_counter", sample.value, sample.place, of=_link(sample))
    sentence = "bytes are counted since the port came up: a second scrape makes a window"
    sheet.remark("import/since_start", sentence)


def _take_change(sheet: Sheet, scraped: Window, links: set[str]) -> None:
    before = {sample.series: sample.value for sample in scraped.first.named(*_BYTES)}
    for sample in scraped.last.named(*_BYTES):
        earlier = before.get(sample.series)
        if earlier is None or _link(sample) not in links:
            continue
        if sample.value < earlier:
            port = f"a counter of port {_link(sample)} ran backwards"
            sentence = f"{port}: it started anew, or the later scrape was given first"
            sheet.remark("import/counter_reset", sentence, sample.place, "refused")
        else:
            sheet.put(f"{_BYTES[sample.name]}_total", sample.value - earlier, sample.place, of=_link(sample))
    take_times(sheet, scraped)


IMPORTER = Importer(id="node-exporter", title="node exporter (links)", recognise=_recognise, read=_read)
