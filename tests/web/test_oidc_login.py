"""The login of an organisation, against a provider in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.error import URLError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener, urlopen

import pytest
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as configured
from django.test import Client
from pytest_django.fixtures import Settings

from reviews.models import AuditEntry, Person, Role
from reviews.services.people import member_add, workspace_create
from tests.e2e.embedded_run import free_port
from tests.reviews.factories import POLICY
from tests.reviews.logins import log_in
from tests.shared import ROOT
from tests.web.accounts import app_of, is_in, person
from tests.web.oidc_provider import CLIENT_ID, CLIENT_SECRET

BACK = "/login/oidc/back"
pytestmark = [pytest.mark.processes]


class Stay(HTTPRedirectHandler):
    """Follows nothing: the redirect itself is looked at."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    port = free_port()
    words = [sys.executable, "-m", "tests.web.oidc_provider", str(port), f"http://testserver{BACK}"]
    provider = subprocess.Popen(words, cwd=ROOT)
    address = f"http://127.0.0.1:{port}"
    give_up_at = time.monotonic() + 60
    while True:
        try:
            urlopen(f"{address}/keys", timeout=5).close()  # noqa: S310 - the address is the test's own server
            break
        except URLError:
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
    yield address
    provider.terminate()
    provider.wait(10)


@pytest.fixture
def provider(issuer: str, settings: Settings) -> str:
    """The settings as the environment would have made them."""
    settings.OIDC_ISSUER_URL = issuer
    settings.OIDC_NAME = "Example SSO"
    app = {
        "provider_id": "oidc",
        "name": "Example SSO",
        "client_id": CLIENT_ID,
        "secret": CLIENT_SECRET,
        "settings": {"server_url": issuer, "oauth_pkce_enabled": True, "fetch_userinfo": False},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    return issuer


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def through(client: Client, *, login_as: str = "", wrong: str = "", process: str = "", next: str = "") -> str:
    """Go to the provider and come back with its answer; return the address back."""
    query = f"?{urlencode({'process': process})}" if process else ""
    sent = client.post(f"/login/oidc/{query}", {"next": next} if next else {})
    assert sent.status_code == 302
    who = {name: value for name, value in (("login_as", login_as), ("wrong", wrong)) if value}
    with pytest.raises(URLError) as moved:
        build_opener(Stay).open(f"{sent['Location']}&{urlencode(who)}", timeout=10)
    location = moved.value.headers["Location"]  # type: ignore[attr-defined] # a redirect that is not followed
    return str(location).removeprefix("http://testserver")


def link(client: Client, ada: Person, subject: str = "ada@example") -> None:
    log_in(client, ada)
    answer = client.get(through(client, login_as=subject, process="connect"))
    assert (answer.status_code, answer["Location"]) == (302, "/account/")


def test_without_settings_there_is_no_other_login(client: Client, db: None) -> None:
    assert (configured.OIDC_ISSUER_URL, configured.SOCIALACCOUNT_PROVIDERS) == ("", {})
    assert "Log in with" not in client.get("/login").content.decode().replace("Log in with a passkey", "")
    assert client.post("/login/oidc/").status_code == 404


def test_the_login_is_asked_for_with_a_form_with_state_and_a_challenge(client: Client, provider: str, db: None) -> None:
    assert "Log in with Example SSO" in client.get("/login").content.decode()
    asked = parse_qs(urlsplit(client.post("/login/oidc/")["Location"]).query)
    assert (asked["redirect_uri"], asked["code_challenge_method"]) == ([f"http://testserver{BACK}"], ["S256"])
    assert len(asked["state"][0]) >= 16


def test_somebody_unknown_makes_no_account(client: Client, provider: str, ada: Person) -> None:
    answer = client.get(through(client, login_as="stranger@example"))
    assert (answer.status_code, "No account here is linked to this login" in answer.content.decode()) == (403, True)
    assert (Person.objects.count(), SocialAccount.objects.count(), is_in(client)) == (1, 0, False)


def test_whoever_linked_it_is_let_in_and_led_on(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    browser = Client()
    answer = browser.get(through(browser, login_as="ada@example", next="/account/"))
    assert (answer["Location"], is_in(browser)) == ("/account/", True)


def test_linking_takes_a_recent_proof(client: Client, provider: str, ada: Person) -> None:
    log_in(client, ada, age_s=900)
    answer = client.get(through(client, login_as="ada@example", process="connect"))
    assert (answer["Location"].split("?")[0], SocialAccount.objects.count()) == ("/account/confirm", 0)


def test_a_closed_account_stays_outside(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    Person.objects.update(is_active=False)
    browser = Client()
    answer = browser.get(through(browser, login_as="ada@example"))
    assert (answer.status_code, "This account is closed" in answer.content.decode()) == (403, True)
    assert not is_in(browser)


def test_a_second_factor_is_asked_for_here_too(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    app_of(ada)
    browser = Client()
    answer = browser.get(through(browser, login_as="ada@example"))
    assert (answer["Location"], is_in(browser)) == ("/login/second-factor", False)


@pytest.mark.parametrize("wrong", ["issuer", "audience", "time"])
def test_a_token_that_is_not_for_this_login_is_refused(client: Client, provider: str, ada: Person, wrong: str) -> None:
    link(client, ada)
    browser = Client()
    answer = browser.get(through(browser, login_as="ada@example", wrong=wrong))
    assert (answer.status_code, is_in(browser)) == (403, False)
    assert "The login of your organisation did not succeed" in answer.content.decode()


def test_a_way_back_that_nobody_asked_for_is_refused(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    planted = through(Client(), login_as="ada@example")
    victim = Client()
    answer = victim.get(planted)
    assert (answer.status_code, is_in(victim)) == (403, False)


def test_a_code_works_once(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    browser = Client()
    back = through(browser, login_as="ada@example")
    browser.get(back)
    browser.post("/logout")
    assert (browser.get(back).status_code, is_in(browser)) == (403, False)


def test_who_refuses_at_the_provider_is_told(client: Client, provider: str, db: None) -> None:
    answer = client.get(through(client))
    assert (answer.status_code, "Nothing was changed" in answer.content.decode()) == (403, True)


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example/"])
def test_it_leads_to_no_other_host(client: Client, provider: str, ada: Person, target: str) -> None:
    link(client, ada)
    browser = Client()
    assert browser.get(through(browser, login_as="ada@example", next=target))["Location"] == "/"


def test_linking_is_one_entry_in_every_workspace_of_the_person(client: Client, provider: str, ada: Person) -> None:
    for slug in ("lab", "other"):
        member_add(workspace=workspace_create(slug=slug, title=slug, policy=POLICY), person=ada, role=Role.MEMBER)
    link(client, ada)
    found = AuditEntry.objects.filter(action="account.changed").select_related("workspace", "payload")
    said = [(row.workspace.slug, row.payload and json.loads(bytes(row.payload.data))) for row in found]
    payload = {"person": ada.token, "changes": ["other_login_added:oidc"]}
    assert sorted(said, key=str) == [("lab", payload), ("other", payload)]


def test_unlinking_leaves_the_password(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    assert client.post("/account/other-login/unlink").status_code == 302
    assert SocialAccount.objects.count() == 0


def test_the_only_way_in_is_not_unlinked(client: Client, provider: str, ada: Person) -> None:
    link(client, ada)
    app_of(ada)
    ada.set_unusable_password()
    ada.save()
    log_in(client, ada, method="totp")
    answer = client.post("/account/other-login/unlink")
    assert (answer.status_code, SocialAccount.objects.count()) == (409, 1)
    assert "It is your only way in. Set a password first." in answer.content.decode()
