"""Writes foreign text into Markdown so that it is shown as it is: no mark, tag, link or line begins in it."""

import re
from collections.abc import Iterator, Sequence

__all__ = ["bullets", "plain", "table"]

_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+.!|~&^$@]|(?<![^\W_])-|-(?![^\W_])|:(?=//))")


def plain(text: object) -> str:
    """Return text as Markdown shows it unchanged, on one line; signs that nobody sees are written by their number.

    A hyphen inside of a word marks nothing.
    """
    line = " ".join(str(text).split())
    seen = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in line)
    return _MARKS.sub(r"\\\1", seen)


def bullets(lines: Sequence[str], none: str) -> Iterator[str]:
    """Yield a list of lines that are Markdown already, or a sentence where there are none."""
    yield from (f"* {line}" for line in lines)
    if not lines:
        yield none
    yield ""


def table(head: Sequence[str], rows: Sequence[Sequence[object]], none: str) -> Iterator[str]:
    """Yield a table of foreign text, or a sentence where it has no rows."""
    if not rows:
        yield from (none, "")
        return
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows)
    yield ""
