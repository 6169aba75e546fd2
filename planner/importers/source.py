"""A file to be imported: its bytes as lines, JSON values, YAML or rows, each read in a stream where it can be.

Recognition looks at ``head`` and ``first`` only; ``name`` is for messages and for what contradicts the content, and no
format is told by it. Limits: 1 GiB a file, 64 MiB a line of JSON, 1 MiB a line of text, 8 MiB of YAML.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, BinaryIO, NoReturn

from planner.errors import DocumentRefusedError, Problem
from planner.importers.loose_json import JsonDocument, json_documents
from planner.importers.loose_yaml import yaml_tree
from planner.importers.packing import unpacked
from planner.strict_json import MAX_BYTES

__all__ = ["Source"]

HEAD_BYTES = 64 * 2**10
MAX_TEXT_LINE = 2**20
MAX_YAML_BYTES = 8 * 2**20
_BLOCK = 2**18

_BOM = b"\xef\xbb\xbf"
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
_JSON_LINE = re.compile(rb"\n(?=[{\[])")


class Source:
    """One file; ``handle`` is open, can be sought in, and stays the caller's to close.

    ``before`` is an earlier file of the same kind, such as the scrape before a load: where both are of one server,
    counters are read as the difference.

    Whatever is asked of it first raises DocumentRefusedError for a file that cannot be unpacked.
    """

    def __init__(self, name: str, handle: BinaryIO, *, before: "Source | None" = None) -> None:
        self.name = name
        self.before = before
        self._given = handle
        self._skipped = (0, 0)
        self._begun: Iterator[JsonDocument] | None = None
        self.refused: tuple[Problem, ...] = ()
        """Why the first JSON value was not read, where it was begun."""

    def check(self) -> None:
        """Raise DocumentRefusedError for bytes that no importer takes: too many, none, packed, or not text."""
        if not self._start.strip():
            _refuse("import/format", "a result file of a tool", "nothing")
        if b"\0" in self._start:
            _refuse("import/encoding", "UTF-8 text", "NUL bytes")

    @cached_property
    def _handle(self) -> BinaryIO:
        return unpacked(self._given)

    @cached_property
    def size(self) -> int:
        """The bytes of the file, unpacked."""
        return self._handle.seek(0, io.SEEK_END)

    @cached_property
    def _start(self) -> bytes:
        self._handle.seek(0)
        return self._handle.read(HEAD_BYTES)

    @cached_property
    def head(self) -> str:
        """The first 64 KiB as text without ANSI sequences; a cut character or wrong byte is U+FFFD."""
        return _plain(self._start.removeprefix(_BOM).decode("utf-8", "replace"))

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The cells of the first line that is not empty, as of a table; none where the file is JSON."""
        if self.first is not None:
            return ()
        return tuple(cell.strip() for cell in self.head.lstrip().partition("\n")[0].split(","))

    @cached_property
    def first(self) -> Any:
        """The first JSON value of the file, None where it does not start with an object or array that can be read."""
        if not self._start.removeprefix(_BOM)[self._skipped[0] :].lstrip().startswith((b"{", b"[")):
            return None
        documents = self.documents()
        try:
            document = next(documents, None)
        except DocumentRefusedError as refused:
            self.refused = refused.problems
            return None
        if document is None:
            return None
        # A large value is read once: whoever asks for the values next goes on from here.
        self._begun = chain((document,), documents)
        return document.tree

    def after_text(self) -> "Source | None":
        """Return the file from its first line on that starts a JSON value, below what a console showed before it.

        None where there is no such line among the first 64 KiB.
        """
        line = _JSON_LINE.search(self._start, self._skipped[0])
        if line is None:
            return None
        below = Source(self.name, self._handle)
        below._skipped = (line.end(), self._start.count(b"\n", 0, line.end()))
        return below

    @property
    def skipped_lines(self) -> int:
        """How many lines stand above what is read."""
        return self._skipped[1]

    @cached_property
    def yaml(self) -> Any:
        """The file as one YAML value, None where it is none that is read (see ``planner.importers.loose_yaml``)."""
        if self.size > MAX_YAML_BYTES:
            return None
        try:
            return yaml_tree(self.text())
        except DocumentRefusedError:
            return None

    def report(self, *keys: str) -> Any:
        """Return the file as one value: JSON, or YAML where a line of its head starts with a key; None else."""
        if self.first is not None:
            return self.first
        head = self.head
        return self.yaml if any(head.startswith(f"{key}:") or f"\n{key}:" in head for key in keys) else None

    def has(self, *words: str) -> bool:
        """Say whether one of some words stands in the head of a file that is no JSON."""
        return self.first is None and any(word in self.head for word in words)

    def shows(self, words: Iterable[str], pattern: re.Pattern[str]) -> bool:
        """Say whether a pattern stands in a line of the head of a file that is no JSON.

        Every such line has one of ``words``, which are looked for first: few lines have one.
        """
        if self.first is not None:
            return False
        return any(pattern.search(self.head, *line) for word in words for line in _lines_with(self.head, word))

    def lines(self, longest: int = MAX_TEXT_LINE) -> Iterator[tuple[int, str]]:
        """Yield number and text of every line, the line feed kept.

        Raises:
            DocumentRefusedError: a line is longer than ``longest`` bytes or is not UTF-8.
        """
        for number, block in self._blocks(longest):
            yield from enumerate(io.StringIO(block, newline="\n"), number)

    def _blocks(self, longest: int) -> Iterator[tuple[int, str]]:
        """Yield the number of its first line and the text of every block of whole lines."""
        offset, number = self._skipped[0], self._skipped[1] + 1
        parts: list[bytes] = []
        # Several readers may take turns (recognition, then reading), so each keeps its own place.
        while self._handle.seek(offset) == offset and (raw := self._handle.read(_BLOCK)):
            offset += len(raw)
            end = raw.rfind(b"\n") + 1
            if not end:
                parts.append(raw)
                if sum(map(len, parts)) > longest:
                    _refuse("import/line_length", f"at most {longest:,} bytes in a line", "more", number)
                continue
            block = b"".join((*parts, raw[:end]))
            parts = [raw[end:]]
            yield from _decoded(block, number, longest)
            number += block.count(b"\n")
        if any(parts):
            yield from _decoded(b"".join(parts), number, longest)

    def documents(self) -> Iterator[JsonDocument]:
        """Yield the JSON values of the file in a stream (see ``planner.importers.loose_json``)."""
        begun, self._begun = self._begun, None
        return begun or json_documents(self._blocks(MAX_BYTES))

    def console(self) -> Iterator[tuple[int, str]]:
        """Yield lines as a terminal shows them: without ANSI sequences, only what stands after the last return."""
        for number, block in self._blocks(MAX_TEXT_LINE):
            lines = _plain(block).removesuffix("\n").split("\n")
            if "\r" in block:
                lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
            yield from enumerate(lines, number)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of every row of a CSV file; a blank line is a row without cells."""
        reader = csv.reader(line for _, line in self.lines())
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                _refuse("import/syntax", "rows of comma-separated values", str(error), line)
            if row is None:
                return
            yield line, row if len(row) != 1 or row[0].strip() else []

    def text(self) -> str:
        """Return the whole file; DocumentRefusedError above 64 MiB or where it is not UTF-8."""
        if self.size > MAX_BYTES:
            _refuse("import/size", f"at most {MAX_BYTES:,} bytes", f"{self.size:,} bytes")
        return "".join(block for _, block in self._blocks(MAX_BYTES))

    def raw(self) -> bytes:
        """Return the bytes of a file of at most 64 MiB without a byte-order mark, of a larger one a byte more."""
        self._handle.seek(self._skipped[0])
        return self._handle.read(MAX_BYTES + 1).removeprefix(_BOM)


def _lines_with(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield where each line that has a word begins and ends."""
    end = 0
    while (found := text.find(word, end)) >= 0:
        start, end = text.rfind("\n", 0, found) + 1, text.find("\n", found)
        end = len(text) if end < 0 else end
        yield start, end


def _plain(text: str) -> str:
    return _ANSI.sub("", text) if "\x1b" in text else text


def _decoded(block: bytes, number: int, longest: int) -> Iterator[tuple[int, str]]:
    """Yield whole lines as one text with the number of the first; of damaged ones what stands above the damage."""
    if len(block) > longest and (start := _long_line(block, longest)) is not None:
        yield from _decoded(block[:start], number, longest) if start else ()
        line = number + block.count(b"\n", 0, start)
        _refuse("import/line_length", f"at most {longest:,} bytes in a line", "more", line)
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        start = block.rfind(b"\n", 0, error.start) + 1
        yield from _decoded(block[:start], number, longest) if start else ()
        column = len(block[start : error.start].decode("utf-8")) + 1
        line = number + block.count(b"\n", 0, start)
        _refuse("import/encoding", "UTF-8", f"byte 0x{block[error.start]:02x}", line, column)
    yield number, text.removeprefix("\ufeff") if number == 1 else text


def _long_line(block: bytes, longest: int) -> int | None:
    """Return where the first line begins that is too long."""
    start = 0
    for line in block.split(b"\n"):
        if len(line) >= longest:
            return start
        start += len(line) + 1
    return None


def _refuse(code: str, expected: str, found: str, line: int | None = None, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, found, line, column),))
