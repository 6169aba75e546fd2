"""The place in a file that a value came from: its lines, or the node of a JSON pointer, with what stands around. Pure.

Files are those of tools: of any size, not always JSON. Lines are looked for in a stream; a pointer is followed only in
a JSON value that a page can hold.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reviews.web.document_lines import DocumentLine, place_of

AROUND = 6
MOST_CHARACTERS = 400
MOST_JSON_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Lines around a place; ``found`` says whether the place is there."""

    lines: tuple[DocumentLine, ...]
    found: bool
    note: str


def place_in_file(blocks: Iterable[bytes], *, line: int | None, pointer: str) -> FilePlace:
    """Return what stands at a place; the file's beginning where none is asked for."""
    if pointer:
        shown = _node(blocks, line or 1, pointer)
        return shown or FilePlace((), False, f"{pointer} is not in a JSON value that a page can show.")
    return _lines(blocks, line)


def _node(blocks: Iterable[bytes], line: int, pointer: str) -> FilePlace | None:
    text = _from_line(blocks, line)
    if text is None:
        return None
    try:
        start = len(text) - len(text.lstrip())
        _, end = json.JSONDecoder().raw_decode(text, start)
        place = place_of(text[start:end].encode(), pointer)
    except (ValueError, RecursionError):
        return None
    note = "" if not place.absent else f"{pointer} leads to nothing; shown is {place.at or 'the whole value'}."
    return FilePlace(place.lines, not place.absent, note)


def _from_line(blocks: Iterable[bytes], line: int) -> str | None:
    """Return the file from a line on as text; None where it is too large for a page."""
    kept: list[bytes] = []
    size = 0
    for number, raw in _numbered(blocks):
        if number >= line:
            kept.append(raw)
            size += len(raw)
        if size > MOST_JSON_BYTES:
            return None
    return b"".join(kept).decode("utf-8", "replace").removeprefix("\ufeff")


def _lines(blocks: Iterable[bytes], line: int | None) -> FilePlace:
    first = max(1, (line or 1) - AROUND)
    last = (line or 2 * AROUND) + AROUND
    shown: list[DocumentLine] = []
    for number, raw in _numbered(blocks):
        if number > last:
            break
        if number >= first:
            shown.append(DocumentLine(number=number, text=_shown(raw), is_marked=number == line))
    found = line is None or any(one.number == line for one in shown)
    return FilePlace(tuple(shown), found, "" if found else f"The file has no line {line:,}.")


def _shown(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
    return "".join(sign if sign.isprintable() or sign == "\t" else "\N{REPLACEMENT CHARACTER}" for sign in cut)


def _numbered(blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of every line of a file that comes in blocks."""
    number, pending = 1, b""
    for block in blocks:
        *whole, pending = (pending + block).split(b"\n")
        for raw in whole:
            yield number, raw + b"\n"
            number += 1
    if pending:
        yield number, pending
