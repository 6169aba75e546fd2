"""Regular expressions of module names (``re:...`` of compressed-tensors) as globs.

Only what such lists use is read: letters, digits, ``_`` and ``-``, an escaped dot, ``.*``, alternatives in one or more
brackets, ``^`` and ``$``. Anything else is not translated, and never compiled: a list is input, and an expression can
be made to run for ever.
"""

import re
from itertools import product

__all__ = ["globs_of"]

EXPRESSION = "re:"
MOST_GLOBS = 64
"""Globs that one expression may stand for."""

_TOKEN = re.compile(r"\.\*|\\\.|[A-Za-z0-9_-]+|\([A-Za-z0-9_|-]+\)")


def globs_of(pattern: str) -> tuple[str, ...] | None:
    """Return the globs that match what a pattern matches, a plain one as it is; None where it is not understood.

    An expression matches from the start of a name, and up to any place in it unless it ends with ``$``.
    """
    if not pattern.startswith(EXPRESSION):
        return (pattern,)
    text = pattern.removeprefix(EXPRESSION).removeprefix("^")
    tail = "" if text.endswith("$") else "*"
    text = text.removesuffix("$")
    parts: list[tuple[str, ...]] = []
    count, at = 1, 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        parts.append(_alternatives(token[0]))
        count *= len(parts[-1])
        if count > MOST_GLOBS:
            return None
        at = token.end()
    return tuple(dict.fromkeys("".join(chosen) + tail for chosen in product(*parts)))


def _alternatives(text: str) -> tuple[str, ...]:
    if text == ".*":
        return ("*",)
    if text.startswith("("):
        return tuple(text[1:-1].split("|"))
    return (text.removeprefix("\\"),)
