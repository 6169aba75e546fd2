"""What hosts said is read once for each report, whoever wrote it, and answers are what they are without that."""

from typing import Any

import pytest

from planner.identity_live import Said
from reviews.last_few import LastFew
from reviews.models import HostReport
from reviews.policies.host_reports import said_from
from reviews.selectors import said_hosts
from reviews.selectors.live_identity import LiveIdentity, live_of_slot
from tests.reviews.factories import Cast
from tests.reviews.hosts import SLOT, post, report, running, stamp, with_engine

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


def test_a_host_that_is_gone_is_waited_for(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    HostReport.objects.filter(place="node-b").delete()
    assert (asked(people).matches, asked(people).together.awaited) == (False, ("node-b",))


def test_what_was_compared_with_another_decision_counts_for_nothing(people: Cast, read: list[Said]) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    HostReport.objects.filter(place="node-b").update(subject="sha256:" + "0" * 64)
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


def test_many_outcomes_are_read_in_one_question(
    people: Cast, read: list[Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said_hosts, "READ_APART", 1)
    running(people)
    assert post(people, report("node-a"), report("node-b")).live.matches
    assert len(read) == 2
