"""Hardware of a contract in the making: read from files, described by hand, and asked for."""

from typing import Any

import pytest

from planner.contract_builder.edits import entry_added, fields_set, merged
from planner.contract_builder.hardware import HardwareRefusedError, NodeClass, described_nodes, hardware_read
from planner.contract_builder.questions import Answer, answered, questions
from planner.contract_builder.rendered import judged
from planner.contract_builder.shapes import skeleton
from tests.shared import ROOT

TOPO = (ROOT / "tests/data/hardware/nvidia_6gpu_bridged.txt").read_bytes()
TRAYS = (ROOT / "tests/data/hardware/nccl_two_trays.xml").read_bytes()
TYPE, MEMORY = "/identity/hardware/devices/<id>/type", "/identity/hardware/devices/<id>/memory_bytes"
H100 = NodeClass(
    nodes=2, devices=8, type="h100-80g", memory_bytes=85899345920, nics=4, link_rate=50 * 10**9, is_island=True
)


def hardware(tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = tree["identity"]["hardware"]
    return found


def two_nodes() -> dict[str, Any]:
    return merged(skeleton(), hardware_read(skeleton(), [("topo.txt", TOPO)], copies=2).fragment)


def test_a_class_of_nodes_is_one_file_under_several_ids() -> None:
    found = hardware(two_nodes())
    assert [*found["nodes"]] == ["node-0", "node-1"]
    assert len(found["devices"]) == 12
    by_node = [[name for name, device in found["devices"].items() if device["node"] == node] for node in found["nodes"]]
    assert [name.replace("node-1", "node-0") for name in by_node[1]] == by_node[0]


def test_a_file_for_each_node_with_ids_of_ones_own() -> None:
    seen = hardware_read(skeleton(), [("a.txt", TOPO), ("b.xml", TRAYS)], names=("rack1-n1",))
    assert [*seen.fragment["identity"]["hardware"]["nodes"]] == ["rack1-n1", "node-0", "node-1"]
    assert seen.origins["/identity/hardware/nodes/rack1-n1"].startswith("a.txt (")


def test_further_nodes_take_ids_that_are_free() -> None:
    seen = hardware_read(two_nodes(), [("topo.txt", TOPO)])
    assert [*seen.fragment["identity"]["hardware"]["nodes"]] == ["node-2"]


@pytest.mark.parametrize(
    ("files", "options", "where", "code"),
    [
        pytest.param([("x.txt", b"nothing of a tool")], {}, "x.txt", "hardware/format", id="another file"),
        pytest.param([], {}, "", "hardware/format", id="no file"),
        pytest.param([("t", TOPO)], {"copies": 0}, "", "document/range", id="no node"),
        pytest.param([("t", TOPO)], {"names": ("a", "a")}, "", "document/repeated", id="an id twice"),
    ],
)
def test_what_is_refused_names_its_file(
    files: list[tuple[str, bytes]], options: dict[str, Any], where: str, code: str
) -> None:
    with pytest.raises(HardwareRefusedError) as refused:
        hardware_read(skeleton(), files, **options)
    assert [(name, problems[0].code) for name, problems in refused.value.by_file.items()] == [(where, code)]


def test_described_nodes_are_complete_but_for_what_was_not_said() -> None:
    tree = merged(skeleton(), described_nodes(skeleton(), H100).fragment)
    assert [problem.pointer for problem in judged(tree).problems if "/hardware" in problem.pointer] == []
    assert hardware(tree)["links"]["node-1-nic3-up"] == {
        "class": "inter_node",
        "nic": "node-1-nic3",
        "bytes_per_s_one_way": 50000000000,
    }
    assert hardware(tree)["islands"]["node-0-island-0"] == {"devices": [f"node-0-gpu{place}" for place in range(8)]}


def test_a_description_says_everything_that_is_wrong_with_it() -> None:
    with pytest.raises(HardwareRefusedError) as refused:
        described_nodes(skeleton(), NodeClass(nodes=0, devices=99, type="", memory_bytes=0))
    assert [problem.pointer for problem in refused.value.by_file[""]] == ["nodes", "devices", "type", "memory_bytes"]


def asked(tree: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {question.pointer: question.ids for question in questions(tree)}


def test_nothing_is_asked_before_there_is_a_node() -> None:
    assert questions(skeleton()) == ()


def test_one_answer_fills_every_device_that_lacks_it() -> None:
    tree = two_nodes()
    ids = asked(tree)[TYPE]
    assert len(ids) == 12
    tree = answered(
        tree, [Answer(pointer=TYPE, text="h100", ids=ids), Answer(pointer=MEMORY, text="80 GiB", ids=ids[:6])]
    )
    devices = hardware(tree)["devices"]
    assert {device["type"] for device in devices.values()} == {"h100"}
    assert asked(tree)[MEMORY] == ids[6:]
    assert devices[ids[0]]["memory_bytes"] == 85899345920


def test_what_no_contract_does_without_is_asked_first() -> None:
    needed = [question.is_needed for question in questions(two_nodes())]
    assert needed == sorted(needed, reverse=True)


def test_prices_are_asked_by_type_and_needed_where_cost_is_limited() -> None:
    tree = answered(two_nodes(), [Answer(pointer=TYPE, text="h100", ids=asked(two_nodes())[TYPE])])
    price = "/fleet/usd_per_device_hour/<id>"
    assert {question.pointer: question.is_needed for question in questions(tree)}[price] is False
    tree = entry_added(tree, "/gates/cost", "monthly")
    assert {question.pointer: question.is_needed for question in questions(tree)}[price] is True
    tree = answered(tree, [Answer(pointer=price, text="2.5", ids=("h100",))])
    assert tree["fleet"]["usd_per_device_hour"] == {"h100": 2.5}
    assert price not in asked(tree)


def test_nodes_are_put_into_racks_one_rack_after_the_other() -> None:
    rack = "/fleet/failure_domains/rack"
    tree = answered(two_nodes(), [Answer(pointer=rack, text="r1", ids=("node-0",))])
    assert asked(tree)[rack] == ("node-1",)
    tree = answered(tree, [Answer(pointer=rack, text="r2", ids=("node-1",))])
    assert tree["fleet"]["failure_domains"]["rack"] == {"r1": ["node-0"], "r2": ["node-1"]}
    assert rack not in asked(tree)


def test_islands_that_a_switch_joins_become_one() -> None:
    join = "/identity/hardware/islands/<id>/devices"
    tree = two_nodes()
    ids = asked(tree)[join]
    found = hardware(answered(tree, [Answer(pointer=join, text="joined", ids=ids)]))["islands"]
    assert [*found] == [ids[0]]
    assert len(found[ids[0]]["devices"]) == sum(len(hardware(tree)["islands"][name]["devices"]) for name in ids)


def test_nics_and_islands_that_no_file_shows_are_made_by_node() -> None:
    bare = NodeClass(nodes=2, devices=2, type="a", memory_bytes=1)
    tree = merged(skeleton(), described_nodes(skeleton(), bare).fragment)
    nics, islands = "/identity/hardware/nics", "/identity/hardware/islands"
    assert {nics, islands} <= set(asked(tree))
    tree = answered(tree, [Answer(pointer=nics, text="1", ids=()), Answer(pointer=islands, text="node", ids=())])
    assert [*hardware(tree)["nics"]] == ["node-0-nic0", "node-1-nic0"]
    assert hardware(tree)["islands"]["node-1-island-0"]["devices"] == ["node-1-gpu0", "node-1-gpu1"]


def test_an_answer_that_does_not_fit_stays_and_is_refused_by_intake() -> None:
    tree = two_nodes()
    first = asked(tree)[MEMORY][0]
    tree = answered(tree, [Answer(pointer=MEMORY, text="plenty", ids=(first,))])
    (problem,) = [problem for problem in judged(tree).problems if problem.pointer.endswith(f"{first}/memory_bytes")]
    assert (problem.expected, problem.found) == ("an integer of at least 0", '"plenty" (text)')


def test_answers_go_into_a_tree_that_is_wrong_where_they_belong() -> None:
    hardware = {"islands": {"a": {"devices": 3}, "b": {"devices": ["d0"]}}, "devices": {"d0": {}, "d1": {"node": "n"}}}
    tree = {"identity": {"hardware": hardware}, "fleet": {"failure_domains": {"rack": {"r": [{}]}}}}
    islands = "/identity/hardware/islands"
    joined = answered(tree, [Answer(pointer=f"{islands}/<id>/devices", text="joined", ids=("a", "b"))])
    assert joined["identity"]["hardware"]["islands"] == {"a": {"devices": ["d0"]}}
    racked = answered(tree, [Answer(pointer="/fleet/failure_domains/rack", text="r", ids=("n",))])
    assert racked["fleet"]["failure_domains"]["rack"] == {"r": [{}, "n"]}
    made = answered(tree, [Answer(pointer=islands, text="node", ids=())])
    assert made["identity"]["hardware"]["islands"].keys() == {"a", "b", "n-island-0"}


def test_an_empty_answer_changes_nothing() -> None:
    tree = two_nodes()
    assert (
        answered(tree, [Answer(pointer=TYPE, text=" ", ids=("node-0-gpu0",)), Answer(pointer=TYPE, text="a", ids=())])
        == tree
    )


@pytest.mark.parametrize(
    "odd", [{"nodes": [1]}, {"nodes": {"a": 1}, "devices": {"d": None}, "islands": {"i": {"devices": 3}}}]
)
def test_questions_never_fail_on_a_tree_that_is_wrong(odd: dict[str, Any]) -> None:
    questions(merged(skeleton(), {"identity": {"hardware": odd}, "fleet": {"failure_domains": {"rack": {"r": 1}}}}))
    questions(fields_set(skeleton(), {"/identity/hardware/devices/d/type": ["x"]}))
