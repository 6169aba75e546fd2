"""Bad and hostile reports: refused by name, recorded, and nothing of them is kept."""

from typing import Any

import pytest

from planner.observations.rollup import MOST_SOURCES
from reviews.errors import DocumentsRefusedError, NotAllowedError, NotFoundError
from reviews.models import AuditEntry, Decision, ObservationBatch, ObservationFeed, ObservationSource
from reviews.services import observations
from reviews.services.observations import observations_take
from tests.planner.observations.batches import level
from tests.reviews.factories import Cast, cast, last_entry
from tests.reviews.observing import after, encoded, memory, minutes_ago, observed_cast, take
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
OTHER = "sha256:" + "b" * 64


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


def refusal(people: Cast, *segments: dict[str, Any], **fields: Any) -> list[tuple[str, str, str]]:
    """Report what is refused; return code, expectation and finding of each problem."""
    before = ObservationBatch.objects.count()
    with pytest.raises(DocumentsRefusedError) as refused:
        take(people, *segments, **fields)
    assert (last_entry(people)["action"], ObservationBatch.objects.count()) == ("observations.refused", before)
    return [(one.code, one.expected, one.found) for one in refused.value.problems]


def test_a_slot_without_a_decision_is_named(people: Cast) -> None:
    assert refusal(people, slot="chat/mars") == [("observations/slot", "a slot with a decision", '"chat/mars"')]


def test_the_slot_of_another_workspace_is_as_unknown_as_none(people: Cast) -> None:
    other = cast(slug="other")
    with pytest.raises(DocumentsRefusedError) as refused:
        observations_take(actor=other.bob, workspace=other.workspace, raw=encoded())
    assert [one.code for one in refused.value.problems] == ["observations/slot"]


def test_another_topology_than_runs_is_named(people: Cast) -> None:
    found = refusal(people, subject=OTHER)
    subject = Decision.objects.get().revisions.get().planned.subject
    assert found == [("observations/subject", subject, f'"{OTHER}"')]
    assert last_entry(people)["decision"] is None


@pytest.mark.parametrize("state", ["SUPERSEDED", "REVOKED"])
def test_what_runs_no_more_is_refused_by_its_decision(people: Cast, state: str) -> None:
    for step in ("CONTESTED", state):
        Decision.objects.update(state=step)
    assert refusal(people) == [
        (
            "observations/subject",
            "the subject of a decision in force; there is none",
            f"that of D-0001, which is {state.lower()}",
        )
    ]


def test_a_span_again_is_a_replay(people: Cast) -> None:
    start = minutes_ago(10)
    take(people, started_at=start, ended_at=after(start, 10))
    found = refusal(people, memory(1), started_at=after(start, 5), ended_at=after(start, 10))
    assert found == [("observations/replayed", f"a time from {after(start, 10)} on", f'"{after(start, 5)}"')]


def test_another_collector_may_report_the_same_span(people: Cast) -> None:
    start = minutes_ago(10)
    take(people, started_at=start, ended_at=after(start, 10))
    assert take(people, source="other", started_at=start, ended_at=after(start, 10)).is_new


def test_the_future_and_long_ago_are_refused(people: Cast) -> None:
    ahead = refusal(people, started_at=minutes_ago(0), ended_at=minutes_ago(-5))
    assert [code for code, _, _ in ahead] == ["observations/future"]
    old = refusal(people, started_at=minutes_ago(15 * 1440), ended_at=minutes_ago(15 * 1440 - 10))
    assert [code for code, _, _ in old] == ["observations/past"]


def test_everything_that_there_is_not_is_named(people: Cast) -> None:
    found = refusal(
        people,
        memory(16),
        {"group": 1, "metrics": {"ttft_ms": level(5)}},
        {"link": "x-up", "metrics": {"link_used_share": level(0.5)}},
    )
    assert [(code, seen) for code, _, seen in found] == [
        ("observations/unknown", "16"),
        ("observations/unknown", "1"),
        ("observations/unknown", '"x-up"'),
    ]
    entry = last_entry(people)
    assert (entry["decision"], entry["revision"]) == (1, 1)
    assert not ObservationFeed.objects.exists()


def test_too_many_values_are_refused(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "MOST_VALUES", 2)
    found = refusal(people, memory(0), memory(1), memory(2))
    assert found == [("observations/size", "at most 2 values", "3")]


def test_too_many_problems_are_bounded(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "MOST_PROBLEMS", 3)
    assert len(refusal(people, *(memory(rank) for rank in range(16, 26)))) == 3


def refusals() -> int:
    return AuditEntry.objects.filter(action="observations.refused").count()


def test_a_reporter_has_so_many_collectors_and_no_more(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "SPARE_SOURCES", 1)
    monkeypatch.setattr(observations, "SOURCES_OF_EACH", 0)
    take(people, started_at=minutes_ago(20), ended_at=minutes_ago(10))
    assert take(people).is_new
    found = refusal(people, source="another")
    assert found == [("observations/sources", "one of the 1 collectors that one reporter has", "another")]
    assert (ObservationSource.objects.count(), refusals()) == (1, 1)
    assert take(people, who=people.carol, source="another").is_new


def test_of_one_rank_so_many_collectors_speak_in_an_hour_and_no_more(people: Cast) -> None:
    span: dict[str, Any] = {"started_at": minutes_ago(10), "ended_at": minutes_ago(0)}
    for at in range(MOST_SOURCES):
        take(people, memory(0), source=f"dcgm-{at:02}", **span)
    found = refusal(people, memory(0), source="one-more", **span)
    expected = "at most 32 collectors of one reporter in an hour for device_used_bytes of rank 0"
    assert (found, refusals()) == ([("observations/sources", expected, "another")], 1)
    assert take(people, memory(1), source="one-more", **span).is_new
    assert take(people, memory(0), who=people.carol, source="one-more", **span).is_new


def test_bytes_that_are_no_batch_are_refused(people: Cast) -> None:
    with pytest.raises(DocumentsRefusedError) as refused:
        observations_take(actor=people.bob, workspace=people.workspace, raw=b'{"schema": "other"}')
    assert [(one.document, one.code) for one in refused.value.problems] == [("observations", "document/schema")]


def test_an_auditor_reports_nothing(people: Cast) -> None:
    with pytest.raises(NotAllowedError, match="Auditors read and verify, and report nothing"):
        take(people, who=people.audrey)
    assert last_entry(people)["action"] == "observations.refused"


def test_a_stranger_learns_of_nothing_and_leaves_nothing(people: Cast) -> None:
    before = last_entry(people)
    with pytest.raises(NotFoundError):
        take(people, who=people.charlie)
    assert last_entry(people) == before
