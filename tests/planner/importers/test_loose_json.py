"""JSON as tools write it: several values, numbers that JSON does not have, bounded all the same."""

import math
from collections.abc import Iterator

import pytest

from planner.errors import DocumentRefusedError
from planner.importers.loose_json import JsonDocument, json_documents


def documents(text: str) -> list[JsonDocument]:
    return list(json_documents(lines(text)))


def lines(text: str) -> Iterator[tuple[int, str]]:
    return iter(enumerate(text.splitlines(keepends=True), start=1))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"a": 1}', [(1, {"a": 1})], id="one"),
        pytest.param('{"a": 1}{"a": 2}', [(1, {"a": 1}), (1, {"a": 2})], id="side by side"),
        pytest.param('\n\n{"a":\n1}\n[2]', [(3, {"a": 1}), (5, [2])], id="over lines"),
        pytest.param('{"a": 1},\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})], id="commas between"),
        pytest.param('{"a": "}{"}\n[1]', [(1, {"a": "}{"}), (2, [1])], id="brackets in text"),
        pytest.param('{"a": "\\"{"}', [(1, {"a": '"{'})], id="escaped quotes"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_values_come_one_after_the_other_with_their_lines(text: str, found: list[tuple[int, object]]) -> None:
    assert [(document.line, document.tree) for document in documents(text)] == found


def test_numbers_that_json_does_not_have_are_not_finite() -> None:
    (document,) = documents("[NaN, Infinity, -Infinity, " + "9" * 500 + "]")
    assert [math.isfinite(number) for number in document.tree] == [False] * 4


def test_of_a_key_with_two_values_none_is_kept() -> None:
    (document,) = documents('{"a": 1, "b": {"c": 1, "c": 1, "d": 1, "d": 2}, "a": 2}')
    assert document == JsonDocument({"b": {"c": 1}}, 1, ("d", "a"))


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        pytest.param('{"a": 1', "import/syntax", 1, 8, id="cut"),
        pytest.param('[1]\n{"a": }\n', "import/syntax", 2, 7, id="no value"),
        pytest.param("[1]\n]", "import/syntax", 2, 1, id="closed twice"),
        pytest.param("hello", "import/syntax", 1, 1, id="text"),
        pytest.param("\n" + "[" * 65, "import/depth", 2, None, id="deep"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, code: str, line: int, column: int | None) -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        documents(text)
    (problem,) = refused.value.problems
    assert (problem.code, problem.line, problem.column) == (code, line, column)


def test_a_value_before_the_damage_is_given_first() -> None:
    found = json_documents(lines('{"a": 1}\n{"a"'))
    assert next(found).tree == {"a": 1}
    with pytest.raises(DocumentRefusedError):
        next(found)
