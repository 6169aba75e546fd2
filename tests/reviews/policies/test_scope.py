"""What a team signs for: equal where its part is equal, different where anything of it moved."""

import copy
from typing import Any

import msgspec
import pytest

from planner.canonical import content_id
from reviews.policies.document import read_policy
from reviews.policies.scope import team_scope
from tests.reviews.factories import IDENTITY, POLICY

DOCUMENT = read_policy(msgspec.json.encode(POLICY))
PLAN: dict[str, Any] = {
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


def digest(team: str, *, policy_id: str = "p1", identity: Any = IDENTITY, plan: dict[str, Any] = PLAN) -> str:
    return content_id(team_scope(document=DOCUMENT, policy_id=policy_id, team=team, identity=identity, plan=plan))


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
    assert {team for team in ("serving", "networking") if digest(team, **change) != digest(team)} == moved
