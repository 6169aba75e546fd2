"""What a session proved, the page that proves it again, and what was typed meanwhile."""

import time

import pytest
from allauth.account.internal.flows import login as records
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import path
from pytest_django.fixtures import Settings

from config.urls import urlpatterns as everything
from reviews.errors import ProofNeededError
from reviews.facts import Authentication
from reviews.models import Person
from reviews.web.frame import PersonRequest, page
from reviews.web.reauthentication import ask_again, recent_authentication, typed_before
from tests.reviews.logins import METHODS, log_in
from tests.web.accounts import PASSWORD, SECRET, app_of, code_of_app, person, wrong_code

CONFIRM = "/account/confirm"


@page
def form(request: PersonRequest) -> HttpResponse:
    """A form that asks again before it is taken, as the one of a signature does."""
    if request.method == "POST":
        refused = ProofNeededError("Confirm.", second_factor="strictly" in request.GET)
        return ask_again(request, refused, back="/form#sign", typed={"statement": request.POST["statement"]})
    proof = recent_authentication(request)
    return HttpResponse(f"{typed_before(request).get('statement', '')}|{proof.method}|{proof.age_s}")


urlpatterns = [path("form", form), *everything]
pytestmark = [pytest.mark.urls(__name__)]


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def request_of(ada: Person, *proofs: tuple[str, int]) -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = ada
    now = time.time()
    kept = [METHODS[method] | {"at": now - age_s - 0.5} for method, age_s in proofs]
    request.session = {  # type: ignore[assignment] # what the library reads is a mapping
        records.AUTHENTICATION_METHODS_SESSION_KEY: kept,
        records._AUTHENTICATION_METHODS_USER_SESSION_KEY: str(ada.pk),
    }
    return request


@pytest.mark.parametrize(
    ("proofs", "expected"),
    [
        pytest.param([], Authentication("none"), id="nothing"),
        pytest.param([("password", 10)], Authentication("password", 10), id="one"),
        pytest.param([("totp", 200), ("password", 10)], Authentication("totp", 200), id="the strongest of the recent"),
        pytest.param([("passkey", 301), ("password", 9)], Authentication("password", 9), id="the strongest is too old"),
        pytest.param([("password", 90), ("password", 20)], Authentication("password", 20), id="the newest of a kind"),
        pytest.param([("passkey", 900), ("password", 700)], Authentication("password", 700), id="all are too old"),
        pytest.param([("recovery_code", 5)], Authentication("recovery_code", 5), id="none that signs"),
        pytest.param(
            [("oidc", 5), ("password", 60)], Authentication("password", 60), id="one that signs before others"
        ),
    ],
)
def test_of_recent_proofs_the_strongest_counts(
    ada: Person, proofs: list[tuple[str, int]], expected: Authentication
) -> None:
    assert recent_authentication(request_of(ada, *proofs)) == expected


def test_proofs_of_somebody_else_in_this_browser_do_not_count(ada: Person) -> None:
    request = request_of(ada, ("password", 5))
    request.user = person("bob")
    assert recent_authentication(request) == Authentication("none")


def asked(client: Client, statement: str = "Tails read.") -> str:
    return client.post("/form", {"statement": statement})["Location"]


def test_what_was_typed_comes_back_after_the_confirmation_once(client: Client, ada: Person) -> None:
    log_in(client, ada, age_s=900)
    where = asked(client)
    assert where == f"{CONFIRM}?next=%2Fform%23sign"
    page = client.get(where).content.decode()
    assert ('value="/form#sign"' in page, "What you typed is kept." in page) == (True, True)
    assert "What you typed is kept." not in client.get(f"{CONFIRM}?next=%2Fother").content.decode()
    answer = client.post(CONFIRM, {"password": PASSWORD, "next": "/form#sign"})
    assert answer["Location"] == "/form#sign"
    assert client.get("/form").content.decode() == "Tails read.|password|0"
    assert client.get("/form").content.decode() == "|password|0"


def test_a_wrong_password_keeps_what_was_typed(client: Client, ada: Person) -> None:
    log_in(client, ada, age_s=900)
    asked(client)
    answer = client.post(CONFIRM, {"password": "wrong", "next": "/form#sign"})
    assert ("This is not your password." in answer.content.decode(), answer.status_code) == (True, 200)
    client.post(CONFIRM, {"password": PASSWORD, "next": "/form#sign"})
    assert client.get("/form").content.decode() == "Tails read.|password|0"


def test_what_was_typed_waits_half_an_hour(client: Client, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(client, ada)
    asked(client)
    session = client.session
    session["topogate_typed"]["/form"]["at"] -= 1801
    session.save()
    assert client.get("/form").content.decode().startswith("|")


def test_a_code_confirms_and_is_told_as_such(client: Client, ada: Person) -> None:
    app_of(ada)
    log_in(client, ada, age_s=900)
    answer = client.post(f"{CONFIRM}/code", {"code": code_of_app(), "next": "/form"})
    assert (answer["Location"], client.get("/form").content.decode()) == ("/form", "|totp|0")


def test_the_page_offers_what_the_person_has(client: Client, ada: Person) -> None:
    log_in(client, ada, age_s=900)
    shown = client.get(CONFIRM).content.decode()
    assert ("Confirm with the password" in shown, "Confirm with the code" in shown) == (True, False)
    app_of(ada)
    assert "Confirm with the code" in client.get(CONFIRM).content.decode()


def test_where_a_second_factor_is_demanded_no_password_is_asked_for(client: Client, ada: Person) -> None:
    app_of(ada)
    log_in(client, ada, age_s=900)
    where = client.post("/form?strictly=1", {"statement": "Tails read."})["Location"]
    shown = client.get(where).content.decode()
    assert ("Confirm with the password" in shown, "Confirm with the code" in shown) == (False, True)
    failed = client.post(f"{CONFIRM}/code", {"code": wrong_code(), "next": "/form#sign", "factor": "second"})
    assert "Confirm with the password" not in failed.content.decode()
    answer = client.post(f"{CONFIRM}/code", {"code": code_of_app(), "next": "/form#sign", "factor": "second"})
    assert (answer["Location"], client.get("/form").content.decode()) == ("/form#sign", "Tails read.|totp|0")


def test_who_has_no_second_factor_sets_one_up_and_comes_back_to_the_form(client: Client, ada: Person) -> None:
    log_in(client, ada)
    shown = client.get(client.post("/form?strictly=1", {"statement": "Tails read."})["Location"]).content.decode()
    assert ("A second factor is needed" in shown, "Confirm with the password" in shown) == (True, False)
    app = "/account/factors/app?next=%2Fform%23sign"
    assert f'href="{app}"' in shown
    session = client.session
    session["mfa.totp.secret"] = SECRET
    session.save()
    codes = client.post(app, {"code": code_of_app()})["Location"]
    assert codes == "/account/factors/recovery-codes?next=%2Fform%23sign"
    assert '<a class="btn btn-primary" href="/form#sign">Go on to your form</a>' in client.get(codes).content.decode()
    assert client.get("/form").content.decode() == "Tails read.|totp|0"


def test_setting_up_leads_to_no_other_place(client: Client, ada: Person) -> None:
    log_in(client, ada)
    shown = client.get("/account/factors/app?next=//evil.example/").content.decode()
    assert 'href="//evil.example/"' not in shown


def test_guessing_at_the_confirmation_closes_it_and_the_login(client: Client, ada: Person, settings: Settings) -> None:
    log_in(client, ada, age_s=900)
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post(CONFIRM, {"password": "wrong"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")
    assert client.post(CONFIRM, {"password": PASSWORD}).status_code == 429
    assert Client().post("/login", {"login": "ada", "password": PASSWORD}).status_code == 429


def test_confirmations_are_paced(client: Client, ada: Person) -> None:
    log_in(client, ada)
    statuses = [client.post(CONFIRM, {"password": PASSWORD}).status_code for _ in range(21)]
    assert statuses == [302] * 20 + [429]


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_the_page_shows_no_way_back_to_another_place(client: Client, ada: Person, target: str) -> None:
    log_in(client, ada, age_s=900)
    shown = client.get(CONFIRM, {"next": target}).content.decode()
    assert ("Go back without confirming" in shown, f'value="{target}"' in shown) == (False, False)
