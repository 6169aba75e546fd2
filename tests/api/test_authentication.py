"""Who is asking: a session with the token of its page, or a header that is a token; a stranger learns nothing."""

import pytest
from django.test import Client

from reviews.services.jobs import job_run
from tests.api.asking import API, problem
from tests.reviews.factories import Cast, submitted

pytestmark = pytest.mark.both_databases


def test_a_browser_reads_with_its_session(people: Cast) -> None:
    job_run(submitted(people).job_id)
    browser = Client()
    browser.force_login(people.bob, backend="django.contrib.auth.backends.ModelBackend")
    assert browser.get(f"{API}/workspaces/lab/decisions").status_code == 200


def test_a_browser_changes_nothing_without_the_token_of_its_page(people: Cast) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(people.alice, backend="django.contrib.auth.backends.ModelBackend")
    browser.get("/w/lab/decisions/new")
    path = f"{API}/workspaces/lab/validate"
    assert problem(browser.post(path, {}))["status"] == 403
    allowed = browser.post(path, {}, headers={"X-CSRFToken": browser.cookies["csrf"].value})
    assert allowed.status_code == 422


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Basic YTpi", id="another scheme"),
        pytest.param("Bearer", id="no token"),
        pytest.param("Bearer tg_" + "a" * 10_000, id="a long token"),
        pytest.param("Bearer tg_\u00e9\u00fc", id="not ASCII"),
        pytest.param("Bearer tg_a tg_b", id="two tokens"),
    ],
)
def test_a_header_that_is_no_token_is_refused_even_with_a_session(header: str, people: Cast) -> None:
    browser = Client()
    browser.force_login(people.bob, backend="django.contrib.auth.backends.ModelBackend")
    assert browser.get(f"{API}/workspaces/lab/decisions", headers={"Authorization": header}).status_code == 401


def test_a_stranger_does_not_learn_which_decisions_there_are(people: Cast) -> None:
    submitted(people)
    client = Client()
    client.force_login(people.charlie, backend="django.contrib.auth.backends.ModelBackend")
    told = {
        client.post(f"/api/v1/workspaces/lab/decisions/{number}/revisions", {"what": "x"}).json()["detail"]
        for number in (1, 77)
    }
    assert told == {"There is no workspace lab that you belong to."}


@pytest.mark.parametrize("address", ["decisions?nonsense=1", "audit?limit=0", "decisions/1/revisions/1/stress?page=x"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_does_not_learn_which_workspaces_there_are(method: str, address: str, people: Cast) -> None:
    client = Client()
    client.force_login(people.charlie, backend="django.contrib.auth.backends.ModelBackend")
    told = {
        (answer.status_code, answer.json()["detail"].replace(workspace, "W"))
        for workspace in ("lab", "nowhere")
        for answer in [getattr(client, method)(f"/api/v1/workspaces/{workspace}/{address}", {})]
    }
    assert len(told) == 1
