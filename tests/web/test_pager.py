"""Pages of rows: which row comes first, and the ways to the other pages."""

import pytest

from reviews.web.pager import Pager, first_row, pager


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
