"""What an address says, and links of one page to itself: keep what is asked for, change one thing."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from planner.whole_numbers import whole_number


def number_or_none(text: str) -> int | None:
    """Read a number of an address; anything else is as if it were not there."""
    return whole_number(text)


@dataclass(frozen=True, slots=True)
class Query:
    """The query of a page's address, in order."""

    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, str], *, keep: tuple[str, ...]) -> "Query":
        """Take the named values that are not empty."""
        return cls(tuple((name, values[name]) for name in keep if values.get(name)))

    def get(self, name: str) -> str:
        """Return a value, or an empty text."""
        return dict(self.values).get(name, "")

    def changed(self, **changes: str | int | None) -> "Query":
        """Return the query with the changes made; None takes a value out."""
        values = dict(self.values)
        for name, value in changes.items():
            values.pop(name, None)
            if value is not None:
                values[name] = str(value)
        return Query(tuple(values.items()))

    @property
    def text(self) -> str:
        """The query as it stands in an address, without the question mark."""
        return urlencode(self.values, safe="~/:")

    def link(self, anchor: str = "", **changes: str | int | None) -> str:
        """Return ``?...`` with the changes made; None takes a value out."""
        return f"?{self.changed(**changes).text}{'#' + anchor if anchor else ''}"

    def hidden(self, *without: str) -> tuple[tuple[str, str], ...]:
        """Return what a GET form must carry along, without the fields that it sets itself."""
        return tuple((name, value) for name, value in self.values if name not in without)
