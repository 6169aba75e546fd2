"""Leaves: what one is, when two are equal, and when neither equal nor different."""

from typing import Any

import pytest

from planner.identity import Difference, IdentityComparison, compare_identity, leaves, same
from planner.records.evidence import ObservedIdentity

SAME = {
    "integer and decimal of one value": (3, 3.0),
    "text byte for byte": ("v1", "v1"),
    "arrays element by element": ([1, {"a": [True]}], [1.0, {"a": [True]}]),
    "null": (None, None),
    "empty objects": ({}, {}),
    "a tuple stands for an array": ((1, 2), [1, 2]),
}
UNLIKE = {
    "number and text": (1, "1"),
    "number and boolean": (1, True),
    "text of another case": ("V1", "v1"),
    "text with another form of the same letter": ("\u00e9", "e\u0301"),
    "arrays in another order": ([1, 2], [2, 1]),
    "arrays of another length": ([1], [1, 1]),
    "null and absent text": (None, ""),
    "empty object and empty array": ({}, []),
    "objects inside an array": ([{"a": 1}], [{"a": 1, "b": 2}]),
}


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME.keys())
def test_values_are_the_same(left: Any, right: Any) -> None:
    assert same(left, right)


@pytest.mark.parametrize(("left", "right"), UNLIKE.values(), ids=UNLIKE.keys())
def test_values_are_not_the_same(left: Any, right: Any) -> None:
    assert not same(left, right)


def test_a_leaf_is_anything_but_an_object_with_members() -> None:
    tree = {"a": {"b": 1, "c": {}}, "d": [{"e": 1}], "f": None}
    assert list(leaves(tree)) == [(("a", "b"), 1), (("a", "c"), {}), (("d",), [{"e": 1}]), (("f",), None)]


def compared(bound: dict[str, Any], observed: dict[str, Any], choice_keys: tuple[str, ...] = ()) -> IdentityComparison:
    return compare_identity(dict(leaves(bound)), ObservedIdentity(**observed), choice_keys)


def test_equal_identities_differ_nowhere() -> None:
    identity = {"model": {"name": "m"}, "stack": {"engine": {"version": "1"}}}
    assert compared(identity, identity) == IdentityComparison(
        compared=2, choices=(), environment=(), unknown_choices=(), unknown_environment=(), only_observed=0
    )


def test_choices_and_environment_are_kept_apart() -> None:
    bound = {"precision": {"weights": "fp8"}, "hardware": {"nodes": {"n": {"sockets": 2}}}}
    observed = {"precision": {"weights": "bf16"}, "hardware": {"nodes": {"n": {"sockets": 1}}}}
    found = compared(bound, observed)
    assert found.choices == (Difference(at="/precision/weights", expected="fp8", found="bf16"),)
    assert found.environment == (Difference(at="/hardware/nodes/n/sockets", expected=2, found=1),)


def test_a_leaf_that_was_looked_for_and_is_missing_is_not_known() -> None:
    bound = {"model": {"revision": "r1"}, "stack": {"engine": {"version": "1"}, "build": "b"}}
    found = compared(bound, {"model": {"revision": None}, "stack": {"engine": None, "build": None}})
    assert (found.choices, found.environment) == ((), ())
    assert found.unknown_choices == ("/model/revision",)
    assert found.unknown_environment == ("/stack/engine/version", "/stack/build")


def test_a_choice_key_covers_everything_below_it_and_nothing_beside_it() -> None:
    bound = {"stack": {"flags": {"x": 1}, "flags2": 1}}
    found = compared(bound, {"stack": {"flags": {"x": 2}, "flags2": 2}}, ("/identity/stack/flags",))
    assert [difference.at for difference in found.choices] == ["/stack/flags/x"]
    assert [difference.at for difference in found.environment] == ["/stack/flags2"]


@pytest.mark.parametrize(
    ("bound", "observed"),
    [
        pytest.param({"model": {"revision": "r1"}}, {"model": {}}, id="absent"),
        pytest.param({"model": {"revision": "r1"}}, {}, id="section absent"),
        pytest.param({"model": {"revision": "r1"}}, {"model": {"revision": "unknown"}}, id="observed unknown"),
        pytest.param({"model": {"revision": "unknown"}}, {"model": {"revision": "unknown"}}, id="both unknown"),
    ],
)
def test_unknown_never_matches_and_never_differs(bound: dict[str, Any], observed: dict[str, Any]) -> None:
    found = compared(bound, observed)
    assert (found.unknown, found.choices) == (("/model/revision",), ())


def test_a_leaf_that_became_an_object_differs() -> None:
    found = compared({"stack": {"flags": {}}}, {"stack": {"flags": {"x": 1}}})
    assert [difference.at for difference in found.environment] == ["/stack/flags"]


def test_leaves_only_the_trial_has_are_counted() -> None:
    assert compared({"stack": {"a": 1}}, {"stack": {"a": 1, "b": {"c": 1, "d": 2}}}).only_observed == 2


def test_pointers_escape_what_keys_may_hold() -> None:
    found = compared({"stack": {"flags": {"a/b~c": 1}}}, {"stack": {"flags": {"a/b~c": 2}}})
    assert found.environment[0].at == "/stack/flags/a~1b~0c"
