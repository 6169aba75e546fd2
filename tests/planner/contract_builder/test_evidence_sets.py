"""The three starting sets of required evidence."""

from typing import Any

import msgspec
import pytest

from planner.contract_builder.edits import merged
from planner.contract_builder.evidence_sets import SETS, EvidenceSet, with_set
from planner.contract_builder.rendered import judged
from planner.contract_builder.shapes import skeleton
from planner.presence import SCOPES, SECTIONS, TRACED
from planner.records.evidence import LinkCounters, Load, Replica
from planner.records.sections import ExpertLoad

CORE, FABRIC, RESILIENCE = SETS
POINTS = {
    "single": {"arrival": "closed", "concurrent_requests": 1},
    "saturated": {"arrival": "closed", "concurrent_requests": 8},
}


def contract(architecture: str = "dense") -> dict[str, Any]:
    return merged(
        skeleton(), {"identity": {"model": {"architecture": architecture}, "workload": {"load_points": POINTS}}}
    )


@pytest.mark.parametrize("chosen", SETS, ids=lambda chosen: chosen.id)
def test_every_metric_is_one_that_evidence_can_hold_at_its_scope(chosen: EvidenceSet) -> None:
    records: dict[str, type[msgspec.Struct]] = {
        "load": Load,
        "links": LinkCounters,
        "replicas": Replica,
        "experts": ExpertLoad,
    }
    finest = {"load": "deployment", "per_rank": "rank", "links": "nic", "replicas": "replica", **TRACED}
    for wanted in chosen.wanted.values():
        section, field = wanted.metric.split(".")
        assert section in SECTIONS
        assert section == "per_rank" or field in records[section].__struct_fields__
        assert SCOPES[wanted.scope] <= SCOPES[finest[section]], wanted.metric


def test_sets_hold_one_another() -> None:
    assert set(CORE.wanted) < set(FABRIC.wanted) < set(RESILIENCE.wanted)
    assert [bool(chosen.limits) for chosen in SETS] == [False, False, True]


@pytest.mark.parametrize("chosen", SETS, ids=lambda chosen: chosen.id)
def test_entries_are_complete_as_they_are_added(chosen: EvidenceSet) -> None:
    found = judged(with_set(contract("moe"), chosen)).problems
    assert [problem.pointer for problem in found if problem.pointer.startswith("/evidence_required")] == []


def test_totals_are_wanted_at_every_load_point_and_memory_where_it_is_full() -> None:
    entries = with_set(contract(), CORE)["evidence_required"]
    assert entries["totals"]["load_points"] == ["single", "saturated"]
    assert entries["device_memory"]["load_points"] == ["saturated"]


def test_expert_load_is_wanted_of_experts_alone() -> None:
    assert "expert_load" not in with_set(contract("dense"), FABRIC)["evidence_required"]
    assert "expert_load" in with_set(contract("moe"), FABRIC)["evidence_required"]


def test_the_third_set_adds_limits_that_nobody_has_given_a_value() -> None:
    tree = with_set(contract(), RESILIENCE)
    missing = {problem.pointer for problem in judged(tree).problems}
    assert tree["gates"]["recovery"]["rank_loss"] == {"injection": "rank_loss"}
    for limit in (
        "recovery/slow_rank",
        "recovery/rank_loss",
        "recovery/node_loss",
        "steady_state/soak",
        "errors/hangs",
    ):
        assert f"/gates/{limit}/because" in missing


def test_what_is_there_stays_and_a_metric_is_wanted_once() -> None:
    own = {"memory": {"metric": "per_rank.device_used_peak_bytes", "level": "advisory"}}
    tree = merged(contract(), {"evidence_required": own, "gates": {"errors": {"own": {"max_hangs": 0}}}})
    found = with_set(with_set(tree, RESILIENCE), RESILIENCE)
    assert found["evidence_required"]["memory"] == own["memory"]
    assert "device_memory" not in found["evidence_required"]
    assert found["gates"]["errors"] == {"own": {"max_hangs": 0}}
    assert found == with_set(tree, RESILIENCE)


def test_a_set_is_added_to_a_tree_that_is_wrong() -> None:
    tree = merged(contract(), {"evidence_required": {"odd": {"metric": []}, "other": 3}})
    assert with_set(tree, CORE)["evidence_required"].keys() == {"odd", "other", *CORE.wanted}


def test_a_limit_names_no_load_point_that_the_contract_does_not_have() -> None:
    assert with_set(skeleton(), RESILIENCE)["gates"]["steady_state"] == {"soak": {}}
    assert judged(with_set(skeleton(), RESILIENCE)).wrong == ()
