"""What is wrong with an open page for somebody who looks at it or has it read out, in any theme and on any screen."""

from collections.abc import Iterator, Mapping
from pathlib import Path
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
WORDS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
"""Words that are too small or too faint in a drawing, and choices that are cut."""
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def faults(page: Page, *, widths: tuple[int, ...] = (768, 390)) -> list[Any]:
    """Return what axe finds in light on a desktop and in dark on the last width, every width that scrolls sideways,
    words that cannot be read, and tables that the last width cuts or whose values lose their names there.

    The page is left light and as wide as a desktop.
    """
    found = [*violations(page, EVERY_RULE), *sideways(page), *page.evaluate(WORDS)]
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        found += sideways(page)
    found += [f"{name} is cut at {widths[-1]} px" for name in page.evaluate(CUT)]
    found += unnamed(page)
    page.emulate_media(color_scheme="dark")
    found += [*violations(page, EVERY_RULE | OF_THEME_AND_WIDTH), *page.evaluate(WORDS)]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})
    return found


def unnamed(page: Page) -> list[str]:
    """Name the rows of tables whose values have no column to be named by, as Chromium tells screen readers."""
    session = page.context.new_cdp_session(page)
    nodes = {node["nodeId"]: node for node in session.send("Accessibility.getFullAXTree")["nodes"]}
    session.detach()
    found = []
    for table in (node for node in nodes.values() if role(node) == "table"):
        rows = [list(cells(nodes, row)) for row in below(nodes, table, "row")]
        heads = [[name for kind, name in row if kind == "columnheader"] for row in rows]
        columns = max(map(len, heads), default=0)
        found += [
            f"{len(row)} values under {columns} columns: {row}"
            for row, head in zip(rows, heads, strict=True)
            if not head and len(row) > 1 and len(row) != columns
        ]
    return found


def role(node: Mapping[str, Any]) -> str:
    """The role of a node of the accessibility tree; empty for one that is left out of it."""
    return "" if node["ignored"] else str(node["role"]["value"])


def below(nodes: Mapping[str, Any], node: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes of a role below a node, but none below those or in a table of their own."""
    for child in (nodes[name] for name in node.get("childIds", ()) if name in nodes):
        if role(child) == kind:
            yield child
        elif role(child) != "table":
            yield from below(nodes, child, kind)


def cells(nodes: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield role and name of each cell of a row."""
    for child in (nodes[name] for name in row.get("childIds", ()) if name in nodes):
        if role(child) in {"cell", "rowheader", "columnheader"}:
            yield role(child), str(child.get("name", {}).get("value", ""))
        elif not role(child):
            yield from cells(nodes, child)


def violations(page: Page, rules: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return each rule of axe that is broken, with the first three places."""
    broken = Axe().run(page, options=rules).response["violations"]
    return [(rule["id"], [node["target"] for node in rule["nodes"]][:3]) for rule in broken]


def sideways(page: Page) -> list[str]:
    """Say by how much a page is wider than its window."""
    over = page.evaluate(OVER)
    return [f"{over} px wider than {page.evaluate('innerWidth')} px"] if over else []
