"""Findings: they open at once, close after half an hour of calm, and the log hears of changes alone."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.times import time_text
from reviews.models import AuditEntry, ObservationFinding
from reviews.services import observations
from tests.planner.observations.batches import level, times
from tests.reviews.factories import Cast, last_entry
from tests.reviews.observing import CALM, DRIFTED, FULL, memory, observed_cast, take, the_feed
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


class Clock:
    """A clock that stands at minutes after a full hour to come."""

    def __init__(self) -> None:
        self.start = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        self.minutes = 0

    def __call__(self) -> datetime:
        return self.start + timedelta(minutes=self.minutes)

    def text(self) -> str:
        """Return the time as documents have it."""
        return time_text(self())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(observations, "database_now", clock)
    return clock


def report(people: Cast, clock: Clock, at: int, most: float, *ranks: int) -> None:
    """Report the memory of ranks over the ten minutes until so many minutes after the full hour."""
    clock.minutes = at - 10
    start = clock.text()
    clock.minutes = at
    segments = [memory(rank, most) for rank in ranks or (0,)]
    take(people, *segments, started_at=start, ended_at=clock.text())


def actions() -> list[str]:
    """Return the entries that tell of observations, in their order."""
    rows = AuditEntry.objects.filter(action__startswith="observations.")
    return list(rows.order_by("seq").values_list("action", flat=True))


def state(rank: int = 0) -> tuple[str, bool, bool]:
    """Return the state of a rank's newest finding, whether it is calm, and whether it is open."""
    row = ObservationFinding.objects.filter(rank=rank).order_by("-pk")[0]
    return row.state, row.calm_since is not None, row.closed_at is None


def test_drift_is_told_apart_from_a_breach(people: Cast, clock: Clock) -> None:
    report(people, clock, 10, DRIFTED)
    assert (state(), actions()) == (("DRIFT", False, True), ["observations.drifted"])
    assert (the_feed().breaches, the_feed().drifts) == (0, 1)


def test_drift_that_grows_to_a_breach_is_told_again(people: Cast, clock: Clock) -> None:
    report(people, clock, 10, DRIFTED)
    report(people, clock, 20, FULL)
    assert (state(), actions()) == (("BREACH", False, True), ["observations.drifted", "observations.breached"])
    assert ObservationFinding.objects.count() == 1


def test_what_stays_in_breach_is_told_once(people: Cast, clock: Clock) -> None:
    report(people, clock, 10, FULL)
    report(people, clock, 20, FULL + 4096)
    assert actions() == ["observations.breached"]
    row = ObservationFinding.objects.get()
    assert (row.value, row.last_seen_at > row.opened_at) == (float(FULL + 4096), True)


def test_a_further_rank_in_breach_is_a_change(people: Cast, clock: Clock) -> None:
    report(people, clock, 10, FULL, 0)
    report(people, clock, 20, FULL, 0, 1)
    assert actions() == ["observations.breached", "observations.breached"]
    assert (last_entry(people)["payload"]["opened"], last_entry(people)["payload"]["breaches"]) == (1, 2)


def test_a_breach_closes_after_half_an_hour_of_calm(people: Cast, clock: Clock) -> None:
    report(people, clock, 50, FULL)
    seen = []
    for at in (70, 80, 100, 110, 120):
        report(people, clock, at, CALM)
        seen.append(state()[1:])
    # Until half past, the hour that held the breach is looked at as well.
    assert seen == [(False, True), (False, True), (True, True), (True, True), (True, True)]
    report(people, clock, 130, CALM)
    assert state() == ("BREACH", False, False)
    assert actions() == ["observations.breached", "observations.cleared"]
    entry = last_entry(people)
    assert entry["reason"].startswith("Back within: device_used_bytes max of rank 0 (node-a a0) is 48 GiB, ")
    assert (the_feed().breaches, entry["payload"]["eased"], entry["payload"]["named"][0]["state"]) == (0, 1, "WITHIN")


def test_a_value_that_goes_up_and_down_is_one_finding(people: Cast, clock: Clock) -> None:
    for at, most in ((50, FULL), (100, CALM), (110, CALM), (120, FULL), (160, CALM), (180, CALM)):
        report(people, clock, at, most)
    assert (ObservationFinding.objects.count(), actions()) == (1, ["observations.breached"])


def test_a_breach_that_becomes_drift_is_told_as_eased(people: Cast, clock: Clock) -> None:
    report(people, clock, 50, FULL)
    report(people, clock, 100, DRIFTED)
    report(people, clock, 130, DRIFTED)
    assert (state(), actions()) == (("DRIFT", False, True), ["observations.breached", "observations.cleared"])
    assert (the_feed().breaches, the_feed().drifts) == (0, 1)


def test_what_begins_anew_is_another_finding(people: Cast, clock: Clock) -> None:
    for at, most in ((50, FULL), (100, CALM), (130, CALM), (140, FULL)):
        report(people, clock, at, most)
    assert actions() == ["observations.breached", "observations.cleared", "observations.breached"]
    assert ObservationFinding.objects.count() == 2


def test_a_percentile_is_judged_over_the_hour(people: Cast, clock: Clock) -> None:
    found = []
    for at in (10, 20):
        clock.minutes = at - 10
        start = clock.text()
        clock.minutes = at
        slow = {"group": 0, "metrics": {"ttft_ms": times([600, 1000], [0, 150, 0], 990)}}
        taken = take(people, slow, started_at=start, ended_at=clock.text())
        found.append([(one["statistic"], one["group"], one["state"]) for one in taken.standing])
    # A p95 needs ten values beyond it, which 150 are not and 300 are.
    assert [("p95", 0, "BREACH") in one for one in found] == [False, True]


def test_a_limit_of_an_idle_service_is_none_of_a_busy_one(people: Cast, clock: Clock) -> None:
    clock.minutes = 10
    quick = {"ttft_ms": times([300, 450], [0, 400, 0], 400)}
    span: dict[str, Any] = {"started_at": time_text(clock.start), "ended_at": clock.text()}
    busy = take(people, {"group": 0, "metrics": {**quick, "running_requests": level(16)}}, **span)
    assert [one["limit_at"] for one in busy.standing if one["state"] == "BREACH"] == []


def test_a_group_is_judged_at_the_load_that_another_collector_tells(people: Cast, clock: Clock) -> None:
    clock.minutes = 10
    span: dict[str, Any] = {"started_at": time_text(clock.start), "ended_at": clock.text()}
    take(people, {"group": 0, "metrics": {"running_requests": level(1)}}, source="scheduler", **span)
    slow_for_one = {"group": 0, "metrics": {"ttft_ms": times([300, 450], [0, 400, 0], 400)}}
    found = take(people, slow_for_one, source="gateway", **span)
    assert [one["limit_at"] for one in found.standing if one["state"] == "BREACH"] == ["/gates/ttft/single_p95/max_ms"]


def test_a_collector_that_says_less_hides_no_breach_of_the_same_rank(people: Cast, clock: Clock) -> None:
    clock.minutes = 10
    end, start = clock.text(), time_text(clock.start)
    vague = {"rank": 0, "metrics": {"device_used_bytes": {"count": 10, "sum": CALM * 10}}}
    take(people, vague, source="vague", started_at=start, ended_at=end)
    take(people, memory(0, FULL), source="exact", started_at=start, ended_at=end)
    assert state() == ("BREACH", False, True)


def test_calm_spans_of_before_a_breach_that_come_late_do_not_end_it(people: Cast, clock: Clock) -> None:
    report(people, clock, 58, FULL)
    for end in (10, 28, 50):
        clock.minutes = end - 10
        start = clock.text()
        clock.minutes = end
        until = clock.text()
        clock.minutes = 58
        take(people, memory(0, CALM), source=f"late-{end}", started_at=start, ended_at=until)
    assert state() == ("BREACH", False, True)
    assert ObservationFinding.objects.get().last_seen_at == clock.start + timedelta(minutes=58)


def test_calm_values_of_another_collector_do_not_end_a_breach(people: Cast, clock: Clock) -> None:
    clock.minutes = 10
    span: dict[str, Any] = {"started_at": time_text(clock.start), "ended_at": clock.text()}
    slow, calm = times([100, 600, 990], [0, 0, 300, 0], 990), times([100, 600, 990], [90_000, 0, 0, 0], 90)
    take(people, {"group": 0, "metrics": {"ttft_ms": slow}}, source="gateway", **span)
    for who, source in ((people.bob, "copy"), (people.carol, "gateway")):
        found = take(people, {"group": 0, "metrics": {"ttft_ms": calm}}, who=who, source=source, **span)
        assert ("p95", "BREACH") in {(one["statistic"], one["state"]) for one in found.standing}
    assert the_feed().breaches == ObservationFinding.objects.filter(state="BREACH", closed_at=None).count() > 0
