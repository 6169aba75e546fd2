"""The pages of memory and communication: axe, widths, no script, keyboard; the policy is watched by every visit."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews.factories import Cast, example_pair, planned
from tests.web.fleet import fleet_pair
from tests.web.traces import TRIAL, traced_pair

pytestmark = pytest.mark.browser

D = "/w/lab/decisions/"
PAGES = [
    f"{D}1/memory/?trial={TRIAL}",
    f"{D}1/communication/?trial={TRIAL}",
    f"{D}2/memory/",
    f"{D}2/communication/",
    f"{D}3/memory/?trial=t-one-node",
    f"{D}3/communication/",
    f"{D}4/memory/",
    f"{D}4/communication/",
]


@pytest.fixture
def filled(people: Cast) -> Cast:
    """A traced trial, a fleet, ranks over their limit, and evidence without anything per rank."""
    for pair in (traced_pair(), fleet_pair(), example_pair(), example_pair("gpt-oss-120b-h200")):
        planned(people, pair=pair)
    return people


def test_the_pages_have_no_fault(filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, D.removesuffix("decisions/"))
    found = {}
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        if wrong := faults(page):
            found[path] = wrong
    assert found == {}


def test_a_window_is_chosen_without_a_script(filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, PAGES[0], script=False)
    page.get_by_label("Window", exact=True).select_option("sat-1")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#bars")).to_contain_text("used at the peak, not broken down")
    expect(page.get_by_label("Candidate", exact=True)).to_have_value(TRIAL)


def test_a_page_of_ranks_is_reached_by_keyboard(filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, PAGES[2])
    page.get_by_role("link", name="Ranks 960–991").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".rk-name").first).to_have_text("Rank 960")


def test_a_rank_leads_to_its_place_on_the_map(filled: Cast, visit: Open) -> None:
    page = visit(filled.bob, PAGES[1])
    page.locator("#arrivals").get_by_role("link", name="Rank 5").click()
    expect(page.locator("#h-r")).to_have_text("Rank 5")
    expect(page.get_by_label("Candidate", exact=True)).to_have_value(TRIAL)
