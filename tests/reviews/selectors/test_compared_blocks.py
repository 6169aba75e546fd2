"""A metric of a span beside the envelope: in blocks it is what it is at once, and only what is new is worked out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.observations import Compared, compared, worst_first
from planner.observations.packed import packed
from planner.observations.rollup import Key, Rolled
from reviews.models import ObservationRollUp, ObservationSpan
from reviews.selectors import compared_blocks
from reviews.selectors.observed import BESIDE, compared_span, observed
from reviews.selectors.roll_ups import seen_in
from tests.planner.observations.batches import times
from tests.reviews.factories import Cast
from tests.reviews.observing import CALM, DRIFTED, FULL, memory, observed_cast, take, the_feed
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
METRICS = ("device_used_bytes", "ttft_ms", "output_tokens")
HOURS = 4
"""Hours that are there before the newest."""


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


@pytest.fixture
def reported(people: Cast) -> Cast:
    """Ranks and a group, reported in the newest hour and in those before it."""
    served = {"ttft_ms": times([50, 200], [400, 600, 0], most=150), "output_tokens": {"count": 1, "sum": 90_000}}
    take(
        people,
        *(memory(rank, FULL if rank == 3 else CALM) for rank in range(16)),
        {"group": 0, "metrics": served | {"running_requests": {"count": 1, "sum": 4, "max": 4}}},
    )
    newest = ObservationSpan.objects.get()
    for back in range(1, HOURS + 1):
        _copied(newest, back)
    return people


def _copied(newest: ObservationSpan, back: int) -> None:
    at = newest.starts_at - timedelta(hours=back)
    second = int(at.timestamp())
    span = ObservationSpan.objects.create(
        feed=newest.feed, level="hour", starts_at=at, covered=f"[[{second},{second + 60 * back}]]"
    )
    for row in newest.roll_ups.all():
        ObservationRollUp.objects.create(span=span, metric=row.metric, block=row.block, data=row.data)


def asked(people: Cast, metric: str) -> dict[str, Any]:
    end = timezone.now().astimezone(UTC)
    who: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1}
    return who | {"metric": metric, "start": end - timedelta(hours=HOURS), "end": end}


def at_once(people: Cast, metric: str) -> tuple[Compared, ...]:
    """Compare everything that is stored in one go."""
    found = observed(actor=people.bob, workspace=people.workspace, number=1)
    assert found.qualified is not None
    assert found.activation is not None
    spans = list(ObservationSpan.objects.order_by("starts_at"))
    seen = seen_in(spans, found.activation.subject, metrics={metric, *BESIDE})
    rows = compared(found.qualified.entries, seen.rolled, seen.seconds)
    return tuple(worst_first([row for row in rows if row.key.metric == metric]))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many values each comparison took; they are made as ever. What a process keeps is forgotten."""
    counts: list[int] = []

    def counted(entries: Any, seen: dict[Key, Rolled], seconds: Any) -> tuple[Compared, ...]:
        counts.append(len(seen))
        return compared(entries, seen, seconds)

    monkeypatch.setattr(compared_blocks, "compared", counted)
    monkeypatch.setattr(compared_blocks, "_COMPARED", type(compared_blocks._COMPARED)(256))
    return counts


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_say_what_everything_at_once_says(reported: Cast, metric: str) -> None:
    found = compared_span(**asked(reported, metric))
    assert found.rows == at_once(reported, metric)
    assert found.rows


@pytest.mark.parametrize("metric", METRICS)
def test_what_did_not_change_is_not_compared_again(reported: Cast, work: list[int], metric: str) -> None:
    first = compared_span(**asked(reported, metric))
    before = list(work)
    assert compared_span(**asked(reported, metric)).rows == first.rows
    assert (len(before), work) == (1, before)


def test_a_block_that_changed_is_compared_again_and_no_other(reported: Cast, work: list[int]) -> None:
    span = ObservationSpan.objects.order_by("-starts_at")[0]
    subject = "s"
    for block in (1, 2):
        data = packed({Key(subject, "device_used_bytes", block * 256): Rolled(1, CALM, CALM, CALM)})
        ObservationRollUp.objects.create(span=span, metric="device_used_bytes", block=block, data=data)
    compared_span(**asked(reported, "device_used_bytes"))
    assert work == [16, 1, 1]
    take(reported, memory(0, FULL), source="another")
    found = compared_span(**asked(reported, "device_used_bytes"))
    # What another collector says of rank 0 stands beside.
    assert work == [16, 1, 1, 17]
    assert found.rows == at_once(reported, "device_used_bytes")


def test_a_late_batch_of_an_hour_before_counts(reported: Cast) -> None:
    compared_span(**asked(reported, "device_used_bytes"))
    earlier = the_feed().spans.order_by("starts_at")[1]
    row = earlier.roll_ups.get(metric="device_used_bytes")
    row.data = packed({Key("s", "device_used_bytes", 5): Rolled(1, DRIFTED, DRIFTED, DRIFTED)})
    row.save()
    found = compared_span(**asked(reported, "device_used_bytes"))
    assert found.rows == at_once(reported, "device_used_bytes")
    assert {one.key.rank: one.high for one in found.rows}[5] == DRIFTED


def test_no_hours_are_no_rows(people: Cast) -> None:
    take(people)
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    span = {"start": long_ago, "end": long_ago + timedelta(hours=1)}
    found = compared_span(**asked(people, "device_used_bytes") | span)
    assert (found.rows, found.starts_at) == ((), None)
    assert found.seconds == 0
