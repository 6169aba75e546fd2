"""Every refusal is a page that says what happened, with the headers of every other answer."""

import pytest
from django.test import Client
from django.urls import reverse

from reviews.models import Decision
from tests.reviews.factories import Cast
from tests.reviews.logins import log_in
from tests.web.conftest import Visit

HEADERS = ("X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Content-Security-Policy")
SIGN = "/w/lab/decisions/1/sign"


@pytest.mark.parametrize(
    ("method", "address", "heading", "allowed"),
    [
        ("GET", SIGN, "This is no page to open", "POST"),
        ("GET", "/theme", "This is no page to open", "POST"),
        ("GET", "/logout", "This is no page to open", "POST"),
        ("POST", "/w/lab/decisions/1/", "This page is only read", "GET, HEAD"),
        ("OPTIONS", "/w/lab/", "This page is only read", "GET, HEAD"),
    ],
)
def test_a_method_that_is_not_taken_is_answered_with_a_page(
    method: str, address: str, heading: str, allowed: str, decided: Decision, people: Cast, visit: Visit
) -> None:
    answer = visit(people.bob).generic(method, address)
    assert (answer.status_code, {*answer["Allow"].split(", ")} >= {*allowed.split(", ")}) == (405, True)
    assert f"<h1>{heading}</h1>" in answer.content.decode()


def test_a_host_that_is_not_served_is_told_in_the_design(client: Client, db: None) -> None:
    answer = client.get("/login", HTTP_HOST="evil.example")
    assert (answer.status_code, "<h1>The request cannot be read</h1>" in answer.content.decode()) == (400, True)
    assert "evil" not in answer.content.decode()


@pytest.mark.parametrize("address", ["/nothing", "/api/v1/nothing", "/api/v1/docs", "/theme", "/health/live"])
@pytest.mark.parametrize("host", ["testserver", "evil.example"])
def test_every_kind_of_answer_has_the_headers(address: str, host: str, client: Client, db: None) -> None:
    answer = client.get(address, HTTP_HOST=host)
    assert {name for name in HEADERS if name not in answer} == set()


def test_a_static_file_has_the_headers_and_is_not_shared_with_other_hosts(client: Client) -> None:
    answer = client.get("/static/icon.svg")
    assert (answer.status_code, {name for name in HEADERS if name not in answer}) == (200, set())
    assert "Access-Control-Allow-Origin" not in answer


@pytest.mark.parametrize("field", ["statement", "reason"])
def test_whoever_is_not_logged_in_any_more_keeps_what_they_wrote(field: str, decided: Decision, client: Client) -> None:
    answer = client.post(
        SIGN, {field: "Read it all."}, HTTP_REFERER="http://testserver/w/lab/decisions/1/?rows=all#sign"
    )
    page = answer.content.decode()
    assert (answer.status_code, "<h1" in page and "You are not logged in any more" in page) == (403, True)
    assert ("Read it all." in page, 'href="/login?next=%2Fw%2Flab%2Fdecisions%2F1%2F%3Frows%3Dall%23sign"' in page) == (
        True,
        True,
    )


@pytest.mark.parametrize("referer", ["https://evil.example/w/lab/", "", "//evil.example/x", "nonsense"])
def test_the_login_after_a_form_leads_back_to_this_host_only(referer: str, decided: Decision, client: Client) -> None:
    answer = client.post(SIGN, {}, HTTP_REFERER=referer)
    assert 'href="/login?next=%2F"' in answer.content.decode()


@pytest.mark.parametrize("csrf", [True, False])
def test_a_refused_submission_has_the_part_that_is_swapped_in(csrf: bool, decided: Decision) -> None:
    answer = Client(enforce_csrf_checks=csrf).post(reverse("decision-new", args=["lab"]), {}, HTTP_HX_REQUEST="true")
    assert (answer.status_code, 'id="answer"' in answer.content.decode()) == (403, True)


WORDS = {"statement": "Read <all>.", "conditions": "Rerun r1.", "act": "propose"}
KEPT = "Read &lt;all&gt;.\n\nRerun r1.</textarea>"


@pytest.mark.parametrize(
    ("is_in", "heading", "way"),
    [
        pytest.param(True, "The form is too old", 'href="/w/lab/decisions/1/"', id="opened before the login"),
        pytest.param(False, "You are not logged in any more", "next=%2Fw%2Flab%2Fdecisions%2F1%2F", id="logged out"),
    ],
)
def test_a_form_that_is_not_taken_gives_all_its_words_and_its_page_back(
    is_in: bool, heading: str, way: str, decided: Decision, people: Cast
) -> None:
    client = Client(enforce_csrf_checks=is_in)
    if is_in:
        log_in(client, people.bob)
    answer = client.post(SIGN, WORDS, headers={"Referer": "http://testserver/w/lab/decisions/1/"})
    page = answer.content.decode()
    assert (answer.status_code, f"<h1>{heading}</h1>" in page, KEPT in page, way in page) == (403, True, True, True)


def test_words_from_another_site_are_not_shown_as_somebodys_own(decided: Decision, people: Cast) -> None:
    client = log_in(Client(enforce_csrf_checks=True), people.bob)
    answer = client.post(SIGN, WORDS, headers={"Referer": "https://evil.example/"})
    assert (answer.status_code, "Rerun" in answer.content.decode()) == (403, False)
