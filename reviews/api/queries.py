"""Reads the query of an address: only parameters that the view names, each once, all that is wrong at once."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import QueryDict

from planner.whole_numbers import whole_number
from reviews.errors import Finding, InvalidRequestError, is_readable
from reviews.models import DecisionState

Reader = Callable[[str], Any]
"""Text of a parameter in, its value out; raises ValueError whose text says what was expected."""

TEXT_LENGTH = 200
DIGEST_LENGTH = len("sha256:") + 64
MOST_ROWS = 100
MOST_PAGES = 999_999


def integer(lowest: int, highest: int) -> Reader:
    """Take a whole number in decimal digits."""

    def read(text: str) -> int:
        found = whole_number(text)
        if found is None or not lowest <= found <= highest:
            raise ValueError(f"a whole number from {lowest} to {highest}")
        return found

    return read


def printable(text: str) -> str:
    """Take text as documents may hold it: a slot that can be decided can be asked for."""
    if len(text) > TEXT_LENGTH or not is_readable(text):
        raise ValueError(f"at most {TEXT_LENGTH} printable characters")
    return text


def state(text: str) -> str:
    """Take a state of a decision."""
    if text not in DecisionState.values:
        raise ValueError(f"one of {', '.join(DecisionState.values)}")
    return text


def one_of(*names: str) -> Reader:
    """Take one of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return text

    return read


def digest(text: str) -> str:
    """Take a whole digest."""
    hexes = text.removeprefix("sha256:")
    if len(text) != DIGEST_LENGTH or len(hexes) != 64 or not set(hexes) <= set("0123456789abcdef"):
        raise ValueError("sha256: and 64 hexadecimal digits")
    return text


def named_slot(query: QueryDict) -> str:
    """Return the slot that a query names, which may name nothing else.

    Raises:
        InvalidRequestError: it names none, or more than a slot.
    """
    found = read_query(query, {"slot": printable})
    if "slot" not in found:
        raise InvalidRequestError((no_slot(),))
    return str(found["slot"])


def no_slot() -> Finding:
    """Say that a slot has to be named."""
    return Finding("request", "request/slot", "slot", "the slot that is asked about", "nothing")


BEFORE = integer(0, 999_999_999)
PAGING: Mapping[str, Reader] = {"before": BEFORE, "limit": integer(1, MOST_ROWS)}


def read_query(query: QueryDict, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Return the values of the parameters that are given.

    Raises:
        InvalidRequestError: with every parameter that is unknown, repeated or wrong.
    """
    problems, values = [], {}
    for name in sorted(query):
        given = query.getlist(name)
        try:
            if name not in readers:
                raise ValueError(f"one of {', '.join(sorted(readers)) or 'no parameters'}")
            if len(given) > 1:
                raise ValueError("one value")
            values[name] = readers[name](given[0])
        except ValueError as wrong:
            found = f"{len(given)} values" if len(given) > 1 else (given[0][:80] if name in readers else "another")
            problems.append(Finding("request", "request/query", name[:80], str(wrong), found or "nothing"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return values
