"""The page of API tokens: made with a form, shown once, revoked with a button."""

import re

import pytest

from reviews.models import ApiToken
from reviews.services.tokens import token_create, token_use
from tests.reviews.factories import Cast
from tests.web.conftest import Visit

pytestmark = pytest.mark.both_databases

PAGE = "/w/lab/settings/tokens"
SECRET = re.compile(r"tg_[A-Za-z0-9_-]{43}")
ASKED = {"label": "nightly", "scope": "submit", "days": "30"}


def test_a_new_token_is_shown_once_and_works(people: Cast, visit: Visit) -> None:
    browser = visit(people.alice)
    made = browser.post(PAGE, ASKED)
    secret = SECRET.findall(made.content.decode())[0]
    assert {"no-store", "private"} <= set(made.headers["Cache-Control"].split(", "))
    person, grant = token_use(secret)
    assert (person, grant.workspace_id, grant.scopes) == (
        people.alice,
        people.workspace.pk,
        frozenset({"read", "submit"}),
    )
    later = browser.get(PAGE).content.decode()
    assert SECRET.findall(later) == []
    assert f"{secret[:10]}…" in later


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"label": ""}, "label: expected 1 to 120 printable characters, found nothing.", id="label"),
        pytest.param({"scope": "sign"}, "scope: expected one of read, report, submit, found sign.", id="scope"),
        pytest.param({"days": "36500"}, "days: expected one of 7, 30, 90, 365 days, found 36500.", id="lifetime"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(
    change: dict[str, str], text: str, people: Cast, visit: Visit
) -> None:
    answer = visit(people.alice).post(PAGE, {**ASKED, **change})
    assert (answer.status_code, text in answer.content.decode()) == (422, True)
    assert not ApiToken.objects.exists()


def test_an_auditor_is_offered_reading_only(people: Cast, visit: Visit) -> None:
    browser = visit(people.audrey)
    assert re.findall(r'<option value="(read|report|submit)"', browser.get(PAGE).content.decode()) == ["read"]
    refused = browser.post(PAGE, {**ASKED, "scope": "report"})
    assert (refused.status_code, "Your role is auditor." in refused.content.decode()) == (403, True)


def test_somebody_who_may_not_submit_is_offered_reading_and_reporting(people: Cast, visit: Visit) -> None:
    browser = visit(people.bob)
    page = browser.get(PAGE).content.decode()
    assert re.findall(r'<option value="(read|report|submit)"', page) == ["read", "report"]
    refused = browser.post(PAGE, ASKED)
    assert (refused.status_code, "Submitting needs the role author." in refused.content.decode()) == (403, True)


def test_a_token_is_revoked_from_the_list(people: Cast, visit: Visit) -> None:
    made = token_create(actor=people.alice, workspace=people.workspace, label="nightly", scope="read", days=7)
    browser = visit(people.alice)
    answer = browser.post(f"{PAGE}/{made.id}/revoke", follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    assert "Revoked" in answer.content.decode()
    assert "Revoke nightly" not in answer.content.decode()


def test_tokens_of_others_are_neither_shown_nor_revoked(people: Cast, visit: Visit) -> None:
    made = token_create(actor=people.alice, workspace=people.workspace, label="nightly", scope="read", days=7)
    browser = visit(people.bob)
    assert "Revoke nightly" not in browser.get(PAGE).content.decode()
    assert browser.post(f"{PAGE}/{made.id}/revoke").status_code == 404
    assert ApiToken.objects.get(pk=made.id).revoked_at is None


def test_a_label_is_text_and_no_markup(people: Cast, visit: Visit) -> None:
    page = visit(people.alice).post(PAGE, {**ASKED, "label": "<b>nightly</b>"}).content.decode()
    assert "<b>nightly" not in page
    assert "&lt;b&gt;nightly&lt;/b&gt;" in page
