"""What is kept of observations, and for how long: bytes, receipts, hours, days, and findings that nothing speaks of."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.times import time_text
from reviews.errors import DocumentsRefusedError
from reviews.models import (
    AuditEntry,
    Decision,
    ObservationBatch,
    ObservationFile,
    ObservationFinding,
    ObservationRollUp,
    ObservationSource,
    ObservationSpan,
)
from reviews.selectors.observed import compared_span, value_history
from reviews.services import observation_sweeps
from reviews.services.observation_sweeps import findings_lapse, observations_prune
from tests.planner.observations.batches import times
from tests.reviews.factories import Cast, last_entry
from tests.reviews.observing import FULL, memory, minutes_ago, observed_cast, take, the_feed
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


def later(monkeypatch: pytest.MonkeyPatch, **span: float) -> datetime:
    """Let the sweep run that much later."""
    at = timezone.now() + timedelta(**span)
    monkeypatch.setattr(observation_sweeps, "database_now", lambda: at)
    return at


def levels() -> list[str]:
    return list(ObservationSpan.objects.order_by("starts_at", "level").values_list("level", flat=True))


def test_nothing_goes_before_its_time(people: Cast) -> None:
    take(people, memory(0, FULL))
    assert (observations_prune(), findings_lapse()) == (0, 0)


def test_bytes_go_before_receipts(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    take(people)
    later(monkeypatch, days=3)
    observations_prune()
    assert (ObservationFile.objects.count(), ObservationBatch.objects.count()) == (0, 1)
    assert sorted(levels()) == ["day", "hour"]


def test_hours_become_their_day_with_every_value(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    day = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    for hour, most in ((3, 50), (3, 70), (22, 60), (24, 5)):
        end = day + timedelta(hours=hour)
        span: dict[str, Any] = {"started_at": time_text(end - timedelta(minutes=9)), "ended_at": time_text(end)}
        first_tokens = {"group": 0, "metrics": {"ttft_ms": times([10, 100], [0, most, 1])}}
        take(people, memory(0, most), memory(1, 7), first_tokens, source=f"dcgm-{hour}-{most}", **span)
    before = whole(people, day)
    later(monkeypatch, days=30)
    observations_prune()
    assert (levels(), ObservationRollUp.objects.count()) == (["day"], 2)
    assert whole(people, day) == before
    assert (before[0], before[1]) == ({0: 70, 1: 7}, 3 * 540)


def whole(people: Cast, day: datetime) -> tuple[Any, ...]:
    asked: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1}
    span: dict[str, Any] = {"start": day, "end": day + timedelta(days=1)}
    found = compared_span(**asked, metric="device_used_bytes", **span)
    tokens = compared_span(**asked, metric="ttft_ms", **span)
    return {row.key.rank: row.high for row in found.rows}, found.seconds, [(row.low, row.high) for row in tokens.rows]


def test_days_go_after_their_time(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    take(people)
    later(monkeypatch, days=30)
    observations_prune()
    later(monkeypatch, days=402)
    observations_prune()
    assert (levels(), ObservationRollUp.objects.count()) == ([], 0)


def test_a_replay_is_told_after_its_receipt_was_swept(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    raw: dict[str, Any] = {"started_at": minutes_ago(20), "ended_at": minutes_ago(10)}
    take(people, **raw)
    later(monkeypatch, days=14, minutes=1)
    observations_prune()
    assert ObservationBatch.objects.count() == 0
    with pytest.raises(DocumentsRefusedError) as refused:
        take(people, **raw)
    assert [problem.code for problem in refused.value.problems] == ["observations/replayed"]


def test_a_collector_is_forgotten_once_whatever_it_sent_is_too_old(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(people, started_at=minutes_ago(20), ended_at=minutes_ago(10))
    for days, left in ((14.9, 1), (15.1, 0)):
        later(monkeypatch, days=days)
        observations_prune()
        assert ObservationSource.objects.count() == left


def test_only_a_bounded_part_goes_in_one_turn(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (3, 2, 1):
        take(people, started_at=minutes_ago(count), ended_at=minutes_ago(count - 1))
    monkeypatch.setattr(observation_sweeps, "ROWS_AT_ONCE", 2)
    later(monkeypatch, days=20)
    observations_prune()
    assert ObservationBatch.objects.count() == 1
    observations_prune()
    assert ObservationBatch.objects.count() == 0


def test_a_finding_that_nobody_judged_for_a_day_lapses(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    take(people, memory(0, FULL), memory(1, FULL))
    ObservationFinding.objects.filter(rank=1).update(last_seen_at=timezone.now() + timedelta(days=1))
    later(monkeypatch, days=1, minutes=5)
    assert findings_lapse() == 1
    entry = last_entry(people)
    assert (entry["action"], entry["actor"], entry["payload"]["lapsed"]) == ("observations.lapsed", None, 1)
    assert entry["reason"].startswith("Not judged for a day. Breach: device_used_bytes max of rank 0 (node-a a0) is ")
    assert (the_feed().breaches, findings_lapse()) == (1, 0)


def test_findings_of_what_runs_no_more_lapse(people: Cast) -> None:
    take(people, memory(0, FULL))
    Decision.objects.update(state="SUPERSEDED")
    assert (findings_lapse(), the_feed().breaches) == (1, 0)
    assert last_entry(people)["reason"].startswith("It runs no more. ")


def test_closed_findings_go_after_their_time(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    take(people, memory(0, FULL))
    ObservationFinding.objects.update(closed_at=timezone.now())
    later(monkeypatch, days=401)
    observations_prune()
    assert ObservationFinding.objects.count() == 0
    assert AuditEntry.objects.filter(action="observations.breached").exists()


def test_the_history_of_a_rank_goes_on_in_days(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    take(people, memory(0, 50))
    later(monkeypatch, days=30)
    observations_prune()
    found = value_history(actor=people.bob, workspace=people.workspace, number=1, metric="device_used_bytes", place=0)
    assert [(span.level, [one.max for one in span.rolled.values()]) for span in found] == [("day", [50.0])]
