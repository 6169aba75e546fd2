"""The matrix by keyboard: one stop for Tab, arrows, Enter opens a row below, Escape closes it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser


@pytest.fixture
def page(people: Cast, visit: Open) -> Page:
    planned(people, pair=example_pair())
    return visit(people.bob, "/w/lab/decisions/1/")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.dataset.key || document.activeElement.tagName"))


def test_tab_reaches_the_matrix_once_and_arrows_move(page: Page) -> None:
    assert page.locator("[data-grid] [data-x][tabindex='0']").count() == 1
    page.locator("[data-grid] [data-x][tabindex='0']").focus()
    found = [focused(page)]
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "End", "Home"):
        page.keyboard.press(key)
        found.append(focused(page))
    assert found == [
        "t-base-16~link_utilization~inter_node",
        "t-wide-16~link_utilization~inter_node",
        "t-wide-16~memory_headroom~worst_rank",
        "t-base-16~memory_headroom~worst_rank",
        "t-one-node~memory_headroom~worst_rank",
        "t-base-16~memory_headroom~worst_rank",
    ]


def test_enter_opens_the_cell_and_escape_closes_it_and_returns(page: Page) -> None:
    cell = page.locator("[data-key='t-one-node~memory_headroom~worst_rank']")
    cell.focus()
    cell.evaluate("cell => cell.scrollIntoView({ block: 'center' })")
    before = page.evaluate("window.scrollY")
    page.keyboard.press("Enter")
    heading = page.locator("#cell h3")
    expect(heading).to_be_focused()
    expect(page.locator("#cell")).to_contain_text("Rank 4 on node-a uses 71.5 GiB of 64.0 GiB.")
    expect(page.locator("#said")).to_contain_text("Fail. Rank 4 on node-a")
    assert page.evaluate("window.scrollY") == before
    expect(page).to_have_url(re.compile("cell=t-one-node"))
    page.keyboard.press("Escape")
    expect(page.locator("#cell")).to_have_count(0)
    expect(page.locator("[data-key='t-one-node~memory_headroom~worst_rank']")).to_be_focused()


def test_a_cell_opened_at_the_end_of_the_window_is_scrolled_into_sight(page: Page) -> None:
    cell = page.locator("[data-key='t-one-node~memory_headroom~worst_rank']")
    cell.focus()
    page.evaluate("window.scrollBy(0, document.activeElement.getBoundingClientRect().bottom - innerHeight)")
    page.keyboard.press("Enter")
    heading = page.locator("#cell h3")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport(ratio=1)


def test_an_opened_cell_survives_reload_and_back(page: Page) -> None:
    page.locator("[data-key='t-wide-16~link_utilization~inter_node']").click()
    expect(page.locator("#cell")).to_be_visible()
    page.reload()
    expect(page.locator("#cell")).to_be_visible()
    page.go_back()
    expect(page.locator("#cell")).to_have_count(0)


def test_passing_rows_open_in_place(page: Page) -> None:
    page.get_by_role("link", name="Show", exact=True).click()
    expect(page.locator("[data-key='t-base-16~placement~always']")).to_be_visible()


def test_without_script_a_cell_is_a_link_to_the_same_page(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.bob, "/w/lab/decisions/1/", script=False)
    page.locator("[data-key='t-one-node~memory_headroom~worst_rank']").click()
    expect(page.locator("#cell")).to_contain_text("71.5 GiB")


def test_copy_puts_the_whole_digest_on_the_clipboard(page: Page) -> None:
    button = page.locator(".digests [data-copy]").first
    digest = button.get_attribute("data-copy")
    button.click()
    expect(page.locator("#said")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == digest
