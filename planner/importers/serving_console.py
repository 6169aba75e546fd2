"""What the consoles of ``vllm bench serve`` and SGLang ``bench_serving`` show: blocks of ``label: value`` lines.

A block begins with the title "Serving Benchmark Result"; one file may hold several. Figures are rounded to
hundredths. Units stand in the labels. The arguments that are printed above a block as a ``Namespace`` tell the model
and the load; the labels of SGLang are told from those of vLLM by what only it prints.
"""

import re
from collections.abc import Iterator

from planner.importers.checks import check_client, check_name, client_quantities
from planner.importers.client import PER_REQUEST_DECODE, answers_from_completed, flat_latency, take_definitions
from planner.importers.log_lines import number_in, setting
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

MAX_LINE = 64 * 2**10

_TITLE = re.compile(r"=+ Serving Benchmark Result =+")
_BEGUN = ("Starting main benchmark run", "Starting initial single prompt test run", "Initial test run completed")
"""What stands above bars of progress that may be longer than the head of the file."""
_NUMBERS = {
    "successful requests": "completed",
    "failed requests": "failed",
    "benchmark duration (s)": "duration_s",
    "total input tokens": "input_tokens_total",
    "total generated tokens": "output_tokens_total",
    "request throughput (req/s)": "completed_per_s",
    "input token throughput (tok/s)": "input_tokens_per_s",
    "output token throughput (tok/s)": "output_tokens_per_s",
    "total token throughput (tok/s)": "total_tokens_per_s",
    "concurrency": "in_flight_mean",
    "accept length": "acceptance_length_mean",
}
_CEILINGS = ("maximum request concurrency", "max request concurrency")
_RATES = ("request rate configured (rps)", "traffic request rate")
_SGLANG = ("backend", "traffic request rate", "total generated tokens (retokenized)", "concurrency")
_FAMILIES = {"e2e latency": "e2e_latency"}
_LATENCY = re.compile(r"(mean|median|std|min|max|p[0-9.]{1,6}) (ttft|tpot|itl|e2el|e2e latency|e2e) \(ms\)")


def _recognise(source: Source) -> Recognised | None:
    if source.shows(("Serving Benchmark Result",), _TITLE):
        return Recognised()
    return Recognised(confidence=85) if source.has(*_BEGUN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    block: _Block | None = None
    arguments: tuple[str, Place] | None = None
    number = 0
    for line, text in source.console():
        shown = text[:MAX_LINE].strip()
        if _TITLE.fullmatch(shown):
            if block:
                yield block.finished(source.name)
            number += 1
            block = _Block(number, line, arguments)
        elif "Namespace(" in shown:
            arguments = (shown, Place(line=line))
        elif block and shown and not shown.strip("="):
            yield block.finished(source.name)
            block = arguments = None
        elif block:
            block.take(line, shown)
    if block:
        block.sheet.remark("import/truncated", "the block has no end: what stood below is missing")
        yield block.finished(source.name)


class _Block:
    """One block; ``arguments`` is what the tool printed of its own arguments, and where."""

    def __init__(self, number: int, line: int, arguments: tuple[str, Place] | None) -> None:
        self.sheet = Sheet(f"run-{number}", {}, line=line)
        self._arguments = arguments
        self._labels: dict[str, tuple[str, Place]] = {}

    def take(self, line: int, text: str) -> None:
        """Read one line."""
        label, colon, value = text.partition(":")
        if colon and value.strip():
            self._labels.setdefault(label.strip().lower(), (value.strip(), Place(line=line)))

    def finished(self, name: str) -> Run:
        """Return the run."""
        sheet = self.sheet
        is_sglang = any(label in self._labels for label in _SGLANG)
        sheet.put_text("tool_name", "sglang.bench_serving" if is_sglang else "vllm bench serve", sheet.place())
        for label, quantity in _NUMBERS.items():
            self._number(quantity, label)
        for label in self._labels:
            latency = _LATENCY.fullmatch(label)
            key = f"{latency[1]}_{_FAMILIES.get(latency[2], latency[2])}_ms" if latency else ""
            known = flat_latency(key)
            if known:
                self._number(known[0], label)
        self._take_load()
        self._take_arguments()
        answers_from_completed(sheet, "ttft_ms", "e2e_ms")
        take_definitions(sheet, tpot=PER_REQUEST_DECODE, itl="per_chunk")
        if sheet.value("failed") is None:
            sheet.remark("import/failed_unknown", "the block does not count failed requests")
        if sheet.value("completed") is None:
            sheet.remark("import/no_result", "the block has no count of requests; it is no evidence", effect="refused")
        check_client(sheet)
        check_name(sheet, name)
        return sheet.finish(client_quantities())

    def _number(self, quantity: str, label: str) -> None:
        text, place = self._labels.get(label, ("", None))
        value = number_in(text.split()[0]) if text else None
        if value is not None and place is not None:
            self.sheet.put(quantity, value, place)

    def _take_load(self) -> None:
        sheet = self.sheet
        for label in _CEILINGS:
            self._load("concurrent_requests", *self._labels.get(label, ("", None)))
        for label in _RATES:
            self._load("offered_requests_per_s", *self._labels.get(label, ("", None)))
        if self._arguments:
            text, place = self._arguments
            for name, key in (("concurrent_requests", "max_concurrency"), ("offered_requests_per_s", "request_rate")):
                if sheet.value(name) is None:
                    self._load(name, setting(text, key) or "", place)
        arrival = {"offered_requests_per_s": "open", "concurrent_requests": "closed"}
        stated = next((name for name in arrival if sheet.value(name) is not None), "")
        if stated:
            sheet.put_text("arrival", arrival[stated], sheet.place_of(stated))

    def _load(self, name: str, text: str, place: Place | None) -> None:
        value = number_in(text)
        # "inf" and "not set" are no load point of ours.
        if place is not None and value is not None and 0 < value < float("inf"):
            self.sheet.put(name, value, place, standing="stated")

    def _take_arguments(self) -> None:
        if self._arguments is None:
            return
        text, place = self._arguments
        model, sent = setting(text, "model"), number_in(setting(text, "num_prompts") or "")
        if model:
            self.sheet.put_text("model_name", last_part(model), place)
        if sent is not None:
            self.sheet.put("sent", sent, place, standing="stated")


IMPORTER = Importer(
    id="serving-console", title="console of vllm bench serve, SGLang bench_serving", recognise=_recognise, read=_read
)
