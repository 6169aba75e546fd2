"""The pages about the API in a real browser: everything from this server, and a token made by hand."""

import pytest
from playwright.sync_api import expect

from reviews.services.tokens import token_use
from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews.factories import Cast

pytestmark = pytest.mark.browser


def test_the_api_is_described_by_pages_of_this_server_alone(people: Cast, visit: Open, live_server: object) -> None:
    page = visit(people.alice, "/api/v1/docs")
    paths = page.request.get("/api/v1/openapi.json").json()["paths"]
    operations = [method for path in paths.values() for method in path if method != "parameters"]
    assert len(operations) > 70
    expect(page.locator(".opblock")).to_have_count(len(operations))
    loaded = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in loaded if not name.startswith((str(live_server), "data:", "blob:"))] == []


def test_a_token_is_made_copied_and_gone_after_the_next_visit(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/settings/tokens")
    page.get_by_label("Label").fill("nightly")
    page.get_by_label("Scope").select_option("submit")
    page.get_by_role("button", name="Make token").click()
    shown = page.locator("#token").inner_text()
    page.get_by_role("button", name="Copy token").click()
    expect(page.locator("#said")).to_have_text("Copied token.")
    assert page.evaluate("navigator.clipboard.readText()") == shown
    assert token_use(shown)[0] == people.alice
    page.goto("/w/lab/settings/tokens")
    assert shown not in page.content()


def test_the_page_of_a_new_token_has_no_fault(people: Cast, visit: Open) -> None:
    page = visit(people.alice, "/w/lab/settings/tokens")
    page.get_by_label("Label").fill("nightly")
    page.get_by_role("button", name="Make token").click()
    expect(page.locator("#token")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert faults(page) == []
