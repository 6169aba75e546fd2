"""A machine against what was decided: keys with their section, ranks one by one; what is missing never matches."""

from typing import Any

import pytest

from planner.canonical import content_id
from planner.identity import same
from planner.identity_check import (
    KeyDifference,
    RankDifference,
    bound_keys,
    differing_keys,
    key_differences,
    rank_differences,
    section_of,
)

BOUND = {
    "model": {"name": "m", "revision": "r1"},
    "stack": {"engine": {"name": "vllm", "version": "0.14"}, "driver": {"version": "590.44"}},
    "hardware": {"nodes": {"n0": {}}},
}
MAP = [{"rank": 0, "node": "n0", "device": "g0", "nic": "nic0"}, {"rank": 1, "node": "n0", "device": "g1"}]
DIGEST = content_id(MAP)


def found(live: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    return [(one.key, one.how) for one in key_differences(BOUND, live, rank_map_digest=DIGEST, **more)]


def test_the_same_machine_differs_in_nothing() -> None:
    assert found({**BOUND, "placement": {"rank_map": MAP}}) == []
    assert found({**BOUND, "placement": {"rank_map_digest": DIGEST}}) == []


def test_what_is_missing_unknown_or_another_is_named_with_its_section() -> None:
    live = {
        "model": {"name": "m"},
        "stack": {"engine": {"name": "unknown", "version": "0.15"}, "driver": {"version": None}},
        "placement": {"rank_map": MAP},
    }
    differences = key_differences(BOUND, live, rank_map_digest=DIGEST)
    assert differences == (
        KeyDifference("/model/revision", "missing", "r1", None),
        KeyDifference("/stack/engine/name", "unknown", "vllm", "unknown"),
        KeyDifference("/stack/engine/version", "differs", "0.14", "0.15"),
        KeyDifference("/stack/driver/version", "missing", "590.44", None),
        KeyDifference("/hardware/nodes/n0", "missing", {}, None),
    )
    assert [one.section for one in differences] == [
        *("/model", "/stack/engine", "/stack/engine", "/stack/driver", "/hardware/nodes"),
    ]
    assert section_of("/placement/rank_map_digest") == "/placement"


def test_a_rank_map_counts_by_what_it_says_not_by_the_digest_beside_it() -> None:
    moved = [MAP[1], MAP[0]]
    key = "/placement/rank_map_digest"
    assert found({**BOUND, "placement": {"rank_map_digest": DIGEST, "rank_map": moved}}) == [(key, "differs")]
    assert found(BOUND) == [(key, "missing")]


@pytest.mark.parametrize("rank_map", [2**60, [{"rank": 2**60}], "text", None, [[[]]]])
def test_no_rank_map_matches_none(rank_map: object) -> None:
    assert [how for _, how in found({**BOUND, "placement": {"rank_map": rank_map}})] == ["differs"]


def test_depth_of_a_report_does_not_matter() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"x": deep}
    live = {**BOUND, "model": {"name": deep, "revision": [deep], "more": deep}, "placement": {"rank_map": [deep]}}
    assert found(live) == [
        ("/model/name", "missing"),
        ("/model/revision", "differs"),
        ("/placement/rank_map_digest", "differs"),
    ]


def test_only_what_is_to_be_requalified_counts_but_for_the_rank_map() -> None:
    assert found({}, requalify_on=["/identity/stack/driver"]) == [
        ("/stack/driver/version", "missing"),
        ("/placement/rank_map_digest", "missing"),
    ]


def test_ranks_are_compared_one_by_one() -> None:
    live = [
        {"rank": 1, "node": "n0", "device": "g7"},
        {"rank": 0, "node": "n1", "device": "g0"},
        {"rank": 5, "node": "n0", "device": "g5"},
        {"rank": "x"},
        3,
    ]
    assert rank_differences(MAP, live) == (
        RankDifference(0, "node", "differs", "n0", "n1"),
        RankDifference(0, "nic", "missing", "nic0", None),
        RankDifference(1, "device", "differs", "g1", "g7"),
        RankDifference(5, "rank", "differs", None, "g5"),
    )
    assert rank_differences(MAP, MAP) == ()


@pytest.mark.parametrize("live", [None, "ranks", {"rank": 0}, [{"rank": True, "node": "n0"}]])
def test_what_is_no_rank_map_has_no_ranks(live: object) -> None:
    assert [(one.rank, one.what, one.how) for one in rank_differences(MAP[1:], live)] == [
        (1, "node", "missing"),
        (1, "device", "missing"),
    ]


@pytest.mark.parametrize("value", ["r1", "r2", "unknown", "", None, 1, True, 1.0, [], {}, {"a": 1}, ["r1"]])
@pytest.mark.parametrize("expected", ["r1", "unknown", "", 1, True, [], {}, ["r1"]])
def test_keys_taken_out_before_are_compared_alike(expected: Any, value: Any) -> None:
    keys = bound_keys({"model": {"revision": expected}})
    is_match = value is not None and "unknown" not in (value, expected) and same(value, expected)
    assert (not differing_keys(keys, {"model": {"revision": value}}, rank_map_digest="")) == is_match
