"""Rule 11: valid until the first of three limits, the identity checked at read, entries by report and sweep only."""

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.models import Activation, AuditEntry, Decision, IdentityReport, Revision
from reviews.selectors.decision_page import decision_page
from reviews.selectors.slot_check import SlotCheck, slot_check
from reviews.services.identity_reports import identity_report
from reviews.services.sweeps import decisions_sweep
from tests.plugins.append_only import lifted
from tests.reviews.factories import (
    IDENTITY,
    POLICY,
    Cast,
    Pair,
    cast,
    contract_tree,
    documents,
    evidence_tree,
    last_entry,
    submitted,
)
from tests.reviews.rules.test_rule_10_activation import activate, approved

pytestmark = pytest.mark.django_db

SLOT = "own/one-device"


def live(revision: Revision, **changes: Any) -> dict[str, Any]:
    """What the machine says: the decided identity with its rank map, with changes by pointer."""
    tree = copy.deepcopy(IDENTITY) | {"placement": {"rank_map_digest": revision.planned.basis.rank_map_digest}}
    for pointer, value in changes.items():
        *parents, last = pointer.split("__")
        place = tree
        for name in parents:
            place = place[name]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return tree


def check(people: Cast, tree: dict[str, Any], slot: str = SLOT) -> SlotCheck:
    return slot_check(actor=people.bob, workspace=people.workspace, slot=slot, live=tree)


def in_force(people: Cast, **choices: Any) -> Revision:
    revision = approved(people, **choices)
    activate(people, revision)
    return revision


def limited(**validity: Any) -> Pair:
    contract = contract_tree() | {"validity": validity}
    return Pair(json.dumps(contract).encode(), json.dumps(evidence_tree(contract)).encode())


def shown_state(people: Cast) -> str:
    return decision_page(actor=people.bob, workspace=people.workspace, number=1).state


def test_a_machine_that_is_what_was_decided_matches(people: Cast) -> None:
    found = check(people, live(in_force(people)))
    assert (found.matches, found.differences) == (True, ())
    assert found.because == "D-0001 r1 (tp1-pp1-ep1-dp1) is in force and matches."


@pytest.mark.parametrize(
    ("changes", "key", "how", "team"),
    [
        pytest.param({"model__revision": "r2"}, "/model/revision", "differs", "serving", id="another model revision"),
        pytest.param({"stack__engine__version": None}, "/stack/engine/version", "missing", "serving", id="missing"),
        pytest.param({"precision__weights": "unknown"}, "/precision/weights", "unknown", "serving", id="unknown"),
        pytest.param(
            {"placement__rank_map_digest": "sha256:00"},
            "/placement/rank_map_digest",
            "differs",
            "networking",
            id="a moved rank",
        ),
        pytest.param({"placement": None}, "/placement/rank_map_digest", "missing", "networking", id="no map at all"),
    ],
)
def test_the_first_key_that_does_not_match_is_named_with_its_team(
    people: Cast, changes: dict[str, Any], key: str, how: str, team: str
) -> None:
    found = check(people, live(in_force(people), **changes))
    first = found.differences[0]
    assert (found.matches, first.key, first.how, first.team) == (False, key, how, team)


def test_a_rank_map_is_digested_as_the_plan_does(people: Cast) -> None:
    revision = in_force(people)
    ranks = [{"rank": 0, "node": "node-a", "device": "a0"}]
    assert check(people, live(revision, placement={"rank_map": ranks})).matches


def test_only_keys_that_force_requalification_count_and_the_map_always(people: Cast) -> None:
    revision = in_force(people, pair=limited(requalify_on=["/identity/model"]))
    assert check(people, live(revision, stack__engine__version="2")).matches
    assert not check(people, live(revision, model__revision="r2")).matches
    assert not check(people, live(revision, placement__rank_map_digest="sha256:00")).matches


@pytest.mark.parametrize(
    ("slot", "because"),
    [
        pytest.param("own/none", "There is no decision for own/none.", id="no such slot"),
        pytest.param(SLOT, "No decision was ever in force for own/one-device.", id="only in review"),
    ],
)
def test_nothing_in_force_never_matches(people: Cast, slot: str, because: str) -> None:
    revision = approved(people)
    found = check(people, live(revision), slot)
    assert (found.matches, found.because) == (False, because)


def test_a_check_writes_nothing(people: Cast) -> None:
    revision = in_force(people)
    before = AuditEntry.objects.count()
    check(people, live(revision, model__revision="r2"))
    assert (AuditEntry.objects.count(), Decision.objects.get().state) == (before, "EFFECTIVE")


def test_a_report_that_differs_makes_the_decision_stale_with_the_keys(people: Cast) -> None:
    tree = live(in_force(people), model__revision="r2", hardware__nodes={"node-b": {}})
    found = identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree)
    assert (found.matches, Decision.objects.get().state) == (False, "STALE")
    entry = last_entry(people)
    assert (entry["action"], entry["team"]) == ("identity.differs", "serving")
    assert entry["payload"]["differences"] == [
        {"how": "differs", "key": "/model/revision", "team": "serving"},
        {"how": "missing", "key": "/hardware/nodes/node-a", "team": "networking"},
    ]
    assert not IdentityReport.objects.get().matches
    assert check(people, live(Revision.objects.get())).because.startswith("D-0001 is stale since ")


def test_a_report_that_matches_is_an_entry_and_changes_nothing(people: Cast) -> None:
    tree = live(in_force(people))
    assert identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree).matches
    assert (Decision.objects.get().state, last_entry(people)["action"]) == ("EFFECTIVE", "identity.reported")


@pytest.mark.parametrize(
    ("policy", "validity", "days"),
    [
        pytest.param({"max_age_s": 10 * 86400}, {}, 10, id="the policy's age"),
        pytest.param({"max_age_s": 10 * 86400}, {"decision_expires_after_s": 86400}, 1, id="the contract's expiry"),
        pytest.param({}, {}, None, id="no limit"),
    ],
)
def test_a_decision_is_valid_until_the_first_limit(
    db: None, policy: dict[str, Any], validity: dict[str, Any], days: int | None
) -> None:
    people = cast(policy=POLICY | policy)
    in_force(people, pair=limited(**validity))
    activation = Activation.objects.get()
    expected = None if days is None else activation.activated_at + timedelta(days=days)
    assert activation.valid_until == expected


def test_the_evidences_own_limit_comes_first_where_it_is_the_nearest(people: Cast) -> None:
    in_force(people, pair=limited(max_evidence_age_s=100 * 86400))
    ended = datetime(2026, 9, 20, 9, 45, tzinfo=UTC)
    assert Activation.objects.get().valid_until == ended + timedelta(days=100)


def pass_time(days: int) -> None:
    """Let the activation have been made and have ended so many days earlier."""
    with lifted():
        for row in Activation.objects.all():
            earlier = timedelta(days=days)
            ends = row.valid_until - earlier if row.valid_until else None
            Activation.objects.filter(pk=row.pk).update(activated_at=row.activated_at - earlier, valid_until=ends)


def test_what_expired_takes_a_new_revision_before_any_sweep(db: None) -> None:
    people = cast(policy=POLICY | {"max_age_s": 86400})
    revision = in_force(people)
    pass_time(days=2)
    submitted(people, pair=documents(tokens=170000), decision=revision.decision)
    assert Decision.objects.get().state == "EVALUATING"
    actions = list(AuditEntry.objects.order_by("-seq").values_list("action", flat=True)[:2])
    assert actions == ["revision.created", "decision.expired"]


def test_what_expired_is_expired_at_read_and_the_sweep_writes_the_entry(db: None) -> None:
    people = cast(policy=POLICY | {"max_age_s": 86400})
    revision = in_force(people)
    pass_time(days=2)
    assert (shown_state(people), Decision.objects.get().state) == ("EXPIRED", "EFFECTIVE")
    assert check(people, live(revision)).because.startswith("D-0001 is expired since ")
    assert AuditEntry.objects.filter(action="decision.expired").count() == 0
    assert (decisions_sweep(), decisions_sweep()) == (1, 0)
    assert (Decision.objects.get().state, last_entry(people)["action"]) == ("EXPIRED", "decision.expired")
    assert timezone.now() > Activation.objects.get().valid_until  # type: ignore[operator] # the policy gives one
