"""``topogate evidence``: from result files of tools to one evidence document, and what a person has to say for it.

Exit codes: 0 the document is made, 2 the contract, the answers, the draft or a file is refused, 4 something is open.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO

import msgspec

from planner.builder import (
    Draft,
    DraftFile,
    add_files,
    assemble,
    draft_bytes,
    new_draft,
    read_draft,
    read_file,
    state_of,
)
from planner.builder.saying import apply_answers, read_answers
from planner.command.base import (
    Command,
    Exit,
    Refused,
    UnreadableInputError,
    input_file,
    json_line,
    opened,
    print_refused,
)
from planner.command.importing import kept_pipe
from planner.command.opening import as_of, utc_time
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError, Problem
from planner.intake import read_contract


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract that the evidence is for")
    parser.add_argument("files", nargs="*", metavar="FILE", help="result file of a tool; - is standard input")
    parser.add_argument(
        "--scrapes",
        nargs=2,
        action="append",
        default=[],
        metavar=("BEFORE", "AFTER"),
        help="two scrapes of one server, read as the window between them; may be given several times",
    )
    parser.add_argument("--answers", metavar="ANSWERS", help="what a person says: answers, decisions, reasons (JSON)")
    parser.add_argument("--continue", dest="begun", metavar="DRAFT", help="draft to go on from")
    parser.add_argument("--draft", metavar="FILE", help="where to keep the draft")
    parser.add_argument("--output", metavar="EVIDENCE", help="where to write the document, once nothing is open")
    parser.add_argument(
        "--as-of", type=utc_time, metavar="TIME", help="judge the age of evidence at this UTC time (default: now)"
    )


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    said = None if arguments.answers is None else opened(read_answers, arguments.answers, refused)
    begun = None if arguments.begun is None else opened(read_draft, arguments.begun, refused)
    pairs = [(name, None) for name in arguments.files]
    for before, after in arguments.scrapes:
        pairs += [(before, None), (after, before)]
    files = [file for name, before in pairs if (file := _file(name, before, refused)) is not None]
    if contract is None or refused:
        print_refused(refused, "text")
        return Exit.BAD_INPUT
    draft = new_draft(contract) if begun is None else begun
    try:
        draft = add_files(draft, contract, files).draft
    except DocumentRefusedError as error:
        print_refused({"files": error.problems}, "text")
        return Exit.BAD_INPUT
    if said is not None:
        try:
            draft = apply_answers(draft, contract, said)
        except DocumentRefusedError as error:
            print_refused({arguments.answers: error.problems}, "text")
            return Exit.BAD_INPUT
    return _told(draft, contract, arguments)


def _file(name: str, before: str | None, refused: Refused) -> DraftFile | None:
    """Read a file; what no importer knows is told of as well, and feeds nothing."""
    try:
        with ExitStack() as held:
            earlier = None if before is None else (before, _seekable(before, held))
            return read_file(name, _seekable(name, held), before=earlier)
    except UnreadableInputError as error:
        problem = error.problem
    except OSError as error:
        problem = Problem("file/unreadable", "", "a file that can be read", (error.strerror or str(error)).lower())
    refused[name] = (problem,)
    return None


def _seekable(name: str, held: ExitStack) -> BinaryIO:
    file = held.enter_context(input_file(name))
    return file if file.seekable() else kept_pipe(file)


def _told(draft: Draft, contract: ContractDocument, arguments: Namespace) -> int:
    state = state_of(draft, contract, as_of(arguments))
    made = assemble(draft, contract)
    if arguments.draft is not None:
        _write(arguments.draft, draft_bytes(draft))
    if made.document and arguments.output is not None:
        _write(arguments.output, made.document)
    print(json_line({**_files(draft), **msgspec.to_builtins(state), "content_id": made.content_id}))
    for point in state.open:
        print(f"{point.field or 'document'}: {point.sentence} [{point.code}]", file=sys.stderr)
    return Exit.OK if state.complete else Exit.INCONCLUSIVE


def _files(draft: Draft) -> dict[str, Any]:
    """Return files and arrangement without the values, which are in the draft."""
    return {
        "contract_content_id": draft.contract_content_id,
        "files": {
            name: {
                "name": file.name,
                "sha256": file.sha256,
                "bytes": file.bytes,
                "recognised": file.recognised,
                "format": file.format or None,
                "runs": len(file.runs),
                "problems": msgspec.to_builtins(file.problems),
            }
            for name, file in draft.files.items()
        },
        "trials": msgspec.to_builtins(draft.trials),
    }


def _write(name: str, raw: bytes) -> None:
    """Write a file whole or not at all: beside it first, then in its place.

    Raises:
        UnreadableInputError: it cannot be written; what stood there before is as it was.
    """
    beside = f"{name}.part"
    try:
        with open(beside, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, name)
    except OSError as error:
        with suppress(OSError):
            os.remove(beside)
        found = (error.strerror or str(error)).lower()
        raise UnreadableInputError(name, found, expected="a file that can be written") from error


COMMAND = Command(
    id="evidence",
    help="build an evidence document from result files of tools, and list what a person has to say",
    configure=_configure,
    run=_run,
)
