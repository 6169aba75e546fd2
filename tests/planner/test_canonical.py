"""The canonical form: bytes pinned from RFC 8785, and what has none."""

import hashlib
from typing import Any

import pytest

from planner.canonical import canonical_bytes, content_id, file_sha256
from tests.planner.documents import EXAMPLES, example


class Text(str):
    """A subclass, which a document never holds."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("number", "written"),
    [
        pytest.param(0.0, "0", id="zero"),
        pytest.param(-0.0, "0", id="negative zero"),
        pytest.param(5e-324, "5e-324", id="smallest"),
        pytest.param(-5e-324, "-5e-324", id="smallest negative"),
        pytest.param(1.7976931348623157e308, "1.7976931348623157e+308", id="largest"),
        pytest.param(9007199254740991.0, "9007199254740991", id="largest exact integer as double"),
        pytest.param(9007199254740992.0, "9007199254740992", id="2^53 as double"),
        pytest.param(295147905179352830000.0, "295147905179352830000", id="2^68"),
        pytest.param(1e21, "1e+21", id="first with positive exponent"),
        pytest.param(999999999999999900000.0, "999999999999999900000", id="last without positive exponent"),
        pytest.param(1e-6, "0.000001", id="last without negative exponent"),
        pytest.param(9.5e-7, "9.5e-7", id="first with negative exponent"),
        pytest.param(0.0001, "0.0001", id="where the encoder starts to be trusted"),
        pytest.param(0.00009, "0.00009", id="just below it"),
        pytest.param(333333333.33333325, "333333333.33333325", id="17 digits"),
        pytest.param(4.50, "4.5", id="trailing zero"),
        pytest.param(1e3, "1000", id="exponent of an integer"),
        pytest.param(2**53 - 1, "9007199254740991", id="largest integer"),
        pytest.param(-(2**53) + 1, "-9007199254740991", id="smallest integer"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, written: str) -> None:
    assert canonical_bytes(number) == written.encode()
    assert canonical_bytes([number]) == f"[{written}]".encode()
    assert canonical_bytes({"a": number}) == f'{{"a":{written}}}'.encode()


def test_keys_are_ordered_by_utf16_units() -> None:
    tree = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    expected = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    assert canonical_bytes(tree) == expected.encode()


def test_ascii_keys_beside_nested_wide_ones() -> None:
    tree = {"b": {"\ufb33": 1.0, "\U0001f600": [1e-7]}, "a": (1, 2.50)}
    assert canonical_bytes(tree) == '{"a":[1,2.5],"b":{"\U0001f600":[1e-7],"\ufb33":1}}'.encode()


def test_text_escapes_only_what_json_demands() -> None:
    text = '\u20ac$\u000f\nA\'B"\\\\"/\x7f\u2028'
    assert canonical_bytes(text) == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\x7f\u2028"'.encode()


def test_every_control_character_has_its_own_escape() -> None:
    short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
    expected = "".join(short.get(code, f"\\u{code:04x}") for code in range(32))
    assert canonical_bytes("".join(map(chr, range(32)))) == f'"{expected}"'.encode()


def test_order_and_white_space_carry_no_meaning() -> None:
    assert content_id({"b": [1, {"d": None, "c": True}], "a": 1.0}) == content_id(
        {"a": 1, "b": [1.0, {"c": True, "d": None}]}
    )


@pytest.mark.parametrize(
    ("value", "error"),
    [
        pytest.param(2**53, ValueError, id="integer beyond 2^53 - 1"),
        pytest.param([1, -(2**53)], ValueError, id="integer below the negative"),
        pytest.param({"a": float("nan")}, ValueError, id="NaN"),
        pytest.param([0.5, float("nan")], ValueError, id="NaN behind a double"),
        pytest.param((1, 0.5, float("nan"), "x"), ValueError, id="NaN behind other kinds"),
        pytest.param([float("inf")], ValueError, id="infinity"),
        pytest.param("\ud800", ValueError, id="lone surrogate"),
        pytest.param({"\ud800": 1}, ValueError, id="lone surrogate in a key"),
        pytest.param([Text("a")], TypeError, id="subclass of text"),
        pytest.param({Text("a"): 1}, TypeError, id="subclass of text as key"),
        pytest.param({1: 1}, TypeError, id="integer as key"),
        pytest.param({"a": b"x"}, TypeError, id="bytes"),
        pytest.param([{1, 2}], TypeError, id="set"),
    ],
)
def test_what_is_no_json_value_has_no_form(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        canonical_bytes(value)


def test_the_value_is_left_as_it_was() -> None:
    tree = {"a": [1.0, {"b": 2.0}], "c": 1e-9}
    canonical_bytes(tree)
    assert repr(tree) == "{'a': [1.0, {'b': 2.0}], 'c': 1e-09}"


def test_file_digest_is_that_of_sha256sum() -> None:
    assert file_sha256(b"abc") == "sha256:" + hashlib.sha256(b"abc").hexdigest()
    assert file_sha256(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("name", ["worked", "blast-radius", "minimal"])
def test_examples_have_the_content_id_their_evidence_names(name: str) -> None:
    assert content_id(example(name, "contract")) == example(name, "evidence")["contract_content_id"]


def test_content_id_of_the_worked_contract_is_pinned() -> None:
    assert (EXAMPLES / "worked" / "contract.json").exists()
    assert content_id(example("worked", "contract")) == (
        "sha256:2bba0060e0c0ba9965ee9ac3352edce91d071e3e9d69b4fc9bfea42ee57d4ca6"
    )
