"""A file to be imported: its bytes as lines, JSON values, YAML or rows, each read in a stream where it can be.

Recognition looks at ``head`` and ``first`` only; ``name`` is for messages and for what contradicts the content, and no
format is told by it. Limits: 1 GiB a file, 64 MiB a line of JSON, 1 MiB a line of text, 8 MiB of YAML.
"""

import csv
import io
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any, BinaryIO, NoReturn

from planner.errors import DocumentRefusedError, Problem
from planner.importers.loose_json import JsonDocument, json_documents
from planner.importers.loose_yaml import yaml_tree
from planner.strict_json import MAX_BYTES

__all__ = ["HEAD_BYTES", "Source"]

HEAD_BYTES = 64 * 2**10
MAX_FILE_BYTES = 2**30
MAX_TEXT_LINE = 2**20
MAX_YAML_BYTES = 8 * 2**20

_BOM = b"\xef\xbb\xbf"
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]")
_BINARY = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"SQLite": "a database",
    b"PAR1": "a Parquet file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
}


class Source:
    """One file; ``handle`` is open, can be sought in, and stays the caller's to close."""

    def __init__(self, name: str, handle: BinaryIO) -> None:
        self.name = name
        self._handle = handle
        handle.seek(0)
        self._start = handle.read(HEAD_BYTES)
        self.size = handle.seek(0, io.SEEK_END)
        self._begun: Iterator[JsonDocument] | None = None

    def check(self) -> None:
        """Raise DocumentRefusedError for bytes that no importer takes: too many, none, or not text."""
        if self.size > MAX_FILE_BYTES:
            _refuse("import/size", f"at most {MAX_FILE_BYTES:,} bytes", f"{self.size:,} bytes")
        if not self._start.strip():
            _refuse("import/format", "a result file of a tool", "nothing")
        for magic, found in _BINARY.items():
            if self._start.startswith(magic):
                _refuse("import/encoding", "UTF-8 text", found)
        if b"\0" in self._start:
            _refuse("import/encoding", "UTF-8 text", "NUL bytes")

    @cached_property
    def head(self) -> str:
        """The first 64 KiB as text without ANSI sequences; a cut character or wrong byte is U+FFFD."""
        return _ANSI.sub("", self._start.removeprefix(_BOM).decode("utf-8", "replace"))

    @cached_property
    def first(self) -> Any:
        """The first JSON value of the file, None where it does not start with an object or array that can be read."""
        if not self.head.lstrip().startswith(("{", "[")):
            return None
        documents = self.documents()
        try:
            document = next(documents, None)
        except DocumentRefusedError:
            return None
        if document is None:
            return None
        # A large value is read once: whoever asks for the values next goes on from here.
        self._begun = chain((document,), documents)
        return document.tree

    @cached_property
    def yaml(self) -> Any:
        """The file as one YAML value, None where it is none that is read (see ``planner.importers.loose_yaml``)."""
        if self.size > MAX_YAML_BYTES:
            return None
        try:
            return yaml_tree(self.text())
        except DocumentRefusedError:
            return None

    def lines(self, longest: int = MAX_TEXT_LINE) -> Iterator[tuple[int, str]]:
        """Yield number and text of every line, the line feed kept.

        Raises:
            DocumentRefusedError: a line is longer than ``longest`` bytes or is not UTF-8.
        """
        offset = 0
        number = 0
        while True:
            # Several readers may take turns (recognition, then reading), so each keeps its own place.
            self._handle.seek(offset)
            raw = self._handle.readline(longest + 1)
            if not raw:
                return
            offset += len(raw)
            number += 1
            if len(raw) > longest:
                _refuse("import/line_length", f"at most {longest:,} bytes in a line", "more", number)
            if number == 1:
                raw = raw.removeprefix(_BOM)
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                column = len(raw[: error.start].decode("utf-8", "replace")) + 1
                _refuse("import/encoding", "UTF-8", f"byte 0x{raw[error.start]:02x}", number, column)
            del raw  # a line of 64 MiB is not kept twice
            yield number, text

    def documents(self) -> Iterator[JsonDocument]:
        """Yield the JSON values of the file in a stream (see ``planner.importers.loose_json``)."""
        begun, self._begun = self._begun, None
        return begun or json_documents(self.lines(MAX_BYTES))

    def console(self) -> Iterator[tuple[int, str]]:
        """Yield lines as a terminal shows them: without ANSI sequences, only what stands after the last return."""
        for number, line in self.lines():
            shown = _ANSI.sub("", line).rstrip("\r\n")
            yield number, shown.rpartition("\r")[2]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of every row of a CSV file, empty rows included."""
        reader = csv.reader(line for _, line in self.lines())
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                _refuse("import/syntax", "rows of comma-separated values", str(error), line)
            if row is None:
                return
            yield line, row

    def text(self) -> str:
        """Return the whole file; DocumentRefusedError above 64 MiB or where it is not UTF-8."""
        if self.size > MAX_BYTES:
            _refuse("import/size", f"at most {MAX_BYTES:,} bytes", f"{self.size:,} bytes")
        return "".join(line for _, line in self.lines(MAX_BYTES))

    def raw(self) -> bytes:
        """Return the bytes of a file of at most 64 MiB, of a larger one a byte more than that."""
        self._handle.seek(0)
        return self._handle.read(MAX_BYTES + 1)


def _refuse(code: str, expected: str, found: str, line: int | None = None, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, found, line, column),))
