"""Bytes of a text that a tool printed, as clean numbered lines.

Rules kept: UTF-8, or UTF-16 with its byte-order mark (a redirect of a Windows shell), with bytes of another code only
around what is read; colours and other terminal escapes go, also where a paste lost their first character; of a line
that was overwritten by carriage returns the last state stays; prefixes of launchers, quotes, logs and environment
reports go, as do the bars of tables. Line numbers are those of the file.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from planner.errors import DocumentRefusedError, Problem

__all__ = ["MAX_BYTES", "MAX_PROBLEMS", "Line", "clean_lines", "decoded", "refuse"]

MAX_BYTES = 2 * 2**20
"""Far above any topology with the log around it; bounds the time of the readers."""
MAX_PROBLEMS = 1000
"""Nobody reads more; a reader may stop as soon as there are."""

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a title
    r"|(?:\x1b|\u241b|\^\[)\[[0-?]*[ -/]*[@-~]"  # a control sequence, also as editors and `cat -v` show it
    r"|\x1b[ -/]*[0-~]"  # a short one
    r"|\[(?:[0-9]{1,3}(?:;[0-9]{1,3})*)?m"  # a colour that lost its escape character
    r"|[\u200b-\u200f\u2060\ufeff]"  # marks of no width
)
_PREFIX = re.compile(
    r"\s*(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}\S*\s)?"  # the time in a log
    r"\s*(?:(?:>\s?|#\s+|\[[0-9]+,[0-9]+\]<std(?:out|err)>:|[0-9]+:\s)\s*)*"  # quotes, comments, launchers
    r"(?:(?:GPU|NVIDIA|AMD|ROCm) [Tt]opology\s*:)?"  # reports of an environment
    r"(?:(?!GPU[0-9]|NIC[0-9])[\w.-]{1,64}:\s+(?=(?:GPU|NIC|mlx[0-9]_)[0-9]+\s))?"  # a host, from a parallel shell
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line by its number from 1, without escapes and prefixes."""

    number: int
    text: str


def refuse(code: str, expected: str, found: str, line: int | None = None, column: int | None = None) -> NoReturn:
    """Refuse the file for this one problem."""
    raise DocumentRefusedError((Problem(code, "", expected, found, line, column),))


def decoded(raw: bytes) -> str:
    """Return the text without a byte-order mark; a byte that is no text becomes U+FFFD, which no cell has.

    Raises:
        DocumentRefusedError: too large.
    """
    if len(raw) > MAX_BYTES:
        refuse("hardware/size", f"at most {MAX_BYTES:,} bytes", f"{len(raw):,} bytes")
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if wide else "utf-8-sig", "replace")


def clean_lines(text: str) -> Iterator[Line]:
    """Yield the lines; a text with carriage returns only is one of lines, too."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    for number, line in enumerate(text.split("\n"), start=1):
        shown = line.rstrip("\r").rsplit("\r", 1)[-1]
        if "\x1b" in shown or "[" in shown or not shown.isascii():
            shown = _ESCAPES.sub("", shown)
        prefix = _PREFIX.match(shown)
        clean = shown[prefix.end() :] if prefix else shown
        # Cells of a table of a page are parted by bars; no tool has bars of its own inside a cell.
        yield Line(number, clean.replace("|", " ") if clean.startswith("|") else clean)
