"""The canonical form against its reference and a second, independent implementation."""

import json
from typing import Any

import jcs_admit
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.canonical import canonical_bytes
from planner.errors import DocumentRefusedError
from planner.strict_json import parse
from tests.planner.properties.trees import NUMBERS, SMALL, trees
from tests.shared import shared_path

REFUSED = (DocumentRefusedError, ValueError)


@given(trees(NUMBERS))
@settings(max_examples=150, deadline=None)
def test_equals_the_reference(tree: Any) -> None:
    assert canonical_bytes(tree) == rfc8785.dumps(tree)


@given(trees(SMALL))
@settings(max_examples=150, deadline=None)
def test_reading_the_canonical_form_gives_it_again(tree: Any) -> None:
    form = canonical_bytes(tree)
    assert canonical_bytes(parse(form)) == form


@given(trees(SMALL))
@settings(max_examples=150, deadline=None)
def test_equals_the_second_implementation(tree: Any) -> None:
    try:
        second = jcs_admit.admit(json.dumps(tree).encode())
    except jcs_admit.JcsError:
        return  # it admits fewer texts than RFC 8785 writes: no noncharacter
    assert canonical_bytes(tree) == second


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500, deadline=None)
def test_every_double_is_written_as_the_reference_does(value: float) -> None:
    assert canonical_bytes([value]) == rfc8785.dumps([value])


def test_all_implementations_agree_on_the_public_suite() -> None:
    compared = 0
    for folder in ("test_parsing", "test_transform"):
        for file in sorted(shared_path(f"cases/json/{folder}").iterdir()):
            try:
                tree = parse(file.read_bytes())
                assert canonical_bytes(tree) == rfc8785.dumps(tree), file.name
            except REFUSED:
                continue
            compared += 1
    assert compared == 93 + 6
