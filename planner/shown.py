"""A found value as a message shows it: short, on one line, with nothing in it that a page or terminal acts on."""

import json
from typing import Any

__all__ = ["shown"]

MAX_LENGTH = 80


def shown(value: Any, *, quote: bool = True) -> str:
    """Return the value in at most 80 characters; what does not print is written as an escape.

    ``quote=False`` leaves text without quotes, for literals that are no JSON text.
    """
    if isinstance(value, str):
        text = _escaped(value[: MAX_LENGTH + 1])
        return _clipped(f'"{text}"' if quote else text)
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "an array" if value else "an empty array"
    return _clipped(json.dumps(value))


def _escaped(text: str) -> str:
    return "".join(
        character if character.isprintable() and character not in '"\\' else json.dumps(character)[1:-1]
        for character in text
    )


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"
