"""One's own account: password, name, sessions; what ends at once; what a login tells nobody."""

import re
import time
from statistics import median

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client
from pytest_django.fixtures import Settings

from reviews.models import Person
from tests.reviews.logins import log_in
from tests.reviews.read_only import read_only
from tests.web.accounts import PASSWORD, enter, is_in, person

NEW = "another-long-password"


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def test_a_fresh_installation_has_no_account(db: None) -> None:
    assert Person.objects.count() == 0


@pytest.mark.parametrize("address", ["/signup", "/accounts/signup/", "/login/signup/", "/join/", "/password/reset/"])
def test_there_is_no_way_to_sign_up(client: Client, db: None, address: str) -> None:
    assert client.get(address).status_code == 404


def test_a_login_begins_a_session_of_its_own(client: Client, ada: Person) -> None:
    client.get("/login")
    session = client.session
    session["planted"] = True
    session.save()
    before = session.session_key
    client.cookies["session"] = str(before)
    enter(client)
    assert (client.session.session_key != before, client.session[SESSION_KEY]) == (True, str(ada.pk))


def test_a_closed_account_reads_like_a_wrong_password(client: Client, ada: Person) -> None:
    bob = person("bob")
    bob.is_active = False
    bob.save()
    answers = [
        client.post("/login", {"login": login, "password": password}).content.decode()
        for login, password in (("bob", PASSWORD), ("bob", "wrong"), ("nobody", "wrong"), ("ada", "wrong"))
    ]
    assert len({re.sub(r'value="[^"]*"', "", answer) for answer in answers}) == 1


def test_an_unknown_login_an_invited_one_and_a_wrong_password_take_the_same_time(
    slow_passwords: None, ada: Person
) -> None:
    person("eve", None)

    def seconds(login: str) -> float:
        taken = []
        for number in range(5):
            browser = Client(REMOTE_ADDR=f"192.0.2.{number}")
            start = time.process_time()
            enter(browser, login, "wrong-password")
            taken.append(time.process_time() - start)
        return median(taken)

    known, invited, unknown = seconds("ada"), seconds("eve"), seconds("nobody")
    # One hash is most of an answer; without it an answer would take a small part of the time.
    assert max(known, invited, unknown) < 1.5 * min(known, invited, unknown)


def test_somebody_whose_account_is_closed_is_out_with_the_next_request(client: Client, ada: Person) -> None:
    enter(client)
    assert is_in(client)
    Person.objects.filter(pk=ada.pk).update(is_active=False)
    assert not is_in(client)


def test_changing_the_password_keeps_this_session_and_ends_the_others(client: Client, ada: Person) -> None:
    elsewhere = Client()
    enter(client)
    enter(elsewhere)
    typed = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    answer = client.post("/account/password", typed)
    assert (answer["Location"], is_in(client), is_in(elsewhere)) == ("/account/", True, False)
    assert enter(Client(), password=NEW) == 302


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        pytest.param({"oldpassword": "wrong"}, "This is not your present password.", id="not the present one"),
        pytest.param({"password1": "short", "password2": "short"}, "This password is too short", id="short"),
        pytest.param({"password1": "password1234", "password2": "password1234"}, "too common", id="common"),
        pytest.param({"password1": "ada-ada-ada-ada", "password2": "ada-ada-ada-adb"}, "same password", id="differ"),
    ],
)
def test_a_password_that_is_not_taken_says_why(client: Client, ada: Person, typed: dict[str, str], text: str) -> None:
    log_in(client, ada)
    whole = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW} | typed
    assert text in client.post("/account/password", whole).content.decode()
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_long_passwords_of_any_characters_are_taken(client: Client, ada: Person) -> None:
    log_in(client, ada)
    long = "ぱすわーど 🔑 " * 12
    client.post("/account/password", {"oldpassword": PASSWORD, "password1": long.strip(), "password2": long.strip()})
    ada.refresh_from_db()
    assert ada.check_password(long.strip())


def test_a_name_is_changed_where_everybody_reads_it(client: Client, ada: Person) -> None:
    log_in(client, ada)
    token = ada.token
    assert client.post("/account/", {"name": "  Ada Lovelace "}).status_code == 302
    ada.refresh_from_db()
    assert (ada.display_name, ada.token) == ("Ada Lovelace", token)


@pytest.mark.parametrize("name", ["", " ", "a" * 121, "Ada\u202egnol", "a\0b", "two\nlines"])
def test_a_name_that_others_could_not_read_is_refused(client: Client, ada: Person, name: str) -> None:
    log_in(client, ada)
    answer = client.post("/account/", {"name": name})
    ada.refresh_from_db()
    assert (answer.status_code, ada.display_name) == (422, "Ada")
    assert "name: expected 1 to 120 printable characters, found" in answer.content.decode()


def ends(client: Client) -> list[str]:
    return re.findall(r"/account/sessions/(\d+)/end", client.get("/account/").content.decode())


def test_sessions_are_listed_and_end_one_by_one(client: Client, ada: Person) -> None:
    elsewhere = Client(HTTP_USER_AGENT="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    enter(elsewhere)
    enter(client)
    shown = client.get("/account/").content.decode()
    assert ("Firefox on Linux" in shown, len(ends(client))) == (True, 2)
    newest, oldest = ends(client)
    client.post(f"/account/sessions/{oldest}/end")
    assert (is_in(client), is_in(elsewhere)) == (True, False)
    answer = client.post(f"/account/sessions/{newest}/end")
    assert (answer["Location"], is_in(client)) == ("/login", False)


def test_all_others_end_and_this_one_stays(client: Client, ada: Person) -> None:
    others = [Client(), Client()]
    for browser in (*others, client):
        enter(browser)
    client.post("/account/sessions/end-others")
    assert (is_in(client), [is_in(other) for other in others]) == (True, [False, False])


def test_nobody_ends_the_session_of_somebody_else(client: Client, ada: Person) -> None:
    bob, elsewhere = person("bob"), Client()
    enter(elsewhere)
    [session] = ends(elsewhere)
    log_in(client, bob)
    assert (client.post(f"/account/sessions/{session}/end").status_code, is_in(elsewhere)) == (404, True)


def test_logins_from_one_address_are_paced_whatever_their_name(client: Client, ada: Person) -> None:
    statuses = [enter(client, f"somebody-{number}", "wrong") for number in range(31)]
    assert statuses == [200] * 30 + [429]
    assert "Too many requests" in client.post("/login", {"login": "x", "password": "y"}).content.decode()


def test_a_database_that_takes_no_writes_is_not_called_too_many_requests(ada: Person) -> None:
    browser = Client(raise_request_exception=False)
    with read_only():
        assert enter(browser) == 503


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
@pytest.mark.parametrize("address", ["/login", "/account/confirm"])
def test_no_way_back_leaves_this_host(client: Client, db: None, address: str, target: str) -> None:
    ada = person()
    if address != "/login":
        log_in(client, ada, age_s=900)
    answer = client.post(address, {"login": "ada", "password": PASSWORD, "next": target})
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_who_has_nothing_to_confirm_with_is_told_what_to_do(client: Client, ada: Person) -> None:
    ada.set_unusable_password()
    ada.save()
    log_in(client, ada, age_s=900)
    answer = client.get("/account/confirm")
    page = answer.content.decode()
    assert (answer.status_code, "You have nothing to confirm with" in page) == (403, True)
    assert "set up one of them, or log out and in again" in page
    assert 'href="/account/"' in page


def test_another_host_that_is_served_is_no_way_back(client: Client, ada: Person, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver", "other.example"]
    answer = client.post("/login", {"login": "ada", "password": PASSWORD, "next": "http://other.example/"})
    assert answer["Location"] == "/"
