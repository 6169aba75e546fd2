"""Reports: values with sources, what is missing, and several hosts put together without a contradiction."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from planner.errors import DocumentRefusedError
from planner.identity_report import Gathered, MergeRefusedError, merged, read_report, report_tree
from planner.schema import document_schema

TIME = "2026-11-30T12:00:00Z"


def report(found: Gathered, host: str = "host-a", bound: dict[str, Any] | None = None) -> dict[str, Any]:
    return report_tree(found, host=host, collected_at=TIME, environment={"NCCL_DEBUG": "INFO"}, bound=bound)


def of_host(host: str, ranks: list[tuple[int, str]], world: int = 2, driver: str = "590.44") -> Any:
    found = Gathered(world_size=world)
    found.put("/stack/driver/version", driver, "nvidia-smi")
    found.ranks = [{"rank": rank, "node": host, "device": device} for rank, device in ranks]
    return read_report(json.dumps(report(found, host)).encode())


def test_the_first_source_stands_and_the_other_is_told() -> None:
    found = Gathered()
    found.put("/stack/driver/version", "590.44", "nvidia-smi")
    found.put_tree({"stack": {"driver": {"version": "580.1"}, "engine": {"name": "vllm"}}}, "given in a.json")
    found.put("/stack", "text", "given in b.json")
    found.put("/stack/engine/name/x", 1, "given in b.json")
    found.lack("/workload", "not seen")
    tree = report(found, bound={"model": {"name": "m"}, "workload": {"name": "chat"}, "stack": {"driver": {}}})
    assert tree["identity"] == {"stack": {"driver": {"version": "590.44"}, "engine": {"name": "vllm"}}}
    assert tree["sources"]["/stack/engine/name"] == "given in a.json"
    assert [(one["what"], one["kept"], one["other"]) for one in tree["conflicts"]] == [
        ("/stack/driver/version", "590.44", "580.1"),
        ("/stack/driver/version", "590.44", "text"),
        ("/stack/engine/name", "vllm", 1),
    ]
    assert tree["missing"] == [
        {"what": "/workload", "because": "not seen"},
        {"what": "/model/name", "because": "nothing at hand says it"},
        {"what": "/stack/driver", "because": "nothing at hand says it"},
    ]


def test_ranks_of_several_hosts_make_the_rank_map_once_all_are_there() -> None:
    first, second = of_host("a", [(0, "a0")]), of_host("b", [(1, "b0")])
    assert report(Gathered(world_size=2, ranks=[{"rank": 0, "node": "a", "device": "a0"}]))["ranks_seen"] == {
        "world_size": 2,
        "ranks": [{"rank": 0, "node": "a", "device": "a0"}],
    }
    whole = merged([second, first])
    assert whole["placement"] == {
        "rank_map": [{"rank": 0, "node": "a", "device": "a0"}, {"rank": 1, "node": "b", "device": "b0"}]
    }
    assert whole["host"] == "b, a"
    assert whole["sources"] == {"/stack/driver/version": "b: nvidia-smi"}
    assert whole["environment"] == {"b/NCCL_DEBUG": "INFO", "a/NCCL_DEBUG": "INFO"}
    assert read_report(json.dumps(whole).encode()).live["placement"]["rank_map"] == tuple(
        whole["placement"]["rank_map"]
    )


def test_a_report_fits_its_published_schema() -> None:
    found = Gathered(world_size=2, ranks=[{"rank": 0, "node": "a", "device": "a0"}])
    found.put("/stack/driver/version", "590.44", "nvidia-smi")
    found.put("/stack/driver/version", "580.1", "given in a.json")
    found.lack("/workload", "not seen")
    validator = jsonschema.Draft202012Validator(document_schema("identity"))
    assert [error.message for error in validator.iter_errors(report(found))] == []


def test_hosts_that_differ_are_not_put_together() -> None:
    with pytest.raises(MergeRefusedError) as refused:
        merged([of_host("a", [(0, "a0")]), of_host("b", [(0, "b0")], driver="580.1"), of_host("c", [], world=3)])
    assert refused.value.conflicts == (
        "rank 0: {'rank': 0, 'node': 'a', 'device': 'a0'}, {'rank': 0, 'node': 'b', 'device': 'b0'} (b)",
        "ranks in all: 2, 3 (c)",
        "/stack/driver/version: '590.44' (a: nvidia-smi), '580.1' (b: nvidia-smi)",
    )


def test_a_damaged_report_is_refused_with_every_problem() -> None:
    tree = {"schema": "topogate.identity/v1", "host": 1, "collected_at": "soon", "identity": {}, "more": 1}
    with pytest.raises(DocumentRefusedError) as refused:
        read_report(json.dumps(tree).encode())
    assert sorted(problem.pointer for problem in refused.value.problems) == ["/collected_at", "/host", "/more"]
