"""A form that is not taken keeps what was typed, says in words what happened, and can be sent again."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.sessions.models import Session
from django.db import connections
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from reviews.models import Draft
from tests.browser.conftest import Open
from tests.reviews.drafts import begun
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser
OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
KEPT = "What you typed is still here"


@pytest.fixture
def draft(people: Cast) -> Draft:
    return begun(people)


@pytest.fixture
def page(draft: Draft, people: Cast, visit: Open) -> Page:
    """The step of the evidence builder that names trials, with a name that is typed and not sent."""
    page = visit(people.alice, f"/w/lab/evidence/drafts/{draft.pk}/trials/")
    page.locator("#new").fill("tp2")
    return page


@contextmanager
def database_away() -> Iterator[None]:
    """Nothing answers at the database's address, and who was connected is cut off."""
    connection = connections["default"]
    place = connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
    connection.settings_dict["NAME"] = "/nowhere/at/all"
    try:
        yield
    finally:
        connection.settings_dict["NAME"] = place


def not_taken(page: Page, text: str) -> None:
    """The form stands with what was typed, and above it what happened."""
    expect(page.locator("form:has(#new)").locator("xpath=preceding-sibling::*[1]")).to_have_attribute("role", "alert")
    expect(page.get_by_role("alert")).to_have_text(re.compile(text))
    expect(page.get_by_role("alert")).to_be_in_viewport()
    expect(page.locator("#new")).to_have_value("tp2")


def taken_once(page: Page, draft: Draft) -> None:
    page.locator("#do-new").click()
    expect(page.locator("#t-tp2")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    draft.refresh_from_db()
    assert draft.version == 2


def test_a_database_that_is_away_loses_nothing(page: Page, draft: Draft) -> None:
    with database_away():
        page.locator("#do-new").click()
        not_taken(page, f"^The database cannot be used now. {KEPT}: wait a moment and send it again.$")
    taken_once(page, draft)


def test_a_network_that_is_away_loses_nothing(page: Page, draft: Draft) -> None:
    page.context.set_offline(True)
    page.locator("#do-new").click()
    not_taken(page, f"^The server did not answer. {KEPT}: wait a moment and send it again.$")
    page.context.set_offline(False)
    taken_once(page, draft)


def test_a_body_that_is_too_large_loses_nothing(page: Page, draft: Draft, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE, most = 10, settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    page.locator("#do-new").click()
    not_taken(page, f"^The request is too large. Expected .*Found .*{KEPT}.$")
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = most
    taken_once(page, draft)


def test_a_draft_that_is_gone_leaves_what_was_typed(page: Page, draft: Draft) -> None:
    draft.delete()
    page.locator("#do-new").click()
    not_taken(page, f"{KEPT}.$")


def test_who_was_logged_out_logs_in_elsewhere_and_sends_it_again(
    page: Page, draft: Draft, people: Cast, live_server: object
) -> None:
    Session.objects.all().delete()
    page.locator("#do-new").click()
    not_taken(
        page, f"^You are not logged in any more. {KEPT}: log in, then send it again here.Log in, in a new window$"
    )
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Log in, in a new window").click()
    people.alice.set_password("a-long-password")
    people.alice.save()
    login = opened.value
    login.get_by_label("Login").fill(people.alice.login)
    login.get_by_role("textbox", name="Password").fill("a-long-password")
    login.get_by_role("button", name="Log in", exact=True).click()
    expect(login.locator(".topbar")).to_contain_text("Alice")
    page.locator("#do-new").click()
    not_taken(page, f"^This page was opened before you logged in. {KEPT}: send it again.$")
    taken_once(page, draft)


def test_a_form_that_is_too_old_is_told_so_where_the_page_cannot_be_opened_anew(page: Page) -> None:
    page.evaluate("for (const field of document.querySelectorAll('[name=csrfmiddlewaretoken]')) field.value = 'old'")
    page.route(page.url, lambda route: route.abort() if route.request.method == "GET" else route.continue_())
    page.locator("#do-new").click()
    not_taken(page, f"^The form is too old. .* {KEPT}.$")


def test_what_is_said_of_a_check_goes_with_the_next_one(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/decisions/new")
    page.fill("#title", "Chat on two nodes")
    page.context.set_offline(True)
    page.get_by_role("button", name="Check, store nothing").click()
    expect(page.locator("[data-failed]")).to_contain_text("The server did not answer.")
    expect(page.locator("#title")).to_have_value("Chat on two nodes")
    page.context.set_offline(False)
    page.get_by_role("button", name="Check, store nothing").click()
    expect(page.locator("#h-problems")).to_be_focused()
    expect(page.locator("[data-failed]")).to_have_count(0)


def test_what_the_page_asks_by_itself_leads_nowhere(people: Cast, visit: Open, live_server: object) -> None:
    """A part of a page that loads later is missing then, and the page stays."""
    planned(people, pair=example_pair())
    page = visit(people.alice, "/w/lab/")
    page.route("**/map/notes**", lambda route: route.continue_(url=f"{live_server}/not-there"))
    page.goto("/w/lab/decisions/1/")
    page.wait_for_load_state("networkidle")
    expect(page).to_have_url(re.compile("/w/lab/decisions/1/$"))
