"""What production breaks, in the inbox of whoever has to act: the author, and the team that owns the limit."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reviews.models import Activation, Decision, ObservationFeed, ObservationFinding
from reviews.selectors.breaches import Breaches, BreachRow, breaches_of
from reviews.selectors.decisions import DecisionFilter
from reviews.selectors.inbox import inbox
from reviews.selectors.people import standing_of
from tests.reviews.factories import Cast, planned
from tests.reviews.observing import DRIFTED, FULL, memory, observed_cast, take
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


def rows(people: Cast, who: str = "bob") -> tuple[BreachRow, ...]:
    return breaches_of(standing_of(getattr(people, who), people.workspace), people.workspace, 10).rows


@pytest.mark.parametrize(("who", "is_told"), [("alice", True), ("bob", True), ("carol", False), ("audrey", False)])
def test_the_author_and_the_team_that_owns_the_limit_find_it(people: Cast, who: str, is_told: bool) -> None:
    take(people, memory(3, FULL))
    assert [row.number for row in rows(people, who)] == [1] * is_told


def test_it_says_what_where_and_since_when(people: Cast) -> None:
    take(people, memory(3, FULL), memory(4, FULL + 2**30))
    first = timezone.now() - timedelta(hours=2)
    ObservationFinding.objects.filter(rank=3).update(opened_at=first)
    (row,) = rows(people)
    assert row.text.startswith("Breach: device_used_bytes max of rank 4 is 80 GiB, limit 64 GiB, measured ")
    assert (row.label, row.slot, row.count, row.team, row.since) == ("D-0001", "chat/eu-west", 2, "serving", first)


def test_it_is_gone_when_it_clears(people: Cast) -> None:
    take(people, memory(3, FULL))
    ObservationFinding.objects.update(closed_at=timezone.now())
    assert rows(people) == ()


def test_what_runs_no_more_is_nobodys_to_act_on(people: Cast) -> None:
    take(people, memory(3, FULL))
    Decision.objects.update(state="SUPERSEDED")
    assert rows(people) == ()


def test_drift_breaks_nothing(people: Cast) -> None:
    take(people, memory(3, DRIFTED))
    assert rows(people) == ()


def test_sixteen_breaches_take_the_queries_of_one(people: Cast) -> None:
    costs = []
    for ranks in (1, 16):
        take(people, *(memory(rank, FULL) for rank in range(ranks)), source=f"of-{ranks}")
        with CaptureQueriesContext(connection) as captured:
            (row,) = rows(people)
        costs.append((row.count, len(captured)))
    assert [count for count, _ in costs] == [1, 16]
    assert costs[0][1] == costs[1][1]


def test_what_is_not_shown_is_counted(people: Cast) -> None:
    take(people, memory(3, FULL))
    bob = standing_of(people.bob, people.workspace)
    assert breaches_of(bob, people.workspace, 0) == Breaches((), 1)


def broken_too(people: Cast) -> None:
    """Let another decision be in force, with what is observed of the first."""
    revision = planned(people)
    for row in (Activation.objects.get(), ObservationFeed.objects.get()):
        row.pk, row.revision = None, revision
        row.save()
    finding = ObservationFinding.objects.get()
    finding.pk, finding.feed = None, ObservationFeed.objects.get(revision=revision)
    finding.opened_at += timedelta(minutes=1)
    finding.save()


def test_all_are_read_page_by_page(people: Cast) -> None:
    take(people, memory(3, FULL))
    broken_too(people)
    bob = standing_of(people.bob, people.workspace)
    pages = [breaches_of(bob, people.workspace, 1, page) for page in (1, 2, 3)]
    assert [([row.number for row in page.rows], page.total) for page in pages] == [([1], 2), ([2], 2), ([1], 2)]


def test_the_inbox_shows_them_by_themselves(people: Cast) -> None:
    take(people, memory(3, FULL))
    broken_too(people)
    asked = partial(inbox, actor=people.bob, workspace=people.workspace, wanted=DecisionFilter())
    first = asked(preview=1)
    assert (len(first.breaches.rows), first.breaches.total, first.pages) == (1, 2, 1)
    alone = asked(only="breaches", page=2, page_size=1)
    assert ([row.number for row in alone.breaches.rows], alone.total, alone.page, alone.pages) == ([2], 2, 2, 2)
    assert {part.rows for part in alone.lists} == {()}
    assert asked(only="stale").breaches == Breaches()
