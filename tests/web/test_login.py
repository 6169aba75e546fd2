import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from reviews.models import Person


@pytest.fixture
def ada(db: None) -> Person:
    return Person.objects.create_user("ada", "a-long-password", display_name="Ada")


def test_the_login_page_has_its_own_look_and_no_workspace(client: Client, ada: Person) -> None:
    answer = client.get("/login?next=/w/lab/")
    assert answer.status_code == 200
    assert ("<h1>Log in</h1>" in answer.content.decode(), 'aria-label="Main"' in answer.content.decode()) == (
        True,
        False,
    )


def test_a_login_goes_where_it_was_asked_for(client: Client, ada: Person) -> None:
    answer = client.post("/login", {"login": "ada", "password": "a-long-password", "next": "/w/lab/"})
    assert (answer.status_code, answer["Location"]) == (302, "/w/lab/")


def test_a_login_never_leaves_this_host(client: Client, ada: Person) -> None:
    answer = client.post("/login", {"login": "ada", "password": "a-long-password", "next": "https://evil.example/"})
    assert answer["Location"] == "/"


@pytest.mark.parametrize("login", ["ada", "nobody"])
def test_a_wrong_password_and_an_unknown_login_read_the_same(client: Client, ada: Person, login: str) -> None:
    answer = client.post("/login", {"login": login, "password": "wrong"})
    assert answer.status_code == 200
    assert "Login and password do not match" in answer.content.decode()
    assert f'value="{login}"' in answer.content.decode()


def test_somebody_without_a_workspace_is_told(client: Client, ada: Person) -> None:
    client.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    assert "You belong to no workspace" in client.get("/").content.decode()


@pytest.mark.parametrize(
    ("chosen", "attribute"),
    [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"'), ('"><script>', ""), ("", "")],
)
def test_the_theme_is_rendered_by_the_server(client: Client, ada: Person, chosen: str, attribute: str) -> None:
    client.post("/theme", {"theme": chosen, "next": "/login"})
    root = client.get("/login").content.decode().split("<head>")[0]
    assert (attribute in root, "data-theme" in root) == (True, bool(attribute))


@pytest.mark.parametrize(
    ("target", "location"), [("/w/lab/?x=1", "/w/lab/?x=1"), ("https://evil.example", "/"), ("", "/")]
)
def test_the_choice_of_theme_goes_back_to_the_page(client: Client, db: None, target: str, location: str) -> None:
    assert client.post("/theme", {"theme": "dark", "next": target})["Location"] == location


def failed_login(client: Client, login: str, times: int) -> None:
    for _ in range(times):
        client.post("/login", {"login": login, "password": "wrong"})


def test_guessing_ends_also_when_the_right_password_comes(client: Client, ada: Person, settings: Settings) -> None:
    failed_login(client, "ada", settings.AXES_FAILURE_LIMIT)
    answer = client.post("/login", {"login": "ada", "password": "a-long-password"})
    assert (answer.status_code, answer["Retry-After"], "_auth_user_id" in client.session) == (429, "300", False)
    assert "<h1>Too many attempts</h1>" in answer.content.decode()


@pytest.mark.parametrize("other", [{"login": "bob"}, {"login": "ada", "address": "192.0.2.7"}])
def test_guessing_closes_one_login_from_one_address(
    client: Client, ada: Person, settings: Settings, other: dict[str, str]
) -> None:
    Person.objects.create_user("bob", "a-long-password", display_name="Bob")
    failed_login(client, "ada", settings.AXES_FAILURE_LIMIT)
    given = {"login": other["login"], "password": "a-long-password"}
    answer = client.post("/login", given, REMOTE_ADDR=other.get("address", "127.0.0.1"))
    assert answer.status_code == 302


def test_a_claimed_address_opens_nothing(client: Client, ada: Person, settings: Settings) -> None:
    failed_login(client, "ada", settings.AXES_FAILURE_LIMIT)
    given = {"login": "ada", "password": "a-long-password"}
    assert client.post("/login", given, HTTP_X_FORWARDED_FOR="192.0.2.7").status_code == 429


@pytest.mark.parametrize("login", ["a" * 100_000, "a\0b", "\U0001f600", "ada\r\nX: y", ""])
def test_a_login_that_can_be_nobodys_does_not_match(client: Client, ada: Person, login: str) -> None:
    answer = client.post("/login", {"login": login, "password": "wrong"})
    assert (answer.status_code, "Login and password do not match" in answer.content.decode()) == (200, True)


@pytest.mark.parametrize("target", ["/login", "/login?next=/login", "/login?next=/w/lab/"])
def test_whoever_is_logged_in_is_not_sent_in_a_circle(client: Client, ada: Person, target: str) -> None:
    client.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get("/login", {"next": target})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "javascript:alert(1)", "http:///evil.example"])
def test_neither_login_nor_theme_lead_to_another_host(client: Client, ada: Person, target: str) -> None:
    client.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/login", {"next": target})["Location"] == "/"
    assert client.post("/theme", {"theme": "dark", "next": target})["Location"] == "/"
