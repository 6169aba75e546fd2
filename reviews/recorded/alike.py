"""Facts that a row and an entry say field by field, in the same words: described once, read on both sides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reviews.clock import utc_text
from reviews.recorded.fact import Fact, Said, picked

OR_NONE = "?"
"""Ends a path whose empty text is what entries write as null."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Where the fields of a fact stand. ``row`` leads to each in the stored row, by dots.

    ``entry`` says which stand in fields of the entry itself; the others stand in its payload under their names. Of
    ``overruled`` the payload may name another than the entry does.
    """

    row: Mapping[str, str]
    entry: Mapping[str, str] = field(default_factory=dict)
    overruled: tuple[str, ...] = ()

    def of_row(self, row: Any) -> Fact:
        """Return what a stored row says."""
        return {name: _at(row, path) for name, path in self.row.items()}

    def of_entry(self, said: Said) -> Iterable[Fact]:
        """Yield what an entry says; a field that its payload does not have is left out."""
        fact: Fact = {name: getattr(said, own) for name, own in self.entry.items()}
        yield fact | picked(said.payload, *(self.row.keys() - self.entry.keys()), *self.overruled)


def _at(row: Any, path: str) -> Any:
    value = row
    for step in path.removesuffix(OR_NONE).split("."):
        value = None if value is None else getattr(value, step)
    if isinstance(value, datetime):
        return utc_text(value)
    return None if value == "" and path.endswith(OR_NONE) else value
