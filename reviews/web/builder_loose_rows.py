"""Rows of what is still loose in a draft: differences to the contract, values without a place, open points. Pure.

Rules kept: what is the same of several trials or files is said once, and names all of them.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from planner.builder import DraftState
from planner.builder.pointing import ANY
from planner.builder.state import Difference, OpenPoint
from planner.pointers import joined, steps
from reviews.web.builder_texts import shown_json, shown_value
from reviews.web.formats import listed

__all__ = ["DifferenceRow", "OpenRow", "UnplacedRow", "difference_rows", "open_rows", "unplaced_rows"]

MOST_ROWS = 50
MOST_NAMED = 6
ASKED = "builder/unanswered"
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """A value of what ran that is not the contract's; ``own`` is that one as JSON, where only the spelling differs."""

    trials: str
    field: str
    expected: str
    found: str
    own: str


def difference_rows(state: DraftState) -> tuple[DifferenceRow, ...]:
    """Make rows of what ran otherwise than the contract says; of all trials alike it is one row with ``*``."""
    names = {one.trial for one in state.coverage}
    rows: list[DifferenceRow] = []
    for same in _alike((_difference_key(one), one) for one in state.differences):
        trials = [one.trial for one in same]
        if len(same) > 1 and set(trials) == names:
            path = steps(same[0].field)
            rows.append(_difference(same[0], "every trial", joined((path[0], ANY, *path[2:]))))
        else:
            rows += [_difference(one, one.trial, one.field) for one in same]
    return tuple(rows)


def _difference_key(one: Difference) -> tuple[Any, ...]:
    return (steps(one.field)[2:], shown_json(one.expected), shown_json(one.found))


def _difference(one: Difference, trials: str, field: str) -> DifferenceRow:
    return DifferenceRow(
        trials=trials,
        field=field,
        expected=shown_value(one.expected),
        found=shown_value(one.found),
        own=shown_json(one.expected) if one.spelling else "",
    )


@dataclass(frozen=True, slots=True)
class UnplacedRow:
    """Values that have a field in the document and no place there yet, with the files and trials that they are of."""

    trials: str
    files: str
    names: str
    sentence: str


def unplaced_rows(state: DraftState) -> tuple[UnplacedRow, ...]:
    """Make rows of what has no place yet, the first ones."""
    found = _alike(((one.names, one.sentence), one) for one in state.unplaced)
    return tuple(
        UnplacedRow(
            _named(one.trial for one in same),
            _named(one.file for one in same),
            listed(list(same[0].names[:MOST_NAMED])),
            same[0].sentence,
        )
        for same in found[:MOST_ROWS]
    )


@dataclass(frozen=True, slots=True)
class OpenRow:
    """What keeps the document from being made: of which trials and windows, and whether a question asks for it."""

    sentence: str
    of: str
    field: str
    is_asked: bool


def open_rows(state: DraftState) -> tuple[OpenRow, ...]:
    """Make rows of what keeps the document from being made, the first ones."""
    found = _alike(((one.code, one.sentence), one) for one in state.open)
    return tuple(
        OpenRow(same[0].sentence, _named(_of(one) for one in same), same[0].field, same[0].code == ASKED)
        for same in found[:MOST_ROWS]
    )


def _of(point: OpenPoint) -> str:
    path = steps(point.field)
    if path[:1] not in (("trials",), ("identities",)):
        return ""
    return " · ".join((*path[1:2], *(path[3:4] if path[2:3] == ("windows",) else ())))


def _alike(found: Iterable[tuple[K, T]]) -> list[list[T]]:
    """Put what has the same key together, in the order in which keys come first."""
    together: dict[K, list[T]] = {}
    for key, one in found:
        together.setdefault(key, []).append(one)
    return list(together.values())


def _named(words: Iterable[str]) -> str:
    """Name each once, the first few, and say how many more there are."""
    each = [word for word in dict.fromkeys(words) if word]
    more = len(each) - MOST_NAMED
    return f"{', '.join(each[:MOST_NAMED])} and {more} more" if more > 0 else listed(each)
