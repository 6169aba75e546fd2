"""A router asks all the time: few queries, and each answer is of now, whatever the process keeps."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reviews import kept_values
from reviews.api.throttles import CallerThrottle
from reviews.models import Activation, Blob, Decision
from reviews.selectors.slot_check import BOUND
from tests.api.asking import Caller, caller
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents
from tests.reviews.rules.test_rule_11_validity import SLOT, in_force, live

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def router(people: Cast) -> Caller:
    """A router with a token that reads; the process keeps nothing of other tests."""
    BOUND.forget()
    return caller(people, people.bob, "read")


def asked(router: Caller, tree: Any) -> Any:
    return router.post("check", {"slot": SLOT, "identity": json.dumps(tree).encode()})


def test_a_check_takes_four_queries_however_often_the_slot_was_decided(people: Cast, router: Caller) -> None:
    in_force(people)
    in_force(people, pair=documents(tokens=170_000))
    tree = live(in_force(people, pair=documents(tokens=180_000)))
    asked(router, tree)
    with CaptureQueriesContext(connection) as queries:
        found = asked(router, tree).json()
    assert (found["matches"], found["decision"]) == (True, 3)
    # Token, workspace of the member, what was put into force, its waivers.
    assert len(queries) == 4 + (connection.vendor == "postgresql")  # whose clock the token's end is compared with


def test_what_is_kept_hides_no_change_of_state(people: Cast, router: Caller) -> None:
    tree = live(in_force(people))
    assert asked(router, tree).json()["matches"]
    ended = timezone.now() - timedelta(minutes=1)
    with lifted():
        Activation.objects.update(activated_at=ended - timedelta(minutes=1), valid_until=ended)
    assert asked(router, tree).json()["because"].startswith("D-0001 is expired since")
    with lifted():
        Activation.objects.update(valid_until=None)
        Decision.objects.update(state="STALE")
    assert asked(router, tree).json()["because"].startswith("D-0001 is stale since")


def test_changed_bytes_are_refused_once_they_are_looked_at_again(
    people: Cast, router: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = in_force(people)
    tree = live(revision)
    asked(router, tree)
    with lifted():
        Blob.objects.filter(pk=revision.contract.blob_id).update(data=b"{}")
    # Until then the answer rests on the bytes that the subject names, not on those that took their place.
    assert asked(router, tree).json()["matches"]
    monkeypatch.setattr(kept_values, "CHECK_AGAIN_SECONDS", 0.0)
    assert asked(router, tree).status_code == 409


def test_a_check_is_counted_as_a_read(people: Cast, router: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = live(in_force(people))
    monkeypatch.setattr(CallerThrottle, "THROTTLE_RATES", {"read": "2/min", "submit": "1/min"})
    assert [asked(router, tree).status_code for _ in range(3)] == [200, 200, 429]
