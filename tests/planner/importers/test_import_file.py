"""What is read, refused and told apart, whatever the bytes are."""

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.importers import IMPORTERS, MAX_RUNS, Source, import_file
from planner.importers.quantities import FAMILIES, OTHER_FAMILIES, QUANTITIES, STATISTICS, quantity
from planner.importers.questions import asked_of
from planner.pointers import steps
from planner.problem_codes import PROBLEM_CODES
from planner.schema import document_schema
from tests.planner.importers.samples import codes, imported, only_run, refusals, vllm_run

SCHEMAS = {"contract": document_schema("contract"), "evidence": document_schema("evidence")}


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(b"", "import/format", id="nothing"),
        pytest.param(b" \n\t", "import/format", id="blanks"),
        pytest.param(b"hello", "import/format", id="text"),
        pytest.param(b'{"a": 1}', "import/format", id="other JSON"),
        pytest.param(b"\x1f\x8b\x08\x00", "import/encoding", id="gzip that is cut"),
        pytest.param("a".encode("utf-16") + b"\0", "import/encoding", id="UTF-16 that is cut"),
        pytest.param(b"a\0b", "import/encoding", id="NUL"),
        pytest.param(b"[" * 100_000, "import/format", id="deep JSON"),
        pytest.param(b"a: " + b"[" * 100_000, "import/format", id="deep YAML"),
        pytest.param(b"a: &a [1]\nb: *a", "import/format", id="YAML that multiplies"),
    ],
)
def test_what_is_no_result_is_refused_with_its_reason(raw: bytes, code: str) -> None:
    read = imported(raw)
    assert not read.recognised
    assert [problem.code for problem in read.problems] == [code]


def test_a_name_does_not_tell_the_format() -> None:
    assert imported(b"{}", "vllm_bench_serve.json").format == ""
    assert imported(vllm_run(), "notes.txt").format == "vllm-bench-serve"


def test_a_byte_order_mark_is_no_hindrance() -> None:
    assert imported(b"\xef\xbb\xbf" + json.dumps(vllm_run()).encode()).status == "usable"


def test_a_wrong_byte_has_its_place() -> None:
    first = json.dumps(vllm_run()).encode()
    read = imported(first + b'\n{"a": "\xff"}')
    assert refusals(read) == [("import/encoding", 2, 8)]
    assert len(read.runs) == 1


def test_a_key_twice_with_two_values_gives_neither() -> None:
    text = json.dumps(vllm_run())
    run = only_run(text.replace('"completed": 20', '"completed": 20, "completed": 19'))
    assert codes(run) == ["import/duplicate_key"]
    assert "completed" in run.missing
    assert codes(only_run(text.replace('"failed": 0', '"failed": 0, "failed": 0'))) == []
    run = only_run(text.replace('"mean_ttft_ms": 80.5', '"mean_ttft_ms": 80.5, "mean_ttft_ms": 1'))
    assert codes(run) == ["import/duplicate_key"]
    assert "ttft_ms.mean" in run.missing


@pytest.mark.parametrize("wrong", ["NaN", "-Infinity", "-1", '"fast"', "[]", "true", "1" + "0" * 5000])
def test_a_value_that_cannot_be_meant_is_left_out_and_named(wrong: str) -> None:
    run = only_run(json.dumps(vllm_run()).replace('"p99_ttft_ms": 120.0', f'"p99_ttft_ms": {wrong}'))
    assert "ttft_ms.p99" in run.missing
    (remark,) = run.remarks
    assert remark.code in ("import/type", "import/range")
    assert remark.place.pointer == "/p99_ttft_ms"


def test_a_file_of_too_many_runs_is_refused_and_the_first_are_listed() -> None:
    line = json.dumps(vllm_run())
    assert imported("\n".join([line] * MAX_RUNS)).status == "usable"
    read = imported("\n".join([line] * (MAX_RUNS + 1)))
    assert [problem.code for problem in read.problems] == ["import/runs"]
    assert (read.status, len(read.runs)) == ("refused", MAX_RUNS)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param('{"$defs": {}}', "a JSON Schema, which is no result", id="schema"),
        pytest.param('{"a": 1, "b": 2}', 'JSON with the keys "a", "b"', id="object"),
        pytest.param("[1, 2]", "a list in JSON of 2 values", id="list"),
        pytest.param("\nhello sk-abcdefgh12345678\nworld", 'text that starts with "hello [removed]"', id="text"),
    ],
)
def test_an_unknown_file_is_described(content: str, found: str) -> None:
    (problem,) = imported(content).problems
    assert problem.found == found


def test_only_the_named_format_is_looked_for() -> None:
    assert imported(vllm_run(), only="vllm-bench-serve").recognised


def test_every_format_has_a_title_and_an_id_of_its_own() -> None:
    assert len({importer.title for importer in IMPORTERS}) == len(IMPORTERS)


def pointers() -> Iterator[tuple[str, str]]:
    names = [
        *QUANTITIES,
        *(f"{family}.{statistic}" for family in (*FAMILIES, *OTHER_FAMILIES) for statistic in STATISTICS),
    ]
    for name in names:
        known = quantity(name)
        if known.document and known.field:
            yield known.document, known.field
    for asked in asked_of(()):
        assert asked.document
        assert asked.field
        yield asked.document, asked.field


@pytest.mark.parametrize(("document", "field"), sorted(set(pointers())))
def test_every_field_is_one_of_our_documents(document: str, field: str) -> None:
    schema = SCHEMAS[document]
    here: list[Any] = [schema]
    for step in steps(field):
        here = [below for node in here for resolved in resolve(schema, node) for below in members(resolved, step)]
        assert here, f"{step} of {field}"


def resolve(schema: dict[str, object], node: object) -> Iterator[dict[str, object]]:
    """Yield a node of the schema without references and alternatives."""
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        definitions = schema["$defs"]
        assert isinstance(definitions, dict)
        yield from resolve(schema, definitions[node["$ref"].rpartition("/")[2]])
    alternatives = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    for alternative in alternatives:
        yield from resolve(schema, alternative)
    if not alternatives and "$ref" not in node:
        yield node


def members(node: dict[str, object], step: str) -> Iterator[object]:
    """Yield what a step leads to; sections of an observed identity are free-form."""
    properties = node.get("properties")
    if isinstance(properties, dict) and step in properties:
        yield properties[step]
    elif step == "<index>" and "items" in node:
        yield node["items"]
    elif isinstance(node.get("additionalProperties"), dict):
        yield node["additionalProperties"]
    elif node.get("type") == "object" and not properties:
        yield {"type": "object"}
    elif node == {}:
        yield {}


@given(st.binary(max_size=300))
def test_any_bytes_give_an_answer(raw: bytes) -> None:
    read = import_file(Source("any", BytesIO(raw)))
    assert read.runs or read.problems
    assert all(problem.code in PROBLEM_CODES for problem in read.problems)


def test_what_is_of_no_kind_names_a_few_and_where_all_are() -> None:
    (problem,) = import_file(Source("a.txt", BytesIO(b"hello"))).problems
    assert problem.expected.startswith(
        f"a file of one of {len(IMPORTERS)} known kinds (topogate import --help names all)"
    )
    assert len(problem.expected) < 250
    (only,) = import_file(Source("a.txt", BytesIO(b"hello")), only="guidellm").problems
    assert only.expected == "a file of GuideLLM"
