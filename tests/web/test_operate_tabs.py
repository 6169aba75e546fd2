"""One tab leads to the pages of a decision that is run, and a strip from each of them to the others."""

from django.urls import reverse

from reviews.models import Decision
from reviews.web.operate import PAGES
from tests.reviews.factories import Cast
from tests.web.conftest import Visit


def test_the_tab_leads_to_the_first_of_the_pages(decided: Decision, people: Cast, visit: Visit) -> None:
    shown = visit(people.bob).get("/w/lab/decisions/1/").content.decode()
    assert f'<a class="tab" href="{reverse(PAGES[0][1], args=["lab", 1])}">Operate</a>' in shown
    assert shown.count(">Operate</a>") == 1


def test_every_page_has_the_strip_with_its_own_place_chosen(decided: Decision, people: Cast, visit: Visit) -> None:
    for _, name in PAGES:
        shown = visit(people.bob).get(reverse(name, args=["lab", 1])).content.decode()
        chosen = {other: ' aria-current="true"' if other == name else "" for _, other in PAGES}
        links = [
            f'<a class="seg-a" href="{reverse(other, args=["lab", 1])}"{chosen[other]}>{title}</a>'
            for title, other in PAGES
        ]
        assert [link for link in links if link not in shown] == []
        assert f'href="{reverse(PAGES[0][1], args=["lab", 1])}" aria-current="page">Operate</a>' in shown
