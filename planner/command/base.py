"""What a subcommand is, and what all of them share: exit codes, reading files, printing problems.

Results go to stdout, messages to stderr. A subcommand is one module with one ``Command``; adding it is that module
and its name in ``planner.command.MODULES``.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, BinaryIO, TypeVar

from planner.errors import DocumentRefusedError, PlannerError, Problem
from planner.shown import printable
from planner.strict_json import MAX_BYTES

__all__ = [
    "Command",
    "Exit",
    "Refused",
    "UnreadableInputError",
    "add_format",
    "input_bytes",
    "input_file",
    "json_line",
    "opened",
    "print_refused",
    "problem_json",
    "problem_lines",
    "reading_of",
]


T = TypeVar("T")

Refused = dict[str, tuple[Problem, ...]]
"""What is wrong, by file."""


class Exit(IntEnum):
    """Exit codes of every subcommand."""

    OK = 0
    NO = 1
    BAD_INPUT = 2
    NONE_ELIGIBLE = 3
    INCONCLUSIVE = 4
    REFUSED = 5
    NOT_REACHED = 6


class UnreadableInputError(PlannerError):
    """What ``name`` on the command line leads to cannot be read; ``found`` says what is there instead."""

    def __init__(
        self, name: str, found: str, *, expected: str = "a file that can be read", code: str = "file/unreadable"
    ) -> None:
        super().__init__(f"{printable(name)}: expected {expected}, found {found}")
        self.problem = Problem(code, "", expected, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One subcommand: ``configure`` adds its arguments, ``run`` does it and returns the exit code."""

    id: str
    help: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]


def add_format(parser: ArgumentParser, *, default: str = "text") -> None:
    """Add ``--format text|json``."""
    parser.add_argument("--format", choices=("text", "json"), default=default, help="how the result is printed")


def input_file(name: str) -> BinaryIO:
    """Open a file to read, standard input for ``-``; that is closed as well, for there is nothing left in it.

    Raises:
        UnreadableInputError: there is nothing to read.
    """
    if name == "-":
        stdin = sys.stdin
        if stdin is None:
            raise UnreadableInputError(name, "a standard input that is closed")
        if stdin.closed:
            raise UnreadableInputError(name, "standard input again, which was read already")
        return stdin.buffer
    try:
        return open(name, "rb")
    except OSError as error:
        raise UnreadableInputError(name, _found(error)) from error
    except ValueError as error:  # a NUL in the name
        raise UnreadableInputError(repr(name), "a name that no file has") from error


def reading_of(name: str, read: Callable[[int], bytes], most: int) -> bytes:
    """Return what ``read``, a method of the open file ``name``, gives when asked for ``most`` bytes.

    Raises:
        UnreadableInputError: reading fails.
    """
    try:
        return read(most)
    except OSError as error:
        raise UnreadableInputError(name, _found(error)) from error


def input_bytes(name: str) -> bytes:
    """Return the bytes of a file, of standard input for ``-``.

    Raises:
        UnreadableInputError: there is nothing to read, or more than a document may hold. Nothing is told of a part of
            a file: its digests would be those of no file.
    """
    with input_file(name) as file:
        raw = reading_of(name, file.read, MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise UnreadableInputError(name, "more", expected=f"at most {MAX_BYTES:,} bytes", code="json/size")
    return raw


def opened(read: Callable[[bytes], T], name: str, refused: Refused) -> T | None:
    """Return what ``read`` makes of a file, or None with what is wrong added to ``refused``."""
    try:
        return read(input_bytes(name))
    except DocumentRefusedError as error:
        problems = error.problems
    except UnreadableInputError as error:
        problems = (error.problem,)
    # The same file may have been given twice and be refused as two kinds of document.
    refused[name] = tuple(dict.fromkeys((*refused.get(name, ()), *problems)))
    return None


def _found(error: OSError) -> str:
    for kind, found in (
        (FileNotFoundError, "no such file"),
        (IsADirectoryError, "a directory"),
        (PermissionError, "one without permission to read it"),
    ):
        if isinstance(error, kind):
            return found
    return f"an error: {(error.strerror or str(error)).lower()}"


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as JSON shows it: line and column only where they are known."""
    return {name: value for name, value in asdict(problem).items() if value is not None and name != "is_lacking"}


def problem_lines(name: str, problems: tuple[Problem, ...]) -> str:
    """Write one line per problem, as compilers do: place, pointer, what was expected and found, code."""
    return "\n".join(
        f"{printable(name)}:{_place(problem)} {printable(problem.pointer) or 'document'}: expected {problem.expected}, "
        f"found {problem.found} [{problem.code}]"
        for problem in problems
    )


def print_refused(refused: Refused, form: str) -> None:
    """Print the problems of files: as JSON to stdout, as lines for people to stderr."""
    for name, problems in refused.items():
        if form == "json":
            print(json_line({"file": name, "ok": False, "problems": [problem_json(problem) for problem in problems]}))
        else:
            print(problem_lines(name, problems), file=sys.stderr)


def _place(problem: Problem) -> str:
    known = [str(number) for number in (problem.line, problem.column) if number is not None]
    return "".join(f"{number}:" for number in known)


def json_line(value: Any) -> str:
    """Write a result as one line of JSON."""
    return json.dumps(value)
