"""Authenticator app, recovery codes: set up on the pages, asked for at the login, used once, locked out."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django.fixtures import Settings

from reviews.models import Person
from tests.reviews.logins import log_in
from tests.web.accounts import PASSWORD, app_of, code_of_app, enter, is_in, person, wrong_code

FACTOR = "/login/second-factor"


@pytest.fixture
def ada(db: None) -> Person:
    return person()


@pytest.fixture
def ada_with_app(ada: Person) -> Person:
    app_of(ada)
    return ada


def test_an_app_is_set_up_with_the_secret_of_the_page_and_its_first_code(client: Client, ada: Person) -> None:
    log_in(client, ada)
    shown = client.get("/account/factors/app").content.decode()
    picture = client.get("/account/factors/app/picture")
    assert (picture["Content-Type"], picture.content[:5] in (b"<?xml", b"<svg ")) == ("image/svg+xml", True)
    assert "data:image" not in shown
    answer = client.post("/account/factors/app", {"code": "000000"})
    assert "This code is wrong, too old or used already" in answer.content.decode()
    assert Authenticator.objects.count() == 0


def test_setting_up_shows_recovery_codes_once(client: Client, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(client, ada)
    client.get("/account/factors/app")
    session = client.session
    session["mfa.totp.secret"] = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    session.save()
    answer = client.post("/account/factors/app", {"code": code_of_app()})
    assert answer["Location"] == "/account/factors/recovery-codes"
    first, second = (client.get(answer["Location"]).content.decode() for _ in range(2))
    codes = re.findall(r'<li class="mono">(\d{8})</li>', first)
    assert (len(codes), re.findall(r"\d{8}", second)) == (10, [])


def test_secrets_lie_encrypted_in_the_database(ada_with_app: Person) -> None:
    row = Authenticator.objects.get(type="totp")
    assert "JBSWY3DP" not in str(row.data)
    assert row.wrap().validate_code(code_of_app())


def test_a_secret_under_an_unknown_key_opens_nothing(ada_with_app: Person, settings: Settings) -> None:
    settings.SECRET_KEY = "another-key-entirely-of-decent-length"
    settings.SECRET_KEY_FALLBACKS = []
    assert not Authenticator.objects.get(type="totp").wrap().validate_code(code_of_app())


def test_an_earlier_key_still_opens_secrets(ada_with_app: Person, settings: Settings) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-entirely-of-decent-length"
    assert Authenticator.objects.get(type="totp").wrap().validate_code(code_of_app())


def test_a_password_alone_does_not_log_in_somebody_with_an_app(client: Client, ada_with_app: Person) -> None:
    answer = client.post("/login", {"login": "ada", "password": PASSWORD, "next": "/w/lab/"})
    assert (answer.status_code, answer["Location"], is_in(client)) == (302, FACTOR, False)


def test_password_and_code_lead_to_where_it_was_asked_for(client: Client, ada_with_app: Person) -> None:
    enter(client, next="/account/")
    answer = client.post(FACTOR, {"code": code_of_app()})
    assert (answer["Location"], is_in(client)) == ("/account/", True)


def test_a_code_works_once(client: Client, ada_with_app: Person) -> None:
    code = code_of_app()
    enter(client)
    client.post(FACTOR, {"code": code})
    replayed = Client()
    enter(replayed)
    answer = replayed.post(FACTOR, {"code": code})
    assert ("used already" in answer.content.decode(), is_in(client), is_in(replayed)) == (True, True, False)


def test_a_code_that_logged_in_does_not_confirm_as_well(client: Client, ada_with_app: Person) -> None:
    code = code_of_app()
    enter(client)
    client.post(FACTOR, {"code": code})
    answer = client.post("/account/confirm/code", {"code": code, "next": "/account/"})
    assert (answer.status_code, "used already" in answer.content.decode()) == (200, True)


def test_a_recovery_code_logs_in_once(client: Client, ada_with_app: Person) -> None:
    code = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    enter(client)
    client.post(FACTOR, {"code": code})
    again = Client()
    enter(again)
    again.post(FACTOR, {"code": code})
    assert (is_in(client), is_in(again)) == (True, False)


def test_guessing_codes_closes_the_login_from_this_address(
    client: Client, ada_with_app: Person, settings: Settings
) -> None:
    enter(client)
    answers = [client.post(FACTOR, {"code": wrong_code()}) for _ in range(settings.AXES_FAILURE_LIMIT)]
    assert [answer.status_code for answer in answers] == [200] * (settings.AXES_FAILURE_LIMIT - 1) + [429]
    answer = client.post(FACTOR, {"code": code_of_app()})
    assert (answer.status_code, answer["Retry-After"], is_in(client)) == (429, "300", False)
    assert enter(Client()) == 429


def test_wrong_passwords_and_wrong_codes_count_together(
    client: Client, ada_with_app: Person, settings: Settings
) -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT - 2):
        enter(Client(), password="wrong")
    enter(client)
    assert client.post(FACTOR, {"code": wrong_code()}).status_code == 200
    assert client.post(FACTOR, {"code": wrong_code()}).status_code == 429


def test_other_addresses_do_not_buy_more_guesses_at_codes(client: Client, ada_with_app: Person) -> None:
    statuses = []
    for number in range(21):
        client.post("/login", {"login": "ada", "password": PASSWORD}, REMOTE_ADDR=f"192.0.2.{number}")
        answer = client.post(FACTOR, {"code": wrong_code()}, REMOTE_ADDR=f"192.0.2.{number}")
        statuses.append("Too many wrong codes for this account" in answer.content.decode())
        client.post("/logout")
    assert statuses == [False] * 20 + [True]


def test_removing_an_app_takes_a_recent_proof_and_leaves_none_behind(client: Client, ada_with_app: Person) -> None:
    log_in(client, ada_with_app, age_s=400)
    answer = client.post("/account/factors/app/remove", {})
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/account/confirm")
    log_in(client, ada_with_app)
    client.post("/account/factors/app/remove", {})
    assert Authenticator.objects.count() == 0


def test_new_recovery_codes_void_the_old(client: Client, ada_with_app: Person) -> None:
    old = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()
    log_in(client, ada_with_app)
    client.post("/account/factors/recovery-codes/make", {})
    new = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()
    assert (len(new), set(old) & set(new)) == (10, set())
