"""What matters about a run when runs are put together: what kind of thing it saw, where, when and under which load.

Kinds of files are told apart by their format, as data. Degrees count where a tool states them; those in names and free
text are hints. Not handled: what a run's values fill (``planner.builder.placing``).
"""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planner.builder.records import DraftFile, ReadRun, ReadValue
from planner.builder.times import span_before, span_from
from planner.times import parsed_time

__all__ = ["DEGREES", "MACHINE_FORMATS", "Degrees", "Part", "RunFacts", "facts_of", "figures"]

Part = Literal["load", "telemetry", "server", "machine", "beside"]
"""What a run feeds: a window of its own (``load``), a window that a load made (``telemetry``), a whole trial
(``server``), every trial on the machine (``machine``), or nothing by itself (``beside``)."""

MACHINE_FORMATS = frozenset(
    {"hardware-topology", "hf-config", "nccl-tests", "collective-csv", "mlperf-system", "mlperf-measurement"}
)
_PARTS: Mapping[str, Part] = {
    **dict.fromkeys(
        (
            *("vllm-bench-serve", "vllm-bench-wrapper", "sglang-bench-serving", "guidellm", "genai-perf", "aiperf"),
            *("aiperf-records", "trtllm-bench", "mlperf-summary", "inferencex", "inferencex-experiment"),
            *("llm-d-report", "inference-perf", "serving-console"),
        ),
        "load",
    ),
    **dict.fromkeys(
        (
            *("gpu-stats", "nvidia-smi", "amd-smi", "dcgm", "aiperf-telemetry", "vllm-metrics", "node-exporter"),
            *("nvidia-dmon", "amd-smi-text", "sglang-metrics"),
            "collective-trace",
        ),
        "telemetry",
    ),
    **dict.fromkeys(("vllm-log", "sglang-log", "nccl-ras"), "server"),
    **dict.fromkeys(MACHINE_FORMATS, "machine"),
    **dict.fromkeys(("vllm-bench-offline", "sglang-one-batch", "prediction"), "beside"),
}
"""What the runs of every format feed. Micro-benchmarks and offline runs stand beside until a person moves them."""

DEGREES = ("tp", "pp", "ep", "dp", "cp", "dcp")
Degrees = tuple[tuple[str, tuple[int, ...]], ...]
"""Of every instance, by its name, the degrees in the order of ``DEGREES``."""

_HINT = re.compile(r"(?<![a-z])(tp|pp|ep|dp|cp|dcp)[-_=]?([1-9][0-9]{0,3})(?![a-z0-9])")
_RUN_LABELS = ("label",)
LEAST_FIGURES = 5
"""Measured figures below which two runs may be alike by chance."""


@dataclass(frozen=True)
class RunFacts:
    """One run with its id and file."""

    id: str
    file: DraftFile
    run: ReadRun

    @property
    def part(self) -> Part:
        """What the run feeds by default."""
        return _PARTS.get(self.file.format, "beside")

    @cached_property
    def _plain(self) -> dict[str, ReadValue]:
        """The first value of every name that the tool itself measured or stated."""
        found: dict[str, ReadValue] = {}
        for value in self.run.values:
            if value.standing in ("measured", "stated"):
                found.setdefault(value.name, value)
        return found

    def value(self, name: str) -> ReadValue | None:
        """Return the first value of a name that is no hint and no prediction."""
        return self._plain.get(name)

    @cached_property
    def degrees(self) -> Degrees | None:
        """The degrees that the tool states; one that it leaves out counts as 1 here, and only here."""
        stated: dict[str, dict[str, int]] = {}
        for value in self.run.values:
            usable = value.standing in ("measured", "stated") and type(value.value) is int
            if usable and value.name in DEGREES:
                stated.setdefault(value.of, {})[value.name] = int(value.value)
        complete = {of: degrees for of, degrees in stated.items() if "tp" in degrees}
        if not complete:
            return None
        return tuple((of, tuple(complete[of].get(name, 1) for name in DEGREES)) for of in sorted(complete))

    @cached_property
    def hints(self) -> dict[str, int]:
        """Degrees that the file's name or a label says, which prove nothing."""
        labels = [str(value.value) for value in self.run.values if value.name in _RUN_LABELS]
        found: dict[str, int] = {}
        for text in (self.file.name, *labels):
            for name, degree in _HINT.findall(text.lower()):
                found.setdefault(name, int(degree))
        return found

    @cached_property
    def interval(self) -> tuple[str, str] | None:
        """First start and last end in UTC, where the run says both; times of one form are ordered as text."""
        starts, ends = (
            [value.value for value in self.run.values if value.name == name and _is_time(value.value)]
            for name in ("started_at", "ended_at")
        )
        return (min(map(str, starts)), max(map(str, ends))) if starts and ends else None

    @cached_property
    def local_interval(self) -> tuple[str, str] | None:
        """When the run ran by a clock whose zone the file does not say: of a load the end, of samples the start."""
        local = next((value for value in self.run.values if value.name == "local_time"), None)
        if local is None:
            return None
        if self.part == "load":
            length = self.value("duration_s")
            return None if length is None else span_before(str(local.value), length.value)
        samples, spacing = self.value("samples"), self.value("sample_interval_s")
        if samples is None or spacing is None or not isinstance(samples.value, int):
            return None
        return span_from(str(local.value), max(0, samples.value - 1) * float(spacing.value))

    @cached_property
    def order(self) -> tuple[str, str]:
        """What repeats are numbered by: when the run began as far as it says, then its id."""
        local = self.value("local_time")
        began = self.interval[0] if self.interval else "" if local is None else str(local.value)
        return (re.sub("[^0-9]", "", began)[:14], self.id)

    def meets(self, other: "RunFacts") -> bool:
        """Say whether two runs share more than a moment, by UTC or else by the clocks of their files."""
        for one, two in ((self.interval, other.interval), (self.local_interval, other.local_interval)):
            if one is not None and two is not None:
                return one[0] < two[1] and two[0] < one[1]
        return False

    @cached_property
    def devices(self) -> int | None:
        """How many devices the run saw or counts."""
        value = self.value("devices")
        return value.value if value is not None and type(value.value) is int else None


def facts_of(run: str, file: DraftFile, read: ReadRun) -> RunFacts:
    """Return the facts of a run."""
    return RunFacts(id=run, file=file, run=read)


def figures(run: ReadRun) -> Hashable | None:
    """Return what makes two runs the same one, None where a run measured too little to tell."""
    measured = frozenset((value.name, value.of, value.value) for value in run.values if value.standing == "measured")
    began = tuple(value.value for value in run.values if value.name == "local_time")
    return (measured, began) if len(measured) >= LEAST_FIGURES else None


def _is_time(value: object) -> bool:
    return isinstance(value, str) and parsed_time(value) is not None
