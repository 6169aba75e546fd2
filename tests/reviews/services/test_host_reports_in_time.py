"""What a report does not answer for: another time, another node; and what was told while it ended nothing."""

import json
from typing import Any

import pytest

from reviews.errors import ConflictError, InvalidRequestError
from reviews.models import AuditEntry, Decision, HostReport, SignOff
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.factories import PROVEN, Cast, sign
from tests.reviews.hosts import RANKS, post, report, running, stamp, with_engine

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def whole(**changes: Any) -> dict[str, Any]:
    """What ``topogate identity merge`` writes of both hosts."""
    tree = report("node-a", host="gpu-17, gpu-18") | changes
    del tree["ranks_seen"], tree["node"]
    hardware = report("node-b")["identity"]["hardware"]
    for kind in ("nodes", "devices"):
        tree["identity"]["hardware"][kind] |= hardware[kind]
    return tree | {"placement": {"rank_map": RANKS}}


def state() -> str:
    return Decision.objects.get().state


def contested(people: Cast) -> None:
    running(people)
    objection = people.workspace.decisions.get().revisions.get()
    sign(people, objection, people.dave, meaning="object")
    assert state() == "CONTESTED"


def lifted(people: Cast) -> None:
    signoff_withdraw(
        actor=people.dave,
        workspace=people.workspace,
        signoff_id=SignOff.objects.get(meaning="object").pk,
        reason="It was the clock.",
        request_id="r",
        authentication=PROVEN,
    )
    assert state() == "EFFECTIVE"


@pytest.mark.parametrize("seconds", [-1000, 90])
def test_reports_put_together_long_ago_or_ahead_of_time_are_refused(people: Cast, seconds: int) -> None:
    running(people)
    with pytest.raises(InvalidRequestError) as refused:
        post(people, whole(collected_at=stamp(seconds)))
    assert [problem.code for problem in refused.value.problems] == ["request/report_time"]
    assert not HostReport.objects.exists()


def test_reports_put_together_of_no_time_are_refused(people: Cast) -> None:
    running(people)
    tree = whole()
    del tree["collected_at"]
    with pytest.raises(InvalidRequestError, match="collected_at"):
        post(people, tree)


def test_reports_put_together_before_the_activation_neither_match_nor_end_it(people: Cast) -> None:
    running(people)
    for tree in (whole(collected_at=stamp(-100)), with_engine(whole(collected_at=stamp(-100)), "2.0")):
        with pytest.raises(ConflictError, match="after"):
            post(people, tree)
    assert (state(), HostReport.objects.count()) == ("EFFECTIVE", 0)


def test_of_reports_put_together_older_ones_are_refused(people: Cast) -> None:
    running(people)
    post(people, whole(collected_at=stamp(20)))
    at = HostReport.objects.get().collected_at
    with pytest.raises(ConflictError):
        post(people, whole(collected_at=stamp(-5)))
    assert HostReport.objects.get().collected_at == at


def test_the_report_of_one_host_stays_one_however_its_form_is_written(people: Cast) -> None:
    running(people)
    raw = json.dumps(report("node-a", collected_at=stamp(-1000))).replace("topogate.identity/", "topogate.identity\\/")
    with pytest.raises(InvalidRequestError) as refused:
        post(people, raw.encode())
    assert [problem.code for problem in refused.value.problems] == ["request/report_time"]


def test_a_host_that_differed_under_an_objection_ends_the_decision_once_that_is_lifted(people: Cast) -> None:
    contested(people)
    post(people, with_engine(report("node-a"), "2.0"))
    lifted(people)
    post(people, with_engine(report("node-a", collected_at=stamp(10)), "2.0"))
    assert state() == "STALE"
    post(people, with_engine(report("node-a", collected_at=stamp(11)), "2.0"))
    assert AuditEntry.objects.filter(action="identity.differs").count() == 2


def test_a_whole_slot_that_differed_under_an_objection_ends_the_decision_once_that_is_lifted(people: Cast) -> None:
    contested(people)
    post(people, {"identity": report("node-a")["identity"]})
    lifted(people)
    post(people, {"identity": report("node-a")["identity"]})
    assert state() == "STALE"


@pytest.mark.parametrize("node", ["node-a", "node-c"])
def test_a_host_does_not_answer_for_the_hardware_of_another_node(people: Cast, node: str) -> None:
    running(people)
    post(people, report("node-a"))
    everything = report("node-a", node=node, collected_at=stamp(10), ranks_seen={"world_size": 2, "ranks": RANKS})
    for kind, parts in report("node-b")["identity"]["hardware"].items():
        everything["identity"]["hardware"][kind] |= parts
    found = post(people, everything)
    assert (found.check.matches, found.live.together.awaited, state()) == (False, ("node-b",), "EFFECTIVE")
    assert "/hardware/devices/b0/type" in found.live.together.open_keys
    assert post(people, report("node-b")).check.matches
