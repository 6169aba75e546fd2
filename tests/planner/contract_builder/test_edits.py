"""What forms change in a contract, and what they leave alone."""

import json
from typing import Any

import pytest

from planner.contract_builder.edits import (
    UnknownFieldError,
    entry_added,
    fields_set,
    merged,
    moved_up,
    removed,
)
from planner.contract_builder.shapes import in_document_order, kind_at, skeleton
from planner.contract_builder.typed import field_text
from planner.pointers import child, steps
from tests.shared import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*/contract.json"))


def at(tree: Any, pointer: str) -> Any:
    for step in steps(pointer):
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    return tree


@pytest.mark.parametrize(
    ("pointer", "typed", "stored"),
    [
        ("/slot", "chat/eu-west", "chat/eu-west"),
        ("/identity/model/layers", "48", 48),
        ("/identity/model/layers", " 48 ", 48),
        ("/identity/model/layers", "48.0", 48.0),
        ("/identity/model/layers", "forty", "forty"),
        ("/identity/model/layers", "1e999", "1e999"),
        ("/identity/model/tied_embeddings", "false", False),
        ("/illustrative", "true", True),
        ("/identity/model/adapters", "a\r\nb\n", ["a", "b"]),
        ("/identity/model/adapters", "[]", []),
        ("/gates/ttft/p95/max_ms", "500", 500),
        ("/gates/ttft/p95/max_ms", "0.5 s", 500),
        ("/gates/memory_headroom/worst/max_used_bytes", "60 GiB", 64424509440),
        ("/identity/hardware/islands/i/bytes_per_s_one_way", "450 GB/s", 450000000000),
        ("/identity/hardware/links/l/bytes_per_s_one_way", "100 Gbit/s", 12500000000),
        ("/identity/hardware/links/l/bytes_per_s_one_way", "100 GB", "100 GB"),
        ("/headroom/memory/reserved_share", "20 %", 0.2),
        ("/validity/decision_expires_after_s", "14 d", 1209600),
        ("/identity/stack/kv/block_tokens", "16", 16),
        ("/identity/stack/kv/block_tokens", '"16"', "16"),
        ("/identity/stack/kv/layout", "paged-nhd", "paged-nhd"),
        ("/identity/workload/speculation", "none", "none"),
        ("/identity/workload/speculation", '{"tokens": 3}', {"tokens": 3}),
        ("/fleet/usd_per_device_hour/a~1b", "2.5", 2.5),
        ("/fleet/failure_domains/rack/r1", "node-a\nnode-b", ["node-a", "node-b"]),
        ("/selection/preset", "smallest_first", "smallest_first"),
    ],
)
def test_what_is_typed_becomes_the_value_of_the_document(pointer: str, typed: str, stored: Any) -> None:
    found = at(fields_set(skeleton(), {pointer: [typed]}), pointer)
    assert (found, type(found)) == (stored, type(stored))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_a_form_sent_back_untouched_changes_nothing(path: Any) -> None:
    tree = json.loads(path.read_bytes())
    sent: dict[str, list[str]] = {}

    def gather(value: Any, pointer: str) -> None:
        if isinstance(value, dict) and value:
            for name, item in value.items():
                gather(item, child(pointer, name))
        elif isinstance(value, list):
            sent[pointer] = [str(item) for item in value] or ["[]"]
        elif pointer:
            kind = kind_at(steps(pointer))
            assert kind is not None, pointer
            sent[pointer] = [field_text(value, kind).replace("\n", "\r\n")]

    gather(tree, "")
    assert fields_set(tree, sent) == tree


def test_an_emptied_field_goes_and_so_does_the_object_it_leaves_empty() -> None:
    tree = fields_set(skeleton(), {"/headroom/memory/reserved_share": ["0.2"]})
    assert fields_set(tree, {"/headroom/memory/reserved_share": [""]}) == skeleton()


def test_the_objects_of_every_contract_stay_when_they_are_empty() -> None:
    tree = fields_set(skeleton(), {"/identity/stack/engine/name": ["vllm"]})
    assert fields_set(tree, {"/identity/stack/engine/name": [" "]}) == skeleton()


def test_an_entry_that_was_added_stays_while_its_fields_are_empty() -> None:
    tree = entry_added(skeleton(), "/identity/workload/load_points", "single")
    assert fields_set(tree, {"/identity/workload/load_points/single/arrival": [""]}) == tree


def test_an_empty_list_that_was_said_stays_said() -> None:
    tree = fields_set(skeleton(), {"/identity/model/adapters": ["[]"]})
    assert fields_set(tree, {"/identity/model/adapters": ["", "[]"]})["identity"]["model"] == {"adapters": []}
    assert fields_set(tree, {"/identity/model/adapters": [""]}) == skeleton()


def test_an_edit_leaves_the_old_tree_alone() -> None:
    tree = skeleton()
    fields_set(tree, {"/slot": ["a"], "/identity/model/layers": ["1"]})
    assert tree == skeleton()


@pytest.mark.parametrize("pointer", ["/nothing", "/identity/model/depth", "/gates/no_gate/x/max_ms", "slot", ""])
def test_a_field_that_no_contract_has_is_refused_by_its_pointer(pointer: str) -> None:
    with pytest.raises(UnknownFieldError) as refused:
        fields_set(skeleton(), {pointer: ["1"]})
    assert refused.value.pointer == pointer


def test_a_gate_goes_with_its_last_limit() -> None:
    tree = entry_added(entry_added(skeleton(), "/gates/ttft", "p95"), "/gates/ttft", "p99")
    assert removed(tree, "/gates/ttft/p95")["gates"] == {"ttft": {"p99": {}}}
    assert removed(removed(tree, "/gates/ttft/p95"), "/gates/ttft/p99") == skeleton()


def test_keys_of_the_order_are_added_moved_and_removed() -> None:
    tree = entry_added(entry_added(skeleton(), "/selection/keys", "0"), "/selection/keys", "1", {"key": "ttft"})
    assert tree["selection"]["keys"] == [{}, {"key": "ttft"}]
    assert moved_up(tree, "/selection/keys/1")["selection"]["keys"] == [{"key": "ttft"}, {}]
    assert moved_up(tree, "/selection/keys/0") == tree
    assert removed(tree, "/selection/keys/0")["selection"]["keys"] == [{"key": "ttft"}]


def test_removing_what_is_not_there_changes_nothing() -> None:
    for pointer in ("", "/gates/ttft/p95", "/selection/keys/9", "/slot/0"):
        assert removed(skeleton(), pointer) == skeleton()


@pytest.mark.parametrize("step", ["9" * 5000, "00", "-1", "٠", "²"])
def test_a_step_that_is_no_place_of_an_array_changes_nothing(step: str) -> None:
    tree = entry_added(skeleton(), "/selection/keys", "0")
    assert moved_up(tree, f"/selection/keys/{step}") == removed(tree, f"/selection/keys/{step}") == tree
    with pytest.raises(UnknownFieldError):
        fields_set(tree, {f"/selection/keys/{step}/key": ["ttft"]})


def test_a_part_is_laid_over_what_is_there() -> None:
    tree = fields_set(skeleton(), {"/identity/model/name": ["own/a"], "/identity/model/layers": ["1"]})
    found = merged(tree, {"identity": {"model": {"layers": 2, "attention": "gqa"}}})
    assert found["identity"]["model"] == {"name": "own/a", "layers": 2, "attention": "gqa"}


def test_members_of_records_come_in_the_order_of_the_records() -> None:
    tree = {"owner": "b", "slot": "a", "identity": {"stack": {}, "model": {"layers": 1, "name": "n"}}, "schema": "s"}
    ordered = in_document_order(tree)
    assert [*ordered] == ["schema", "slot", "owner", "identity"]
    assert [*ordered["identity"]] == ["model", "stack"]
    assert [*ordered["identity"]["model"]] == ["name", "layers"]
