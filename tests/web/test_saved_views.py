"""Saved views of the inbox: kept, opened, renamed and deleted by their owner alone."""

import pytest

from reviews.models import AuditEntry, Person, SavedView
from tests.reviews.factories import Cast
from tests.web.conftest import Visit

VIEWS = "/w/lab/views/"


def kept(people: Cast, person: Person, name: str = "Chat", query: str = "slot=chat/eu&state=IN_REVIEW") -> SavedView:
    return SavedView.objects.create(workspace=people.workspace, person=person, name=name, query=query)


@pytest.mark.parametrize("who", ["alice", "bob", "audrey"])
def test_filters_are_saved_under_a_name_and_shown_again(who: str, people: Cast, visit: Visit) -> None:
    browser = visit(getattr(people, who))
    before = AuditEntry.objects.count()
    form = {"name": " My  chat ", "slot": "chat/eu", "state": "IN_REVIEW", "list": "expiring", "page": "3", "x": "y"}
    answer = browser.post(VIEWS, form)
    assert answer["Location"] == "/w/lab/?slot=chat/eu&state=IN_REVIEW&list=expiring"
    page = browser.get(answer["Location"]).content.decode()
    link = 'href="/w/lab/?slot=chat/eu&amp;state=IN_REVIEW&amp;list=expiring" aria-current="true"'
    assert (link in page, ">My chat</span>" in page) == (True, True)
    assert AuditEntry.objects.count() == before


def test_a_page_with_filters_offers_to_save_them(people: Cast, visit: Visit) -> None:
    browser = visit(people.bob)
    offered = [b"Save these filters as" in browser.get(path).content for path in ("/w/lab/", "/w/lab/?slot=chat")]
    assert offered == [False, True]


@pytest.mark.parametrize(
    ("form", "status", "text"),
    [
        ({"name": "  ", "slot": "a"}, 422, "name: expected 1 to 60 characters, found nothing."),
        ({"name": "n" * 61, "slot": "a"}, 422, "name: expected 1 to 60 characters, found 61 characters."),
        ({"name": "Nothing"}, 422, "filters: expected at least one filter"),
        ({"name": "Long", "q": "q" * 2000}, 422, "and together at most 2000 characters, found 2002 characters."),
        ({"name": "Chat", "slot": "b"}, 409, "You have a saved view Chat already."),
    ],
)
def test_what_cannot_be_saved_is_said(form: dict[str, str], status: int, text: str, people: Cast, visit: Visit) -> None:
    kept(people, people.bob)
    answer = visit(people.bob).post(VIEWS, form)
    assert (answer.status_code, text in answer.content.decode(), SavedView.objects.count()) == (status, True, 1)


def test_a_refused_form_keeps_the_filters(people: Cast, visit: Visit) -> None:
    kept(people, people.bob)
    page = visit(people.bob).post(VIEWS, {"name": "Chat", "slot": "b"}).content.decode()
    assert '<input type="hidden" name="slot" value="b">' in page


def test_nobody_keeps_more_than_fifty(people: Cast, visit: Visit) -> None:
    for at in range(50):
        kept(people, people.bob, f"View {at}")
    answer = visit(people.bob).post(VIEWS, {"name": "One more", "slot": "b"})
    assert (answer.status_code, SavedView.objects.count()) == (409, 50)


def test_a_view_is_renamed(people: Cast, visit: Visit) -> None:
    view = kept(people, people.bob)
    answer = visit(people.bob).post(f"{VIEWS}{view.pk}/rename", {"name": "Chat of Europe"})
    view.refresh_from_db()
    assert (answer["Location"], view.name) == (VIEWS, "Chat of Europe")


def test_a_view_keeps_its_own_name(people: Cast, visit: Visit) -> None:
    assert visit(people.bob).post(f"{VIEWS}{kept(people, people.bob).pk}/rename", {"name": "Chat"}).status_code == 302


def test_a_name_is_not_given_twice(people: Cast, visit: Visit) -> None:
    kept(people, people.bob)
    other = kept(people, people.bob, "Code")
    answer = visit(people.bob).post(f"{VIEWS}{other.pk}/rename", {"name": "Chat"})
    other.refresh_from_db()
    assert (answer.status_code, other.name) == (409, "Code")


def test_a_view_is_deleted(people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).post(f"{VIEWS}{kept(people, people.bob).pk}/delete")
    assert (answer["Location"], SavedView.objects.count()) == (VIEWS, 0)


@pytest.mark.parametrize("act", ["rename", "delete"])
@pytest.mark.parametrize("who", ["alice", "charlie"])
def test_nobody_touches_or_sees_the_views_of_others(who: str, act: str, people: Cast, visit: Visit) -> None:
    view = kept(people, people.bob)
    browser = visit(getattr(people, who))
    assert browser.post(f"{VIEWS}{view.pk}/{act}", {"name": "Mine"}).status_code == 404
    assert SavedView.objects.get().name == "Chat"
    assert b"slot=chat/eu" not in browser.get("/w/lab/").content + browser.get(VIEWS).content
