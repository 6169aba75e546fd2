"""Where in the text a JSON pointer leads: line and column, so that a person finds the field.

Only used once a document is refused, and only up to a size, because it reads the text a second time.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from planner.errors import Problem
from planner.pointers import child

__all__ = ["with_places"]

MAX_LENGTH = 4 * 2**20
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def with_places(problems: Iterable[Problem], text: str) -> tuple[Problem, ...]:
    """Return the problems in the order of the text, with line and column (from 1) where it is short enough.

    A member's place is its key; the place of a missing field is the object that lacks it.
    """
    listed = tuple(problems)
    if len(text) > MAX_LENGTH:
        return listed
    offsets = {"": 0}
    wanted = {pointer for problem in listed for pointer in (problem.pointer, _parent(problem.pointer))}
    for pointer, offset in _values(text):
        if pointer in wanted:
            offsets.setdefault(pointer, offset)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    placed = sorted(((_offset(problem.pointer, offsets), problem) for problem in listed), key=lambda pair: pair[0])
    return tuple(_placed(problem, offset, starts) for offset, problem in placed)


def _placed(problem: Problem, offset: int, starts: list[int]) -> Problem:
    line = bisect_right(starts, offset)
    return replace(problem, line=line, column=offset - starts[line - 1] + 1)


def _offset(pointer: str, offsets: dict[str, int]) -> int:
    while pointer not in offsets:
        pointer = _parent(pointer)
    return offsets[pointer]


def _parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def _values(text: str) -> Iterator[tuple[str, int]]:
    """Yield the pointer and offset of every member and element of a text that is known to be JSON."""
    containers: list[tuple[str, bool]] = []  # pointer, and whether it is an object
    index: list[int] = []
    key: str | None = None
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "}]":
            containers.pop()
            index.pop()
        elif mark in ":,":
            continue
        elif containers and containers[-1][1] and key is None:
            key = json.loads(mark)
            yield child(containers[-1][0], key), token.start()
        else:
            here = _here(containers, index, key)
            if key is None:
                yield here, token.start()
            key = None
            if mark in "{[":
                containers.append((here, mark == "{"))
                index.append(0)


def _here(containers: list[tuple[str, bool]], index: list[int], key: str | None) -> str:
    if not containers:
        return ""
    if key is not None:
        return child(containers[-1][0], key)
    index[-1] += 1
    return child(containers[-1][0], index[-1] - 1)
