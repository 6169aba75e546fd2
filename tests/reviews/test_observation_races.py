"""Collectors at once: no value is lost or counted twice, one batch is taken once, nothing fails."""

import threading
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from planner.observations.packed import unpacked
from reviews.clock import database_now
from reviews.models import (
    AuditEntry,
    ObservationBatch,
    ObservationFeed,
    ObservationFinding,
    ObservationRollUp,
    ObservationSource,
)
from reviews.services.observation_sweeps import observations_prune
from reviews.services.observations import Taken, observations_take
from reviews.verification import verify
from tests.planner.observations.batches import level
from tests.reviews.factories import Cast
from tests.reviews.observing import FULL, encoded, memory, minutes_ago, observed_cast, take
from tests.reviews.racing import race

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast with a topology in force, committed, so that every connection sees it."""
    return observed_cast()


def reporting(people: Cast, raw: bytes) -> Any:
    return partial(observations_take, actor=people.bob, workspace=people.workspace, raw=raw)


def test_collectors_of_the_same_ranks_at_once_lose_nothing(people: Cast) -> None:
    batches = [encoded(memory(0, 10 + at), memory(at), source=f"dcgm-{at}") for at in range(1, 9)]
    found = race([reporting(people, raw) for raw in batches])
    assert [type(one) for one in found] == [Taken] * 8
    feed = ObservationFeed.objects.get()
    assert (feed.version, ObservationSource.objects.count()) == (8, 8)
    rolled = unpacked(bytes(ObservationRollUp.objects.get().data), "", "device_used_bytes")
    assert {(key.source, one.count, one.max) for key, one in rolled.items() if key.rank == 0} == {
        (f"{people.bob.pk}/dcgm-{at}", 10, 10.0 + at) for at in range(1, 9)
    }
    assert len(rolled) == 16


def test_one_batch_sent_eight_times_at_once_is_taken_once(people: Cast) -> None:
    found = race([reporting(people, encoded(memory(0, FULL)))] * 8)
    assert sorted(one.is_new for one in found) == [False] * 7 + [True]
    assert (ObservationBatch.objects.count(), ObservationFeed.objects.get().version) == (1, 1)
    rolled = unpacked(bytes(ObservationRollUp.objects.get().data), "", "device_used_bytes")
    assert [one.count for one in rolled.values()] == [10]


def test_what_one_of_many_takes_is_no_replay_for_the_others(people: Cast) -> None:
    take(people, memory(0), source="before")
    for at in range(3):
        found = race([reporting(people, encoded(memory(0), source=f"dcgm-{at}"))] * 8)
        assert [type(one) for one in found] == [Taken] * 8
    assert not AuditEntry.objects.filter(action="observations.refused").exists()


def test_breaches_seen_at_once_are_one_finding_each_and_the_log_holds(people: Cast) -> None:
    batches = [encoded(memory(0, FULL), memory(at, FULL), source=f"dcgm-{at}") for at in range(1, 7)]
    race([reporting(people, raw) for raw in batches])
    assert ObservationFinding.objects.count() == 7
    feed = ObservationFeed.objects.get()
    assert (feed.breaches, feed.drifts) == (7, 0)
    assert AuditEntry.objects.filter(action="observations.breached").count() == 6
    assert verify(people.workspace).holds


def test_sweeps_at_once_put_every_hour_into_its_day_once(people: Cast, settings: Any) -> None:
    for hours in (30, 29, 28):
        at: dict[str, Any] = {"started_at": minutes_ago(hours * 60), "ended_at": minutes_ago(hours * 60 - 1)}
        take(people, {"rank": 0, "metrics": {"power_watts": level(5)}}, source=f"at-{hours}", **at)
    race([observations_prune] * 4)
    days = ObservationRollUp.objects.filter(span__level="day")
    pieces = [unpacked(bytes(row.data), "", "power_watts") for row in days]
    assert sum(one.count for rolled in pieces for one in rolled.values()) == 30


def test_a_late_batch_beside_a_sweep_is_in_the_day_all_the_same(people: Cast) -> None:
    """Whoever is first: the day has what the hours have, once the sweep was there again."""
    at: dict[str, Any] = {"started_at": minutes_ago(6 * 60), "ended_at": minutes_ago(6 * 60 - 1)}
    watts = {"rank": 0, "metrics": {"power_watts": level(5)}}
    take(people, watts, source="first", **at)
    late = [encoded(watts, source=f"late-{number}", **at) for number in range(4)]
    found = race([*(reporting(people, raw) for raw in late), observations_prune, observations_prune])
    assert [type(one) for one in found] == [Taken] * 4 + [int] * 2
    observations_prune()
    (day,) = ObservationRollUp.objects.filter(span__level="day")
    rolled = unpacked(bytes(day.data), "", "power_watts")
    assert sum(one.count for one in rolled.values()) == 50


def test_a_collector_that_reports_again_while_it_is_forgotten_is_kept(people: Cast) -> None:
    take(people, started_at=minutes_ago(20), ended_at=minutes_ago(10))
    ObservationBatch.objects.all().delete()
    ObservationSource.objects.update(ended_at=database_now() - timedelta(days=60))
    reported, swept = threading.Event(), threading.Event()

    def report() -> None:
        with transaction.atomic():
            take(people, started_at=minutes_ago(5), ended_at=minutes_ago(4))
            reported.set()
            swept.wait(0.5)  # in vain: the sweep looks now, and waits for what this one does

    def sweep() -> None:
        reported.wait(30)
        observations_prune()
        swept.set()

    race([report, sweep])
    assert (ObservationSource.objects.count(), ObservationBatch.objects.count()) == (1, 1)
