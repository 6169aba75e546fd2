"""The difference of two documents, leaf by leaf."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.document_diff import ABSENT, FieldChange, changes_by_section, document_diff, section_of
from tests.shared import ROOT


def seen(before: Any, after: Any) -> list[tuple[str, str, Any, Any]]:
    return [(change.kind, change.pointer, change.before, change.after) for change in document_diff(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"a": 1}, {"a": 2}, [("changed", "/a", 1, 2)], id="a number that changed"),
        pytest.param({"a": 1}, {"a": 1.0}, [], id="numbers are equal by value"),
        pytest.param({"a": 1}, {"a": True}, [("changed", "/a", 1, True)], id="a boolean is no number"),
        pytest.param({"a": None}, {}, [("removed", "/a", None, ABSENT)], id="null is something"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, [("changed", "/a", [1, 2], [2, 1])], id="an array is one leaf"),
        pytest.param({"a": [True]}, {"a": [1]}, [("changed", "/a", [True], [1])], id="also inside an array"),
        pytest.param({"a": {}}, {"a": {"b": 1}}, [("added", "/a/b", ABSENT, 1)], id="a first member"),
        pytest.param(
            {"a": {"x": 1, "y": 2}}, {}, [("removed", "/a/x", 1, ABSENT), ("removed", "/a/y", 2, ABSENT)], id="a part"
        ),
        pytest.param(
            {"a": {"b": 1}}, {"a": [1]}, [("removed", "/a/b", 1, ABSENT), ("added", "/a", ABSENT, [1])], id="kind"
        ),
        pytest.param({}, {"a": {}}, [("added", "/a", ABSENT, {})], id="an empty object is something"),
        pytest.param({"a/b~c": 1}, {"a/b~c": 2}, [("changed", "/a~1b~0c", 1, 2)], id="names are escaped"),
        pytest.param(
            {"map": [{"rank": 0, "device": "a0"}, {"rank": 1, "device": "a1"}]},
            {"map": [{"rank": 0, "device": "a0"}, {"rank": 1, "device": "b1"}, {"rank": 2, "device": "b2"}]},
            [
                ("changed", "/map/1/device", "a1", "b1"),
                ("added", "/map/2/device", ABSENT, "b2"),
                ("added", "/map/2/rank", ABSENT, 2),
            ],
            id="a table goes place by place",
        ),
    ],
)
def test_leaves_that_differ(before: Any, after: Any, expected: list[tuple[str, str, Any, Any]]) -> None:
    assert seen(before, after) == expected


def test_what_came_or_went_as_a_whole_is_named() -> None:
    changes = document_diff({"nodes": {}}, {"nodes": {"a": {"sockets": 2, "rack": {"id": "r1"}}}, "x": 1})
    assert [(change.pointer, change.whole) for change in changes] == [
        ("/nodes/a/rack/id", "/nodes/a"),
        ("/nodes/a/sockets", "/nodes/a"),
        ("/x", "/x"),
    ]


@pytest.mark.parametrize(
    ("pointer", "section"),
    [
        ("/identity/model/layers", "identity/model"),
        ("/identity/stack/engine/version", "identity/stack"),
        ("/identities/run-1/hardware/nodes/a", "identities/hardware"),
        ("/gates/ttft/p95/max_ms", "gates"),
        ("/trials/t-1/windows/w1/load/duration_s", "trials"),
        ("", ""),
    ],
)
def test_sections(pointer: str, section: str) -> None:
    assert section_of(pointer) == section


def test_changes_are_gathered_by_section() -> None:
    before = {"identity": {"model": {"layers": 1}, "stack": {"v": 1}}, "gates": {"a": 1}}
    after = {"identity": {"model": {"layers": 2}, "stack": {"v": 2}}, "gates": {"a": 2}}
    gathered = changes_by_section(document_diff(before, after))
    assert {section: len(found) for section, found in gathered.items()} == {
        "gates": 1,
        "identity/model": 1,
        "identity/stack": 1,
    }


def example(name: str) -> Any:
    return json.loads((ROOT / "examples" / "worked" / name).read_bytes())


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["contract.json", "evidence.json"])
def test_the_order_of_a_document_says_nothing(name: str) -> None:
    document = example(name)
    assert document_diff(document, shuffled(document)) == ()


def test_one_reading_of_evidence_that_moved_is_one_change() -> None:
    before, after = example("evidence.json"), example("evidence.json")
    trial, body = next(iter(after["trials"].items()))
    window, measured = next((name, window) for name, window in body["windows"].items() if "load" in window)
    measured["load"]["duration_s"] += 1
    (change,) = document_diff(before, after)
    assert (change.pointer, change.section) == (f"/trials/{trial}/windows/{window}/load/duration_s", "trials")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/~", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@given(JSON_VALUES, JSON_VALUES)
def test_there_and_back_is_the_same_with_sides_swapped(before: Any, after: Any) -> None:
    def places(changes: tuple[FieldChange, ...]) -> set[str]:
        return {change.pointer for change in changes}

    assert places(document_diff(before, after)) == places(document_diff(after, before))
    assert document_diff(before, before) == ()
