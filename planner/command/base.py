"""What a subcommand is, and what all of them share: exit codes, reading files, printing problems.

Results go to stdout, messages to stderr. A subcommand is one module with one ``Command``; adding it is that module
and its name in ``planner.command.MODULES``.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, BinaryIO

from planner.errors import PlannerError, Problem
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
    "print_refused",
    "problem_json",
    "problem_lines",
]


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

    def __init__(self, name: str, found: str, *, expected: str = "a file that can be read") -> None:
        super().__init__(f"{name}: expected {expected}, found {found}")
        self.problem = Problem("file/unreadable", "", expected, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One subcommand: ``configure`` adds its arguments, ``run`` does it and returns the exit code."""

    id: str
    help: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]


def add_format(parser: ArgumentParser) -> None:
    """Add ``--format text|json``."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the result is printed")


def input_file(name: str) -> AbstractContextManager[BinaryIO]:
    """Open a file to read, standard input for ``-``.

    Raises:
        UnreadableInputError: there is nothing to read.
    """
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return open(name, "rb")
    except OSError as error:
        raise UnreadableInputError(name, _found(error)) from error
    except ValueError as error:  # a NUL in the name
        raise UnreadableInputError(repr(name), "a name that no file has") from error


def input_bytes(name: str) -> bytes:
    """Return the bytes of a file, of standard input for ``-``; no more than one byte over the size limit.

    Raises:
        UnreadableInputError: there is nothing to read.
    """
    with input_file(name) as file:
        try:
            return file.read(MAX_BYTES + 1)
        except OSError as error:
            raise UnreadableInputError(name, _found(error)) from error


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
    return {name: value for name, value in asdict(problem).items() if value is not None}


def problem_lines(name: str, problems: tuple[Problem, ...]) -> str:
    """Write one line per problem, as compilers do: place, pointer, what was expected and found, code."""
    return "\n".join(
        f"{name}:{_place(problem)} {problem.pointer or 'document'}: expected {problem.expected}, "
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
