import pytest
from django.test import Client

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
    answer = client.post("/login", {"username": "ada", "password": "a-long-password", "next": "/w/lab/"})
    assert (answer.status_code, answer["Location"]) == (302, "/w/lab/")


def test_a_login_never_leaves_this_host(client: Client, ada: Person) -> None:
    answer = client.post("/login", {"username": "ada", "password": "a-long-password", "next": "https://evil.example/"})
    assert answer["Location"] == "/"


@pytest.mark.parametrize("login", ["ada", "nobody"])
def test_a_wrong_password_and_an_unknown_login_read_the_same(client: Client, ada: Person, login: str) -> None:
    answer = client.post("/login", {"username": login, "password": "wrong"})
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
