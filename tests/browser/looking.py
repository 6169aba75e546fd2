"""What is wrong with an open page for somebody who looks at it, in any theme and on any screen."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # the package has no types
from playwright.sync_api import Page

EVERY_RULE: dict[str, Any] = {"resultTypes": ["violations"]}
OF_THEME_AND_WIDTH = {
    "runOnly": {
        "type": "rule",
        "values": ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"],
    }
}
"""The rules whose answer can change with the theme or the width; all others are asked once.

The size of targets is one that axe asks for nowhere by itself.
"""
CUT = """[...document.querySelectorAll(".scroll, .scroll-in")]
    .filter((box) => box.scrollWidth > box.clientWidth && !box.querySelector("[data-grid]"))
    .map((box) => document.getElementById(box.getAttribute("aria-labelledby"))?.innerText ?? box.ariaLabel)"""
"""Names the tables that do not show their last columns; only the matrix, which needs both its axes, may."""
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def faults(page: Page, *, widths: tuple[int, ...] = (768, 390)) -> list[Any]:
    """Return what axe finds in light on a desktop and in dark on the last width, every width that scrolls sideways, and
    tables that the last width cuts.

    The page is left light and as wide as a desktop.
    """
    found = [*violations(page, EVERY_RULE), *sideways(page)]
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        found += sideways(page)
    found += [f"{name} is cut at {widths[-1]} px" for name in page.evaluate(CUT)]
    page.emulate_media(color_scheme="dark")
    found += violations(page, EVERY_RULE | OF_THEME_AND_WIDTH)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    return found


def violations(page: Page, rules: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return each rule of axe that is broken, with the first three places."""
    broken = Axe().run(page, options=rules).response["violations"]
    return [(rule["id"], [node["target"] for node in rule["nodes"]][:3]) for rule in broken]


def sideways(page: Page) -> list[str]:
    """Say by how much a page is wider than its window."""
    over = page.evaluate(OVER)
    return [f"{over} px wider than {page.evaluate('innerWidth')} px"] if over else []
