"""Old notices go, the oldest first and so many at once; what is still on its way stays."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from reviews.models import AuditEntry, Decision, Delivery, Notice
from reviews.services import notices
from reviews.services.notices import EXPIRING, notices_prune, notices_sweep
from tests.reviews.factories import Cast, planned

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def noticed(people: Cast, *, days_ago: int, kind: str = "decision.activated") -> Notice:
    return Notice.objects.create(
        workspace=people.workspace,
        decision=Decision.objects.get(),
        key=f"own-{Notice.objects.count()}-{days_ago}",
        kind=kind,
        happened_at=timezone.now() - timedelta(days=days_ago),
    )


def delivered(notice: Notice, people: Cast, state: str) -> None:
    Delivery.objects.create(notice=notice, person=people.alice, due_at=timezone.now(), state=state)


def test_what_is_older_than_kept_goes_with_its_deliveries(people: Cast, settings: Settings) -> None:
    planned(people)
    notices_sweep()
    entries = AuditEntry.objects.count()
    old, young = noticed(people, days_ago=91), noticed(people, days_ago=89)
    delivered(old, people, "sent")
    assert (notices_prune(), notices_prune()) == (1, 0)
    assert set(Notice.objects.filter(key__startswith="own-")) == {young}
    assert (Delivery.objects.filter(state="sent").count(), AuditEntry.objects.count()) == (0, entries)
    settings.NOTICE_KEEP_DAYS = 30
    assert notices_prune() == 1


def test_what_waits_and_a_warning_of_an_end_to_come_stay(people: Cast) -> None:
    planned(people)
    waiting, warning = noticed(people, days_ago=400), noticed(people, days_ago=400, kind=EXPIRING)
    delivered(waiting, people, "waiting")
    Decision.objects.update(state="EFFECTIVE")
    assert notices_prune() == 0
    Decision.objects.update(state="EXPIRED")
    assert notices_prune() == 1
    assert set(Notice.objects.all()) == {waiting} != {warning}


def test_so_many_go_at_once(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(people)
    for days_ago in (100, 200, 300):
        noticed(people, days_ago=days_ago)
    monkeypatch.setattr(notices, "PRUNED_AT_ONCE", 2)
    assert (notices_prune(), notices_prune(), notices_prune()) == (2, 1, 0)
