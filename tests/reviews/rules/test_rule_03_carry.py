"""Rule 3: a sign-off is carried only where what its team owns and the selected topology are byte for byte the same."""

import json
from typing import Any

import pytest

from reviews.models import AuditEntry, SignOffCarry, TeamScope
from reviews.selectors.decision_page import decision_page
from reviews.services.people import policy_set
from tests.reviews.factories import (
    POLICY,
    Cast,
    Pair,
    contract_tree,
    evidence_tree,
    last_entry,
    planned,
    sign,
    statuses,
)

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def pair(**changes: Any) -> Pair:
    """Documents with an identity key, a reading or a trial of one team changed."""
    contract = contract_tree()
    contract["identity"]["hardware"]["devices"]["a0"]["type"] = changes.get("device", "accel-80g")
    if "failure" in changes:
        share = {"domain": "node", "horizon": "immediate", "max_capacity_share_lost": 0.55, "because": "One of two."}
        contract["gates"]["failure_domain"] = {"node_share": share}
    if "most_s" in changes:
        contract["validity"] = {"max_evidence_age_s": changes["most_s"]}
    if "note" in changes:
        contract["owner"] = changes["note"]
    evidence = evidence_tree(contract, tokens=changes.get("tokens", 163840))
    if "trial" in changes:
        second = json.loads(json.dumps(evidence["trials"]["t-1"]))
        second["windows"]["w1"]["load"]["output_tokens_total"] = 160000
        evidence["trials"][changes["trial"]] = second
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def signed_by_both(people: Cast) -> Any:
    first = planned(people, pair=pair())
    sign(people, first)
    sign(people, first, people.carol, team="networking")
    return first


def by_team(people: Cast) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return {row.team: (row.status, row.judged.reason, row.judged.keys) for row in page.signoffs}


def test_both_are_carried_where_nothing_that_they_own_changed(people: Cast) -> None:
    planned(people, pair=pair(note="another owner"), decision=signed_by_both(people).decision)
    assert by_team(people) == {"serving": ("CARRIED", "", ()), "networking": ("CARRIED", "", ())}


def test_a_carry_is_an_entry_that_names_both_subjects_and_the_scope(people: Cast) -> None:
    first = signed_by_both(people)
    second = planned(people, pair=pair(note="another owner"), decision=first.decision)
    carry = SignOffCarry.objects.get(signoff__team__slug="networking")
    entry = AuditEntry.objects.get(seq=carry.entry)
    assert entry.payload is not None
    payload = json.loads(bytes(entry.payload.data))
    assert (entry.action, entry.team, entry.subject) == ("signoff.carried", "networking", second.planned.subject)
    assert payload == {
        "person": people.carol.token,
        "turn": 1,
        "scope": TeamScope.objects.get(basis__planned=second.planned, team="networking").digest,
        "from_revision": 1,
        "from_subject": first.planned.subject,
        "to_revision": 2,
        "to_subject": second.planned.subject,
    }


def test_a_carried_approval_fills_its_seat(people: Cast) -> None:
    planned(people, pair=pair(note="another owner"), decision=signed_by_both(people).decision)
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert [(row.team, row.status) for row in page.requirements] == [
        ("networking", "SATISFIED"),
        ("serving", "SATISFIED"),
    ]
    assert page.approval.approved


@pytest.mark.parametrize(
    ("changes", "serving", "networking"),
    [
        pytest.param(
            {"tokens": 170000},
            ("STALE", "SCOPE_CHANGED", ("gate:t-1:throughput",)),
            ("CARRIED", "", ()),
            id="a reading of serving",
        ),
        pytest.param(
            {"device": "accel-96g"},
            ("CARRIED", "", ()),
            ("STALE", "IDENTITY_CHANGED", ("identity:/hardware/devices/a0/type",)),
            id="an identity key of networking",
        ),
    ],
)
def test_only_the_team_that_owns_what_changed_signs_again(
    people: Cast, changes: dict[str, Any], serving: tuple[Any, ...], networking: tuple[Any, ...]
) -> None:
    planned(people, pair=pair(**changes), decision=signed_by_both(people).decision)
    assert by_team(people) == {"serving": serving, "networking": networking}


def test_both_are_carried_to_a_later_as_of_time_where_no_age_is_limited(people: Cast) -> None:
    planned(people, pair=pair(), as_of="2026-11-30T12:00:00Z", decision=signed_by_both(people).decision)
    assert by_team(people) == {"serving": ("CARRIED", "", ()), "networking": ("CARRIED", "", ())}


def test_who_owns_a_limited_age_signs_again_at_another_as_of_time(people: Cast) -> None:
    limited = pair(most_s=1_000_000_000)
    first = planned(people, pair=limited)
    sign(people, first)
    sign(people, first, people.carol, team="networking")
    planned(people, pair=limited, as_of="2026-09-21T12:00:01Z", decision=first.decision)
    assert by_team(people) == {
        "serving": ("STALE", "SCOPE_CHANGED", ("gate:t-1:freshness",)),
        "networking": ("CARRIED", "", ()),
    }


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        pytest.param({"trial": "t-2"}, "trial:t-2", id="a new trial"),
        pytest.param({"failure": True}, "gate:t-1:failure_domain", id="a newly declared gate"),
    ],
)
def test_a_new_item_is_never_carried(people: Cast, changes: dict[str, Any], new: str) -> None:
    planned(people, pair=pair(**changes), decision=signed_by_both(people).decision)
    status, reason, keys = by_team(people)["networking"]
    assert (status, reason) == ("STALE", "NEW_ITEM")
    assert new in keys


def test_another_policy_is_never_carried(people: Cast) -> None:
    first = signed_by_both(people)
    policy_set(workspace=people.workspace, policy=POLICY | {"max_age_s": 3600})
    assert by_team(people)["serving"] == ("STALE", "POLICY_CHANGED", ("policy",))
    planned(people, pair=pair(note="another owner"), decision=first.decision)
    assert by_team(people)["serving"] == ("STALE", "POLICY_CHANGED", ("policy",))
    assert not SignOffCarry.objects.exists()


def test_another_planner_version_is_never_carried(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    first = signed_by_both(people)
    for module in ("planner.plan", "reviews.services.submissions"):
        monkeypatch.setattr(f"{module}.PLANNER_VERSION", "99.0.0")
    planned(people, pair=pair(note="another owner"), decision=first.decision)
    assert by_team(people)["serving"] == ("STALE", "PLANNER_CHANGED", ("planner_version",))


def test_what_once_lost_its_ground_is_not_carried_when_the_old_state_comes_back(people: Cast) -> None:
    first = signed_by_both(people)
    planned(people, pair=pair(tokens=170000), decision=first.decision)
    planned(people, pair=pair(note="back again"), decision=first.decision)
    assert by_team(people)["serving"][:2] == ("STALE", "SUBJECT_CHANGED")
    assert by_team(people)["networking"] == ("CARRIED", "", ())


def test_an_accepted_risk_is_never_carried(people: Cast) -> None:
    first = planned(people, pair=pair())
    sign(people, first, meaning="accept_risk")
    planned(people, pair=pair(note="another owner"), decision=first.decision)
    assert statuses(people) == [("STALE", "SUBJECT_CHANGED", ("contract", "evidence", "plan"))]


def test_who_signs_anew_replaces_what_was_carried(people: Cast) -> None:
    first = planned(people, pair=pair())
    sign(people, first)
    second = planned(people, pair=pair(note="another owner"), decision=first.decision)
    sign(people, second, meaning="request_changes", statement="Measure the tail again.")
    assert statuses(people) == [("CURRENT", "", ()), ("VOID", "REPLACED", ())]
    assert last_entry(people)["meaning"] == "request_changes"
