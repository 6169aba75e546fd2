"""The pages of a decision that is run: what machines, observations and launches say to it. One tab leads to all.

A page of these gives its own address to ``head_for`` and includes ``reviews/_operate_tabs.html`` below the head.
"""

from collections.abc import Callable

from reviews.web.page_rows import Tab

PAGES: tuple[tuple[str, str], ...] = (
    ("Live identity", "decision-identity"),
    ("Launch", "decision-launch"),
    ("Observations", "decision-observations"),
    ("Slowest rank", "decision-slowest"),
    ("Measure again", "decision-requalification"),
)
"""Title and address of each, in the order of the strip."""


def operate_tab(current: str, href: Callable[[str], str]) -> Tab:
    """Return the tab among the pages of a decision, which opens the first of these."""
    return Tab("Operate", href(PAGES[0][1]), any(name == current for _, name in PAGES))


def operate_tabs(current: str, href: Callable[[str], str]) -> tuple[Tab, ...]:
    """Return the strip of these pages; none on any other page of a decision."""
    if all(name != current for _, name in PAGES):
        return ()
    return tuple(Tab(title, href(name), name == current) for title, name in PAGES)
