"""What hosts said is read once for each report, whoever wrote it, and answers are what they are without that."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from planner.identity_live import Decided, Said, Together, together
from reviews.last_few import LastFew
from reviews.models import HostReport, ReportedSlot
from reviews.policies.host_reports import said_from
from reviews.selectors import said_hosts
from reviews.selectors.live_identity import LiveIdentity, live_of_slot
from tests.reviews.factories import Cast
from tests.reviews.hosts import SLOT, post, report, rewritten, running, stamp, with_engine

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Said]:
    """Outcomes that were read, in order; they are read as ever. What a process keeps is forgotten."""
    seen: list[Said] = []
    read_one = said_from

    def counted(raw: bytes) -> Said:
        seen.append(read_one(raw))
        return seen[-1]

    monkeypatch.setattr(said_hosts, "said_from", counted)
    monkeypatch.setattr(said_hosts, "_KEPT", LastFew[Any](8))
    monkeypatch.setattr(said_hosts, "_WHOLE", LastFew[Any](8))
    return seen


def asked(people: Cast) -> LiveIdentity:
    return live_of_slot(actor=people.bob, workspace=people.workspace, slot=SLOT)


def test_a_report_reads_the_outcome_of_its_own_host_alone(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    assert len(read) == 2
    assert post(people, report("node-a", collected_at=stamp(9))).live.matches
    assert len(read) == 3
    assert (asked(people).matches, len(read)) == (True, 3)


def test_a_database_that_went_back_is_read_anew(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"))
    of_slot = {"workspace": people.workspace, "slot": SLOT}
    before = HostReport.objects.filter(**of_slot).values("turn", "sha256", "collected_at").get()
    turn = ReportedSlot.objects.get(**of_slot).turn
    post(people, report("node-a", collected_at=stamp(9)))
    assert said_hosts.hosts_of(people.workspace, SLOT).hosts["node-a"].sha256 != before["sha256"]
    HostReport.objects.filter(**of_slot).update(**before)
    ReportedSlot.objects.filter(**of_slot).update(turn=turn)
    assert said_hosts.hosts_of(people.workspace, SLOT).hosts["node-a"].sha256 == before["sha256"]


def test_what_another_process_wrote_counts_at_once(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    assert asked(people).matches
    kept, said_hosts._KEPT = said_hosts._KEPT, LastFew(8)
    post(people, with_engine(report("node-b", collected_at=stamp(9)), "2"))
    said_hosts._KEPT = kept
    found = asked(people)
    assert not found.matches
    assert [(name, one.key) for name, one in found.differences] == [("node-b", "/stack/engine/version")]


def test_a_host_that_is_gone_is_waited_for(people: Cast, read: list[Said], monkeypatch: pytest.MonkeyPatch) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    HostReport.objects.filter(place="node-b").delete()
    monkeypatch.setattr(said_hosts, "READ_AGAIN_SECONDS", 0.0)
    assert (asked(people).matches, asked(people).together.awaited) == (False, ("node-b",))


def test_what_was_compared_with_another_decision_counts_for_nothing(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    rewritten(HostReport.objects.filter(place="node-b"), subject="sha256:" + "0" * 64)
    found = asked(people)
    assert (found.matches, [row.is_compared for row in found.hosts]) == (False, [True, False])


def test_an_outcome_of_very_many_differences_is_not_kept(
    people: Cast, read: list[Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said_hosts, "MOST_DIFFERENCES", 0)
    running(people)
    post(people, with_engine(report("node-a"), "2"), report("node-b"))
    before = len(read)
    assert [one.key for _, one in asked(people).differences] == ["/stack/engine/version"]
    assert len(read) == before + 1


def test_many_large_outcomes_are_read_in_one_question(
    people: Cast, read: list[Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said_hosts, "MOST_DIFFERENCES", 0)
    monkeypatch.setattr(said_hosts, "READ_APART", 1)
    running(people)
    post(people, with_engine(report("node-a"), "2"), with_engine(report("node-b"), "2"))
    with CaptureQueriesContext(connection) as queries:
        assert [name for name, _ in asked(people).differences] == ["node-a", "node-b"]
    assert len([query for query in queries if '"said"' in query["sql"]]) == 2


def test_of_the_hosts_of_a_slot_only_those_that_changed_are_read(people: Cast, read: list[Said]) -> None:
    running(people)
    strangers = [report("node-a", node=f"x-{number}") for number in range(20)]
    post(people, report("node-a"), report("node-b"), *strangers)
    asked(people)
    before = len(read)
    post(people, report("node-b", collected_at=stamp(9)))
    assert (len(asked(people).hosts), len(read) - before) == (22, 1)


def test_a_database_that_was_put_back_is_read_anew(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    assert asked(people).matches
    slot = ReportedSlot.objects.get()
    HostReport.objects.filter(place="node-b").delete()
    ReportedSlot.objects.update(begun_at=slot.begun_at + timedelta(seconds=1))
    assert not asked(people).matches


def test_what_hosts_say_is_put_together_once_while_they_say_the_same(
    people: Cast, read: list[Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Together] = []

    def counted(decided: Decided, said: Mapping[str, Said]) -> Together:
        made.append(together(decided, said))
        return made[-1]

    monkeypatch.setattr(said_hosts, "together", counted)
    running(people)
    post(people, report("node-a"), report("node-b"))
    post(people, report("node-b", collected_at=stamp(9)))
    assert (asked(people).matches, len(made)) == (True, 1)
    post(people, with_engine(report("node-b", collected_at=stamp(10)), "2"))
    assert (asked(people).matches, len(made)) == (False, 2)
