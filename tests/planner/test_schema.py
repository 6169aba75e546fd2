"""The published JSON Schemas: valid, strict, and of the same verdict as intake."""

import json
from typing import Any, get_args

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from planner.gates import GATES
from planner.intake.shape import shape_problems
from planner.schema import KINDS, document_schema
from tests.planner.documents import example
from tests.planner.full_documents import DOCUMENTS, alternatives, fields, full

STRICT = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: type(value) is int
    ),
)
"""As a schema's own description asks: an integer is written without point and exponent."""

VALUES: list[Any] = [None, True, False, 0, 1, -1, 0.5, 1.0, -0.0, 2.0**53, "", "x1", "x" * 300, [], [1], {}, {"x1": {}}]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_schema_is_valid_draft_2020_12(kind: Any) -> None:
    schema = document_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["$id"], schema["title"]) == (f"urn:topogate:{kind}:v1", f"Topogate {kind}, version 1")


@pytest.mark.parametrize("name", ["worked", "blast-radius", "minimal"])
@pytest.mark.parametrize("kind", ["contract", "evidence"])
def test_shipped_examples_fit_their_schema(name: str, kind: Any) -> None:
    assert [error.message for error in STRICT(document_schema(kind)).iter_errors(example(name, kind))] == []


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_record_of_a_schema_takes_unknown_fields(kind: Any) -> None:
    open_records = [
        name
        for name, node in document_schema(kind)["$defs"].items()
        if node["type"] == "object" and node["additionalProperties"] is not False
    ]
    assert open_records == []


def test_every_gate_with_limits_is_in_the_contract_schema() -> None:
    gates = document_schema("contract")["$defs"]["Contract"]["properties"]["gates"]["properties"]
    assert {gate: node["description"] for gate, node in gates.items()} == {
        gate.id: gate.title for gate in GATES if gate.limit is not None
    }


def test_a_limit_with_alternatives_takes_exactly_one() -> None:
    limit = document_schema("contract")["$defs"]["CostLimit"]
    assert limit["oneOf"] == [
        {"required": ["max_usd_per_million_output_tokens"]},
        {"required": ["max_usd_per_hour"]},
    ]


def test_units_stand_beside_the_fields() -> None:
    definitions = document_schema("contract")["$defs"]
    assert definitions["Device"]["properties"]["memory_bytes"]["description"] == "bytes"
    assert definitions["TtftLimit"]["properties"]["max_ms"]["description"] == "milliseconds"
    assert definitions["Reserve"]["properties"]["reserved_share"]["description"] == "share of the whole, 0 to 1"


def test_a_schema_is_a_new_tree_at_every_call() -> None:
    document_schema("contract")["$defs"].clear()
    assert document_schema("contract")["$defs"] != {}


def test_there_is_no_schema_of_another_kind() -> None:
    other: Any = "sign-off"
    with pytest.raises(KeyError):
        document_schema(other)


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_schema_and_intake_agree_on_every_value_of_every_record_field(kind: Any) -> None:
    """Put each value in each field of each record; JSON text in between, as a client sends it."""
    schema = document_schema(kind)
    for definition in schema["$defs"].values():
        definition.pop("oneOf", None)  # a full record has every alternative; that rule is tested by itself
    records = {record.__name__: record for record in _records(KINDS[kind])}
    for name, record in records.items():
        node = schema["$defs"][name]
        validator = STRICT({**node, "$defs": schema["$defs"]})
        whole = full(node, schema)
        needed = {needed: whole[needed] for needed in node["required"]}
        for field in node["properties"]:
            for value in VALUES:
                tree = json.loads(json.dumps({**needed, field: value}))
                assert (not list(shape_problems(tree, record))) == validator.is_valid(tree), (name, field, value)


def _records(record: Any) -> list[Any]:
    """Return a record and every record among its fields, to any depth."""
    found: dict[str, Any] = {}
    waiting = [record]
    while waiting:
        kind = waiting.pop()
        waiting.extend(get_args(kind))
        if hasattr(kind, "__struct_fields__") and kind.__name__ not in found:
            found[kind.__name__] = kind
            waiting.extend(kind.__annotations__.values())
    return list(found.values())


def test_the_walk_over_fields_reaches_every_definition() -> None:
    for schema in DOCUMENTS.values():
        reached = {node.get("title") for _, field in fields(schema, schema) for node in alternatives(field, schema)}
        assert {node["title"] for node in schema["$defs"].values()} - reached == set()
