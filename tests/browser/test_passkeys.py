"""Passkeys with a real browser and its virtual authenticator: made, used to log in, used to confirm."""

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Browser, Page, expect

from reviews.models import Person
from tests.browser.conftest import Watched

pytestmark = pytest.mark.browser
PASSWORD = "a-long-password"


@pytest.fixture
def ada(transactional_db: None) -> Person:
    return Person.objects.create_user("ada", PASSWORD, display_name="Ada")


@pytest.fixture
def page(chromium: Browser, live_server: object, ada: Person) -> Iterator[Page]:
    """A window on localhost, where passkeys work without https, with a device that unlocks itself."""
    context = chromium.new_context(base_url=str(live_server).replace("127.0.0.1", "localhost"))
    seen = Watched(context.new_page())
    seen.watch()
    device = context.new_cdp_session(seen.page)
    device.send("WebAuthn.enable")
    device.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    yield seen.page
    context.close()
    assert seen.faults == []


def log_in(page: Page) -> None:
    page.goto("/login?next=/account/")
    page.get_by_label("Login").fill("ada")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()


def add_passkey(page: Page) -> None:
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm with the password").click()
    page.locator("#key-name").fill("Laptop")
    page.get_by_role("button", name="Add the passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("link", name="Back to the account").click()
    expect(page.get_by_role("rowheader", name="Passkey Laptop")).to_be_visible()


def test_a_passkey_is_made_and_logs_in_alone(page: Page) -> None:
    log_in(page)
    add_passkey(page)
    page.get_by_role("button", name="Log out").first.click()
    page.goto("/login?next=/account/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
    assert Authenticator.objects.get(type="webauthn").last_used_at is not None


def test_a_passkey_is_the_second_factor_and_confirms_later(page: Page) -> None:
    log_in(page)
    add_passkey(page)
    page.get_by_role("button", name="Log out").first.click()
    log_in(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
    page.goto("/account/confirm?next=/account/%23factors")
    page.get_by_role("button", name="Confirm with a passkey").click()
    expect(page).to_have_url(page.url.split("/account")[0] + "/account/#factors")


def test_a_device_without_a_passkey_is_told_so_in_place(page: Page) -> None:
    page.goto("/login")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.locator("[data-passkey-problem]")).to_contain_text("The device gave no passkey")


def test_a_passkey_of_somebody_whose_account_is_closed_opens_nothing(page: Page, ada: Person) -> None:
    log_in(page)
    add_passkey(page)
    Person.objects.update(is_active=False)
    page.goto("/login")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("heading", name="Not logged in")).to_be_visible()
