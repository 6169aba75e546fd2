"""Hosts of a slot report each for itself: together they match, differ, or are waited for."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.clock import when
from reviews.errors import InvalidRequestError, NotAllowedError
from reviews.models import AuditEntry, Blob, Decision, HostReport, IdentityReport, PlannedRevision, SignOff
from reviews.models.notices import NoticeReason
from reviews.selectors.attention import Said, differing_teams, told_by
from reviews.selectors.decision_page import decision_page
from reviews.selectors.decisions import DecisionFilter
from reviews.selectors.inbox import inbox
from reviews.selectors.live_identity import live_of_slot
from reviews.services.host_places import places_prune
from tests.reviews.factories import Cast, last_entry
from tests.reviews.hosts import RANKS, SLOT, post, report, rewritten, running, stamp, with_engine, with_nic

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def state() -> str:
    return Decision.objects.get().state


def identity_entries() -> list[str]:
    entries = AuditEntry.objects.filter(action__startswith="identity.").order_by("seq")
    return list(entries.values_list("action", flat=True))


def test_hosts_that_say_everything_between_them_match(people: Cast) -> None:
    running(people)
    post(people, report("node-a"))
    found = post(people, report("node-b"))
    assert (found.check.matches, found.live.together.awaited, found.check.differences) == (True, (), ())
    assert found.check.because == "D-0001 r1 (tp2-pp1-ep1-dp1) is in force and matches."


def test_ci_sends_the_reports_of_all_hosts_at_once(people: Cast) -> None:
    running(people)
    assert post(people, report("node-a"), report("node-b")).check.matches
    assert identity_entries() == ["identity.reported"]
    assert [row["place"] for row in last_entry(people)["payload"]["reports"]] == ["node-a", "node-b"]


def test_hosts_that_have_not_reported_are_waited_for_and_nothing_turns_stale(people: Cast) -> None:
    running(people)
    found = post(people, report("node-a"))
    assert (found.check.matches, found.live.together.awaited, state()) == (False, ("node-b",), "EFFECTIVE")
    assert found.live.together.open_ranks == (1,)
    assert found.live.together.open_keys == (
        "/hardware/nodes/node-b",
        "/hardware/devices/b0/node",
        "/hardware/devices/b0/type",
        "/hardware/devices/b0/memory_bytes",
    )
    assert found.check.because == (
        "D-0001 r1 (tp2-pp1-ep1-dp1): Not reported: 4 of 22 keys and 1 of 2 ranks. Waiting for node-b."
    )


def test_a_host_that_says_no_nic_is_waited_for_its_nic_and_not_for_its_rank(people: Cast) -> None:
    running(people, nics={"node-a": "n-a", "node-b": "n-b"})
    found = post(people, *(with_nic(report(node), f"n-{node[-1]}") for node in ("node-a", "node-b")))
    assert (found.check.matches, state()) == (False, "EFFECTIVE")
    assert found.check.because == "D-0001 r1 (tp2-pp1-ep1-dp1): Not reported: the NIC of 2 of 2 ranks."


def test_a_key_that_differs_turns_the_decision_stale_in_the_same_request(people: Cast) -> None:
    running(people)
    found = post(people, with_engine(report("node-a"), "2.0"))
    assert (found.check.matches, state()) == (False, "STALE")
    entry = last_entry(people)
    assert (entry["action"], entry["team"]) == ("identity.differs", "serving")
    assert entry["reason"] == "node-a: /stack/engine/version: decided 1.0.0, found 2.0. Owned by serving."


def test_a_rank_elsewhere_turns_the_decision_stale_and_is_named(people: Cast) -> None:
    running(people)
    moved = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}
    found = post(people, report("node-a", ranks_seen=moved))
    assert [(key.key, key.expected, key.found, key.team) for key in found.check.differences] == [
        ("/placement/rank_map/0/device", "a0", "a7", "networking")
    ]
    assert state() == "STALE"


def test_a_world_of_another_size_differs(people: Cast) -> None:
    running(people)
    found = post(people, report("node-a", ranks_seen={"world_size": 4, "ranks": [RANKS[0]]}))
    assert [(key.key, key.expected, key.found) for key in found.check.differences] == [("/placement/world_size", 2, 4)]


def test_a_report_that_says_nothing_is_not_recorded_as_decided(people: Cast) -> None:
    running(people)
    post(people, report("node-a", identity={"stack": {}}, ranks_seen={"world_size": 2, "ranks": []}))
    assert IdentityReport.objects.get().matches is False


def test_of_two_reports_the_one_that_is_refused_is_remarked_on(people: Cast) -> None:
    running(people)
    with pytest.raises(InvalidRequestError):
        post(people, report("node-a", collected_at=stamp(3600)), report("node-b"))
    with pytest.raises(InvalidRequestError):
        post(people, report("node-a"), report("node-b", collected_at=stamp(3600)))
    assert list(HostReport.objects.order_by("pk").values_list("place", flat=True)) == ["node-a", "node-b"]


def test_hosts_that_contradict_one_another_are_named(people: Cast) -> None:
    running(people)
    found = post(people, report("node-a"), with_engine(report("node-b"), "2.0"))
    assert found.live.together.contradictions == ('/stack/engine/version: node-a as decided; node-b "2.0"',)


def test_what_a_collector_does_not_know_never_matches_and_never_turns_stale(people: Cast) -> None:
    running(people)
    blind = [with_engine(report(node), "unknown") for node in ("node-a", "node-b")]
    found = post(people, *blind)
    assert (found.check.matches, state(), found.live.together.awaited) == (False, "EFFECTIVE", ())
    assert found.live.together.open_keys == ("/stack/engine/version",)


def test_an_identity_of_the_whole_slot_has_to_say_everything(people: Cast) -> None:
    running(people)
    tree = report("node-a")
    found = post(people, {"identity": tree["identity"]})
    assert (found.check.matches, state()) == (False, "STALE")
    assert ("/placement/rank_map_digest", "missing") in [(one.key, one.how) for one in found.check.differences]


def test_reports_put_together_speak_for_the_whole_slot(people: Cast) -> None:
    running(people)
    whole = report("node-a", host="gpu-17, gpu-18")
    whole["identity"]["hardware"]["nodes"]["node-b"] = {}
    whole["identity"]["hardware"]["devices"]["b0"] = report("node-b")["identity"]["hardware"]["devices"]["b0"]
    del whole["ranks_seen"]
    assert post(people, whole | {"placement": {"rank_map": RANKS}}).check.matches


def test_only_what_is_new_of_a_host_is_an_entry_with_its_bytes(people: Cast) -> None:
    running(people)
    blobs = Blob.objects.count()
    for second in range(4):
        post(people, report("node-a", collected_at=stamp(second + 5)))
    # The report and the payload of its entry.
    assert (identity_entries(), Blob.objects.count() - blobs) == (["identity.reported"], 2)
    post(people, with_engine(report("node-a", collected_at=stamp(10)), "2.0"))
    post(people, with_engine(report("node-a", collected_at=stamp(11)), "2.0"))
    found = post(people, report("node-a", collected_at=stamp(12)))
    assert identity_entries() == ["identity.reported", "identity.differs", "identity.reported"]
    assert (found.live.agrees, HostReport.objects.count(), IdentityReport.objects.count()) == (False, 1, 3)


def test_a_whole_identity_that_says_the_same_again_is_no_second_entry(people: Cast) -> None:
    running(people)
    for _ in range(3):
        post(people, {"identity": report("node-a")["identity"]})
    assert identity_entries() == ["identity.differs"]


def test_the_same_report_again_changes_nothing(people: Cast) -> None:
    running(people)
    tree = report("node-a")
    post(people, tree)
    before = HostReport.objects.values().get()
    assert post(people, tree).live.together.awaited == ("node-b",)
    assert HostReport.objects.values().get() == before


def test_a_pod_of_another_name_takes_the_place_of_its_node(people: Cast) -> None:
    running(people)
    post(people, report("node-a", host="engine-7f9c"))
    found = post(people, report("node-a", host="engine-b01d", collected_at=stamp(9)))
    assert [(row.place, row.host) for row in found.live.hosts] == [("node-a", "engine-b01d")]


def test_a_report_changes_nothing_of_what_was_decided(people: Cast) -> None:
    running(people)

    def content() -> list[Any]:
        signed = SignOff.objects.order_by("pk").values_list("subject", "scope", "displayed", "statement")
        planned = PlannedRevision.objects.values_list("subject", "plan__blob_id", "basis__rank_map_digest")
        blobs = Blob.objects.filter(documents__isnull=False).order_by("pk").values_list("pk", "data")
        return [list(signed), list(planned), [(key, bytes(data)) for key, data in blobs]]

    before = content()
    post(people, with_engine(report("node-a"), "2.0"))
    assert (content(), state()) == (before, "STALE")


def test_a_machine_that_is_put_back_agrees_and_the_decision_stays_stale(people: Cast) -> None:
    running(people)
    post(people, with_engine(report("node-a"), "2.0"))
    found = post(people, report("node-a", collected_at=stamp(9)), report("node-b"))
    assert (found.live.agrees, found.check.matches, state()) == (True, False, "STALE")
    assert found.check.because == "D-0001 r1 (tp2-pp1-ep1-dp1) is stale. What runs is what was decided."


def test_hosts_that_fell_silent_match_no_more(people: Cast, settings: Any) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    settings.IDENTITY_FRESH_SECONDS = 0
    rewritten(HostReport.objects.all(), collected_at=HostReport.objects.order_by("pk")[0].since)
    found = live_of_slot(actor=people.bob, workspace=people.workspace, slot=SLOT)
    assert (found.matches, found.agrees) == (False, False)
    last = HostReport.objects.order_by("pk")[0].collected_at
    assert last is not None
    said = f"No host reports any more. The last report is of {when(last)} UTC."
    assert found.because == f"D-0001 r1 (tp2-pp1-ep1-dp1): {said}"


def test_a_report_from_before_the_activation_says_nothing_of_it(people: Cast) -> None:
    running(people)
    found = post(people, with_engine(report("node-a", collected_at=stamp(-30)), "2.0"))
    assert (state(), [row.is_compared for row in found.live.hosts]) == ("EFFECTIVE", [False])
    assert found.check.because.endswith("No host has reported since it came into force.")


def test_only_keys_that_force_requalification_count(people: Cast) -> None:
    running(people, requalify_on=["/identity/model"])
    found = post(people, with_engine(report("node-a"), "2.0"), report("node-b"))
    assert (found.check.matches, state()) == (True, "EFFECTIVE")


def test_an_auditor_reports_nothing(people: Cast) -> None:
    running(people)
    with pytest.raises(NotAllowedError):
        post(people, report("node-a"), actor=people.audrey)
    assert (identity_entries(), HostReport.objects.count()) == (["identity.report_refused"], 0)


def test_a_stale_decision_says_which_keys_on_which_host_and_whose_they_are(people: Cast) -> None:
    running(people)
    post(
        people, with_engine(report("node-a", ranks_seen={"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}), "2")
    )
    page = decision_page(actor=people.bob, workspace=people.workspace, number=1)
    said = "Not as decided on node-a: /stack/engine/version (serving), /placement/rank_map/0/device (networking)."
    assert page.state_because == said
    lists = inbox(actor=people.alice, workspace=people.workspace, wanted=DecisionFilter())
    assert [row.state_because for part in lists.lists if part.name == "stale" for row in part.rows] == [said]


def test_the_teams_that_own_what_differs_are_told(people: Cast) -> None:
    running(people)
    moved = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}
    post(people, with_engine(report("node-a", ranks_seen=moved), "2"), actor=people.alice)
    entry = AuditEntry.objects.get(action="identity.differs")
    assert entry.payload is not None
    teams = differing_teams(json.loads(bytes(entry.payload.data)))
    assert teams == {"serving", "networking"}
    (told,) = told_by(people.workspace, [Said(entry, "", "", teams)])
    assert {person: why for person, why in told.people.items() if why == NoticeReason.OWNER} == {
        people.bob.pk: "owner",
        people.carol.pk: "owner",
        people.dave.pk: "owner",
    }


def test_a_host_that_has_not_reported_for_long_is_forgotten_and_the_log_is_not(people: Cast) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    HostReport.objects.filter(place="node-b").update(received_at=timezone.now() - timedelta(days=31))
    assert places_prune() == 1
    assert [row.place for row in HostReport.objects.all()] == ["node-a"]
    assert IdentityReport.objects.count() == 2
