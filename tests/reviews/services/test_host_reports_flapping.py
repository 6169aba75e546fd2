"""A host that says something else with every report: told when it begins and when it ends, no match in between."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.clock import when, when_exactly
from reviews.models import AuditEntry, HostReport, IdentityReport
from reviews.selectors.slots_now import workspace_slots
from reviews.services.host_reports import Answer
from reviews.verification import verify
from tests.reviews.factories import Cast, last_entry
from tests.reviews.hosts import SLOT, post, report, rewritten, running, stamp, with_engine

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

BEGUN = ["identity.reported", "identity.differs", "identity.reported", "identity.differs", "identity.differs"]


def flap(people: Cast, turns: int, *, first: int = 0) -> Answer:
    """Let node-a say that it runs as decided, then another engine, and so on; the last answer."""
    for turn in range(first, first + turns):
        tree = report("node-a", collected_at=stamp(5 + turn))
        found = post(people, with_engine(tree, "2.0") if turn % 2 else tree)
    return found


def entries() -> list[str]:
    found = AuditEntry.objects.filter(action__startswith="identity.").order_by("seq")
    return list(found.values_list("action", flat=True))


def test_a_host_that_changes_with_every_report_is_told_until_it_flaps(people: Cast) -> None:
    running(people)
    flap(people, 5)
    entry = last_entry(people)
    assert entry["reason"] == (
        "node-a: It flaps: 4 changes, each within an hour of the one before. "
        "/stack/engine/version: decided 1.0.0, found 2.0. Owned by serving."
    )
    (told,) = entry["payload"]["reports"]
    assert (told["flaps"], told["changes"], told["flapped"]) == (True, 4, ["/stack/engine/version"])
    flap(people, 20, first=5)
    assert (entries(), IdentityReport.objects.count()) == (BEGUN, 5)
    assert (HostReport.objects.get().changes, verify(people.workspace).holds) == (24, True)


def test_what_flaps_never_matches_whatever_it_says_just_now(people: Cast) -> None:
    running(people)
    post(people, report("node-b"))
    found = flap(people, 7)
    assert (found.live.together.matches, found.live.agrees, found.check.matches) == (True, False, False)
    assert found.live.flapping == ("node-a",)
    (since,) = [host.flaps_since for host in found.live.hosts if host.flaps_since]
    assert found.check.because.endswith(f"node-a flaps since {when(since)} UTC, with 6 changes so far.")
    (slot,) = workspace_slots(actor=people.bob, workspace=people.workspace)
    assert (slot.reported.hosts, slot.reported.differing) == (2, 1)


def test_the_list_of_slots_names_what_flaps_though_it_began_as_decided(people: Cast) -> None:
    running(people)
    flap(people, 5)
    newest = IdentityReport.objects.latest("pk")
    assert (newest.matches, "/stack/engine/version" in newest.differences) == (False, True)


def test_what_has_said_the_same_for_an_hour_has_settled_which_is_told_once(people: Cast) -> None:
    running(people)
    post(people, report("node-b"))
    flap(people, 7)
    assert not flap(people, 1, first=8).live.agrees
    since = timezone.now() - timedelta(minutes=61)
    rewritten(HostReport.objects.filter(place="node-a"), since=since)
    found = flap(people, 1, first=10)
    entry = last_entry(people)
    assert (found.live.agrees, entry["action"]) == (True, "identity.reported")
    assert entry["reason"].startswith(f"node-a: It has settled, after 6 changes until {when_exactly(since)} UTC.")
    (told,) = entry["payload"]["reports"]
    assert (told["flaps"], told["changes"], told["flapped"]) == (False, 6, ["/stack/engine/version"])
    before = len(entries())
    flap(people, 1, first=12)
    assert (len(entries()), HostReport.objects.get(place="node-a").changes) == (before, 0)
    assert verify(people.workspace).holds


def test_an_identity_of_the_whole_slot_that_flaps_is_bounded_as_well(people: Cast) -> None:
    running(people)
    trees: list[Any] = [{"identity": with_engine(report("node-a"), version)["identity"]} for version in ("2", "3")]
    for turn in range(12):
        found = post(people, trees[turn % 2])
    assert entries() == ["identity.differs"] * 5
    assert (found.check.matches, found.live.flapping) == (False, ("the whole slot",))
    assert last_entry(people)["payload"]["flaps"] is True
    assert verify(people.workspace).holds


def test_what_flapped_under_another_decision_begins_anew(people: Cast) -> None:
    running(people)
    flap(people, 7)
    rewritten(HostReport.objects.all(), subject="sha256:" + "0" * 64, outcome="sha256:" + "1" * 64)
    found = flap(people, 1, first=8)
    assert (found.live.flapping, entries()) == ((), [*BEGUN, "identity.reported"])


def test_a_host_that_is_refused_every_other_time_is_one_entry(people: Cast) -> None:
    running(people)
    for turn in range(4):
        post(people, report("node-a", collected_at=stamp(5 + turn)))
        with pytest.raises(Exception, match="HOME"):
            post(people, report("node-a", collected_at=stamp(5 + turn), environment={"HOME": "/root"}))
    assert entries() == ["identity.reported", "identity.report_refused"]
    assert "HOME" in HostReport.objects.get(slot=SLOT).refused_because
