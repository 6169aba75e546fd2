"""The rank map: keyboard, panel, heat map."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser
MAP = "/w/lab/decisions/1/map/"


@pytest.fixture
def page(people: Cast, visit: Open) -> Page:
    planned(people, pair=example_pair())
    return visit(people.carol, MAP)


def test_arrows_move_over_devices_and_enter_selects(page: Page) -> None:
    page.locator("[data-key='rank-0']").focus()
    for key in ("ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.key") == "rank-9"
    page.keyboard.press("Enter")
    expect(page.locator("#h-r")).to_be_focused()
    expect(page.locator("#h-r")).to_have_text("Rank 9")
    expect(page.locator("[data-key='rank-9']")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(page.locator("[data-key='rank-9']")).to_be_focused()
    expect(page).to_have_url(re.compile(r"\?rank=9#rank$"))


def test_colour_and_what_if_change_the_map_in_place(page: Page) -> None:
    page.get_by_role("link", name="Expert").click()
    expect(page.locator(".f-expert-0").first).to_be_visible()
    page.get_by_role("link", name="node-b", exact=True).click()
    expect(page.locator("#map")).to_contain_text("8 lost, 8 down with their serving group")
    assert page.locator(".m-struck").count() > 8


def test_heat_map_cells_are_crisp(page: Page) -> None:
    image = page.locator(".js-plotly-plot image").first
    expect(image).to_have_css("image-rendering", "pixelated")


def test_the_heat_map_shows_every_rank(page: Page) -> None:
    expect(page.locator(".js-plotly-plot .heatmap-label")).to_have_count(16)


def test_no_link_is_inside_a_plot(page: Page) -> None:
    expect(page.locator(".js-plotly-plot .heatmap-label").first).to_be_attached()
    assert page.locator(".js-plotly-plot a[href]").count() == 0


def test_the_chart_follows_the_theme(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    for theme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 25, 29)")):
        page = visit(people.carol, MAP, theme=theme)
        expect(page.locator(".js-plotly-plot .main-svg").first).to_have_css("background-color", ground)


def test_without_script_a_rank_is_a_link_to_the_same_page(people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.carol, MAP, script=False)
    page.locator("[data-key='rank-5']").click()
    expect(page.locator("#h-r")).to_have_text("Rank 5")


@pytest.mark.parametrize(("width", "is_said"), [(390, True), (1440, False)])
def test_a_small_screen_says_that_the_map_goes_on(width: int, is_said: bool, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.carol, MAP, width=width)
    assert page.get_by_text("Scroll the map sideways").is_visible() == is_said
