"""Hours and days of a span: a day stands for its hours where all of them are asked for, and nothing counts twice."""

import json
import zlib
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from planner.observations.packed import unpacked
from planner.times import time_text
from reviews.models import ObservationFeed, ObservationRollUp, ObservationSpan
from reviews.selectors.observations_page import Asked, shown_of
from reviews.selectors.observed import compared_span, value_history
from reviews.selectors.roll_ups import finest_spans, spans_of
from reviews.services.observation_sweeps import observations_prune
from tests.reviews.factories import Cast
from tests.reviews.observing import memory, observed_cast, take, the_feed
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
HOURS = (3, 9, 22)
"""Of the day before yesterday: hours that end then were reported."""


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


@pytest.fixture
def day(people: Cast) -> datetime:
    """The day before yesterday, of which three hours were reported and put into their day."""
    found = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=2)
    for hour in HOURS:
        report(people, found, hour)
    observations_prune()
    return found


def report(people: Cast, day: datetime, hour: int, most: float = 0, source: str = "dcgm") -> None:
    end = day + timedelta(hours=hour)
    span: dict[str, Any] = {"started_at": time_text(end - timedelta(minutes=6)), "ended_at": time_text(end)}
    take(people, memory(0, most or hour), source=source, **span)


def text(spans: list[ObservationSpan]) -> list[str]:
    """Write spans as their level and the hour of the day at which they begin."""
    return [f"{span.level} {span.starts_at.astimezone(UTC).hour}" for span in spans]


def compare(people: Cast, day: datetime, hours: int) -> tuple[list[Any], int]:
    who: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1}
    found = compared_span(**who, metric="device_used_bytes", start=day, end=day + timedelta(hours=hours))
    return [row.high for row in found.rows], int(found.seconds)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 24, ["day 0"]),
        (-24, 48, ["day 0"]),
        (1, 30, ["day 0"]),
        (3, 24, ["hour 8", "hour 21"]),
        (0, 9, ["hour 2", "hour 8"]),
        (10, 20, []),
    ],
)
def test_a_day_stands_for_its_hours_where_all_are_asked_for(
    people: Cast, day: datetime, start: int, end: int, expected: list[str]
) -> None:
    span = (day + timedelta(hours=start), day + timedelta(hours=end))
    assert text(spans_of(the_feed(), *span)) == expected


def test_what_a_day_says_is_what_its_hours_say(people: Cast, day: datetime) -> None:
    assert compare(people, day, 24) == ([22], 3 * 360)
    ObservationSpan.objects.filter(level="day").delete()
    ObservationSpan.objects.update(in_day=False)
    assert compare(people, day, 24) == ([22], 3 * 360)


def test_a_history_goes_by_the_hour_while_hours_are_kept(people: Cast, day: datetime) -> None:
    who: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1}
    found = value_history(**who, metric="device_used_bytes", place=0)
    assert [(span.level, [one.max for one in span.rolled.values()]) for span in found] == [
        ("hour", [float(hour)]) for hour in HOURS
    ]


def test_without_hours_their_day_is_what_there_is(people: Cast, day: datetime) -> None:
    ObservationSpan.objects.filter(level="hour").delete()
    span = (day + timedelta(hours=3), day + timedelta(hours=9))
    assert text(spans_of(the_feed(), *span)) == text(finest_spans(the_feed(), *span)) == ["day 0"]


def test_what_comes_late_has_its_day_put_together_anew(people: Cast, day: datetime) -> None:
    report(people, day, 9, most=70, source="late")
    assert text(spans_of(the_feed(), day, day + timedelta(days=1))) == ["hour 2", "hour 8", "hour 21"]
    before = compare(people, day, 24)
    observations_prune()
    assert text(spans_of(the_feed(), day, day + timedelta(days=1))) == ["day 0"]
    assert compare(people, day, 24) == before == ([70], 3 * 360)


def test_an_hour_that_may_still_be_told_of_is_in_no_day(people: Cast) -> None:
    take(people)
    observations_prune()
    assert [span.level for span in ObservationSpan.objects.all()] == ["hour"]


def test_a_week_begins_with_a_whole_day(people: Cast, day: datetime) -> None:
    end = day + timedelta(days=7, hours=10)
    ObservationFeed.objects.update(ended_at=end)
    who: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1}
    shown = shown_of(**who, asked=Asked(metric="device_used_bytes", span="week"))
    assert shown is not None
    first = day + timedelta(hours=HOURS[0]) - timedelta(minutes=6)
    assert (shown.compared.starts_at, shown.compared.ends_at) == (first, day + timedelta(hours=HOURS[-1]))
    assert shown.metrics == ("device_used_bytes",)


def test_what_was_stored_before_collectors_were_kept_apart_is_read_as_nobodys(people: Cast) -> None:
    take(people, memory(0, 48))
    row = ObservationRollUp.objects.get()
    ((_, rows),) = json.loads(zlib.decompress(row.data))
    ObservationRollUp.objects.update(data=zlib.compress(json.dumps(rows).encode()))
    import_module("reviews.migrations.0024_collectors_apart").name_no_source(apps, connection.schema_editor())
    found = unpacked(bytes(ObservationRollUp.objects.get().data), "", "device_used_bytes")
    assert {(key.rank, key.source, one.max) for key, one in found.items()} == {(0, "", 48.0)}
