"""Batches of production: what is kept of them, and that nothing of a decision changes."""

import json
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from reviews.models import (
    Activation,
    AuditEntry,
    Blob,
    Decision,
    ObservationBatch,
    ObservationFile,
    PlannedRevision,
    SignOff,
    StoredDocument,
)
from reviews.selectors.observed import compared_span, open_findings, value_history
from reviews.selectors.observed_rows import batch_bytes, batch_rows, source_rows
from reviews.services.observations import observations_take
from tests.planner.observations.batches import times
from tests.reviews.factories import Cast, last_entry
from tests.reviews.observing import CALM, FULL, after, encoded, memory, minutes_ago, observed_cast, take, the_feed
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


def test_a_batch_within_the_envelope_is_kept_and_opens_nothing(people: Cast) -> None:
    found = take(people, memory(0), memory(3))
    assert (found.is_new, found.is_judged, found.open_breaches, found.open_drifts) == (True, True, 0, 0)
    receipt = ObservationBatch.objects.get()
    assert (receipt.segments, receipt.values_count, receipt.breaches, receipt.person) == (2, 2, 0, people.bob)
    entry = last_entry(people)
    assert (entry["action"], entry["decision"], entry["payload"]["source"]) == ("observations.began", 1, "dcgm")


def test_a_further_batch_that_changes_nothing_is_no_entry(people: Cast) -> None:
    take(people, started_at=minutes_ago(20), ended_at=minutes_ago(10))
    before = AuditEntry.objects.count()
    take(people, started_at=minutes_ago(10))
    assert AuditEntry.objects.count() == before
    assert (the_feed().version, ObservationBatch.objects.count()) == (2, 2)


def test_roll_ups_of_an_hour_are_put_together_for_each_rank(people: Cast) -> None:
    noon = datetime.fromisoformat(minutes_ago(60)).replace(minute=0, second=0)
    start = noon.strftime("%Y-%m-%dT%H:%M:%SZ")
    take(people, memory(0, 50), memory(1, 7), started_at=start, ended_at=after(start, 10))
    take(people, memory(0, 70), source="other", started_at=start, ended_at=after(start, 20))
    found = compared_span(
        actor=people.bob,
        workspace=people.workspace,
        number=1,
        metric="device_used_bytes",
        start=noon,
        end=noon + timedelta(hours=1),
    )
    assert {row.key.rank: row.high for row in found.rows} == {0: 70, 1: 7}
    # The same seconds of two collectors are the same seconds.
    assert (found.seconds, found.starts_at, found.ends_at) == (Fraction(1200), noon, noon + timedelta(minutes=20))


def test_the_history_of_a_rank_is_its_own(people: Cast) -> None:
    take(people, memory(0, 50), memory(1, 7))
    found = value_history(actor=people.bob, workspace=people.workspace, number=1, metric="device_used_bytes", place=1)
    assert [[(key.rank, one.max) for key, one in span.rolled.items()] for span in found] == [[(1, 7.0)]]


def test_the_same_bytes_again_are_answered_as_taken(people: Cast) -> None:
    raw = encoded(memory(0, FULL))
    asked: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "raw": raw}
    first = observations_take(**asked)
    entries = AuditEntry.objects.count()
    again = observations_take(**asked)
    assert (first.is_new, again.is_new, again.batch) == (True, False, first.batch)
    assert (again.open_breaches, AuditEntry.objects.count(), ObservationBatch.objects.count()) == (1, entries, 1)


def test_bytes_are_given_back_as_they_came(people: Cast) -> None:
    raw = encoded(memory(0))
    found = observations_take(actor=people.bob, workspace=people.workspace, raw=raw)
    asked: dict[str, Any] = {"actor": people.audrey, "workspace": people.workspace, "number": 1}
    assert batch_bytes(**asked, sha256=found.batch.sha256) == raw
    rows, total = batch_rows(**asked)
    assert (total, rows[0].sha256, rows[0].source, rows[0].has_bytes) == (1, found.batch.sha256, "dcgm", True)
    sources, count = source_rows(**asked)
    assert (count, [(one.name, one.person, one.batches) for one in sources]) == (1, [("dcgm", "Bob", 1)])


def test_no_bytes_are_kept_where_nobody_wants_them(people: Cast, settings: Any) -> None:
    settings.OBSERVATION_FILE_DAYS = 0
    take(people)
    assert (ObservationFile.objects.count(), ObservationBatch.objects.count()) == (0, 1)


def test_a_report_changes_nothing_of_a_decision(people: Cast) -> None:
    def content() -> list[object]:
        rows: list[object] = [list(model.objects.order_by("pk").values()) for model in DECIDING]
        return [*rows, [(blob.pk, bytes(blob.data)) for blob in Blob.objects.filter(pk__in=blobs).order_by("pk")]]

    blobs = list(Blob.objects.values_list("pk", flat=True))
    before = content()
    take(people, memory(0, FULL), {"group": 0, "metrics": {"ttft_ms": times([100, 1000], [0, 0, 5000], 2000)}})
    assert last_entry(people)["action"] == "observations.breached"
    assert content() == before


DECIDING = (Decision, Activation, PlannedRevision, SignOff, StoredDocument)


def test_an_old_span_is_kept_and_not_judged(people: Cast) -> None:
    found = take(people, memory(0, FULL), started_at=minutes_ago(130), ended_at=minutes_ago(120))
    assert (found.is_judged, found.open_breaches, found.standing) == (False, 0, ())
    assert last_entry(people)["action"] == "observations.began"


def test_what_may_still_run_is_observed(people: Cast) -> None:
    Decision.objects.update(state="STALE")
    assert take(people, memory(0, FULL)).open_breaches == 1


def test_open_findings_are_counted_for_every_decision_asked_for(people: Cast) -> None:
    found = take(people, memory(0, FULL), memory(1, FULL), memory(2, CALM))
    decision = Decision.objects.get()
    count = open_findings(people.workspace, [decision.pk])[decision.pk]
    assert (count.breaches, count.drifts, count.last_batch_at) == (2, 0, found.batch.ended_at)


def test_what_the_entry_says_of_a_breach(people: Cast) -> None:
    found = take(people, memory(0, FULL), memory(1))
    entry = last_entry(people)
    assert (entry["action"], entry["team"]) == ("observations.breached", "serving")
    assert entry["reason"] == (
        "Breach: device_used_bytes max of rank 0 (node-a a0) is 79 GiB, limit 64 GiB, measured 49.897 GiB."
    )
    payload = entry["payload"]
    assert (payload["batch"], payload["opened"], payload["breaches"]) == (found.batch.sha256, 1, 1)
    assert [(one["rank"], one["state"], one["limit_at"]) for one in payload["named"]] == [
        (0, "BREACH", "/gates/memory_headroom/worst_rank")
    ]
    assert "Bob" not in json.dumps(entry)
