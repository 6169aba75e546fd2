"""Who is told when production leaves its envelope: the author and the owning team, once an hour for each kind."""

from typing import Any

import pytest

from reviews.models import Delivery, Notice, Person, Webhook
from reviews.services.messages import notice_message
from reviews.services.notices import notices_sweep
from tests.reviews.factories import Cast
from tests.reviews.observing import CALM, FULL, memory, minutes_ago, observed_cast, take
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


@pytest.fixture
def reachable(people: Cast, settings: Any) -> Cast:
    """The cast, each with an address; nothing that happened before is told."""
    settings.EMAIL_IS_ON = True
    for person in Person.objects.all():
        person.email = f"{person.login}@example.org"
        person.save(update_fields=["email"])
    notices_sweep()
    Delivery.objects.all().delete()
    return people


def told() -> dict[str, str]:
    rows = Delivery.objects.order_by("pk").select_related("person")
    return {row.person.display_name: row.why for row in rows if row.person}


def test_the_owning_team_and_the_author_are_told_of_a_breach(reachable: Cast) -> None:
    take(reachable, memory(0, FULL), who=reachable.alice)
    notices_sweep()
    # Alice is the author; that the collector reports with an account of hers changes nothing.
    assert told() == {"Bob": "owner", "Dave": "owner", "Alice": "author"}


def test_what_a_message_says_of_a_breach(reachable: Cast) -> None:
    take(reachable, memory(0, FULL))
    notices_sweep()
    body = notice_message(Delivery.objects.filter(person=reachable.dave).get()).body
    assert "Production left its envelope." in body
    assert "Breach: device_used_bytes max of rank 0 (node-a a0) is 79 GiB, limit 64 GiB" in body
    assert "You are told because your team owns the limit." in body


def test_a_fault_that_spreads_is_told_once_an_hour(reachable: Cast) -> None:
    take(reachable, memory(0, FULL), started_at=minutes_ago(20), ended_at=minutes_ago(10))
    take(reachable, memory(1, FULL))
    notices_sweep()
    hours = {notice.happened_at.hour for notice in Notice.objects.filter(kind="observations.breached")}
    assert Notice.objects.filter(kind="observations.breached").count() == len(hours)


def test_a_webhook_is_called(reachable: Cast) -> None:
    Webhook.objects.create(
        workspace=reachable.workspace,
        url="https://hooks.example.org/",
        secret="x",
        made_by=reachable.alice,
        made_at=reachable.workspace.decisions.get().opened_at,
    )
    take(reachable, memory(0, FULL))
    notices_sweep()
    assert [row.notice.kind for row in Delivery.objects.filter(person=None)] == ["observations.breached"]


def test_what_stays_within_is_told_to_nobody(reachable: Cast) -> None:
    take(reachable, memory(0, CALM))
    notices_sweep()
    assert told() == {}
