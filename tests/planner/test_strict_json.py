"""Strict JSON: what is accepted, and one code for each way of being wrong."""

import time
from pathlib import Path
from typing import Any

import pytest

from planner.errors import DocumentRefusedError, Problem
from planner.strict_json import MAX_BYTES, parse, read
from tests.shared import shared_path

DATA = Path(__file__).parents[1] / "data" / "json"


def verdicts(table: str) -> dict[str, str]:
    """Return file name -> ``accept``, or the codes."""
    return dict(line.split("\t") for line in (DATA / table).read_text().splitlines())


def verdict(raw: bytes) -> str:
    try:
        parse(raw)
    except DocumentRefusedError as refused:
        return " ".join(sorted({problem.code for problem in refused.problems}))
    return "accept"


def problems(raw: bytes) -> tuple[Problem, ...]:
    with pytest.raises(DocumentRefusedError) as refused:
        parse(raw)
    return refused.value.problems


@pytest.mark.parametrize(
    ("table", "folder"), [("parsing_verdicts.tsv", "test_parsing"), ("transform_verdicts.tsv", "test_transform")]
)
def test_public_json_suite_gets_the_pinned_verdicts(table: str, folder: str) -> None:
    files = sorted(shared_path(f"cases/json/{folder}").iterdir())
    assert {file.name: verdict(file.read_bytes()) for file in files} == verdicts(table)


def test_pinned_table_accepts_93_and_refuses_225_as_json() -> None:
    table = verdicts("parsing_verdicts.tsv")
    refused = [codes for codes in table.values() if codes != "accept"]
    assert (len(table) - len(refused), len(refused)) == (93, 225)
    assert all(code.startswith("json/") for codes in refused for code in codes.split())


def test_no_file_of_the_public_suite_takes_a_second() -> None:
    for file in shared_path("cases/json/test_parsing").iterdir():
        start = time.perf_counter()
        verdict(file.read_bytes())
        assert time.perf_counter() - start < 1, file.name


@pytest.mark.parametrize(
    ("raw", "tree"),
    [
        pytest.param(b'{"a": [1, -2.5, true, false, null, "x"]}', {"a": [1, -2.5, True, False, None, "x"]}, id="kinds"),
        pytest.param(b" \t\r\n1 ", 1, id="white space around"),
        pytest.param(b'"\\u00e9\\ud83d\\ude00\\n"', "é😀\n", id="escapes and a surrogate pair"),
        pytest.param(b"[9007199254740991, -9007199254740991]", [2**53 - 1, -(2**53) + 1], id="largest integers"),
        pytest.param(
            b"[1e308, 1e21, 5e-324, 0.0, 0e0, 0e-999]", [1e308, 1e21, 5e-324, 0.0, 0.0, 0.0], id="range of doubles"
        ),
        pytest.param(b"[0.1, 1.50, 1E2, 123.456e78]", [0.1, 1.5, 100.0, 123.456e78], id="decimals as written"),
        pytest.param(b'["\\\\", "[[[", "\\"{{"]', ["\\", "[[[", '"{{'], id="brackets and escapes in text"),
        pytest.param(b"[" * 64 + b"]" * 64, None, id="nesting of 64"),
    ],
)
def test_accepts(raw: bytes, tree: Any) -> None:
    found = parse(raw)
    assert tree is None or repr(found) == repr(tree)


@pytest.mark.parametrize(
    ("raw", "code", "line", "column"),
    [
        pytest.param(b"", "json/syntax", 1, 1, id="nothing"),
        pytest.param(b"  \n ", "json/syntax", 2, 2, id="white space only"),
        pytest.param(b'{"a":\n  tru}', "json/syntax", 2, 3, id="half a word"),
        pytest.param(b'{"a": 1,}', "json/syntax", 1, 9, id="trailing comma"),
        pytest.param(b"{'a': 1}", "json/syntax", 1, 2, id="single quotes"),
        pytest.param(b'{"a": 1} // no', "json/trailing_data", 1, 10, id="comment after"),
        pytest.param(b"{}\n{}", "json/trailing_data", 2, 1, id="two documents"),
        pytest.param(b"[01]", "json/syntax", 1, 3, id="leading zero"),
        pytest.param(b"[+1]", "json/syntax", 1, 2, id="plus sign"),
        pytest.param(b"[.5]", "json/syntax", 1, 2, id="no digit before the point"),
        pytest.param(b'["\t"]', "json/syntax", 1, 3, id="raw tab in text"),
        pytest.param(b'["\\x41"]', "json/syntax", 1, 3, id="escape that JSON lacks"),
        pytest.param(b'["abc', "json/syntax", 1, 2, id="text without end"),
        pytest.param(b"\xef\xbb\xbf{}", "json/byte_order_mark", 1, 1, id="byte-order mark"),
        pytest.param(b'[1,\n "\xff"]', "json/encoding", 2, 3, id="byte that is not UTF-8"),
        pytest.param(b'["\xc0\x80"]', "json/encoding", 1, 3, id="overlong NUL"),
        pytest.param(b'["\xed\xa0\x80"]', "json/encoding", 1, 3, id="surrogate as bytes"),
        pytest.param('{"a": 1}'.encode("utf-16"), "json/encoding", 1, 1, id="UTF-16"),
        pytest.param(b"[" * 65 + b"]" * 65, "json/depth", None, None, id="nesting of 65"),
        pytest.param(b'{"a":' * 65 + b"1" + b"}" * 65, "json/depth", None, None, id="65 objects"),
        pytest.param(b'["\\"", ' * 65 + b"1" + b"]" * 65, "json/depth", None, None, id="65 deep with escaped quotes"),
    ],
)
def test_refuses_what_is_no_json(raw: bytes, code: str, line: int | None, column: int | None) -> None:
    assert [(p.code, p.pointer, p.line, p.column) for p in problems(raw)] == [(code, "", line, column)]


@pytest.mark.parametrize(
    ("literal", "code"),
    [
        pytest.param("NaN", "json/constant", id="NaN"),
        pytest.param("Infinity", "json/constant", id="infinity"),
        pytest.param("-Infinity", "json/constant", id="negative infinity"),
        pytest.param("1e400", "json/overflow", id="beyond a double"),
        pytest.param("-1E+400", "json/overflow", id="below a double"),
        pytest.param("1e-400", "json/underflow", id="becomes zero"),
        pytest.param("0.0000001e-320", "json/underflow", id="becomes zero by point and exponent"),
        pytest.param("9007199254740992", "json/integer_range", id="2^53"),
        pytest.param("-9007199254740992", "json/integer_range", id="-2^53"),
        pytest.param("1" * 1000, "json/integer_range", id="a thousand digits"),
        pytest.param("1" * 5000, "json/number_length", id="five thousand digits"),
        pytest.param("0." + "1" * 5000, "json/number_length", id="five thousand decimals"),
        pytest.param("0.1000000000000000055511151231257827", "document/precision", id="binary value of 0.1"),
        pytest.param("1.000000000000000005", "document/precision", id="more digits than a double holds"),
        pytest.param("9007199254740993.0", "json/integer_range", id="odd integer beyond 2^53 as decimal"),
        pytest.param("1e16", "json/integer_range", id="integer beyond 2^53 with an exponent"),
        pytest.param("4.9e-324", "document/precision", id="smallest double, not shortest"),
        pytest.param('"\\ud800"', "json/lone_surrogate", id="high surrogate alone"),
        pytest.param('"\\uDC00x"', "json/lone_surrogate", id="low surrogate alone"),
        pytest.param('"\\ude00\\ud83d"', "json/lone_surrogate", id="pair in the wrong order"),
        pytest.param('{"\\ud800": 1}', "json/lone_surrogate", id="surrogate in a key"),
        pytest.param('{"x": 1, "x": 1}', "json/duplicate_key", id="key twice"),
        pytest.param('{"x": 1, "\\u0078": 2}', "json/duplicate_key", id="key twice, once as escape"),
    ],
)
def test_refuses_a_value_and_names_its_pointer(literal: str, code: str) -> None:
    (problem,) = problems(b'{"a/b": [0, ' + literal.encode() + b"]}")
    assert problem.code == code
    assert problem.pointer.startswith("/a~1b/1")


def test_lists_every_wrong_value_at_once() -> None:
    raw = b'{"a": NaN, "b": {"c": 1e999, "c": {"d": 1, "d": 2}}, "e": ["\\ud800", 9007199254740992]}'
    assert [(problem.code, problem.pointer) for problem in problems(raw)] == [
        ("json/constant", "/a"),
        ("json/duplicate_key", "/b/c"),
        ("json/overflow", "/b/c"),
        ("json/duplicate_key", "/b/c/d"),
        ("json/lone_surrogate", "/e/0"),
        ("json/integer_range", "/e/1"),
    ]


def test_names_how_often_a_key_stands() -> None:
    (problem,) = problems(b'{"a": 1, "b": 2, "a": 3, "a": 4}')
    assert (problem.pointer, problem.expected, problem.found) == ("/a", "each key once", "3 times")


def test_stand_ins_keep_the_rest_readable() -> None:
    reading = read(b'{"a": NaN, "b": 1, "b": 2, "c": "x\\ud800"}')
    assert reading.tree == {"a": 0.0, "b": 2, "c": "x\ufffd"}


def test_negative_zero_is_no_integer() -> None:
    assert repr(parse(b"[-0, 0, -0.0]")) == "[-0.0, 0, -0.0]"


def test_integers_with_point_or_exponent_stay_doubles() -> None:
    assert repr(parse(b"[1.0, 1e3, 1]")) == "[1.0, 1000.0, 1]"


def test_refuses_more_than_64_mib() -> None:
    raw = b'"' + b"x" * (MAX_BYTES - 2) + b'"'
    assert verdict(raw) == "accept"
    assert verdict(raw + b" ") == "json/size"


def test_refuses_millions_of_values_before_building_them() -> None:
    assert verdict(b"[" + b"[]," * 8_000_001 + b"[]]") == "json/values"


def test_a_hundred_thousand_brackets_take_no_time_and_no_stack() -> None:
    start = time.perf_counter()
    assert verdict(b"[" * 100_000) == "json/depth"
    assert verdict(b'[{"":' * 50_000) == "json/depth"
    assert time.perf_counter() - start < 0.5


def test_found_is_short_and_safe() -> None:
    (problem,) = problems(b'["ok", "' + b"\\u001b[31m" * 50 + b'\\ud800"]')
    assert len(problem.found) <= 80
    assert problem.found.isprintable()
