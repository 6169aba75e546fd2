"""The rank map of 1,024 ranks in a browser: arrow keys, selecting, losing a node, no script, no violation."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looking import faults
from tests.reviews.factories import Cast, planned
from tests.web.fleet import fleet_pair

pytestmark = pytest.mark.browser
MAP = "/w/lab/decisions/1/map/"


@pytest.fixture
def fleet(people: Cast) -> Cast:
    planned(people, pair=fleet_pair())
    return people


def rank(page: Page) -> str:
    return str(page.evaluate("document.activeElement.value"))


def test_tab_reaches_the_map_once_and_arrows_move_over_ranks(fleet: Cast, visit: Open) -> None:
    page = visit(fleet.carol, f"{MAP}?rank=5")
    assert page.locator("[data-grid] :is(a, button):not([tabindex='-1'])").count() == 1
    page.locator("[data-grid] button[value='5']").focus()
    seen = []
    for key in ("ArrowRight", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "Home", "End"):
        page.keyboard.press(key)
        seen.append(rank(page))
    assert seen == ["6", "2", "3", "8", "12", "72", "64", "123"]


def test_enter_selects_and_escape_goes_back(fleet: Cast, visit: Open) -> None:
    page = visit(fleet.carol, f"{MAP}?colour=ep")
    page.locator("[data-grid] button[value='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#h-r")).to_have_text("Rank 1")
    expect(page.locator("#h-r")).to_be_focused()
    expect(page).to_have_url(re.compile("colour=ep.*rank=1|rank=1.*colour=ep"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-grid] button[value='1']")).to_be_focused()


def test_the_name_of_a_node_asks_what_its_loss_takes_down(fleet: Cast, visit: Open) -> None:
    page = visit(fleet.carol, f"{MAP}?rank=9")
    page.get_by_role("link", name="n001", exact=True).click()
    expect(page.locator("#map")).to_contain_text("8 lost, 248 down with their serving group")
    expect(page.locator("#h-r")).to_have_text("Rank 9")
    expect(page.locator(".c-lost")).to_have_count(8)


def test_without_script_ranks_and_losses_are_forms(fleet: Cast, visit: Open) -> None:
    page = visit(fleet.carol, f"{MAP}?trial=t-far", script=False)
    page.locator("[data-grid] button[value='700']").click()
    expect(page.locator("#h-r")).to_have_text("Rank 700")
    page.locator("#lost").select_option("rack:rack-00")
    page.locator("form:has(#lost) button").click()
    expect(page.locator(".c-lost")).to_have_count(64)
    expect(page.locator("#map .section-note").first).to_contain_text("t-far")
    expect(page.locator("#h-r")).to_have_text("Rank 700")


def test_cells_are_where_the_drawing_has_room_for_them(fleet: Cast, visit: Open) -> None:
    """The style sheet lays out what the server placed: no cell leaves its node."""
    page = visit(fleet.carol, MAP)
    outside = page.evaluate(
        """() => [...document.querySelectorAll("foreignObject")].filter((node) => {
            const [box, cells] = [node.getBoundingClientRect(), [...node.querySelectorAll(".dn-c")]];
            return cells.some((cell) => {
                const own = cell.getBoundingClientRect();
                return own.bottom > box.bottom || own.right > box.right || cell.scrollWidth > cell.clientWidth;
            });
        }).length"""
    )
    assert outside == 0


@pytest.mark.parametrize("query", ["?rank=5&lost=rack:rack-00", "?trial=t-pools&colour=dp", "compare/?colour=ep"])
def test_no_map_of_a_fleet_has_a_fault(query: str, fleet: Cast, visit: Open) -> None:
    assert faults(visit(fleet.bob, f"{MAP}{query}")) == []


def test_maps_lie_one_below_the_other_on_a_phone(fleet: Cast, visit: Open) -> None:
    page = visit(fleet.carol, f"{MAP}compare/", width=390)
    boxes = [side.bounding_box() for side in page.locator("article").all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
