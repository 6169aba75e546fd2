"""``topogate import``: what result files of tools say, one JSON line a file; suggestions, never documents.

Exit codes: 0 every file was read and no run of it is refused as evidence (held ones wait for a person), 2 otherwise.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from io import BytesIO
from typing import Any, BinaryIO

from msgspec.structs import asdict

from planner.command.base import (
    Command,
    Exit,
    UnreadableInputError,
    input_file,
    json_line,
    problem_json,
    problem_lines,
)
from planner.errors import Problem
from planner.importers import IMPORTERS, Imported, Source, import_file
from planner.importers.earlier import Earlier
from planner.importers.model import Asked, Place, Remark, Run, Value
from planner.importers.quantities import quantity
from planner.strict_json import MAX_BYTES

WINDOWED = ("vllm-metrics", "dcgm", "node-exporter")
"""Formats whose counters an earlier scrape of the same server turns into those of a window."""


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="result file of a tool, a folder of them, or - for standard input"
    )
    parser.add_argument(
        "--format",
        choices=[importer.id for importer in IMPORTERS],
        metavar="NAME",
        help="the only format that is looked for: " + ", ".join(importer.id for importer in IMPORTERS),
    )


def _run(arguments: Namespace) -> int:
    accepted = True
    earlier = Earlier()
    scraped: dict[str, str] = {}
    for name in _files(arguments.files):
        imported = earlier.compared(_imported(name, arguments.format, scraped))
        print(json_line(_shown(imported)), flush=True)
        if imported.problems:
            print(problem_lines(name, imported.problems), file=sys.stderr)
        accepted = accepted and imported.status != "refused"
    return Exit.OK if accepted else Exit.BAD_INPUT


def _files(names: Iterable[str]) -> Iterator[str]:
    """Yield the files given, and of every folder those below it in the order of their names, hidden ones left out."""
    for name in names:
        if not os.path.isdir(name):
            yield name
            continue
        empty = True
        for folder, below, files in os.walk(name):
            below[:] = sorted(entry for entry in below if not entry.startswith("."))
            for file in sorted(entry for entry in files if not entry.startswith(".")):
                empty = False
                yield os.path.join(folder, file)
        if empty:
            yield name  # It is named as what cannot be read.


def _imported(name: str, only: str | None, scraped: dict[str, str]) -> Imported:
    """Import a file; ``scraped`` holds the last scrape of every format that has windows, and gets this one."""
    try:
        with input_file(name) as file, ExitStack() as opened:
            handle = file if file.seekable() else kept_pipe(file)
            imported = import_file(Source(name, handle), only=only)
            before = scraped.get(imported.format)
            if before is not None:
                earlier = Source(before, opened.enter_context(input_file(before)))
                imported = import_file(Source(name, handle, before=earlier), only=only)
    except UnreadableInputError as error:
        return Imported(file=name, recognised=False, problems=(error.problem,))
    except OSError as error:
        found = f"an error: {(error.strerror or str(error)).lower()}"
        problem = Problem("file/unreadable", "", "a file that can be read", found)
        return Imported(file=name, recognised=False, problems=(problem,))
    if imported.format in WINDOWED and not imported.problems and name != "-":
        scraped[imported.format] = name
    return imported


def kept_pipe(stream: BinaryIO) -> BytesIO:
    """Return what a pipe holds, which cannot be read twice.

    Raises:
        UnreadableInputError: it holds more than is kept.
    """
    raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        expected = f"at most {MAX_BYTES:,} bytes through a pipe, or the file itself"
        raise UnreadableInputError("a pipe", "more", expected=expected)
    return BytesIO(raw)


def _shown(imported: Imported) -> dict[str, Any]:
    runs = imported.runs
    return {
        "file": imported.file,
        "recognised": imported.recognised,
        "format": imported.format or None,
        "version": imported.version or None,
        "confidence": imported.confidence,
        "status": imported.status,
        "runs": [{"run": run.id, "status": run.status, "place": _place(run.place)} for run in runs],
        "values": [{"run": run.id, **_value(value)} for run in runs for value in run.values],
        "warnings": [{"run": run.id, **_remark(remark)} for run in runs for remark in run.remarks],
        "missing": [_missing(run, name) for run in runs for name in run.missing],
        "asked": [asdict(asked) for asked in _asked(runs)],
        "problems": [problem_json(problem) for problem in imported.problems],
    }


def _value(value: Value) -> dict[str, Any]:
    return {**asdict(value), "place": _place(value.place)}


def _remark(remark: Remark) -> dict[str, Any]:
    return {**asdict(remark), "place": _place(remark.place)}


def _place(place: Place) -> dict[str, Any]:
    return {name: value for name, value in asdict(place).items() if value is not None}


def _missing(run: Run, name: str) -> dict[str, Any]:
    own = quantity(name)
    return {"run": run.id, "name": name, "unit": own.unit, "document": own.document, "field": own.field}


def _asked(runs: Iterable[Run]) -> list[Asked]:
    """Return every question of a file once."""
    return list(dict.fromkeys(asked for run in runs for asked in run.asked))


COMMAND = Command(
    id="import",
    help="read result files of benchmark tools, one JSON line each: values, places, what is missing",
    configure=_configure,
    run=_run,
)
