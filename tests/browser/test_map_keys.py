"""The rank map: keyboard, panel, heat map."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.reviews.factories import Cast, example_pair, planned

pytestmark = pytest.mark.browser
MAP = "/w/lab/decisions/1/map/"
HEAT_WORDS = ".js-plotly-plot .scatterlayer .textpoint text"
FAINT = """() => {
    const [heat, words] = document.querySelector(".js-plotly-plot")._fullData;
    const parts = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (text) => parts(text).slice(0, 3)
        .map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const ground = (value) => {
        const share = (value - heat.zmin) / (heat.zmax - heat.zmin);
        return heat.colorscale.findLast(([from]) => from <= share && from < 1)[1];
    };
    return heat.z.flat().map((value, at) => {
        const [low, high] = [light(ground(value)), light(words.textfont.color[at])].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    }).filter((ratio) => ratio < 4.5);
}"""
"""The contrasts of words with the grounds below them that are too low; what Plotly drew is asked for its colours."""
SMALLEST = """(map) => Math.min(...[...map.querySelectorAll("text, tspan")]
    .map((word) => parseFloat(getComputedStyle(word).fontSize) * map.getScreenCTM().a))"""
"""The smallest letters of a drawing, in pixels of the screen."""
WIDER = "[...document.querySelectorAll('.map-frame')].filter((frame) => frame.scrollWidth > frame.clientWidth).length"


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
    expect(page.locator(HEAT_WORDS)).to_have_count(16)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_of_the_heat_map_can_be_read_on_its_ground(theme: str, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.carol, MAP, theme=theme)
    expect(page.locator(HEAT_WORDS)).to_have_count(16)
    assert page.evaluate(FAINT) == []


def test_no_link_is_inside_a_plot(page: Page) -> None:
    expect(page.locator(HEAT_WORDS).first).to_be_attached()
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


@pytest.mark.parametrize("width", [390, 1280, 1440])
def test_no_word_of_the_map_is_smaller_than_eleven_pixels(width: int, people: Cast, visit: Open) -> None:
    planned(people, pair=example_pair())
    page = visit(people.carol, MAP, width=width)
    assert page.locator(".map").evaluate(SMALLEST) >= 11


@pytest.mark.parametrize(
    ("path", "width", "said"), [("", 390, 1), ("", 1280, 1), ("", 1440, 0), ("compare/", 390, 2), ("compare/", 1280, 0)]
)
def test_a_map_that_is_wider_than_its_frame_says_that_it_goes_on(
    path: str, width: int, said: int, people: Cast, visit: Open
) -> None:
    planned(people, pair=example_pair())
    page = visit(people.carol, f"{MAP}{path}", width=width)
    expect(page.locator(".map-more:visible")).to_have_count(said)
    assert page.evaluate(WIDER) == said
