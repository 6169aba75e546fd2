"""Characters that no text of a document may hold, in values and in keys.

NUL cannot be stored in PostgreSQL; bidirectional controls make text read otherwise than it is compared; other
controls act on a terminal. Tab, line feed and carriage return are allowed. Not handled: letters of other scripts
that look alike; identifiers are ASCII by pattern (``planner.intake.likeness``).
"""

import re
from collections.abc import Iterator
from typing import Any

from planner.errors import Problem
from planner.pointers import child
from planner.shown import shown

__all__ = ["text_problems"]

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_REFUSED = re.compile(f"[{_BIDI}{_CONTROLS}]")
_IS_BIDI = re.compile(f"[{_BIDI}]")


def text_problems(tree: Any, raw: bytes) -> Iterator[Problem]:
    """Yield a problem for every key and text of ``tree`` (read from ``raw``) with a refused character."""
    if _may_hold(raw):
        yield from _walk(tree, "")


def _may_hold(raw: bytes) -> bool:
    """Say whether JSON text can hold one of the characters: as an escape, or as bytes from DEL up."""
    return b"\\" in raw or b"\x7f" in raw or not raw.isascii()


def _walk(value: Any, pointer: str) -> Iterator[Problem]:
    if type(value) is str:
        yield from _text(value, pointer)
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from _walk(item, child(pointer, index))
    elif type(value) is dict:
        for key, item in value.items():
            here = child(pointer, key)
            yield from _text(key, here)
            yield from _walk(item, here)


def _text(text: str, pointer: str) -> Iterator[Problem]:
    found = _REFUSED.search(text)
    if not found:
        return
    if found[0] == "\x00":
        yield Problem("document/nul", pointer, "text without NUL", shown(text))
    elif _IS_BIDI.match(found[0]):
        yield Problem("document/bidi_control", pointer, "text without bidirectional controls", shown(text))
    else:
        yield Problem("document/control_character", pointer, "text without control characters", shown(text))
