"""A real Chromium in front of a real server.

Whatever a page does is watched: errors of scripts, refusals of the Content-Security-Policy and dialogs fail the test
that caused them.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Page, expect, sync_playwright
from pytest_django.plugin import DjangoDbBlocker

from reviews.models import Person
from tests.chromium import find_chromium
from tests.reviews.factories import Cast, cast
from tests.reviews.logins import log_in
from tests.stage import clear_stage

# Playwright's own loop runs in the thread of the tests, where Django would otherwise refuse to reach the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
# As long as Playwright waits for everything else: other tests share the processors, and 5 s may be too short then.
expect.set_options(timeout=30_000)


@dataclass
class Watched:
    """A page with everything that went wrong on it."""

    page: Page
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Listen from now on."""
        self.page.on("pageerror", self.on_error)
        self.page.on("dialog", self.on_dialog)
        self.page.on("console", self.on_message)

    def on_error(self, error: Error) -> None:
        """A script failed."""
        self.faults.append(f"script: {error}")

    def on_dialog(self, dialog: Dialog) -> None:
        """A script opened a dialog; no page of ours does."""
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def on_message(self, message: ConsoleMessage) -> None:
        """The browser said something; refusals of the policy count."""
        if "Content Security Policy" in message.text:
            self.faults.append(message.text)


Open = Callable[..., Page]


@pytest.fixture(scope="session")
def chromium(pytestconfig: pytest.Config, django_db_blocker: DjangoDbBlocker) -> Iterator[Browser]:
    """One browser for all tests; while Playwright's loop runs, Django keeps another connection for this thread."""
    clear_stage(pytestconfig, django_db_blocker)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        yield browser
        browser.close()
        clear_stage(pytestconfig, django_db_blocker)


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """A workspace with alice, bob, carol, dave and audrey; charlie is a stranger."""
    return cast()


def logged_in(context: BrowserContext, person: Person, address: str) -> None:
    """Give the browser the session of a person, as the login page would."""
    client = log_in(Client(), person)
    assert SESSION_KEY in client.session
    cookie = client.cookies["session"]
    context.add_cookies([{"name": "session", "value": cookie.value, "url": address}])


@pytest.fixture
def visit(chromium: Browser, live_server: object) -> Iterator[Open]:
    """Open a page as somebody; at the end nothing may have gone wrong on any page that was opened."""
    watched: list[Watched] = []
    contexts: list[BrowserContext] = []
    address = str(live_server)

    def open_page(
        person: Person | None, path: str, *, width: int = 1440, theme: str = "light", script: bool = True
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=script,
            base_url=address,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        if person:
            logged_in(context, person, address)
        seen = Watched(context.new_page())
        seen.watch()
        watched.append(seen)
        seen.page.goto(path)
        seen.page.wait_for_load_state("networkidle")
        return seen.page

    yield open_page
    faults = [fault for seen in watched for fault in seen.faults]
    for context in contexts:
        context.close()
    assert faults == []
