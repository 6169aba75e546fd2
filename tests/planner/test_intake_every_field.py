"""Every field of every document, given every wrong kind of value, is refused by name."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from planner.intake import judge
from tests.planner.documents import changed
from tests.planner.full_documents import DOCUMENTS, Node, alternatives, fields, full, json_types

Expectation = Callable[[Node, Node], str | None]


def not_taking(*types: str) -> Expectation:
    """Expect a type problem where a field takes none of the types."""

    def expected(node: Node, schema: Node) -> str | None:
        taken = json_types(node, schema)
        return "document/type" if taken and taken.isdisjoint(types) else None

    return expected


def everywhere(code: str) -> Expectation:
    return lambda node, schema: code


def below_zero(node: Node, schema: Node) -> str | None:
    lowest = [part["minimum"] for part in alternatives(node, schema) if "minimum" in part]
    return "document/range" if lowest else None


def no_such_word(node: Node, schema: Node) -> str | None:
    return "document/enumeration" if "enum" in alternatives(node, schema)[0] and taking_text(node, schema) else None


def too_long(node: Node, schema: Node) -> str | None:
    if not taking_text(node, schema):
        return "document/type" if json_types(node, schema) else None
    (text,) = [part for part in alternatives(node, schema) if "string" in _types(part)]
    if "enum" in text:
        return "document/enumeration"
    return "document/pattern" if "pattern" in text else "document/length"


def _types(part: Node) -> set[str]:
    return {part.get("type", "string" if isinstance(part.get("enum", [None])[0], str) else "")}


def taking_text(node: Node, schema: Node) -> bool:
    return "string" in json_types(node, schema)


WRONG: list[Any] = [
    pytest.param("NaN", everywhere("json/constant"), id="NaN"),
    pytest.param("Infinity", everywhere("json/constant"), id="infinity"),
    pytest.param("-Infinity", everywhere("json/constant"), id="negative infinity"),
    pytest.param("1e400", everywhere("json/overflow"), id="beyond a double"),
    pytest.param("1e-400", everywhere("json/underflow"), id="underflow"),
    pytest.param("9223372036854775808", everywhere("json/integer_range"), id="2^63"),
    pytest.param("1" + "0" * 400, everywhere("json/integer_range"), id="10^400"),
    pytest.param("0.1000000000000000055", everywhere("document/precision"), id="too many digits"),
    pytest.param('"\\ud800"', everywhere("json/lone_surrogate"), id="lone surrogate"),
    pytest.param('"a\\u0000"', everywhere("document/nul"), id="NUL"),
    pytest.param('"a\\u202e"', everywhere("document/bidi_control"), id="bidi override as escape"),
    pytest.param('"a\u2066"', everywhere("document/bidi_control"), id="bidi isolate"),
    pytest.param('"a\\u001b[31m"', everywhere("document/control_character"), id="terminal escape"),
    pytest.param("true", not_taking("boolean"), id="true"),
    pytest.param("null", not_taking("null"), id="null"),
    pytest.param("[]", not_taking("array"), id="array"),
    pytest.param("{}", not_taking("object"), id="object"),
    pytest.param('"1"', not_taking("string"), id="number in text"),
    pytest.param("1", not_taking("integer", "number"), id="integer"),
    pytest.param("1.0", not_taking("number"), id="integer with a point"),
    pytest.param("1e3", not_taking("number"), id="integer with an exponent"),
    pytest.param("-0", not_taking("number"), id="negative zero"),
    pytest.param("0.5", not_taking("number"), id="half"),
    pytest.param("-1", below_zero, id="below zero"),
    pytest.param('"no such word"', no_such_word, id="no such word"),
    pytest.param('"' + "x" * 2**14 + '"', too_long, id="text of 16 KiB"),
]

MARK = "put the wrong value here"


def leaves(schema: Node) -> Iterator[tuple[str, Node]]:
    for pointer, node in fields(schema, schema):
        if not isinstance(full(node, schema), dict | list) and pointer != "/schema":
            yield pointer, node


def put(tree: Any, pointers: list[str], literal: str) -> bytes:
    """Return the document's bytes with the literal, which may be no JSON, at every pointer."""
    return json.dumps(changed(tree, *[(pointer, MARK) for pointer in pointers])).replace(f'"{MARK}"', literal).encode()


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
@pytest.mark.parametrize(("literal", "expectation"), WRONG)
def test_a_wrong_value_in_every_field_is_refused_in_every_field(
    kind: Any, literal: str, expectation: Expectation
) -> None:
    schema = DOCUMENTS[kind]
    wrong = {pointer: code for pointer, node in leaves(schema) if (code := expectation(node, schema))}
    found = {(p.pointer, p.code) for p in judge(put(full(schema, schema), list(wrong), literal)).problems}
    assert set(wrong.items()) - found == set()


def test_a_text_of_1_mib_is_refused_and_shown_short() -> None:
    schema = DOCUMENTS["contract"]
    literal = '"' + "x" * 2**20 + '"'
    (owner,) = [p for p in judge(put(full(schema, schema), ["/owner"], literal)).problems if p.pointer == "/owner"]
    assert (owner.code, owner.expected) == ("document/length", "text of 1 to 256 characters")
    assert len(owner.found) == 80


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
@pytest.mark.parametrize(
    ("value", "expectation"),
    [
        pytest.param(True, not_taking("boolean"), id="true"),
        pytest.param(None, not_taking("null"), id="null"),
        pytest.param("text", not_taking("string"), id="text"),
        pytest.param(1, not_taking("integer", "number"), id="integer"),
        pytest.param([1], not_taking("array"), id="array"),
        pytest.param({"x1": 1}, not_taking("object"), id="object"),
    ],
)
def test_a_wrong_value_for_an_object_or_array_is_refused(kind: Any, value: Any, expectation: Expectation) -> None:
    schema = DOCUMENTS[kind]
    tree = full(schema, schema)
    for pointer, node in fields(schema, schema):
        if pointer and isinstance(full(node, schema), dict | list) and expectation(node, schema):
            problems = judge(json.dumps(changed(tree, (pointer, value))).encode()).problems
            assert ("document/type", pointer) in [(p.code, p.pointer) for p in problems]


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_a_full_document_has_no_problem_of_shape(kind: Any) -> None:
    schema = DOCUMENTS[kind]
    shape = {"type", "range", "pattern", "length", "enumeration", "key", "unknown_field"}
    codes = {
        problem.code.removeprefix("document/") for problem in judge(json.dumps(full(schema, schema)).encode()).problems
    }
    assert codes & shape == set()


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_an_unknown_field_is_refused_in_every_record(kind: Any) -> None:
    schema = DOCUMENTS[kind]
    tree = full(schema, schema)
    records = [
        p for p, node in fields(schema, schema) if alternatives(node, schema)[0].get("additionalProperties") is False
    ]
    problems = judge(json.dumps(changed(tree, *[(f"{pointer}/x-1", 1) for pointer in records])).encode()).problems
    found = {problem.pointer for problem in problems if problem.code.endswith(("unknown_field", "unknown_gate"))}
    assert {f"{pointer}/x-1" for pointer in records} - found == set()


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_a_needed_field_that_is_absent_is_refused_in_every_record(kind: Any) -> None:
    schema = DOCUMENTS[kind]
    for pointer, node in fields(schema, schema):
        needed = alternatives(node, schema)[0].get("required", [])
        kept = {name: value for name, value in full(node, schema).items() if name not in needed} if needed else {}
        if needed and pointer:
            problems = judge(json.dumps(changed(full(schema, schema), (pointer, kept))).encode()).problems
            found = {problem.pointer for problem in problems if problem.code == "document/missing_field"}
            assert {f"{pointer}/{name}" for name in needed} - found == set()
