"""Hosts that nobody decided crowd out nobody: there are so many at most, and refusals of more are one entry."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reviews.errors import ConflictError, InvalidRequestError
from reviews.models import AuditEntry, HostReport, ReportedSlot
from reviews.services import host_places
from tests.reviews.factories import Cast
from tests.reviews.hosts import post, report, rewritten, running, stamp

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hosts that nobody decided have a place."""
    monkeypatch.setattr(host_places, "MOST_UNDECIDED", 2)


def stranger(people: Cast, name: str, seconds: float = 5) -> None:
    """Report of a node that is in no rank map."""
    post(people, report("node-a", node=name, collected_at=stamp(seconds)))


def places() -> list[str]:
    return list(HostReport.objects.order_by("place").values_list("place", flat=True))


def refusals() -> int:
    return AuditEntry.objects.filter(action="identity.report_refused").count()


@pytest.mark.usefixtures("few")
def test_of_hosts_that_nobody_decided_so_many_report_and_the_decided_ones_always_do(people: Cast) -> None:
    running(people)
    stranger(people, "x-1")
    stranger(people, "x-2")
    for name in ("x-3", "x-4", "x-3"):
        with pytest.raises(InvalidRequestError) as refused:
            stranger(people, name)
        (problem,) = refused.value.problems
        assert (problem.code, problem.found) == ("request/undecided_hosts", f"{name} beside 2")
        assert problem.expected == "at most 2 hosts that are not in the decided rank map of own/two-nodes"
    assert (places(), refusals()) == (["x-1", "x-2"], 1)
    assert "x-3 beside 2" in ReportedSlot.objects.get(slot="own/two-nodes").refused_because
    assert post(people, report("node-a"), report("node-b")).check.matches
    stranger(people, "x-1", seconds=9)
    assert places() == ["node-a", "node-b", "x-1", "x-2"]


@pytest.mark.usefixtures("few")
def test_the_longest_silent_of_hosts_that_nobody_decided_makes_room(people: Cast) -> None:
    running(people)
    post(people, report("node-a"))
    for name in ("x-1", "x-2"):
        stranger(people, name)
    for name, hours in (("x-1", 2), ("x-2", 3), ("node-a", 9)):
        rows = HostReport.objects.filter(place=name)
        rewritten(rows, received_at=timezone.now() - timedelta(hours=hours))
    stranger(people, "x-3")
    assert places() == ["node-a", "x-1", "x-3"]


def test_made_up_hosts_that_are_refused_have_no_place_and_are_one_entry(people: Cast) -> None:
    running(people)
    for number in range(3):
        with pytest.raises(InvalidRequestError):
            post(people, report("node-a", node=f"x-{number}", collected_at=stamp(90)))
    with pytest.raises(ConflictError):
        post(people, report("node-a", node="x-9", environment={"TOPOGATE_SUBJECT": "sha256:" + "0" * 64}))
    assert (places(), refusals()) == ([], 2)


def test_bytes_of_no_host_are_one_entry_for_each_reason(people: Cast) -> None:
    running(people)
    for raw in (b'{"schema": "topogate.identity/v1", ', b'{"schema": "topogate.identity/v1", "host": 1'):
        with pytest.raises(InvalidRequestError):
            post(people, raw)
    assert (places(), refusals()) == ([], 1)


def test_a_report_asks_as_often_however_many_hosts_there_are(people: Cast) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))

    def asked(seconds: float) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert post(people, report("node-a", collected_at=stamp(seconds))).check.matches
        return len(queries)

    few = asked(9)
    post(people, *(report("node-a", node=f"x-{number}") for number in range(100)))
    assert (asked(10), HostReport.objects.count()) == (few, 102)
