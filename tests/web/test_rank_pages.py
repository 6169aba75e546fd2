"""Which ranks a page shows: what an address may ask for, and the ways to the other pages."""

import pytest

from reviews.web.links import Query
from reviews.web.rank_pages import page_links, rank_page


@pytest.mark.parametrize(
    ("asked", "ranks"),
    [
        pytest.param("", range(64, 96), id="nothing: the rank that matters"),
        pytest.param("0", range(32), id="the first"),
        pytest.param("33", range(32, 64), id="one in the middle of a page"),
        pytest.param("1099", range(1088, 1100), id="the last, which is not full"),
        pytest.param("1100", range(64, 96), id="one beyond the last"),
        pytest.param("-1", range(64, 96), id="no number"),
        pytest.param("9" * 5000, range(64, 96), id="more digits than any number of ranks"),
    ],
)
def test_a_page_holds_the_rank_that_is_asked_for(asked: str, ranks: range) -> None:
    assert rank_page(1100, Query((("from", asked),)), "ranks", at=70, size=32).ranks == ranks


def test_a_page_names_its_ranks_and_leads_to_both_sides() -> None:
    page = rank_page(1100, Query((("trial", "t-1"),)), "ranks", at=1030, size=32)
    assert page.summary == "Ranks 1,024–1,055 of 1,100"
    assert (page.earlier, page.later) == ("?trial=t-1&from=992#ranks", "?trial=t-1&from=1056#ranks")


def test_ranks_that_fit_on_one_page_need_no_pages() -> None:
    page = rank_page(32, Query(), "ranks", at=31, size=32)
    assert (page.ranks, page.summary, page.earlier, page.later) == (range(32), "", "", "")


def test_every_page_has_a_link() -> None:
    links = page_links(70, Query(), "bars", size=32)
    assert [link.name for link in links] == ["Ranks 0–31", "Ranks 32–63", "Ranks 64–69"]
    assert links[2].href == "?from=64#bars"
