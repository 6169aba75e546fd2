"""Rule 18: a waiver of one gate of one candidate, by its owner and capacity; its lapse makes the decision stale."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.times import time_text
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import Activation, Decision, Revision, Waiver
from reviews.selectors.decision_page import decision_page
from reviews.selectors.openings import openings_of
from reviews.services.sweeps import decisions_sweep
from tests.plugins.append_only import lifted
from tests.reviews.factories import (
    Cast,
    Pair,
    contract_tree,
    documents,
    evidence_tree,
    last_entry,
    planned,
    sign,
    statuses,
)
from tests.reviews.rules.board import board, countersign, propose
from tests.reviews.rules.test_rule_10_activation import activate
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


@pytest.fixture
def failing(people: Cast) -> Revision:
    """A revision whose only trial misses its throughput."""
    return planned(people, pair=documents(floor=600))


def body(**changes: Any) -> dict[str, Any]:
    ends = time_text(timezone.now() + timedelta(days=30))
    return {"trial": "t-1", "gate": "throughput", "ends_at": ends} | changes


def waived(people: Cast) -> Waiver:
    countersign(people, propose(people, "waiver", "bob", body()), "erin")
    return Waiver.objects.get()


def test_the_owning_team_and_capacity_waive_a_gate(people: Cast, failing: Revision) -> None:
    waiver = waived(people)
    assert (waiver.trial, waiver.gate, waiver.owner) == ("t-1", "throughput", people.bob)
    entry = last_entry(people)
    assert (entry["action"], entry["team"], entry["reason"]) == (
        "waiver.granted",
        "serving",
        "The pilot depends on it.",
    )


def test_two_of_one_team_waive_nothing(people: Cast, failing: Revision) -> None:
    proposal = propose(people, "waiver", "bob", body())
    with pytest.raises(NotAllowedError, match="This takes a member of capacity"):
        countersign(people, proposal, "dave")


def test_what_was_signed_before_it_is_stale(people: Cast, failing: Revision) -> None:
    sign(people, failing, people.dave)
    waived(people)
    assert statuses(people) == [("STALE", "SCOPE_CHANGED", ("waivers",))]


def test_a_waived_gate_is_to_be_opened_and_its_candidate_can_be_put_into_force(people: Cast, failing: Revision) -> None:
    waived(people)
    items = openings_of(failing, person_id=people.dave.pk, team="serving", now=timezone.now()).items
    assert [item.is_waived for item in items if item.id == "gate:t-1:throughput"] == [True]
    sign(people, failing, people.dave)
    sign(people, failing, people.carol, team="networking")
    assert activate(people, failing, people.bob).trial == "t-1"


def test_its_lapse_makes_the_decision_stale_at_read_and_by_the_sweep(people: Cast, failing: Revision) -> None:
    waiver = waived(people)
    sign(people, failing, people.dave)
    sign(people, failing, people.carol, team="networking")
    activate(people, failing, people.bob)
    with lifted():
        past = {"granted_at": waiver.granted_at - timedelta(days=60), "ends_at": waiver.ends_at - timedelta(days=60)}
        Waiver.objects.update(**past)
    page = decision_page(actor=people.bob, workspace=people.workspace, number=1)
    assert (page.state, page.state_because) == ("STALE", "Waiver lapsed: throughput of t-1.")
    assert decisions_sweep() == 1
    assert (Decision.objects.get().state, last_entry(people)["action"]) == ("STALE", "decision.stale")
    assert Activation.objects.count() == 1


def test_an_integrity_gate_is_never_waived(people: Cast) -> None:
    contract = contract_tree()
    evidence = evidence_tree(contract)
    evidence["identities"]["run-1"]["stack"]["engine"]["version"] = "9"
    planned(people, pair=Pair(json.dumps(contract).encode(), json.dumps(evidence).encode()))
    with pytest.raises(ConflictError, match="identity is an integrity gate"):
        propose(people, "waiver", "bob", body(gate="identity"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"gate": "ttft"}, "gate: expected a failing or unknown gate of t-1: throughput", id="passes"),
        pytest.param({"trial": "t-9"}, "trial: expected a trial of the plan: t-1", id="no such trial"),
        pytest.param({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at: expected UTC in whole seconds", id="past"),
        pytest.param({"ends_at": ""}, "ends_at: expected UTC", id="no end"),
    ],
)
def test_what_is_wrong_is_named(people: Cast, failing: Revision, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequestError, match=message):
        propose(people, "waiver", "bob", body(**changes))
