"""What a team signs for: equal where its part is equal, different where anything of it moved."""

import copy
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from planner.canonical import canonical_bytes, content_id
from reviews.policies.document import read_policy
from reviews.policies.scope import Scope, evidence_until, scope_change, team_scopes
from tests.reviews.factories import IDENTITY, POLICY

DOCUMENT = read_policy(msgspec.json.encode(POLICY))
AS_OF = "2026-09-21T12:00:00Z"
PLAN: dict[str, Any] = {
    "as_of": AS_OF,
    "planner_version": "1.0.0",
    "decision": "SELECT_TOPOLOGY",
    "evidence": {"content_id": "e1"},
    "selected": {"trial": "t-1", "topology": "tp1", "rank_map_digest": "d", "rank_map": [{"rank": 0}]},
    "candidates": {
        "t-1": {
            "gates": {
                "throughput": {"family": "slo", "outcome": "PASS", "limits": {"floor": {"measured": 546}}},
                "placement": {"family": "fabric", "outcome": "PASS", "limits": {}},
            }
        }
    },
}


def scopes(*, policy_id: str = "p1", identity: Any = IDENTITY, plan: dict[str, Any] = PLAN) -> dict[str, Scope]:
    found = team_scopes(document=DOCUMENT, policy_id=policy_id, identity=identity, plan=canonical_bytes(plan))
    return {scope.team: scope for scope in found}


def changed(value: Any, path: str, new: Any) -> Any:
    tree = copy.deepcopy(value)
    *parents, last = path.split("/")
    place = tree
    for key in parents:
        place = place[key]
    place[last] = new
    return tree


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        pytest.param({"plan": changed(PLAN, "evidence/content_id", "e2")}, set(), id="other bytes, same values"),
        pytest.param(
            {"plan": changed(PLAN, "candidates/t-1/gates/throughput/limits/floor/measured", 500)},
            {"serving"},
            id="a reading of a gate that serving owns",
        ),
        pytest.param(
            {"plan": changed(PLAN, "candidates/t-1/gates/placement/outcome", "FAIL")},
            {"networking"},
            id="an outcome that networking owns",
        ),
        pytest.param({"identity": changed(IDENTITY, "hardware/nodes", {"node-b": {}})}, {"networking"}, id="hardware"),
        pytest.param({"identity": changed(IDENTITY, "model/revision", "r2")}, {"serving"}, id="model revision"),
        pytest.param(
            {"plan": changed(PLAN, "selected/rank_map_digest", "x")}, {"serving", "networking"}, id="a moved rank"
        ),
        pytest.param({"plan": changed(PLAN, "selected", None)}, {"serving", "networking"}, id="no selection"),
        pytest.param({"plan": changed(PLAN, "planner_version", "2")}, {"serving", "networking"}, id="planner"),
        pytest.param({"policy_id": "p2"}, {"serving", "networking"}, id="policy"),
        pytest.param(
            {"plan": changed(PLAN, "candidates/t-2", {"gates": {}})}, {"serving", "networking"}, id="a new trial"
        ),
    ],
)
def test_a_scope_moves_with_what_its_team_owns(change: dict[str, Any], moved: set[str]) -> None:
    before, after = scopes(), scopes(**change)
    assert {team for team in before if after[team].digest != before[team].digest} == moved


def test_the_digest_of_an_outcome_is_its_content_id() -> None:
    outcome = PLAN["candidates"]["t-1"]["gates"]["throughput"]
    assert scopes()["serving"].items["gate:t-1:throughput"] == content_id(outcome)
    assert scopes()["serving"].items["selected"] == content_id(
        {key: PLAN["selected"][key] for key in ("topology", "rank_map_digest", "rank_map")}
    )


def test_a_change_names_its_items() -> None:
    plan = changed(PLAN, "candidates/t-1/gates/throughput/limits/floor/measured", 500)
    plan["candidates"]["t-1"]["gates"]["ttft"] = {"family": "slo", "outcome": "PASS", "limits": {}}
    identity = changed(IDENTITY, "model", {"name": "own/dense-8b"})
    change = scope_change(scopes()["serving"].items, scopes(plan=plan, identity=identity)["serving"].items)
    assert (change.new, change.changed) == (("gate:t-1:ttft",), ("gate:t-1:throughput",))
    assert "identity:/model/layers" in change.gone


def test_a_team_that_owns_neither_key_nor_declared_gate_is_not_touched() -> None:
    plan = changed(PLAN, "candidates/t-1/gates/placement/outcome", "NOT_DECLARED")
    identity = {key: value for key, value in IDENTITY.items() if key != "hardware"}
    found = scopes(plan=plan, identity=identity)
    assert {team: scope.is_touched for team, scope in found.items()} == {"networking": False, "serving": True}


def _fresh(margin: Any) -> dict[str, Any]:
    outcome = {"family": "evidence", "outcome": "PASS", "limits": {"always": {"margin": margin}}}
    return {"gates": {"freshness": outcome}}


@pytest.mark.parametrize(
    ("eligible", "until"),
    [
        pytest.param(["t-1", "t-2"], datetime(2026, 9, 21, 12, 1, tzinfo=UTC), id="the first limit that passes"),
        pytest.param(["t-1"], datetime(2026, 9, 21, 12, 2, tzinfo=UTC), id="only trials that the plan rests on"),
        pytest.param([], datetime(2026, 9, 21, 12, 1, tzinfo=UTC), id="none is eligible: all of them"),
        pytest.param(["t-3"], None, id="no maximum age declared"),
    ],
)
def test_evidence_holds_until_the_first_trials_own_limit(eligible: list[str], until: datetime | None) -> None:
    plan = {
        "as_of": AS_OF,
        "eligible": [{"trial": trial} for trial in eligible],
        "candidates": {"t-1": _fresh(120), "t-2": _fresh(60), "t-3": _fresh(None)},
    }
    assert evidence_until(plan) == until
