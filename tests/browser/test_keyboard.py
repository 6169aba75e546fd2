"""Everything by keyboard: the bar in the order it is seen, folds, the wide matrix, forms that were left out.

Pages have no menu and no dialog of their own making: what opens is a fold, or a link whose answer opens in place.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.reviews.factories import Cast, example_pair, planned, sign

pytestmark = pytest.mark.browser
D = "/w/lab/decisions/1/"
BAR = "[...document.querySelectorAll('.topbar :is(a, input:not([type=hidden]), button)')]"


FOCUS_OF_EVERY_CHANGE = """() => {
    globalThis.found = [];
    const note = () => globalThis.found.push(document.activeElement.tagName);
    new MutationObserver(note).observe(document.querySelector("#matrix").parentElement, { childList: true });
}"""
"""Notes which element has the focus as soon as the matrix was swapped."""


@pytest.fixture
def decided(people: Cast) -> Cast:
    """A decision that serving signed."""
    sign(people, planned(people, pair=example_pair()))
    return people


def focused(page: Page) -> str:
    """Name what has the focus: its label, else its text."""
    return str(page.evaluate("(({ ariaLabel, innerText }) => ariaLabel || innerText)(document.activeElement)"))


@pytest.mark.parametrize("width", [1440, 390])
def test_tab_walks_the_bar_as_it_is_seen(width: int, decided: Cast, visit: Open) -> None:
    page = visit(decided.bob, "/w/lab/", width=width)
    page.keyboard.press("Tab")
    seen = page.evaluate(f"{BAR}.filter((one) => one.checkVisibility()).length")
    found = []
    for _ in range(seen):
        page.keyboard.press("Tab")
        found.append(focused(page).split("\n")[0])
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert (found[-1], outline) == (found[-1], "solid")
    first = ["Topogate", "Decisions", "Slots", "Audit", "People", "Policy"]
    assert (found[:6], found[-2:]) == (first, ["Bob: account", "Log out"])
    assert page.evaluate("document.activeElement.closest('.topbar') !== null")


def test_a_fold_opens_and_closes_and_keeps_the_focus(decided: Cast, visit: Open) -> None:
    page = visit(decided.bob, f"{D}release/")
    fold = page.locator("#waiver details")
    summary = fold.locator("summary")
    summary.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY", "what is folded takes no Tab"
    summary.focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("open", "")
    expect(summary).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#waiver form') !== null")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(fold).not_to_have_attribute("open", "")
    expect(summary).to_be_focused()


def test_the_wide_matrix_opens_a_cell_as_wide_as_its_frame_and_gives_the_focus_back(decided: Cast, visit: Open) -> None:
    page = visit(decided.bob, f"{D}?rows=candidates")
    cell = page.locator("[data-grid] a.dx-f").first
    cell.focus()
    width = page.evaluate("document.querySelector('.dx').offsetWidth")
    page.keyboard.press("Enter")
    expect(page.locator("#cell h3")).to_be_focused()
    frame = page.locator(".mx-frame")
    assert page.locator("#cell").evaluate("one => one.offsetWidth") == frame.evaluate("one => one.clientWidth")
    assert page.evaluate("document.querySelector('.dx').offsetWidth") == width
    page.keyboard.press("Escape")
    expect(page.locator("#cell")).to_have_count(0)
    expect(cell).to_be_focused()


def test_the_focus_moves_at_once_with_what_opens_and_closes(decided: Cast, visit: Open) -> None:
    """Whoever types on while an answer comes in is never on a page without a focus."""
    page = visit(decided.bob, f"{D}?rows=candidates")
    page.evaluate(FOCUS_OF_EVERY_CHANGE)
    cell = page.locator("[data-grid] a.dx-f").first
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cell h3")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cell).to_be_focused()
    expect(page.locator("#cell")).to_have_count(0)
    assert page.evaluate("globalThis.found") == ["H3", "A"]


def test_an_emergency_without_its_gates_is_not_sent(decided: Cast, visit: Open) -> None:
    page = visit(decided.bob, f"{D}release/")
    names = ("incident", "hours", "failing_gates", "reason")
    required = [page.locator(f"#emergency [name={name}]").get_attribute("required") for name in names]
    assert required == ["", "", "", ""]


def test_what_was_refused_has_the_focus_in_its_form(decided: Cast, visit: Open) -> None:
    page = visit(decided.bob, f"{D}release/")
    fold = page.locator("#waiver")
    fold.locator("summary").click()
    fold.locator("[name=ends]").fill("2031-01-01")
    fold.locator("[name=reason]").fill("The pilot is small.")
    fold.get_by_role("button").click()
    problem = fold.get_by_role("alert")
    expect(problem).to_be_focused()
    expect(problem).to_be_in_viewport()
    expect(fold.locator("[name=reason]")).to_have_value("The pilot is small.")
