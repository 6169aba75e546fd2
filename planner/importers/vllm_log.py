"""Logs of vLLM servers of any version: degrees, versions, number formats, memory and KV capacity as the engine printed.

One run is one start of a server. Only the settings that the engine prints count: an expert rank is printed for every
model with experts, so expert parallelism follows from ``enable_expert_parallel`` alone; new versions print rank 0
only, so the world size is read, never counted. Peak memory is not in a log: what is there is a budget. Where old
versions say GB they mean GiB. Texts of requests, addresses and keys are not taken.
"""

import re
from collections.abc import Callable, Iterator

from planner.importers.checks import check_name
from planner.importers.log_lines import LogLine, put_model, put_once, put_text_once, setting, starts
from planner.importers.model import Importer, Recognised, Run
from planner.importers.scrubbed import found
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(
    r"^\((?:APIServer|EngineCore|Worker|VllmWorker|ApiServer|RayWorker)\w*(?: rank=[0-9]+)?(?: pid=[0-9]+[^()]*)?\) |"
    r"(?:^|\| |Z )(?:INFO|WARNING|ERROR) [0-9]{2}-[0-9]{2} [0-9:]{8} \[?[\w.]+\.py:[0-9]+\] |"
    r"GPU KV cache size: [0-9,]+ tokens|Available KV cache memory: |ProcessGroupNCCL\.cpp:[0-9]+\]|"
    r"vLLM API server version ",
    re.M,
)
_WORDS = ("Server", "EngineCore", "Worker", "INFO ", "WARNING ", "ERROR ", "KV cache", "ProcessGroupNCCL")
_VERSION = re.compile(
    r"\(v?([0-9]{1,4}\.[0-9]{1,4}[\w.+-]{0,60})\) with config:|"
    r"vLLM API server version v?([0-9]\S{0,80})|"
    r"\bversion ([0-9]{1,4}\.[0-9]{1,4}[\w.+-]{0,60})$",
    re.M,
)
_EXPECTED = (
    *("tp", "pp", "dp", "world_size", "engine_version", "model_name", "precision_weights", "precision_kv_cache"),
    *("weights_bytes", "kv_cache_bytes", "kv_capacity_tokens", "device_used_peak_bytes", "collective_library_version"),
)
_NUMBERS = {
    "tensor_parallel_size": "tp",
    "pipeline_parallel_size": "pp",
    "data_parallel_size": "dp",
    "prefill_context_parallel_size": "cp",
    "decode_context_parallel_size": "dcp",
    "gpu_memory_utilization": "memory_budget_share",
    "max_seq_len": "context_tokens",
}
_KEPT = ("enable_expert_parallel", "enable_prefix_caching", "kv_cache_dtype", "quantization", "dtype")
_SIZE = r"([0-9][0-9,]*(?:\.[0-9]+)?)\s*Gi?B"
_PER_RANK = {
    "weights_bytes": re.compile(rf"(?:Model loading took|Loading model weights took|model weights take)\s+{_SIZE}"),
    "kv_cache_bytes": re.compile(
        r"(?:Available KV cache memory:|available_kv_cache_memory|the rest of the memory reserved for KV Cache is)\s+"
        + _SIZE
    ),
    "activations_bytes": re.compile(rf"PyTorch activation peak memory(?: takes)?\s+{_SIZE}"),
    "other_memory_bytes": re.compile(rf"non_torch_memory(?: takes)?\s+{_SIZE}"),
    "graph_bytes": re.compile(rf"Graph capturing finished in [0-9.]+ secs?, took\s+{_SIZE}"),
    "device_memory_bytes": re.compile(rf"total_gpu_memory\s+{_SIZE}"),
}
_TOKENS = re.compile(r"GPU KV cache size: ([0-9,]+) tokens")
_CONCURRENCY = re.compile(r"Maximum concurrency for ([0-9,]+) tokens per request: ([0-9,.]+)x")
_WORLD = re.compile(r"rank [0-9]+ in world size ([0-9]+) is assigned as (.+)")
_STATS = re.compile(r"Engine ([0-9]{1,4}): ")
_WAITING = re.compile(r"Waiting: ([0-9]{1,9}) reqs")
_USED = re.compile(r"KV cache usage: ([0-9]{1,9}(?:\.[0-9]{1,9})?)%")
_NCCL = re.compile(r"vLLM is using nccl==([0-9][\w.]*)")
_PATHS = re.compile(r"Using (\[[^\]]*\]) all-reduce backends .*for group '(\w+):[0-9]+'")
_TIMEOUT = re.compile(r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=([0-9]+), OpType=(\w+)")
_EXCEPTION = re.compile(r"((?:[A-Za-z_][\w]*\.)*[A-Z]\w*(?:Error|Exception|Interrupt))(?::|$)")
_BEGINNINGS = ("Memory", "non-default", "vLLM", "args:", "Initializing")
_START = re.compile(
    r"Memory profiling results:|non-default args:|vLLM API server version|args: Namespace\(|"
    r"Initializing an? (?:V[0-9] )?LLM engine"
)


def _marker(message: str) -> re.Match[str] | None:
    """Return what a message begins with where a start of a server says it; few lines even begin so."""
    return _START.match(message) if message.startswith(_BEGINNINGS) else None


def _recognise(source: Source) -> Recognised | None:
    if not source.shows(_WORDS, _SHOWN):
        return None
    version = _VERSION.search(source.head)
    return Recognised(version=next((part for part in version.groups() if part), "") if version else "", confidence=80)


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    return starts(source, _Start)


class _Start:
    """What one start of a server printed."""

    def __init__(self, number: int, line: int) -> None:
        self.number = number
        self.sheet = Sheet(f"run-{number}", {}, line=line)
        self._markers: set[tuple[str, str]] = set()
        self._settings: dict[str, str] = {}
        self._waiting: dict[str, int] = {}
        self._used: dict[str, tuple[float, LogLine]] = {}
        self._samples = 0
        self._timeouts: dict[str, str] = {}
        self._failure: tuple[str, LogLine] | None = None
        self._expert_rank: LogLine | None = None
        self._settings_seen: LogLine | None = None

    def repeats(self, line: LogLine) -> bool:
        """Say whether a line begins another start: a process says for the second time what it says once."""
        marker = _marker(line.message)
        if marker is None:
            return False
        key = (line.process, marker[0])
        again = key in self._markers
        if not again:
            self._markers.add(key)
        return again

    def take(self, line: LogLine) -> None:
        """Read one line."""
        marker = _marker(line.message)
        if marker:
            self._markers.add((line.process, marker[0]))
        if line.time and self.sheet.value("local_time") is None:
            self.sheet.put_text("local_time", line.time, line.place, standing="hint")
        for read in _READERS:
            if read(self, line):
                return

    def settings(self, line: LogLine) -> bool:
        """Read the settings that the engine prints once it starts."""
        text = line.message
        version = _VERSION.search(text) if "config" in text or "ersion" in text else None
        if _marker(text) is None or text.startswith("Memory profiling"):
            if version is None or version[3] is None or self._capacity_printed():
                return False
            put_text_once(self.sheet, "engine_version", version[3], line)
            return True
        self._settings_seen = self._settings_seen or line
        if version:
            put_text_once(self.sheet, "engine_version", version[1] or version[2] or version[3], line)
        put_model(self.sheet, setting(text, "model"), line)
        put_text_once(self.sheet, "model_revision", setting(text, "revision"), line)
        for key, name in _NUMBERS.items():
            value = setting(text, key)
            if value is not None:
                put_once(self.sheet, name, value, line, standing="stated")
        found_settings = {key: setting(text, key) for key in _KEPT}
        self._settings |= {key: value for key, value in found_settings.items() if value is not None}
        if "with config:" in text:
            self._formats(line)
        return True

    def _capacity_printed(self) -> bool:
        return bool(self.sheet.things("kv_capacity_tokens"))

    def _formats(self, line: LogLine) -> None:
        sheet, kept = self.sheet, self._settings
        dtype = kept.get("dtype", "").removeprefix("torch.")
        if dtype and dtype != "auto":
            put_text_once(sheet, "precision_activations", dtype, line)
        weights = kept.get("quantization") or dtype
        if weights and weights != "auto":
            put_text_once(sheet, "precision_weights", weights, line)
        cache = kept.get("kv_cache_dtype")
        if cache == "auto":
            sheet.remark("import/auto", "the number format of the KV cache was left to the engine", line.place)
        else:
            put_text_once(sheet, "precision_kv_cache", cache, line)
        prefix = kept.get("enable_prefix_caching")
        if prefix in ("True", "False"):
            put_text_once(sheet, "prefix_cache", "on" if prefix == "True" else "off", line)
        speculative = re.search(r"speculative_config=(None|\w+\()", line.message)
        if speculative:
            put_text_once(sheet, "speculation", "none" if speculative[1] == "None" else "on", line)

    def memory(self, line: LogLine) -> bool:
        """Read what a rank says of its memory."""
        if "GiB" not in line.message and "GB" not in line.message:
            return False
        rank = _rank(line.process)
        taken = False
        for name, pattern in _PER_RANK.items():
            size = pattern.search(line.message)
            if size and _near_start(line.message, size.start()):
                put_once(self.sheet, name, size[1], line, unit="GiB", of=rank)
                taken = True
        return taken

    def capacity(self, line: LogLine) -> bool:
        """Read the KV capacity of one replica."""
        if "tokens" not in line.message:
            return False
        tokens, concurrency = _TOKENS.match(line.message), _CONCURRENCY.match(line.message)
        replica = _replica(line.process, self.sheet.value("dp") or 1) if tokens or concurrency else ""
        if tokens:
            put_once(self.sheet, "kv_capacity_tokens", tokens[1], line, of=replica)
        if concurrency:
            put_once(self.sheet, "kv_measured_at_context_tokens", concurrency[1], line, of=replica)
            put_once(self.sheet, "kv_max_concurrent_requests", concurrency[2], line, of=replica)
        return bool(tokens or concurrency)

    def ranks(self, line: LogLine) -> bool:
        """Read the world size; the ranks of a node say nothing of the others."""
        if "_EP" in line.process and re.search(r"_EP[0-9]+$", line.process):
            self._expert_rank = self._expert_rank or line
        world = _WORLD.match(line.message)
        if world is None:
            return False
        put_once(self.sheet, "world_size", world[1], line)
        if re.search(r"\bEP rank [0-9]", world[2]):
            self._expert_rank = self._expert_rank or line
        return True

    def communication(self, line: LogLine) -> bool:
        """Read the collective library, the paths that were chosen, and timeouts."""
        library = _NCCL.match(line.message)
        if library:
            put_text_once(self.sheet, "collective_library_version", library[1], line)
            return True
        paths = _PATHS.match(line.message)
        if paths:
            if self.sheet.value("all_reduce_path", paths[2]) is None:
                self.sheet.put_text("all_reduce_path", paths[1], line.place, of=paths[2])
            return True
        timeout = _TIMEOUT.search(line.message) if "Watchdog" in line.message else None
        if timeout:
            if timeout[1] not in self._timeouts and len(self._timeouts) < MAX_TIMEOUTS:
                self._timeouts[timeout[1]] = timeout[2]
                self.sheet.put("collective_timeouts", len(self._timeouts), line.place)
            return True
        return False

    def serving(self, line: LogLine) -> bool:
        """Read what the engine prints of its queue and KV cache every few seconds."""
        stats = _STATS.match(line.message)
        if stats is None:
            return False
        waiting, share = _WAITING.search(line.message), _USED.search(line.message)
        if waiting is None or share is None:
            return False
        engine, used = stats[1], float(share[1])
        self._samples += 1
        self._waiting[engine] = max(self._waiting.get(engine, 0), int(waiting[1]))
        if engine not in self._used or used > self._used[engine][0]:
            self._used[engine] = (used, line)
        return True

    def failure(self, line: LogLine) -> bool:
        """Remember the kind of the last exception; its text may hold anything and is not kept."""
        text = line.message
        named = "Error" in text or "Exception" in text or "Interrupt" in text
        error = _EXCEPTION.match(text) if named else None
        if error:
            self._failure = (error[1], line)
        return error is not None

    def finished(self, name: str) -> Run:
        """Return the run."""
        sheet = self.sheet
        if self.sheet.value("engine_version") or self._settings_seen or any(map(sheet.value, ("tp", "world_size"))):
            sheet.put_text("engine_name", "vllm", sheet.place())
            sheet.put_text("layout", "vllm", sheet.place())
        self._expert_parallel()
        self._world()
        self._queue()
        if len(sheet.things("weights_bytes")) == 1 < (sheet.value("world_size") or sheet.value("tp") or 1):
            sheet.remark("import/per_rank", "memory is printed by one rank of several; the others are not known")
        if self._timeouts:
            kinds = ", ".join(sorted(set(self._timeouts.values())))
            sheet.remark(
                "import/collective_timeout", f"{len(self._timeouts)} collectives timed out: {kinds}", effect="refused"
            )
        elif self._failure and not self._capacity_printed():
            kind, line = self._failure
            sheet.remark("import/start_failed", f"the server did not start: {found(kind)}", line.place, "refused")
        check_name(sheet, name)
        return sheet.finish(_EXPECTED)

    def _expert_parallel(self) -> None:
        sheet = self.sheet
        enabled = self._settings.get("enable_expert_parallel")
        tp, dp, cp = (sheet.value(name) for name in ("tp", "dp", "cp"))
        if enabled == "True" and tp is not None and self._settings_seen:
            put_once(sheet, "ep", tp * (dp or 1) * (cp or 1), self._settings_seen, standing="stated")
        elif tp is not None and self._settings_seen:
            put_once(sheet, "ep", 1, self._settings_seen, standing="stated")
        if self._expert_rank and enabled != "True":
            sentence = "expert ranks are printed for every model with experts: they show no expert parallelism"
            sheet.remark("import/ep_not_shown", sentence, self._expert_rank.place)

    def _world(self) -> None:
        sheet = self.sheet
        world, tp = sheet.value("world_size"), sheet.value("tp")
        if world is None or tp is None:
            return
        product = tp
        for name in ("pp", "dp", "cp"):
            product *= sheet.value(name) or 1
        if product != world:
            sentence = f"the world size is {world}, but the degrees make {product}"
            sheet.remark("import/contradiction", sentence, sheet.place_of("world_size"), "held")

    def _queue(self) -> None:
        if not self._samples:
            return
        sheet = self.sheet
        for engine, (used, line) in self._used.items():
            of = "" if len(self._used) == 1 else f"engine-{int(engine)}"
            sheet.put("kv_used_peak_share", used, line.place, unit="percent", of=of)
            sheet.put("queued_requests_max", self._waiting[engine], line.place, of=of)
        sentence = (
            f"queue and KV use are the largest of {self._samples} lines of the log; between lines nothing is known"
        )
        sheet.remark("import/sampled", sentence)


_READERS: tuple[Callable[[_Start, LogLine], bool], ...] = (
    _Start.serving,
    _Start.settings,
    _Start.memory,
    _Start.capacity,
    _Start.ranks,
    _Start.communication,
    _Start.failure,
)
"""In turn, the first that knows the line takes it; what serving prints is most of a log."""

MAX_TIMEOUTS = 1000


def _near_start(message: str, position: int) -> bool:
    """Say whether a figure stands where the engine prints it, not inside a text of a user."""
    return position == 0 or message.startswith(
        ("Memory profiling takes", "model weights take", "The current vLLM instance", "the current vLLM instance")
    )


def _rank(process: str) -> str:
    """Return the rank of a worker such as ``Worker_DP0_TP1_EP1``: ``dp0-tp1-ep1``; "" for others."""
    named = re.search(r"Worker(?:Process|Wrapper)?_((?:[A-Z]{2,4}[0-9]+_?)+)$", process)
    return named[1].strip("_").lower().replace("_", "-") if named else ""


def _replica(process: str, replicas: int) -> str:
    """Return the replica of an engine process such as ``EngineCore_DP1``: ``dp1``; a single one has no name."""
    named = re.match(r"(?:EngineCore|Worker)_(?:DP)?([0-9]+)", process)
    return f"dp{named[1]}" if named and (replicas > 1 or "_DP" in process or named[1] != "0") else ""


IMPORTER = Importer(id="vllm-log", title="log of a vLLM server", recognise=_recognise, read=_read)
