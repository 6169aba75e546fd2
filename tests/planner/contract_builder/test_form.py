"""The form that follows from the records: nothing of a contract is without a field."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from planner.contract_builder.edits import entry_added, fields_set, merged
from planner.contract_builder.form import Collection, Field, Group, Part, form_at, summary
from planner.contract_builder.labels import HELP, label_of, unit_of
from planner.contract_builder.rendered import judged, rendered
from planner.contract_builder.shapes import kind_at, skeleton
from planner.contract_builder.steps import REVIEW, STEPS, step_at
from planner.gates import GATES
from planner.intake import read_contract
from planner.pointers import child
from planner.records.contract import Contract, Identity
from tests.shared import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*/contract.json"))
each_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)


def fields(part: Part) -> Iterator[Field]:
    if isinstance(part, Field):
        yield part
    else:
        for inner in part.parts:
            yield from fields(inner)


def found(part: Part, pointer: str) -> Part:
    if part.pointer == pointer:
        return part
    assert not isinstance(part, Field)
    return next(found(inner, pointer) for inner in part.parts if f"{pointer}/".startswith(f"{inner.pointer}/"))


def leaves(value: Any, pointer: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, child(pointer, name))
    elif value != {}:
        yield pointer


@each_example
def test_every_leaf_of_a_contract_has_a_field_on_some_page(path: Any) -> None:
    tree = json.loads(path.read_bytes())
    shown: set[str] = set()
    for pointer in leaves(tree):
        step = step_at(pointer)
        parts = (form_at(tree, part, opened=pointer) for part in step.pointers)
        shown |= {field.pointer for part in parts for field in fields(part)}
    # An object in engine settings is one value of one field, written as JSON.
    assert {p for p in leaves(tree) if p not in shown and not any(p.startswith(f"{s}/") for s in shown)} == {"/schema"}


def test_every_part_of_the_records_is_on_a_page() -> None:
    named = {pointer for step in STEPS for pointer in step.pointers}
    parts = {f"/{name}" for name in Contract.__struct_encode_fields__} - {"/schema", "/identity"}
    assert named == parts | {f"/identity/{name}" for name in Identity.__struct_encode_fields__}


def test_what_no_page_shows_is_said_in_the_review() -> None:
    assert step_at("/nothing") is step_at("") is REVIEW
    assert step_at("/identity/precision/weights").id == "model"


@pytest.mark.parametrize("gate", [gate for gate in GATES if gate.limit], ids=lambda gate: gate.id)
def test_every_gate_that_takes_limits_has_a_form_that_begins_with_its_reason(gate: Any) -> None:
    tree = entry_added(skeleton(), f"/gates/{gate.id}", "new")
    part = form_at(tree, f"/gates/{gate.id}")
    assert isinstance(part, Collection)
    assert part.help.startswith(gate.title)
    (limit,) = part.parts
    assert isinstance(limit, Group)
    assert next(fields(limit)).pointer.endswith("/because")
    assert limit.one_of == gate.limit.one_of
    assert all(field.text == "" for field in fields(limit)), "a limit starts empty"


@pytest.mark.parametrize("pointer", HELP)
def test_help_is_about_a_field_that_there_is(pointer: str) -> None:
    gate = next(gate.id for gate in GATES if gate.limit)
    path = tuple(gate if step == "*" and place == 1 else step for place, step in enumerate(pointer.split("/")[1:]))
    assert kind_at(path) is not None


def test_a_pointer_to_nothing_has_no_form() -> None:
    for pointer in ("/nothing", "", "/gates/no_gate/x"):
        with pytest.raises(KeyError):
            form_at(skeleton(), pointer)


def test_experts_are_asked_of_models_that_have_some() -> None:
    def asked(architecture: str) -> set[str]:
        tree = fields_set(skeleton(), {"/identity/model/architecture": [architecture]})
        return {field.label for field in fields(form_at(tree, "/identity/model"))}

    assert {"Experts", "Experts per token", "Shared experts"} <= asked("moe")
    assert "Experts" not in asked("dense")
    dense = fields_set(skeleton(), {"/identity/model/architecture": ["dense"], "/identity/model/experts": ["8"]})
    assert "Experts" in {field.label for field in fields(form_at(dense, "/identity/model"))}, "what is there is shown"


def test_a_load_point_asks_for_what_its_arrival_needs() -> None:
    at = "/identity/workload/load_points/peak"
    for arrival, expected in (
        ("closed", ["concurrent_requests"]),
        ("open", ["requests_per_s", "burstiness"]),
        ("", []),
    ):
        tree = fields_set(entry_added(skeleton(), at.rpartition("/")[0], "peak"), {f"{at}/arrival": [arrival]})
        names = [field.pointer.rpartition("/")[2] for field in fields(found(form_at(tree, "/identity/workload"), at))]
        assert names == ["arrival", *expected]


def test_references_offer_what_the_contract_has() -> None:
    tree = merged(skeleton(), {"identity": {"workload": {"load_points": {"single": {}, "peak": {}}}}})
    tree = fields_set(entry_added(tree, "/gates/ttft", "p95"), {"/gates/ttft/p95/load_point": ["gone"]})
    field = found(form_at(tree, "/gates/ttft"), "/gates/ttft/p95/load_point")
    assert isinstance(field, Field)
    assert (field.control, field.choices, field.text) == ("choice", ("single", "peak", "gone"), "gone")


def test_a_long_collection_shows_what_is_opened() -> None:
    tree = json.loads((ROOT / "examples/worked/contract.json").read_bytes())
    part = form_at(tree, "/identity/hardware/devices", opened="/identity/hardware/devices/b3")
    assert isinstance(part, Collection)
    assert [inner.label for inner in part.parts] == ["b3"]
    assert (len(part.closed), part.closed[0].summary) == (15, "node-a · accel-80g · 80.0 GiB")


def test_a_price_is_offered_for_each_type_of_device() -> None:
    tree = json.loads((ROOT / "examples/worked/contract.json").read_bytes())
    part = form_at(tree, "/fleet/usd_per_device_hour")
    assert isinstance(part, Collection)
    assert [(field.label, field.text) for field in fields(part)] == [("accel-80g", "")]
    assert part.value_unit == "USD per device and hour"


@each_example
def test_what_is_rendered_is_the_same_contract(path: Any) -> None:
    before = read_contract(path.read_bytes())
    found = judged(json.loads(path.read_bytes()))
    assert found.document is not None
    assert found.document.content_id == before.content_id
    assert max(map(len, found.raw.decode().splitlines())) <= 240
    assert rendered(json.loads(found.raw)) == found.raw


def test_an_empty_contract_is_open_and_nothing_of_it_is_wrong() -> None:
    found = judged(skeleton())
    assert (found.document, found.wrong) == (None, ())
    assert all(problem.is_lacking for problem in found.problems)


def test_a_value_that_does_not_fit_is_wrong() -> None:
    (problem,) = judged(fields_set(skeleton(), {"/identity/model/layers": ["many"]})).wrong
    assert (problem.pointer, problem.expected, problem.found) == (
        "/identity/model/layers",
        "an integer of at least 1",
        '"many" (text)',
    )


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [
        ("max_ms", "At most", "ms"),
        ("memory_bytes", "Memory", "bytes"),
        ("bytes_per_s_one_way", "Rate", "bytes/s, one way"),
        ("decision_expires_after_s", "Decision expires after", "s"),
        ("kv_cache", "KV cache", ""),
        ("p95", "p95", ""),
        ("reserved_share", "Reserved", "share"),
    ],
)
def test_names_read_as_words_with_their_unit_apart(name: str, label: str, unit: str) -> None:
    assert (label_of(name), unit_of(name)) == (label, unit)


def test_a_summary_is_short() -> None:
    entry = {"metric": "load.ttft_ms", "load_points": ["single", "peak"], "min_samples": 1200, "because": "x" * 500}
    assert summary(entry) == "load.ttft_ms · load points 2 · 1,200"


def test_what_nobody_may_leave_out_is_asked_first() -> None:
    engine = form_at(skeleton(), "/identity/stack/engine")
    assert isinstance(engine, Group)
    assert [part.is_required for part in engine.parts] == sorted(
        (part.is_required for part in engine.parts), reverse=True
    )
    assert engine.parts[0].label == "Name"


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [
        ("max_evidence_age_s", "Max evidence age", "s"),
        ("context_tokens", "Context tokens", ""),
        ("bytes_per_s_one_way", "Rate", "bytes/s, one way"),
    ],
)
def test_a_unit_is_said_once(name: str, label: str, unit: str) -> None:
    assert (label_of(name), unit_of(name)) == (label, unit)
