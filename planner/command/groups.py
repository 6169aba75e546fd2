"""``topogate groups``: questions about process groups in, one JSON answer a line out.

Input is JSON Lines: ``engine``, ``degrees`` in the engine's own words, and ``gpus_per_node``, ``nnodes``,
``orchestrator``, ``world_size`` where they matter. A line that cannot be read gets an answer that says so, and the
rest goes on. Blank lines are passed over. Not handled: anything that is not one line; lines are at most 1 MiB.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any, BinaryIO

from planner.command.base import Command, Exit, input_file, json_line, reading_of
from planner.errors import DocumentRefusedError
from planner.layouts.asks import answer
from planner.shown import shown
from planner.strict_json import parse

__all__ = ["COMMAND", "MAX_LINE_BYTES"]

MAX_LINE_BYTES = 2**20


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="JSON Lines; - is standard input")


def _run(arguments: Namespace) -> int:
    complete = True
    with input_file(arguments.file) as file:
        for number, line in _lines(arguments.file, file):
            found = _answer(line)
            complete = complete and "valid" in found
            print(json_line(found if "valid" in found else {"line": number, **found}))
    return Exit.OK if complete else Exit.BAD_INPUT


def _lines(name: str, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank with its number from 1; of one too long, the first part beyond the limit.

    One too long is yielded blank or not: what follows in it is not read.
    """
    number = 0
    while line := reading_of(name, file.readline, MAX_LINE_BYTES + 1):
        number += 1
        if line.strip() or len(line) > MAX_LINE_BYTES:
            yield number, line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = reading_of(name, file.readline, MAX_LINE_BYTES + 1)


def _answer(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        return {"constraint": "unreadable", "error": f"a line is at most {MAX_LINE_BYTES} bytes"}
    try:
        ask = parse(line)
    except DocumentRefusedError as refused:
        return {"constraint": "unreadable", "error": str(refused)}
    if not isinstance(ask, dict):
        return {"constraint": "unreadable", "error": f"a line is an object; found {shown(ask)}"}
    return answer(ask)


COMMAND = Command(
    id="groups", help="answer which process groups an engine builds, one JSON line each", configure=_configure, run=_run
)
