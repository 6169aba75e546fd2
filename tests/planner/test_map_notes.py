"""Notes on a rank map: differences from the rule, dangers that engines accept, notices."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from planner.map_notes import MapNote, map_notes
from planner.records.contract import Contract
from planner.records.evidence import Trial
from tests.planner.factories import IDENTITY, a_contract, a_trial
from tests.planner.layouts.samples import model

MOE = msgspec.to_builtins(model(attention_heads=64, kv_heads=8, layers=60, experts=60))


def notes(
    layout: str,
    degrees: dict[str, Any],
    nodes: Sequence[str],
    *,
    groups: dict[str, Any] | None = None,
    devices: int = 8,
) -> tuple[MapNote, ...]:
    """Return the notes of one instance with rank r on ``nodes[r]``, on nodes a to d of ``devices`` devices each."""
    hardware = {
        "nodes": {node: {} for node in "abcd"},
        "devices": {
            f"{node}{at}": {"node": node, "type": "x", "memory_bytes": 1} for node in "abcd" for at in range(devices)
        },
    }
    identity = {**IDENTITY, "model": MOE, "hardware": hardware}
    contract = msgspec.convert({**a_contract(), "identity": identity}, Contract, strict=False)
    instance = {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": len(nodes), **degrees}
    topology: dict[str, Any] = {"layout": layout, "instances": [instance]}
    if groups is not None:
        topology["process_groups"] = groups
    taken = dict.fromkeys("abcd", 0)
    places = []
    for rank, node in enumerate(nodes):
        places.append({"rank": rank, "node": node, "device": f"{node}{taken[node]}"})
        taken[node] += 1
    return map_notes(contract, msgspec.convert({**a_trial(), "topology": topology, "rank_map": places}, Trial))


def said(found: tuple[MapNote, ...], sort: str) -> list[tuple[str, str]]:
    return [(note.about, note.sentence) for note in found if note.sort == sort]


def test_groups_of_the_engine_that_differ_from_the_rule_are_shown() -> None:
    found = notes("closed", {"tp": 2, "dp": 2}, "aaaa", groups={"tp": [[0, 2], [1, 3]], "dp": [[0, 1], [2, 3]]})

    assert said(found, "difference") == [
        ("dp", "engine and rule differ, first in the group of rank 0"),
        ("tp", "engine and rule differ, first in the group of rank 0"),
    ]


def test_groups_of_the_engine_that_the_rule_gives_too_are_no_difference() -> None:
    assert notes("closed", {"tp": 2, "dp": 2}, "aaaa", groups={"tp": [[2, 3], [0, 1]]}) == ()


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        pytest.param("aaaabbbb", None, id="as the launcher fills nodes"),
        pytest.param("ddddaaaa", None, id="other names"),
        pytest.param(
            "abababab",
            "rank 1 is the first of its node; by the launcher's rule it is on the node of rank 0",
            id="dealt out",
        ),
        pytest.param(
            "aaaaabbb",
            "rank 4 is on the node of rank 0; by the launcher's rule it is the first of its node",
            id="a node holds one more",
        ),
    ],
)
def test_places_are_compared_with_the_launchers_rule(nodes: str, sentence: str | None) -> None:
    found = notes("vllm", {"tp": 4, "pp": 2}, nodes)

    assert said(found, "difference") == ([] if sentence is None else [("instance 0", sentence)])


def test_more_ranks_on_a_node_than_devices_are_a_danger() -> None:
    found = notes("vllm", {"tp": 8, "pp": 3}, "a" * 12 + "b" * 12)

    assert said(found, "danger") == [
        ("instance 0", "12 ranks are started on each node of 8 devices; the engine does not check")
    ]


def test_ranks_that_are_never_started_are_a_danger() -> None:
    found = notes("sglang", {"tp": 8, "pp": 3}, "a" * 12 + "b" * 12)

    assert said(found, "danger") == [
        (
            "instance 0",
            "no error is raised, but launch never completes: "
            "ranks [16, 17, 18, 19, 20, 21, 22, 23] are launched on no node",
        )
    ]


def test_a_number_of_nodes_that_the_launcher_refuses_is_a_difference() -> None:
    found = notes("sglang", {"tp": 4}, "aabc")

    assert said(found, "difference") == [
        (
            "instance 0",
            "the launcher refuses 3 nodes: tp_size must be divisible by number of nodes (tp_size * pp_size 4, nodes 3)",
        )
    ]


def test_experts_that_some_ranks_hold_one_more_of_are_a_danger() -> None:
    found = notes("vllm", {"dp": 8, "ep": 8}, "aaaaaaaa")

    assert said(found, "danger") == [
        (
            "instance 0",
            "60 experts over 8 expert ranks are uneven; the engine accepts that; 4 ranks hold 8 experts, 4 hold 7",
        )
    ]


def test_experts_that_the_engine_drops_are_a_danger() -> None:
    found = notes("trtllm", {"tp": 8, "ep": 8}, "aaaaaaaa")

    assert said(found, "danger") == [
        ("instance 0", "60 experts over 8 expert ranks: the engine floors the share and drops 4 experts")
    ]


def test_ranks_in_no_expert_group_leave_one_note() -> None:
    (found,) = notes("sglang", {"tp": 8, "ep": 3}, "aaaaaaaa")

    assert (found.sort, found.about) == ("danger", "topology")
    assert "ranks in no group: {'moe_ep': [6, 7], 'moe_tp': [6, 7]}" in found.sentence


def test_what_an_accepted_split_costs_is_a_notice() -> None:
    found = notes("vllm", {"tp": 16, "ep": 16}, "a" * 8 + "b" * 8)

    assert ("instance 0", "each KV head is held 2 times") in said(found, "notice")


def test_a_map_that_lacks_ranks_is_judged_only_by_its_degrees() -> None:
    found = notes("vllm", {"tp": 8, "pp": 3, "world_size": 24}, "a" * 12)

    assert said(found, "danger") == []
