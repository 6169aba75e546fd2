"""JSON as tools write it: several values in one file, NaN and infinities, keys twice; bounded all the same.

Unlike ``planner.strict_json`` this is for files that become suggestions, never for documents that are stored. A value
that is no finite number stays a float that is not finite, and whoever takes it has to say what it means. Of a key
that stands twice with different values neither is kept. Refused: more than 64 MiB in one value, one that would take
more than 224 MiB of memory once it is read, nesting deeper than 64, and text that is not JSON, with line and column.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from planner.errors import DocumentRefusedError, Problem
from planner.importers.scrubbed import found
from planner.strict_json import MAX_BYTES, MAX_DEPTH, nesting

__all__ = ["JsonDocument", "json_documents"]

MAX_DIGITS = 400
MAX_MEMORY = 224 * 2**20
SMALL = 2**20
"""Text up to this length stays far within the memory, whatever is in it."""
BYTES_OF = {"{": 200, "[": 88, ",": 64}
"""What an object, an array, and a value with its place in either take beside the text."""
LONGEST_WORD = len("-Infinity")
"""What a cut may leave of a word that JSON, or a tool, has beside text and numbers."""

_SPACE = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """One JSON value of a file, the line it starts at, and the keys dropped because they contradict themselves."""

    tree: Any
    line: int
    dropped: tuple[str, ...] = ()


def json_documents(blocks: Iterable[tuple[int, str]]) -> Iterator[JsonDocument]:
    """Yield the values one after the other as soon as each is complete; memory holds one of them.

    ``blocks`` are whole lines with the number of the first, one or many at a time.

    Raises:
        DocumentRefusedError: what comes next is not JSON, cut, or beyond a limit.
    """
    reader = _Reader()
    for number, block in blocks:
        yield from reader.read(number, block)
    yield from reader.rest()


class _Reader:
    """Decodes as far as there is text. A value that is not complete is tried again once its text has doubled."""

    def __init__(self) -> None:
        self._pending: list[str] = []
        self._size = 0
        self._enough = 0
        self._line = 1
        self._dropped: list[str] = []
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_int=_whole, strict=False)

    def read(self, number: int, block: str) -> Iterator[JsonDocument]:
        """Yield the values that a further block completes."""
        if not self._pending:
            self._line = number
        self._pending.append(block)
        self._size += len(block)
        if self._size > MAX_BYTES + len(block):
            _refuse("import/size", f"at most {MAX_BYTES:,} characters in one value", "more", self._line)
        if self._size >= self._enough:
            yield from self._values(is_last=False)

    def rest(self) -> Iterator[JsonDocument]:
        """Yield the values that the end of the file completes."""
        return self._values(is_last=True)

    def _values(self, *, is_last: bool) -> Iterator[JsonDocument]:
        text, position = "".join(self._pending), 0
        self._pending = []
        while (start := _after_space(text, position)) < len(text):
            self._line += text.count("\n", position, start)
            self._dropped = []
            try:
                tree, position = self._decode(text, start)
            except json.JSONDecodeError as error:
                if is_last or not _is_cut(error):
                    self._refuse_syntax(text, start, error)
                self._keep(text[start:])
                return
            yield JsonDocument(tree, self._line, tuple(self._dropped))
            self._line += text.count("\n", start, position)
        self._keep("")

    def _keep(self, rest: str) -> None:
        self._pending = [rest] if rest else []
        self._size, self._enough = len(rest), 2 * len(rest)

    def _decode(self, text: str, start: int) -> tuple[Any, int]:
        """Return a value and where it ends.

        Raises:
            json.JSONDecodeError: there is none, or not all of it.
            DocumentRefusedError: it is beyond a limit.
        """
        if len(text) - start > SMALL and (needed := _memory(text, start)) > MAX_MEMORY:
            most = f"a value of at most {MAX_MEMORY >> 20} MiB of memory once it is read"
            _refuse("import/size", most, f"about {needed >> 20:,} MiB; cut it into one value a line", self._line)
        try:
            tree, end = self._decoder.raw_decode(text, start)
        except RecursionError:
            _refuse_depth(self._line)
        # Counting brackets is fastest, but takes many times the size of the text.
        if _is_deep(tree) if end - start > SMALL else _opens_deep(text[start:end]):
            _refuse_depth(self._line)
        return tree, end

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) != len(pairs):
            for key, value in pairs:
                if key in read and repr(read[key]) != repr(value):
                    self._dropped.append(key)
                    del read[key]
        return read

    def _refuse_syntax(self, text: str, start: int, error: json.JSONDecodeError) -> NoReturn:
        # What is deep and cut, or deep and wrong, is told by its beginning: all of it would take many times its size.
        if _opens_deep(text[start : start + SMALL]):
            _refuse_depth(self._line)
        here = text[error.pos : error.pos + 20]
        line = self._line + text.count("\n", start, error.pos)
        _refuse("import/syntax", "JSON", found(here) if here else "the end of the file", line, error.colno)


def _memory(text: str, start: int) -> int:
    """Return about how many bytes the values of a text take by its brackets and commas, and the text itself."""
    return sum(size * text.count(sign, start) for sign, size in BYTES_OF.items()) + len(text) - start


def _is_cut(error: json.JSONDecodeError) -> bool:
    """Say whether more text may mend the error: it stands at the end, or in a text that does not end."""
    return error.pos + LONGEST_WORD >= len(error.doc) or error.msg.startswith("Unterminated string")


def _is_deep(tree: Any) -> bool:
    """Say whether a value is nested deeper than 64, a level at a time: memory holds the containers of two levels."""
    level = [tree] if isinstance(tree, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            child
            for value in level
            for child in (value.values() if type(value) is dict else value)
            if type(child) is dict or type(child) is list
        ]
    return bool(level)


def _opens_deep(text: str) -> bool:
    return text.count("[") + text.count("{") > MAX_DEPTH and nesting(text.encode("utf-8", "replace")) > MAX_DEPTH


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _whole(text: str) -> int | float:
    return int(text) if len(text) <= MAX_DIGITS else float("nan")


def _refuse_depth(line: int) -> NoReturn:
    _refuse("import/depth", f"nesting of at most {MAX_DEPTH}", "deeper nesting", line)


def _refuse(code: str, expected: str, what: str, line: int, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, what, line, column),))
