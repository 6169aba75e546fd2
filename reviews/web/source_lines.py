"""Where a JSON pointer stands in a document's text: the line, and the lines around it.

Works on text that may be broken: it reads tokens as far as they make sense and never raises. Nothing is judged here.
"""

import re
from dataclasses import dataclass

MAX_BYTES = 2 * 2**20
"""Documents above this size get no excerpt: reading tokens takes too long for a page."""
AROUND = 1
MAX_LINE = 160
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a document."""

    number: int
    text: str
    is_bad: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line with its neighbours."""

    line: int
    lines: tuple[SourceLine, ...]


def unescaped(part: str) -> str:
    """Read one part of a JSON pointer."""
    return part.replace("~1", "/").replace("~0", "~")


class Walker:
    """Follows JSON tokens and knows the path of each; broken text gives wrong paths, never an error."""

    def __init__(self) -> None:
        self.path: list[str | int] = []
        self.at_key = False

    def feed(self, word: str) -> tuple[str, ...] | None:
        """Take a token; return its path where a key or a value starts."""
        if word in "}]":
            self.path = self.path[:-1]
            return None
        if word in ",:":
            self._step(word)
            return None
        if self.at_key:
            self.path[-1] = word.strip('"')
        here = tuple(str(part) for part in self.path)
        if word in "{[":
            self.path.append("" if word == "{" else 0)
            self.at_key = word == "{"
        return here

    def _step(self, word: str) -> None:
        last = self.path[-1] if self.path else None
        if word == ":":
            self.at_key = False
        elif isinstance(last, int):
            self.path[-1] = last + 1
        else:
            self.at_key = last is not None


def line_of(text: str, pointer: str) -> int | None:
    """Return the line (from 1) where a pointer's key or value starts, or its nearest parent that is there."""
    wanted = tuple(unescaped(part) for part in pointer.split("/")[1:])
    walker = Walker()
    best, depth = None, 0
    for token in TOKEN.finditer(text):
        here = walker.feed(token.group())
        if here is not None and len(here) > depth and here == wanted[: len(here)]:
            best, depth = token.start(), len(here)
            if depth == len(wanted):
                break
    return None if best is None else text.count("\n", 0, best) + 1


def excerpt(data: bytes, pointer: str, line: int | None) -> Excerpt | None:
    """Return the place of a problem; ``line`` where the bytes themselves are at fault. None where it is not known."""
    if len(data) > MAX_BYTES:
        return None
    text = data.decode("utf-8", "replace")
    at = line if line else line_of(text, pointer) if pointer else None
    if at is None:
        return None
    lines = text.split("\n")
    if not 0 < at <= len(lines):
        return None
    first, last = max(1, at - AROUND), min(len(lines), at + AROUND)
    return Excerpt(
        at, tuple(SourceLine(number, lines[number - 1][:MAX_LINE], number == at) for number in range(first, last + 1))
    )
