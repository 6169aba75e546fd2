"""How much a draft may hold; a person's set of files for one decision is far smaller."""

from collections.abc import Container
from dataclasses import replace
from functools import cache
from itertools import chain, count
from typing import Any

import msgspec

from planner.errors import DocumentRefusedError, Problem
from planner.intake.shape import shape_problems
from planner.intake.texts import text_problems

__all__ = [
    "MAX_ANSWERS",
    "MAX_FILES",
    "MAX_RUNS",
    "MAX_TRIALS",
    "MAX_VALUES",
    "MAX_WINDOWS",
    "check",
    "check_files",
    "free_id",
    "numbered",
    "refuse",
]

MAX_FILES = 200
MAX_RUNS = 5_000
MAX_VALUES = 100_000
"""So many values, written out, stay below the 64 MiB that a document may have."""
MAX_TRIALS = 100
MAX_WINDOWS = 1_000
"""Windows of a draft, over all its trials."""
MAX_ANSWERS = 20_000
MAX_NUMBERED = 58
"""Characters of an id that are left before a dash and a number, of the 64 that it may have."""


def refuse(code: str, pointer: str, expected: str, found: str) -> DocumentRefusedError:
    """Return the error of a change that is not made."""
    return DocumentRefusedError((Problem(code, pointer, expected, found),))


def free_id(name: str, taken: Container[str]) -> str:
    """Return an id that is not taken: the name itself, or with the least number from 2 on, cut to the length of ids."""
    return next(own for own in chain((name,), (numbered(name, at) for at in count(2))) if own not in taken)


def numbered(name: str, number: int) -> str:
    """Return an id with a number behind it."""
    return f"{name[:MAX_NUMBERED]}-{number}"


def check_files(files: int, runs: int, values: int) -> None:
    """Refuse more than a draft holds.

    Raises:
        DocumentRefusedError: with every limit that is exceeded.
    """
    problems = tuple(
        Problem("builder/limit", "/files", f"at most {most:,} {what} in a draft", f"{found:,}")
        for what, most, found in (
            ("files", MAX_FILES, files),
            ("runs", MAX_RUNS, runs),
            ("values", MAX_VALUES, values),
        )
        if found > most
    )
    if problems:
        raise DocumentRefusedError(problems)


def check(*values: tuple[str, Any, Any]) -> None:
    """Refuse values that are not of their type; each is (pointer, value, type).

    Raises:
        DocumentRefusedError: with every problem.
    """
    problems: list[Problem] = []
    for pointer, value, kind in values:
        tree = {"value": value}
        found = [*shape_problems(tree, _holder(kind))]
        # A reason is text of a person: what no document may hold is refused here as well.
        found += text_problems(tree, b"\\") if isinstance(value, str) else ()
        problems += [replace(problem, pointer=pointer) for problem in found]
    if problems:
        raise DocumentRefusedError(tuple(problems))


@cache
def _holder(kind: Any) -> type[msgspec.Struct]:
    return msgspec.defstruct("Holder", [("value", kind)], kw_only=True)
