"""JSON pointers (RFC 6901)."""

from collections.abc import Iterable
from functools import reduce

__all__ = ["child", "joined"]


def child(pointer: str, step: str | int) -> str:
    """Return the pointer of a member or element of what ``pointer`` names; lone surrogates become U+FFFD."""
    if isinstance(step, int):
        return f"{pointer}/{step}"
    escaped = step.replace("~", "~0").replace("/", "~1")
    if not escaped.isascii():
        escaped = escaped.encode("utf-8", "replace").decode("utf-8")
    return f"{pointer}/{escaped}"


def joined(path: Iterable[str | int]) -> str:
    """Return the pointer of what a path from the whole document leads to."""
    return reduce(child, path, "")
