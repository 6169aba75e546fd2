"""A form that comes again while the first is at work: it waits for as long as somebody lives who does it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from reviews.audit import workspace_write
from reviews.models import Reproduction, SavedView
from reviews.web import sent_again
from tests.reviews.factories import Cast, planned
from tests.reviews.logins import log_in
from tests.reviews.racing import race
from tests.reviews.rules.board import board

pytestmark = pytest.mark.django_db(transaction=True)
REPRODUCE = {"act": "reproduce", "revision": "1", "csrfmiddlewaretoken": "a" * 64}
RELEASE = "/w/lab/decisions/1/release/"


@pytest.fixture
def people(transactional_db: None) -> Cast:
    people = board()
    planned(people)
    return people


@contextmanager
def busy(people: Cast, seconds: float) -> Iterator[None]:
    """Let every act of the workspace wait for so long."""
    begins = threading.Event()

    def hold() -> None:
        with workspace_write(people.workspace.pk):
            begins.set()
            time.sleep(seconds)
        connection.close()

    holding = threading.Thread(target=hold)
    holding.start()
    begins.wait()
    yield
    holding.join()


def later(seconds: float, call: Any) -> Any:
    time.sleep(seconds)
    return call()


def test_what_is_worked_on_for_longer_than_a_lease_is_done_once(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent_again, "LEASE_S", 2)
    monkeypatch.setattr(sent_again, "RENEW_S", 0.3)
    bob = log_in(Client(), people.bob)
    with busy(people, 5):
        answers = race([partial(bob.post, RELEASE, REPRODUCE)] * 2)
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(302, RELEASE)] * 2
    assert Reproduction.objects.count() == 1


def test_another_form_that_is_done_meanwhile_lets_no_second_act_through(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_again, "AT_ONCE_S", 0)
    monkeypatch.setattr(sent_again, "PAUSE_S", 1.0)
    bob = log_in(Client(), people.bob)
    other = {"name": "Chat", "slot": "a", "csrfmiddlewaretoken": "b" * 64}
    first, second = (partial(bob.post, RELEASE, REPRODUCE) for _ in range(2))
    between = partial(bob.post, "/w/lab/views/", other)
    with busy(people, 1):
        race([first, partial(later, 0.3, second), partial(later, 0.6, between)])
    assert (Reproduction.objects.count(), SavedView.objects.count()) == (1, 1)


def test_a_process_that_died_at_a_form_keeps_nobody_waiting_for_longer_than_its_lease(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_again, "LEASE_S", 1)
    monkeypatch.setattr(sent_again, "RENEW_S", 3600.0)
    bob = log_in(Client(), people.bob)
    with monkeypatch.context() as dead:
        # What died says neither where the form led nor that it is done.
        dead.setattr(sent_again._Form, "lead", lambda form, href: None)
        dead.setattr(sent_again._Lease, "end", lambda lease: None)
        bob.post(RELEASE, REPRODUCE)
    began = time.monotonic()
    answer = bob.post(RELEASE, REPRODUCE)
    assert (answer.status_code, Reproduction.objects.count()) == (302, 2)
    assert time.monotonic() - began < 10
