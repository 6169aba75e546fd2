"""``topogate hypotheses``: questions about estimates in, one JSON answer a line out.

Input is JSON Lines: ``inputs`` and what is asked for (``quantity``, or ``formula`` as text); a line with ``models``
adds shapes for the lines after it. One JSON document with ``models`` and ``goldens`` or ``questions`` (a list of such
lines) is read as well. A line that cannot be read gets an answer that says so, and the rest goes on.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from planner.command.base import Command, Exit, UnreadableInputError, input_bytes, json_line
from planner.errors import DocumentRefusedError
from planner.hypotheses.asks import Answerer
from planner.shown import shown
from planner.strict_json import MAX_BYTES, parse

LISTS = ("goldens", "questions")


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="JSON Lines; - is standard input")


def _run(arguments: Namespace) -> int:
    raw = input_bytes(arguments.file)
    if len(raw) > MAX_BYTES:
        raise UnreadableInputError(arguments.file, "more", expected=f"at most {MAX_BYTES} bytes")
    answerer = Answerer()
    readable = True
    for number, ask in _asks(raw):
        if isinstance(ask, dict):
            print(json_line(answerer.answer(ask)))
        else:
            readable = False
            print(json_line({"line": number, "constraint": "unreadable", "error": ask}))
    return Exit.OK if readable else Exit.BAD_INPUT


def _asks(raw: bytes) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield every question with its number from 1, or what is wrong with it as text."""
    document = _document(raw)
    if document is None:
        for number, line in enumerate(raw.split(b"\n"), start=1):
            if line.strip():
                yield number, _line(line)
        return
    listed = next(name for name in LISTS if name in document)
    if "models" in document:
        yield 0, {"models": document["models"]}
    for number, ask in enumerate(document[listed], start=1):
        yield number, ask if isinstance(ask, dict) else f"a question is an object; found {shown(ask)}"


def _document(raw: bytes) -> dict[str, Any] | None:
    """Return the one document that holds a list of questions, None where the bytes are lines."""
    try:
        found = parse(raw)
    except DocumentRefusedError:
        return None
    if isinstance(found, dict) and any(isinstance(found.get(name), list) for name in LISTS):
        return found
    return None


def _line(line: bytes) -> dict[str, Any] | str:
    try:
        ask = parse(line)
    except DocumentRefusedError as refused:
        return str(refused)
    return ask if isinstance(ask, dict) else f"a line is an object; found {shown(ask)}"


COMMAND = Command(
    id="hypotheses",
    help="answer what a shape lets one expect (bytes, times), one JSON line each; never a measurement",
    configure=_configure,
    run=_run,
)
