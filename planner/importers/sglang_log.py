"""Logs of SGLang servers: the arguments it started with, memory of every rank, KV capacity, queue and KV use.

What SGLang calls GB is GiB. The KV figures stand once for every tensor rank and are those of one replica; with data
parallel attention every ``DP`` rank has its own. Keys, addresses and prompts are not taken.
"""

import re
from collections.abc import Iterator

from planner.importers.checks import check_name
from planner.importers.log_lines import LogLine, put_model, put_once, put_text_once, setting, starts
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import found
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(
    r"server_args=ServerArgs\(|KV Cache is allocated\. |"
    r"^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}(?: (?:DP|TP|PP|EP)[0-9]+)*\] "
    r"(?:Load weight|Memory pool|max_total_num_tokens|Prefill batch|Decode batch|Init torch|Capture )",
    re.M,
)
_WORDS = ("ServerArgs(", "KV Cache is allocated", "Load weight", "Memory pool", "max_total_num", " batch", "Init torch")
_ARGUMENTS = re.compile(r"server_args=ServerArgs\(")
_NUMBERS = {"tp_size": "tp", "pp_size": "pp", "dp_size": "dp", "ep_size": "ep", "nnodes": "nodes"}
_USAGE = re.compile(r"mem usage=([0-9]{1,9}(?:\.[0-9]{1,9})?) GB")
_DTYPE = re.compile(r"dtype=torch\.(\w+)")
_CACHE = re.compile(r"KV Cache is allocated\..*?#tokens: ([0-9,]{1,30})")
_PARTS = re.compile(r"\b(?:K|V|KV) size: ([0-9]{1,9}(?:\.[0-9]{1,9})?) GB")
_TOKENS = re.compile(r"max_total_num_tokens=([0-9]+)")
_CONTEXT = re.compile(r"context_len=([0-9]+)")
_SERVING = re.compile(r"(?:Prefill|Decode) batch")
_USED = re.compile(r"token usage: ([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_QUEUED = re.compile(r"#queue-req: ([0-9]{1,9})")
_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt))(?::|$)")
_EXPECTED = (
    *("tp", "pp", "dp", "ep", "engine_version", "model_name", "precision_weights", "precision_kv_cache"),
    *("weights_bytes", "kv_cache_bytes", "kv_capacity_tokens", "device_used_peak_bytes"),
)


def _recognise(source: Source) -> Recognised | None:
    return Recognised(confidence=80) if source.shows(_WORDS, _SHOWN) else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    return starts(source, _Start)


class _Start:
    """What one start of a server printed."""

    def __init__(self, number: int, line: int) -> None:
        self.number = number
        self.sheet = Sheet(f"run-{number}", {}, line=line)
        self.started = False
        self._failure: tuple[str, LogLine] | None = None
        self._samples = 0
        self._used: tuple[float, LogLine] | None = None
        self._queued: tuple[int, LogLine] | None = None

    def repeats(self, line: LogLine) -> bool:
        """Say whether a line begins another start: the arguments of a server come again."""
        return self.started and _ARGUMENTS.match(line.message) is not None

    def take(self, line: LogLine) -> None:
        """Read one line."""
        if line.time and self.sheet.value("local_time") is None:
            self.sheet.put_text("local_time", line.time, line.place, standing="hint")
        if _SERVING.match(line.message):
            self._serving(line)
        elif _ARGUMENTS.match(line.message):
            self.started = True
            self._arguments(line)
        else:
            self._memory(line)
            error = _EXCEPTION.match(line.message)
            if error:
                self._failure = (error[1], line)

    def _arguments(self, line: LogLine) -> None:
        sheet, text = self.sheet, line.message
        for key, name in _NUMBERS.items():
            value = setting(text, key)
            if value is not None:
                put_once(sheet, name, value, line, standing="stated")
        put_model(sheet, setting(text, "model_path"), line)
        put_text_once(sheet, "model_revision", setting(text, "revision"), line)
        put_text_once(sheet, "precision_weights", setting(text, "quantization"), line)
        cache = setting(text, "kv_cache_dtype")
        if cache == "auto":
            sheet.remark("import/auto", "the number format of the KV cache was left to the engine", line.place)
        else:
            put_text_once(sheet, "precision_kv_cache", cache, line)
        for key, name, words in (
            ("disable_radix_cache", "prefix_cache", ("off", "on")),
            ("enable_dp_attention", "attention_dp", ("on", "off")),
        ):
            value = setting(text, key)
            if value in ("True", "False"):
                put_text_once(sheet, name, words[value == "False"], line)
        put_text_once(sheet, "speculation", setting(text, "speculative_algorithm"), line)

    def _memory(self, line: LogLine) -> None:
        sheet, text = self.sheet, line.message
        rank, replica = line.process.lower().replace(" ", "-"), _replica(line.process)
        usage, dtype = _USAGE.search(text), _DTYPE.search(text)
        cache, tokens, context = _CACHE.match(text), _TOKENS.match(text), _CONTEXT.search(text)
        if text.startswith("Load weight end.") and usage:
            put_once(sheet, "weights_bytes", usage[1], line, unit="GiB", of=rank)
            put_text_once(sheet, "precision_activations", dtype and dtype[1], line)
        elif text.startswith("Capture cuda graph end.") and usage:
            put_once(sheet, "graph_bytes", usage[1], line, unit="GiB", of=rank)
        elif cache:
            parts = [float(part) for part in _PARTS.findall(text)]
            put_once(sheet, "kv_capacity_tokens", cache[1], line, of=replica)
            if parts:
                put_once(sheet, "kv_cache_bytes", sum(parts), line, unit="GiB", of=rank)
        elif tokens:
            put_once(sheet, "kv_capacity_tokens", tokens[1], line, of=replica)
            if context:
                put_once(sheet, "context_tokens", context[1], line, standing="stated")

    def _serving(self, line: LogLine) -> None:
        self._samples += 1
        used, queued = _USED.search(line.message), _QUEUED.search(line.message)
        if used and (self._used is None or float(used[1]) > self._used[0]):
            self._used = (float(used[1]), line)
        if queued and (self._queued is None or int(queued[1]) > self._queued[0]):
            self._queued = (int(queued[1]), line)

    def finished(self, name: str) -> Run:
        """Return the run."""
        sheet = self.sheet
        if self.started:
            sheet.put_text("engine_name", "sglang", sheet.place())
            sheet.put_text("layout", "sglang", sheet.place())
        if self._used:
            sheet.put("kv_used_peak_share", self._used[0], self._used[1].place)
        if self._queued:
            sheet.put("queued_requests_max", self._queued[0], self._queued[1].place)
        if self._samples:
            sentence = f"queue and KV use are the largest of {self._samples} batches printed, of the whole log"
            sheet.remark("import/sampled", sentence)
        if self._failure and not sheet.things("kv_capacity_tokens"):
            kind, line = self._failure
            sheet.remark("import/start_failed", f"the server did not start: {found(kind)}", line.place, "refused")
        check_name(sheet, name)
        return sheet.finish(_EXPECTED)


def _replica(process: str) -> str:
    part = re.search(r"\bDP([0-9]+)\b", process)
    return f"dp{part[1]}" if part else ""


IMPORTER = Importer(id="sglang-log", title="log of an SGLang server", recognise=_recognise, read=_read)
