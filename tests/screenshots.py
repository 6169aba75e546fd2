"""``make screenshots``: draw the pictures of the documentation from a running demo, into docs/images.

Each picture is a page as somebody sees it after logging in; nothing is staged but the size of the window. With
``--all FOLDER`` every page is drawn wide and narrow, light and dark, for looking through before a release.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.chromium import find_chromium
from tests.e2e.embedded_run import EmbeddedRun, embedded_run
from tests.shared import ROOT

Theme = Literal["light", "dark"]
IMAGES = ROOT / "docs" / "images"
PLANNED_SECONDS = 120
WIDE, NARROW = (1440, 900), (420, 860)


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: who looks at which page, in which theme and window."""

    name: str
    login: str
    path: str
    theme: Theme = "light"
    size: tuple[int, int] = WIDE
    whole: bool = False


PAGES = {
    "inbox": ("reviewer-serving", "/w/demo/"),
    "slots": ("reviewer-serving", "/w/demo/slots/"),
    "slot": ("reviewer-serving", "/w/demo/slots/one?slot=assistant/eu-central"),
    "ends": ("reviewer-serving", "/w/demo/slots/?show=ends"),
    "new": ("author", "/w/demo/decisions/new"),
    "contracts": ("author", "/w/demo/contracts/"),
    "decision": ("reviewer-serving", "/w/demo/decisions/{worked}/"),
    "map": ("reviewer-networking", "/w/demo/decisions/{worked}/map/"),
    "memory": ("reviewer-serving", "/w/demo/decisions/{worked}/memory/"),
    "communication": ("reviewer-networking", "/w/demo/decisions/{worked}/communication/"),
    "what-if": ("reviewer-serving", "/w/demo/decisions/{worked}/what-if/?without=/gates/link_utilization"),
    "stress": ("reviewer-networking", "/w/demo/decisions/{worked}/stress/"),
    "compare": ("reviewer-serving", "/w/demo/decisions/{worked}/compare/"),
    "benchmark": ("author", "/w/demo/decisions/{worked}/benchmark/"),
    "identity": ("reviewer-networking", "/w/demo/decisions/{launched}/identity/"),
    "observations": ("reviewer-serving", "/w/demo/decisions/{launched}/observations/"),
    "slowest": ("reviewer-serving", "/w/demo/decisions/{launched}/slowest/"),
    "requalification": ("author", "/w/demo/decisions/{launched}/requalification/"),
    "launch": ("author", "/w/demo/decisions/{launched}/launch/"),
    "history": ("auditor", "/w/demo/decisions/{worked}/history/"),
    "audit": ("auditor", "/w/demo/audit/"),
}
TITLES = {"{worked}": "Worked example", "{launched}": "to be launched"}
"""Place of a decision's number in a path -> what its title holds."""
DOCUMENTATION = (
    Shot("inbox", *PAGES["inbox"]),
    Shot("decision", *PAGES["decision"]),
    Shot("rank-map", *PAGES["map"]),
    Shot("observations", *PAGES["observations"]),
    Shot("decision-dark", *PAGES["decision"], theme="dark"),
)


def main() -> int:
    """Start the demo, draw, stop."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--all", metavar="FOLDER", type=Path, help="draw every page in every shape into FOLDER")
    folder: Path | None = arguments.parse_args().all
    shots = every_shape() if folder else DOCUMENTATION
    with tempfile.TemporaryDirectory() as place, embedded_run(Path(place) / "run") as run:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            wait_until_planned(browser, run)
            for shot in shots:
                draw(browser, run, shot, folder or IMAGES)
            browser.close()
        run.interrupt()
    return 0


def every_shape() -> tuple[Shot, ...]:
    """Return every page in both themes and both sizes, whole."""
    themes: tuple[Theme, ...] = ("light", "dark")
    return tuple(
        Shot(f"{name}-{theme}-{'wide' if size == WIDE else 'narrow'}", *page, theme=theme, size=size, whole=True)
        for (name, page), theme, size in product(PAGES.items(), themes, (WIDE, NARROW))
    )


def wait_until_planned(browser: Browser, run: EmbeddedRun) -> None:
    """Wait for the worker to plan the examples; pages would show its progress otherwise.

    Raises:
        TimeoutError: it is not done after ``PLANNED_SECONDS``.
    """
    page = browser.new_page()
    log_in(page, run, "auditor")
    give_up_at = time.monotonic() + PLANNED_SECONDS
    while page.locator(".item-mid", has_text="Planning").count():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"the examples are not planned after {PLANNED_SECONDS} s")
        time.sleep(1)
        page.reload()
    page.close()


def log_in(page: Page, run: EmbeddedRun, login: str) -> None:
    """Log in; the inbox is open afterwards."""
    page.goto(f"http://localhost:{run.port}/login")
    page.fill("#id_login", login)
    page.fill("#id_password", run.passwords[login])
    page.click("button[type=submit]")
    page.wait_for_selector(".inbox")


def draw(browser: Browser, run: EmbeddedRun, shot: Shot, folder: Path) -> None:
    """Log in, open the page, save the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    width, height = shot.size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=shot.theme)
    page = context.new_page()
    log_in(page, run, shot.login)
    page.goto(f"http://localhost:{run.port}" + address_of(page, shot.path))
    page.wait_for_load_state("networkidle")
    page.screenshot(path=str(folder / f"{shot.name}.png"), full_page=shot.whole)
    sys.stdout.write(f"{folder / shot.name}.png\n")
    context.close()


def address_of(page: Page, path: str) -> str:
    """Return the path with the numbers of the decisions that it names, as the inbox links them."""
    for place, title in TITLES.items():
        if place in path:
            page.goto(f"{page.url.split('/w/')[0]}/w/demo/?q={title}")
            link = page.locator("a.item-title", has_text=title).first.get_attribute("href") or ""
            # A title leads to what has to be done, which may be a page below the decision's own.
            return path.replace(place, link.split("/decisions/")[1].split("/")[0])
    return path


if __name__ == "__main__":
    sys.exit(main())
