"""The head that every page of a decision begins with, and the tabs to its other pages."""

from django.urls import reverse
from django.utils import timezone

from reviews.selectors.rows import DecisionPage
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
    older = None if page.is_newest else page.shown.number
    return head_of(
        page,
        now=timezone.now(),
        tabs=tabs(slug, page.number, current, older),
        revise_href=f"{reverse('decision-new', args=[slug])}?decision={page.number}",
    )


def tabs(slug: str, number: int, current: str, revision: int | None) -> tuple[Tab, ...]:
    """Return the pages of a decision; an older revision stays chosen."""
    query = f"?revision={revision}" if revision else ""
    return tuple(Tab(title, reverse(name, args=[slug, number]) + query, name == current) for title, name in PAGES)
