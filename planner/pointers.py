"""JSON pointers (RFC 6901)."""

import re
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["child", "is_below", "joined", "place_of", "steps"]

_PLACE = re.compile(r"0|[1-9][0-9]{0,8}")


def child(pointer: str, step: str | int) -> str:
    """Return the pointer of a member or element of what ``pointer`` names; lone surrogates become U+FFFD."""
    if isinstance(step, int):
        return f"{pointer}/{step}"
    escaped = step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step
    if not escaped.isascii():
        escaped = escaped.encode("utf-8", "replace").decode("utf-8")
    return f"{pointer}/{escaped}"


def steps(pointer: str) -> tuple[str, ...]:
    """Return the members that a pointer names, from the whole document down; none for text that is no pointer."""
    if not pointer.startswith("/"):
        return ()
    if "~" not in pointer:
        return tuple(pointer.split("/")[1:])
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def is_below(pointer: str, *above: str) -> bool:
    """Say whether a pointer is one of others, or names something inside of what one of them names."""
    return any(pointer == one or pointer.startswith(f"{one}/") for one in above)


def place_of(step: str, length: int = 10**9) -> int | None:
    """Return the place that a step names in an array of so many items; None where it names none of them."""
    place = int(step) if _PLACE.fullmatch(step) else length
    return place if place < length else None


def joined(path: Iterable[str | int]) -> str:
    """Return the pointer of what a path from the whole document leads to."""
    return "".join([f"/{step}" if isinstance(step, int) or _is_plain(step) else child("", step) for step in path])


@lru_cache(maxsize=4096)
def _is_plain(step: str) -> bool:
    """Say whether a step is written as it is; most are, and the same few stand in very many pointers."""
    return "~" not in step and "/" not in step and step.isascii()
