"""Log lines of inference servers: process, rank, message; and settings as engines print them."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Protocol

import msgspec

from planner.importers.model import Place, Run, Standing
from planner.importers.scrubbed import last_part
from planner.importers.sheet import Sheet
from planner.importers.source import Source
from planner.importers.spelling import spelled

__all__ = [
    "LogLine",
    "ServerStart",
    "log_lines",
    "number_in",
    "put_model",
    "put_once",
    "put_text_once",
    "setting",
    "starts",
]

MAX_MESSAGE = 64 * 2**10
"""Settings of an engine take a tenth of it; texts of requests may be longer."""

MAX_PREFIXES = 3
"""Collectors and launchers put the name of their process before that of the worker."""

_COLLECTOR = re.compile(r"(?:[\w.-]{1,64}\s+\|\s)?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[0-9.,:+Z-]{0,20}\s+)?")
_PROCESS = re.compile(
    r"\((?P<name>[A-Za-z][A-Za-z0-9_]{0,63})(?: rank=(?P<rank>[0-9]{1,6}))?"
    r"(?: pid=[0-9]{1,12}(?:, ip=[0-9a-f.:]{1,45})?)?\)\s?"
)
_HEAD = re.compile(
    r"(?:(?P<level>[A-Z]{4,8})\s+)?"
    r"(?P<time>(?:[0-9]{4}-)?[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,][0-9]+)?\s+"
    r"(?:\[?[\w.]+\.py:[0-9]+\]\s?)?"
)
_SGLANG = re.compile(
    r"\[(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(?P<name>(?: [A-Z]{2,3}[0-9]{1,4}){0,4})\]\s?"
)


class LogLine(msgspec.Struct, frozen=True):
    """One line: its number, the process that wrote it ("" where none is named), local time, and what it says."""

    number: int
    process: str
    level: str
    time: str
    message: str

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(line=self.number)


def log_lines(source: Source) -> Iterator[LogLine]:
    """Yield the lines of a log; text of several lines has no time and an empty level.

    Left out is what makes most of a log under load: answers of the web server, and bars of progress.
    """
    for number, line in source.console():
        if ' HTTP/1.1" ' in line or "%|" in line:
            continue
        process, level, time, rest = _parted(line[:MAX_MESSAGE])
        yield LogLine(number, process, level, time, rest.strip())


class ServerStart(Protocol):
    """What one start of a server printed, while it is read."""

    number: int

    def repeats(self, line: LogLine) -> bool:
        """Say whether a line begins another start."""

    def take(self, line: LogLine) -> None:
        """Read one line."""

    def finished(self, name: str) -> Run:
        """Return the run; ``name`` is the file's."""


def starts(source: Source, begun: Callable[[int, int], ServerStart]) -> Iterator[Run]:
    """Yield a run for every start of a server in a log; ``begun`` makes one of its number and first line."""
    start = begun(1, 1)
    for line in log_lines(source):
        if start.repeats(line):
            yield start.finished(source.name)
            start = begun(start.number + 1, line.number)
        start.take(line)
    yield start.finished(source.name)


def _parted(line: str) -> tuple[str, str, str, str]:
    """Return process, level, time and the rest of a line."""
    process = level = time = ""
    collected = _COLLECTOR.match(line)
    rest = line[collected.end() :] if collected else line
    sglang = _SGLANG.match(rest)
    if sglang:
        return sglang["name"].strip(), "", sglang["time"], rest[sglang.end() :]
    for _ in range(MAX_PREFIXES):
        named = _PROCESS.match(rest)
        if named is None:
            break
        process = named["name"] + (f"_RANK{named['rank']}" if named["rank"] else "")
        rest = rest[named.end() :]
    head = _HEAD.match(rest)
    if head:
        level, time = head["level"] or "", head["time"]
        rest = rest[head.end() :]
    return process, level, time, rest


def number_in(text: str) -> int | float | None:
    """Return a number with separators of thousands."""
    plain = text.replace(",", "")
    try:
        return int(plain) if plain.isdecimal() else float(plain)
    except ValueError:
        return None


def setting(text: str, key: str) -> str | None:
    """Return what ``key=value`` or ``'key': value`` says, without quotes; None where it is absent or ``None``."""
    found = _setting(key).search(text) if key in text else None
    if found is None:
        return None
    value = next((group for group in found.groups() if group is not None), "")
    return None if value in ("", "None") else value


@cache
def _setting(key: str) -> re.Pattern[str]:
    value = r"(?:'([^']{0,4096})'|\"([^\"]{0,4096})\"|([^\s,()}\]]{1,4096}))"
    return re.compile(rf"(?<![\w.-])'?{re.escape(key)}'?\s{{0,80}}[=:]\s{{0,80}}{value}")


def put_once(
    sheet: Sheet,
    name: str,
    text: str | int | float,
    line: LogLine,
    *,
    unit: str | None = None,
    of: str = "",
    standing: Standing = "measured",
) -> None:
    """Take a number; another one for the same thing later in the run holds it, the first stays."""
    value = number_in(text) if isinstance(text, str) else text
    if value is None:
        return
    before = sheet.value(name, of)
    if before is None:
        sheet.put(name, value, line.place, unit=unit, of=of, standing=standing)
        return
    probe = Sheet("", {})
    if probe.put(name, value, line.place, unit=unit) != before:
        sheet.remark("import/contradiction", f"{name} is {before} first and {text} later", line.place, "held")


def put_text_once(sheet: Sheet, name: str, text: str | None, line: LogLine, *, of: str = "") -> None:
    """Take a text that the engine states; another one later in the run holds it."""
    if text is None:
        return
    before = sheet.value(name, of)
    if before is None:
        sheet.put_text(name, text, line.place, of=of)
    elif before != spelled(name, text):
        sheet.remark("import/contradiction", f"{name} is {before} first and another later", line.place, "held")


def put_model(sheet: Sheet, path: str | None, line: LogLine) -> None:
    """Take the name of the model; of a path on a machine its last part."""
    if path is None or sheet.value("model_name") is not None:
        return
    name = last_part(path)
    kept = sheet.put_text("model_name", name, line.place)
    if name != path:
        sheet.remark("import/local_path", f"model_name is a path on a machine; its last part, {kept}, is taken")
