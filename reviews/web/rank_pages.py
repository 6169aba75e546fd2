"""Which of many ranks a page shows, and the way to the others. Pure."""

from dataclasses import dataclass

from reviews.web.links import Query, number_or_none

FIRST = "from"
"""The field of an address that names the first rank of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPage:
    """Some of the ranks: from ``start`` to before ``end`` of ``total``; ``summary`` is empty where they are all."""

    start: int
    end: int
    total: int
    summary: str
    earlier: str
    later: str

    @property
    def ranks(self) -> range:
        """The ranks that are shown."""
        return range(self.start, self.end)


@dataclass(frozen=True, slots=True)
class PageLink:
    """The way to one page, named by its ranks."""

    start: int
    name: str
    href: str


def rank_page(total: int, query: Query, anchor: str, *, at: int, size: int) -> RankPage:
    """Return the page of ``size`` ranks that the address asks for; without a word, the one with rank ``at``."""
    asked = number_or_none(query.get(FIRST))
    start = asked if asked is not None and asked < total else at
    start -= start % size
    end = min(total, start + size)
    return RankPage(
        start=start,
        end=end,
        total=total,
        summary=f"{span_name(start, end)} of {total:,}" if total > size else "",
        earlier=query.link(anchor, **{FIRST: start - size}) if start else "",
        later=query.link(anchor, **{FIRST: end}) if end < total else "",
    )


def page_links(total: int, query: Query, anchor: str, *, size: int) -> tuple[PageLink, ...]:
    """Return the ways to all pages of ``size`` ranks."""
    return tuple(
        PageLink(start, span_name(start, min(total, start + size)), query.link(anchor, **{FIRST: start}))
        for start in range(0, total, size)
    )


def span_name(start: int, end: int) -> str:
    """Name the ranks from ``start`` to before ``end``."""
    return f"Ranks {start:,}–{end - 1:,}"
