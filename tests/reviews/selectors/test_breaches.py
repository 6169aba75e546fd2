"""What production breaks, in the inbox of whoever has to act: the author, and the team that owns the limit."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reviews.models import Decision, ObservationFinding
from reviews.selectors.breaches import Breaches, BreachRow, breaches_of
from reviews.selectors.people import standing_of
from tests.reviews.factories import Cast
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
