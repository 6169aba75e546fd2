"""The list of what production breaks: how many decisions there are, and that not all of them are shown."""

from datetime import UTC, datetime

import pytest

from reviews.selectors.breaches import Breaches, BreachRow
from reviews.web.inbox_rows import breach_section
from reviews.web.links import Query

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROW = BreachRow(
    number=1,
    label="D-0001",
    title="One device",
    slot="own/one-device",
    revision=1,
    text="Breach.",
    count=1,
    team="serving",
    since=NOW,
)


NOTE = "Your decision, or a limit that your team owns; gone once it is back within"
CUT = f"{NOTE}. Shown are the 1 that are broken longest"
ALL = "?q=chat&list=breaches"


@pytest.mark.parametrize(
    ("total", "is_only", "note", "href", "more"),
    [
        pytest.param(1, False, NOTE, "#breaches", "", id="all"),
        pytest.param(12, False, CUT, ALL, "Show all 12", id="the first of them"),
        pytest.param(12, True, NOTE, ALL, "", id="a page of them"),
    ],
)
def test_it_counts_all_and_leads_to_those_that_are_not_shown(
    total: int, is_only: bool, note: str, href: str, more: str
) -> None:
    query = Query.of({"q": "chat", "page": "2"}, keep=("q", "list", "page"))
    made = breach_section(Breaches((ROW,), total), query, lambda number: f"/{number}", is_only=is_only, now=NOW)
    assert (made.size, len(made.items), made.note, made.href, made.more) == (total, 1, note, href, more)
