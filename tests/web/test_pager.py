"""Pages of rows: which row comes first, and the ways to the other pages."""

import pytest

from reviews.web.links import Query
from reviews.web.pager import Pager, first_row, numbered, pager


@pytest.mark.parametrize(
    ("page", "start"),
    [
        pytest.param(None, 0, id="not asked"),
        pytest.param(1, 0, id="first"),
        pytest.param(3, 20, id="last"),
        pytest.param(4, 0, id="beyond the last"),
    ],
)
def test_a_page_begins_where_it_is_and_one_that_is_not_there_is_the_first(page: int | None, start: int) -> None:
    assert first_row(page, 21, 10) == start


@pytest.mark.parametrize(
    ("start", "total", "around"),
    [
        pytest.param(0, 10, Pager(), id="one page holds all"),
        pytest.param(0, 1200, Pager(text="1–10 of 1,200 keys", later="?page=2"), id="first"),
        pytest.param(10, 25, Pager(text="11–20 of 25 keys", earlier="?page=1", later="?page=3"), id="middle"),
        pytest.param(20, 21, Pager(text="21–21 of 21 keys", earlier="?page=2"), id="last"),
    ],
)
def test_words_and_ways_around_a_page(start: int, total: int, around: Pager) -> None:
    assert pager(start, total, 10, "key", lambda page: f"?page={page}") == around


@pytest.mark.parametrize(
    ("page", "pages", "around"),
    [
        pytest.param(1, 1, Pager(), id="one page"),
        pytest.param(2, 3, Pager(text="Page 2 of 3, 50 slots", earlier="?q=a", later="?q=a&page=3"), id="middle"),
        pytest.param(3, 3, Pager(text="Page 3 of 3, 50 slots", earlier="?q=a&page=2"), id="last"),
    ],
)
def test_a_list_counts_its_pages_and_the_first_has_no_number(page: int, pages: int, around: Pager) -> None:
    assert numbered(page, pages, Query((("q", "a"), ("page", str(page)))), "50 slots") == around
