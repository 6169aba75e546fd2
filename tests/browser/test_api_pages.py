"""The pages about the API in a real browser: everything from this server, and a token made by hand."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # the package has no types

from reviews.services.tokens import token_use
from tests.browser.conftest import Open
from tests.reviews.factories import Cast

pytestmark = pytest.mark.browser


def test_the_api_is_described_by_pages_of_this_server_alone(people: Cast, visit: Open, live_server: object) -> None:
    page = visit(people.alice, "/api/v1/docs")
    page.wait_for_selector(".opblock")
    assert page.locator(".opblock").count() == 32
    loaded = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in loaded if not name.startswith((str(live_server), "data:", "blob:"))] == []


def test_a_token_is_made_copied_and_gone_after_the_next_visit(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/settings/tokens")
    page.get_by_label("Label").fill("nightly")
    page.get_by_label("Scope").select_option("submit")
    page.get_by_role("button", name="Make token").click()
    shown = page.locator("#token").inner_text()
    page.get_by_role("button", name="Copy token").click()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    assert token_use(shown)[0] == people.alice
    page.goto("/w/lab/settings/tokens")
    assert shown not in page.content()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_token_page_has_no_accessibility_violation(theme: str, people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/settings/tokens", theme=theme)
    page.get_by_label("Label").fill("nightly")
    page.get_by_role("button", name="Make token").click()
    assert Axe().run(page).response["violations"] == []
    phone = visit(people.alice, "/w/lab/settings/tokens", width=390, theme=theme)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
