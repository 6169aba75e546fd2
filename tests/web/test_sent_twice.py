"""A form that is sent twice, as by a double click, does once what it says, and both answers are the first's."""

import re
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from reviews.clock import database_now, when
from reviews.models import (
    ApiToken,
    AuditEntry,
    Comment,
    CommentDraft,
    Delegation,
    Draft,
    Reproduction,
    SavedView,
    Thread,
    Webhook,
)
from reviews.services import shown_again
from reviews.services.people_invitations import invitation_make
from reviews.services.tokens import token_use
from tests.reviews.drafts import begun
from tests.reviews.factories import Cast, planned
from tests.reviews.logins import log_in
from tests.reviews.racing import race
from tests.reviews.rules.board import board, someone
from tests.reviews.rules.test_rule_14_threads import GATE, about, publish
from tests.web.accounts import app_of

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

HERE, RELEASE = "/w/lab/decisions/1/threads/", "/w/lab/decisions/1/release/"


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The board, committed, so that two requests at once see it."""
    return board()


@pytest.fixture
def bob(people: Cast) -> Client:
    return log_in(Client(), people.bob)


def carried(client: Client, page: str, *, form: int = 0) -> str:
    """Return what the page's form carries."""
    found: list[str] = re.findall(r'name="once" value="([^"]+)"', client.get(page).content.decode())
    return found[form]


def twice(client: Client, path: str, sent: dict[str, Any]) -> list[Any]:
    """Send a form twice at once, and return both answers."""
    return race([partial(client.post, path, sent)] * 2)


def test_a_reply_is_published_once(people: Cast, bob: Client) -> None:
    planned(people)
    publish(people, about())
    reply = {"text": "The steady one.", "act": "publish", "once": carried(bob, f"{HERE}1/")}
    answers = twice(bob, f"{HERE}1/", reply)
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(302, f"{HERE}1/")] * 2
    assert list(Comment.objects.values_list("number", "text")) == [(1, "Which window is this?"), (2, "The steady one.")]
    assert not AuditEntry.objects.filter(action="comments.refused").exists()


def test_another_text_from_the_same_form_is_another_reply(people: Cast, bob: Client) -> None:
    planned(people)
    publish(people, about())
    once = carried(bob, f"{HERE}1/")
    for text in ("The steady one.", "Of r1."):
        bob.post(f"{HERE}1/", {"text": text, "act": "publish", "once": once})
    assert Comment.objects.count() == 3


def test_the_same_text_from_a_form_of_its_own_is_published(people: Cast, bob: Client) -> None:
    planned(people)
    publish(people, about())
    for _ in range(2):
        bob.post(f"{HERE}1/", {"text": "Ping.", "act": "publish", "once": carried(bob, f"{HERE}1/")})
    assert Comment.objects.filter(text="Ping.").count() == 2


def test_a_thread_is_opened_once(people: Cast, bob: Client) -> None:
    planned(people)
    page = f"{HERE}new?kind=gate&name={GATE}&revision=1"
    first = {"kind": "gate", "name": GATE, "revision": "1", "text": "Which window?", "act": "publish"}
    answers = twice(bob, f"{HERE}new", first | {"once": carried(bob, page)})
    assert {answer["Location"] for answer in answers} == {f"{HERE}1/"}
    assert Thread.objects.count() == 1


def test_a_draft_is_kept_once_and_drafts_are_published_once(people: Cast, bob: Client) -> None:
    planned(people)
    draft = {"kind": "gate", "name": GATE, "revision": "1", "text": "Which window?", "act": "draft"}
    twice(bob, f"{HERE}new", draft)
    assert CommentDraft.objects.count() == 1
    answers = twice(bob, f"{HERE}publish", {"once": carried(bob, HERE)})
    assert [answer.status_code for answer in answers] == [302, 302]
    assert (Comment.objects.count(), CommentDraft.objects.count()) == (1, 0)
    assert not AuditEntry.objects.filter(action="comments.refused").exists()


def test_drafts_written_since_are_published_from_the_same_page(people: Cast, bob: Client) -> None:
    planned(people)
    once = ""
    for text in ("Which window?", "Rerun?"):
        bob.post(f"{HERE}new", {"kind": "trial", "name": "t-1", "revision": "1", "text": text, "act": "draft"})
        once = once or carried(bob, HERE)
        bob.post(f"{HERE}publish", {"once": once})
    assert list(Comment.objects.order_by("pk").values_list("text", flat=True)) == ["Which window?", "Rerun?"]


def test_a_token_is_made_once_and_both_answers_show_it(people: Cast, bob: Client) -> None:
    asked = {"label": "nightly", "scope": "read", "days": "7", "once": carried(bob, "/w/lab/settings/tokens")}
    shown = {
        re.findall(r"tg_[\w-]{43}", answer.content.decode())[0]
        for answer in twice(bob, "/w/lab/settings/tokens", asked)
    }
    assert ApiToken.objects.count() == 1
    assert token_use(shown.pop())[0] == people.bob
    assert not shown


def test_without_what_the_form_carried_every_request_makes_a_token(bob: Client) -> None:
    asked = {"label": "nightly", "scope": "read", "days": "7"}
    twice(bob, "/w/lab/settings/tokens", asked)
    assert ApiToken.objects.values("sha256").distinct().count() == 2


def test_a_webhook_is_added_once_and_both_answers_show_its_secret(people: Cast, settings: Any) -> None:
    settings.WEBHOOK_HOSTS = ("hooks.example.org",)
    admin = log_in(Client(), someone("ada"))
    asked = {"url": "https://hooks.example.org/t", "once": carried(admin, "/w/lab/webhooks/")}
    answers = twice(admin, "/w/lab/webhooks/", asked)
    secret = Webhook.objects.get().secret
    assert [secret in answer.content.decode() for answer in answers] == [True, True]


def test_somebody_is_invited_once_and_both_answers_show_the_link(people: Cast) -> None:
    admin = log_in(Client(), someone("ada"))
    asked = {"login": "zoe", "name": "Zoe", "role": "member", "once": carried(admin, "/w/lab/people/")}
    answers = twice(admin, "/w/lab/people/invite", asked)
    links = {re.findall(r"/join/[\w-]{43}", answer.content.decode())[0] for answer in answers}
    assert (len(links), {answer.status_code for answer in answers}) == (1, {200})


def later(monkeypatch: pytest.MonkeyPatch, *, minutes: int) -> None:
    """Let so many minutes pass for what is shown again."""
    at = database_now() + timedelta(minutes=minutes)
    monkeypatch.setattr(shown_again, "database_now", lambda: at)


def test_a_reload_within_the_hour_shows_a_token_again(bob: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"label": "nightly", "scope": "read", "days": "7", "once": carried(bob, "/w/lab/settings/tokens")}
    bob.post("/w/lab/settings/tokens", asked)
    later(monkeypatch, minutes=59)
    assert "tg_" in bob.post("/w/lab/settings/tokens", asked).content.decode()


def test_a_form_sent_again_much_later_shows_no_token(bob: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"label": "nightly", "scope": "read", "days": "7", "once": carried(bob, "/w/lab/settings/tokens")}
    secret = re.findall(r"tg_[\w-]{43}", bob.post("/w/lab/settings/tokens", asked).content.decode())[0]
    later(monkeypatch, minutes=61)
    answer = bob.post("/w/lab/settings/tokens", asked)
    page = answer.content.decode()
    at = when(ApiToken.objects.get().made_at)
    assert answer.status_code == 409
    assert f"This form made the token nightly at {at} UTC, and shows it again for an hour only." in page
    assert "Revoke it and make another one." in page
    assert secret not in page
    assert AuditEntry.objects.latest("seq").action == "token.refused"


def test_a_form_sent_again_much_later_shows_no_secret_of_a_webhook(
    people: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WEBHOOK_HOSTS = ("hooks.example.org",)
    admin = log_in(Client(), someone("ada"))
    asked = {"url": "https://hooks.example.org/t", "once": carried(admin, "/w/lab/webhooks/")}
    admin.post("/w/lab/webhooks/", asked)
    later(monkeypatch, minutes=61)
    answer = admin.post("/w/lab/webhooks/", asked)
    page = answer.content.decode()
    assert (answer.status_code, Webhook.objects.get().secret in page) == (409, False)
    assert "shows it again for an hour only. Remove it and add it anew." in page


def test_a_form_sent_again_much_later_shows_no_link(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = log_in(Client(), someone("ada"))
    asked = {"login": "zoe", "name": "Zoe", "role": "member", "once": carried(admin, "/w/lab/people/")}
    admin.post("/w/lab/people/invite", asked)
    later(monkeypatch, minutes=61)
    answer = admin.post("/w/lab/people/invite", asked)
    page = answer.content.decode()
    assert (answer.status_code, "/join/" in page) == (409, False)
    assert "This form made the link for Zoe at " in page
    assert "Make another link on their page." in page


def test_a_seat_is_lent_once(people: Cast, bob: Client) -> None:
    lent = {"team": "serving", "taker": "carol-lab", "starts": "2026-12-01", "ends": "2026-12-08", "reason": "Away."}
    answers = twice(bob, "/w/lab/settings/delegations", lent)
    assert ([answer.status_code for answer in answers], Delegation.objects.count()) == ([302, 302], 1)


def test_a_view_is_saved_once(bob: Client) -> None:
    answers = twice(bob, "/w/lab/views/", {"name": "Chat", "slot": "chat"})
    assert ([answer.status_code for answer in answers], SavedView.objects.count()) == ([302, 302], 1)


@pytest.mark.parametrize("form", range(3), ids=["from nothing", "from one here", "from a file"])
def test_every_form_that_begins_a_contract_begins_one(people: Cast, form: int) -> None:
    planned(people)
    alice = log_in(Client(), people.alice)
    asked = {"act": "empty", "once": carried(alice, "/w/lab/contracts/", form=form)}
    answers = twice(alice, "/w/lab/contracts/", asked)
    assert (len({answer["Location"] for answer in answers}), Draft.objects.count()) == (1, 1)


def at_once(client: Client, path: str, **sent: Any) -> list[tuple[int, str | None]]:
    """Send a form with the token of its page twice at once; return status of both answers and where they lead."""
    answers = twice(client, path, sent | {"csrfmiddlewaretoken": "a" * 64})
    return [(answer.status_code, answer.headers.get("Location")) for answer in answers]


def written(*actions: str) -> list[str]:
    """Return which of these actions are entries, in their order."""
    return list(AuditEntry.objects.filter(action__in=actions).order_by("seq").values_list("action", flat=True))


def test_a_decision_is_withdrawn_once(people: Cast) -> None:
    planned(people)
    alice = log_in(Client(), people.alice)
    assert at_once(alice, RELEASE, act="withdraw", reason="Not needed.") == [(302, RELEASE)] * 2
    assert written("decision.withdrawn", "withdrawal.refused") == ["decision.withdrawn"]


def test_a_plan_is_reproduced_once(people: Cast, bob: Client) -> None:
    planned(people)
    assert at_once(bob, RELEASE, act="reproduce", revision="1") == [(302, RELEASE)] * 2
    assert Reproduction.objects.count() == 1


def test_a_step_of_the_builder_is_taken_once(people: Cast) -> None:
    draft = begun(people)
    path = f"/w/lab/evidence/drafts/{draft.pk}/trials/"
    answers = at_once(log_in(Client(), people.alice), path, act="new_trial", new="tp2", version=draft.version)
    assert (answers, written("draft.changed", "draft.refused")) == ([(302, path)] * 2, ["draft.changed"])


def test_recovery_codes_are_made_once(people: Cast, bob: Client) -> None:
    app_of(people.bob)
    at_once(bob, reverse("mfa_generate_recovery_codes"))
    assert written("account.changed") == ["account.changed"]


def test_a_link_for_somebody_is_made_once_and_both_answers_show_it(people: Cast) -> None:
    admin = log_in(Client(), someone("ada"))
    answers = twice(admin, "/w/lab/people/bob-lab/link", {"once": carried(admin, "/w/lab/people/bob-lab/")})
    links = {re.findall(r"/join/[\w-]{43}", answer.content.decode())[0] for answer in answers}
    assert (len(links), written("roster.link_made")) == (1, ["roster.link_made"])


def test_a_form_whose_link_is_spent_makes_no_other(people: Cast) -> None:
    admin = log_in(Client(), someone("ada"))
    asked = {"once": carried(admin, "/w/lab/people/bob-lab/")}
    for sent in (asked, {}, asked):
        answer = admin.post("/w/lab/people/bob-lab/link", sent)
    assert answer.status_code == 409
    assert "This form made the link for Bob, which was used or replaced since." in answer.content.decode()


def test_a_password_is_set_once_by_a_link(people: Cast) -> None:
    path = invitation_make(workspace=people.workspace, person=people.bob).path
    password = {"password": "a long enough secret", "repeated": "a long enough secret"}
    answers = twice(Client(), path, password)
    assert [(answer.status_code, answer.headers.get("Location")) for answer in answers] == [(302, "/login")] * 2
    assert written("roster.link_used") == ["roster.link_used"]
