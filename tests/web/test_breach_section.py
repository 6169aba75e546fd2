"""The list of what production breaks: how many decisions there are, and that not all of them are shown."""

from datetime import UTC, datetime

import pytest

from reviews.selectors.breaches import Breaches, BreachRow
from reviews.web.inbox_rows import breach_section

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


@pytest.mark.parametrize(
    ("total", "note"),
    [
        (1, "Your decision, or a limit that your team owns; gone once it is back within"),
        (
            12,
            "Your decision, or a limit that your team owns; gone once it is back within. "
            "Shown are the 1 that are broken longest",
        ),
    ],
)
def test_it_counts_all_and_says_where_some_are_not_shown(total: int, note: str) -> None:
    made = breach_section(Breaches((ROW,), total), lambda number: f"/{number}", now=NOW)
    assert (made.size, len(made.items), made.note) == (total, 1, note)
