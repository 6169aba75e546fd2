"""The head that every page of a decision begins with, and the tabs to its other pages."""

from collections.abc import Callable

from django.urls import reverse
from django.utils import timezone

from reviews.selectors.rows import DecisionPage
from reviews.web.operate import operate_tab, operate_tabs
from reviews.web.page_rows import Head, Tab, head_of

PAGES = (
    ("Decision", "decision-detail"),
    ("Rank map", "decision-map"),
    ("Memory", "decision-memory"),
    ("Communication", "decision-communication"),
    ("What if", "decision-what-if"),
    ("Stress", "decision-stress"),
    ("Benchmark", "decision-benchmark"),
    ("Threads", "decision-threads"),
    ("Compare", "decision-compare"),
    ("Release", "decision-release"),
    ("History", "decision-history"),
)


def head_for(page: DecisionPage, slug: str, current: str = "") -> Head:
    """Make the head of a page of a decision; ``current`` is the name of the page's address, empty beside the tabs."""
    href = _addresses(slug, page.number, None if page.is_newest else page.shown.number)
    return head_of(
        page,
        now=timezone.now(),
        tabs=tabs(current, href),
        operate=operate_tabs(current, href),
        revise_href=f"{reverse('decision-new', args=[slug])}?decision={page.number}",
    )


def tabs(current: str, href: Callable[[str], str]) -> tuple[Tab, ...]:
    """Return the pages of a decision; those of one that is run share a tab before its history."""
    own = tuple(Tab(title, href(name), name == current) for title, name in PAGES)
    return (*own[:-1], operate_tab(current, href), *own[-1:])


def _addresses(slug: str, number: int, revision: int | None) -> Callable[[str], str]:
    """Return what makes an address of the name of a page; an older revision stays chosen."""
    query = f"?revision={revision}" if revision else ""
    return lambda name: reverse(name, args=[slug, number]) + query
