"""A database that cannot be used now is answered in words, and asked again by the next request."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.test.utils import override_settings
from django.urls import path

from tests.reviews.factories import Cast, cast
from tests.reviews.logins import log_in

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

PAGES = ["/", "/w/lab/", "/w/lab/decisions/1/", "/login", "/not-there"]
API = "/api/v1/workspaces/lab/decisions"


@pytest.fixture
def people(transactional_db: None) -> Cast:
    return cast()


@pytest.fixture
def browser(people: Cast) -> Client:
    """Somebody who logged in before; an error of the server is an answer, as it is outside of tests."""
    browser = Client(raise_request_exception=False)
    log_in(browser, people.alice)
    return browser


@pytest.fixture
def away(browser: Client) -> Iterator[None]:
    """Nothing answers at the database's address."""
    connection = connections["default"]
    place = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = "/nowhere/at/all"
    yield
    connection.close()
    connection.settings_dict["NAME"] = place


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_that_the_database_cannot_be_used(page: str, browser: Client, away: None) -> None:
    answer = browser.get(page)
    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "5", "no-store")
    assert "<h1>The database cannot be used now</h1>" in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "said"), [("/health/live", (200, "alive\n")), ("/health/ready", (503, "database not reached\n"))]
)
def test_health_is_told_to_somebody_who_is_logged_in_too(
    path: str, said: tuple[int, str], browser: Client, away: None
) -> None:
    answer = browser.get(path)
    assert (answer.status_code, answer.content.decode()) == said


def test_a_form_is_answered_so_too(browser: Client, away: None) -> None:
    answer = browser.post("/w/lab/decisions/new", {"act": "submit", "title": "One"})
    assert (answer.status_code, "look first whether it was taken" in answer.content.decode()) == (503, True)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("token", ["", "Bearer tg_invented"])
def test_the_api_answers_with_problem_details(method: str, token: str, browser: Client, away: None) -> None:
    answer = browser.generic(method, API, headers={"Authorization": token} if token else {})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert (answer["Content-Type"], answer["Cache-Control"]) == ("application/problem+json", "no-store")
    assert answer.json() == {
        "type": "urn:topogate:problem:database_away",
        "title": "The database cannot be used now",
        "status": 503,
        "detail": "It is away, full or busy. Ask again; with an Idempotency-Key, nothing is submitted twice.",
        "instance": API,
        "problems": [],
    }


def test_the_next_request_finds_the_database_again(browser: Client) -> None:
    connection = connections["default"]
    place, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], "/nowhere/at/all"
    connection.close()
    first = browser.get("/w/lab/").status_code
    connection.settings_dict["NAME"] = place
    assert (first, browser.get("/w/lab/").status_code) == (503, 200)


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("invented")


@pytest.mark.parametrize(
    ("address", "kind"), [("/broken", "text/html; charset=utf-8"), ("/api/broken", "application/problem+json")]
)
def test_another_error_stays_one_of_the_server(address: str, kind: str) -> None:
    paths = type("Paths", (), {"urlpatterns": [path(address[1:], broken)], "handler500": "config.bad_requests.failed"})
    with override_settings(ROOT_URLCONF=paths):
        answer = Client(raise_request_exception=False).get(address)
    assert (answer.status_code, answer["Content-Type"], "Retry-After" in answer) == (500, kind, False)
    assert "Something went wrong that no rule foresaw." in answer.content.decode()
    assert "invented" not in answer.content.decode()
