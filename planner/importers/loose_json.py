"""JSON as tools write it: several values in one file, NaN and infinities, keys twice; bounded all the same.

Unlike ``planner.strict_json`` this is for files that become suggestions, never for documents that are stored. A value
that is no finite number stays a float that is not finite, and whoever takes it has to say what it means. Of a key
that stands twice with different values neither is kept. Refused: more than 64 MiB or 8,000,000 values in one value,
nesting deeper than 64, and text that is not JSON, with line and column.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from planner.errors import DocumentRefusedError, Problem
from planner.importers.scrubbed import found
from planner.strict_json import MAX_BYTES, MAX_DEPTH, MAX_VALUES

__all__ = ["JsonDocument", "json_documents"]

MAX_DIGITS = 400

_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)')
_BRACKETS = re.compile(r"[\[\]{}]")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_SPACE = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """One JSON value of a file, the line it starts at, and the keys dropped because they contradict themselves."""

    tree: Any
    line: int
    dropped: tuple[str, ...] = ()


def json_documents(lines: Iterator[tuple[int, str]]) -> Iterator[JsonDocument]:
    """Yield the values one after the other as soon as each is complete; memory holds one of them.

    Raises:
        DocumentRefusedError: what comes next is not JSON, cut, or beyond a limit.
    """
    pending: list[str] = []
    start = size = depth = 0
    for number, line in lines:
        if not pending:
            if not line.strip():
                continue
            start, size, depth = number, 0, 0
        pending.append(line)
        size += len(line)
        if size > MAX_BYTES:
            _refuse("import/size", f"at most {MAX_BYTES:,} characters in one value", "more", start)
        depth = _depth_after(line, depth, number)
        if depth <= 0:
            yield from _values("".join(pending), start)
            pending = []
    if pending:
        yield from _values("".join(pending), start)


def _depth_after(line: str, depth: int, number: int) -> int:
    for bracket in _BRACKETS.finditer(_STRING.sub("", line) if '"' in line else line):
        depth += _STEPS[bracket[0]]
        if depth > MAX_DEPTH:
            _refuse("import/depth", f"nesting of at most {MAX_DEPTH}", "deeper nesting", number)
    return depth


def _values(text: str, start: int) -> Iterator[JsonDocument]:
    if text.count(",") > MAX_VALUES:
        _refuse("import/size", f"at most {MAX_VALUES:,} values", "more", start)
    dropped: list[str] = []

    def pairs_read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) != len(pairs):
            for key, value in pairs:
                if key in read and repr(read[key]) != repr(value):
                    dropped.append(key)
                    del read[key]
        return read

    decoder = json.JSONDecoder(object_pairs_hook=pairs_read, parse_int=_whole, strict=False)
    position = 0
    while (position := _after_space(text, position)) < len(text):
        line = start + text.count("\n", 0, position)
        try:
            tree, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            here = error.doc[error.pos : error.pos + 20]
            what = found(here) if here else "the end of the file"
            _refuse("import/syntax", "JSON", what, start + error.lineno - 1, error.colno)
        yield JsonDocument(tree, line, tuple(dropped))
        dropped.clear()


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _whole(text: str) -> int | float:
    return int(text) if len(text) <= MAX_DIGITS else float("nan")


def _refuse(code: str, expected: str, what: str, line: int, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, what, line, column),))
