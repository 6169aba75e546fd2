"""Pages of rows: which rows an address asks for, and the words and links around them. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from reviews.web.formats import count
from reviews.web.links import Query

__all__ = ["Pager", "first_row", "numbered", "pager"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """Which rows of how many are shown, and the ways to the others; all is empty where one page holds all."""

    text: str = ""
    earlier: str = ""
    later: str = ""


def first_row(page: int | None, total: int, size: int) -> int:
    """Return the place of the first row on a page, which are counted from 1; 0 where there is no such page."""
    start = ((page or 1) - 1) * size
    return start if 0 <= start < total else 0


def pager(start: int, total: int, size: int, what: str, link: Callable[[int], str]) -> Pager:
    """Return the pager of the page whose first row stands at ``start``; ``link`` takes the number of a page.

    ``what`` names one row.
    """
    if total <= size:
        return Pager()
    page, end = start // size + 1, min(start + size, total)
    return Pager(
        text=f"{start + 1:,}–{end:,} of {count(total, what)}",
        earlier=link(page - 1) if start else "",
        later=link(page + 1) if end < total else "",
    )


def numbered(page: int, pages: int, query: Query, total: str = "", *, name: str = "page") -> Pager:
    """Return the pager of a list that counts its pages; the first one has no number in its address.

    ``total`` says how many rows there are, ``name`` is what the address calls the page.
    """
    if pages <= 1:
        return Pager()
    return Pager(
        text=f"Page {page} of {pages}{total and f', {total}'}",
        earlier=query.link("", **{name: page - 1 if page > 2 else None}) if page > 1 else "",
        later=query.link("", **{name: page + 1}) if page < pages else "",
    )
