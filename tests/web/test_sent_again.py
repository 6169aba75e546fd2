"""What counts as the same form twice in a row, and what is somebody meaning it anew."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from reviews.models import AuditEntry, CacheEntry, Reproduction, SavedView
from reviews.web import sent_again
from tests.reviews.drafts import begun
from tests.reviews.factories import Cast, planned
from tests.reviews.logins import log_in
from tests.reviews.read_only import read_only
from tests.reviews.rules.board import board

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

SHOWN, SHOWN_ANEW = "a" * 64, "b" * 64
RELEASE = "/w/lab/decisions/1/release/"


@pytest.fixture
def people(db: None) -> Cast:
    """The board with one decision."""
    people = board()
    planned(people)
    return people


def send(client: Client, path: str, *, token: str = SHOWN, **sent: Any) -> Any:
    return client.post(path, sent | {"csrfmiddlewaretoken": token})


def reproduced(client: Client, **changes: Any) -> int:
    """Reproduce the plan; return how often that was done so far."""
    send(client, RELEASE, act="reproduce", revision="1", **changes)
    return Reproduction.objects.count()


def test_a_form_that_is_shown_anew_is_meant_anew(people: Cast) -> None:
    bob = log_in(Client(), people.bob)
    assert [reproduced(bob), reproduced(bob), reproduced(bob, token=SHOWN_ANEW)] == [1, 1, 2]


def test_a_form_with_another_content_is_meant_anew(people: Cast) -> None:
    bob = log_in(Client(), people.bob)
    assert [reproduced(bob), reproduced(bob, note="again")] == [1, 2]


def test_a_form_with_another_file_of_the_same_name_is_meant_anew(people: Cast) -> None:
    files = reverse("builder-files", args=["lab", begun(people).pk])
    alice = log_in(Client(), people.alice)
    for walk in (b"a walk\n", b"a walk\n", b"a ride\n"):
        send(alice, files, act="files", files=[SimpleUploadedFile("notes.txt", walk)])
    assert AuditEntry.objects.filter(action="draft.files_added").count() == 2


def test_another_form_in_between_lets_the_first_be_meant_anew(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent_again, "AT_ONCE_S", 0)
    bob = log_in(Client(), people.bob)
    reproduced(bob)
    send(bob, "/w/lab/views/", name="Chat", slot="a")
    assert (reproduced(bob), SavedView.objects.count()) == (2, 1)


def test_another_form_within_a_second_lets_no_second_act_through(people: Cast) -> None:
    bob = log_in(Client(), people.bob)
    reproduced(bob)
    send(bob, "/w/lab/views/", name="Chat", slot="a")
    assert (reproduced(bob), SavedView.objects.count()) == (1, 1)


def test_the_same_form_of_somebody_else_is_theirs(people: Cast) -> None:
    assert [reproduced(log_in(Client(), one)) for one in (people.bob, people.carol)] == [1, 2]


def test_a_form_is_meant_anew_after_a_minute(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent_again, "KEPT_S", 0)
    bob = log_in(Client(), people.bob)
    assert [reproduced(bob), reproduced(bob)] == [1, 2]


def test_a_refused_form_is_judged_anew(people: Cast) -> None:
    bob = log_in(Client(), people.bob)
    assert [send(bob, RELEASE, act="withdraw", reason="No.").status_code for _ in range(2)] == [403, 403]
    assert AuditEntry.objects.filter(action="withdrawal.refused").count() == 2


def test_a_script_is_led_on_as_the_first_time(people: Cast) -> None:
    draft = begun(people)
    alice = log_in(Client(headers={"HX-Request": "true"}), people.alice)
    answers = [send(alice, f"/w/lab/evidence/drafts/{draft.pk}/delete", act="delete") for _ in range(2)]
    assert [answer.headers.get("HX-Redirect") for answer in answers] == ["/w/lab/evidence/drafts/"] * 2


def test_what_is_kept_tells_nothing_of_what_was_sent(people: Cast) -> None:
    bob = log_in(Client(), people.bob)
    reproduced(bob)
    digest = cache.get(f"form-last:{people.bob.pk}")
    assert (len(digest), cache.get(f"form-led:{digest}")[0]) == (64, RELEASE)


def test_a_request_that_another_one_keeps_waiting_for_too_long_goes_on(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = cache.add
    monkeypatch.setattr(cache, "add", lambda key, *args, **kwargs: "at-work" not in key and add(key, *args, **kwargs))
    monkeypatch.setattr(sent_again, "KEPT_S", 0)
    assert reproduced(log_in(Client(), people.bob)) == 1


def test_nobody_waits_where_the_database_takes_no_writes(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("nobody else is at this form"))
    bob = log_in(Client(raise_request_exception=False), people.bob)
    with read_only():
        assert send(bob, RELEASE, act="reproduce", revision="1").status_code == 503


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_what_was_done_is_answered_where_the_database_went_away_since(
    people: Cast, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object) -> None:
        raise error

    bob = log_in(Client(), people.bob)
    monkeypatch.setattr(cache, "set", away)
    answer = send(bob, RELEASE, act="reproduce", revision="1")
    assert (answer.status_code, answer["Location"], Reproduction.objects.count()) == (302, RELEASE, 1)


def test_a_busy_cache_keeps_where_a_form_led(people: Cast) -> None:
    bob = log_in(Client(), people.bob)
    reproduced(bob)
    later = timezone.now() + timedelta(minutes=1)
    others = [CacheEntry(cache_key=f":1:request-{number}", value="", expires=later) for number in range(1_000)]
    CacheEntry.objects.bulk_create(others)
    assert reproduced(bob) == 1
