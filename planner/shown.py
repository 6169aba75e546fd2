"""A found value as a message shows it: short, on one line, with nothing in it that a page or terminal acts on."""

import json
from typing import Any

__all__ = ["printable", "shown"]

MAX_LENGTH = 80


def shown(value: Any, *, quote: bool = True) -> str:
    """Return the value in at most 80 characters; what does not print is written as an escape.

    ``quote=False`` leaves text without quotes, for literals that are no JSON text.
    """
    if isinstance(value, str):
        text = _escaped(value[: MAX_LENGTH + 1], also='"\\')
        return _clipped(f'"{text}"' if quote else text)
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "an array" if value else "an empty array"
    return _clipped(json.dumps(value))


def printable(text: str) -> str:
    """Return the whole text, such as the name of a file, on one line; what does not print is written as an escape."""
    return _escaped(text, also="")


def _escaped(text: str, *, also: str) -> str:
    return "".join(
        character if character.isprintable() and character not in also else json.dumps(character)[1:-1]
        for character in text
    )


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"
