from itertools import combinations

import pytest

from planner.records.base import UnsetType
from planner.records.contract import Fleet
from planner.site import Site
from reviews.web.links import Query
from reviews.web.map_places import Box, places, short_name
from reviews.web.map_rows import RankMap, View, rank_map
from reviews.web.rank_facts import RankFacts
from tests.web.maps import contract_of, example_facts, facts_of, hardware

SIZES = [
    pytest.param({"a": 8, "b": 8}, {"nics": 4}, id="two nodes of eight"),
    pytest.param({"a": 4}, {}, id="one node"),
    pytest.param({"a": 8, "b": 8}, {"per_island": 4, "nics": 8}, id="two islands a node"),
    pytest.param({"a": 16}, {"per_island": 8}, id="a node of two rows"),
    pytest.param({f"n{at}": 8 for at in range(4)}, {"nics": 2}, id="four nodes"),
    pytest.param({f"n{at:02}": 8 for at in range(16)}, {"nics": 2}, id="sixteen nodes"),
    pytest.param({f"n{at}": 8 for at in range(4)}, {"per_island": 4}, id="four nodes of two islands"),
    pytest.param({"a": 8, "b": 8}, {"per_island": 2}, id="four islands a node"),
]


def site_of(nodes: dict[str, int], **options: int) -> Site:
    contract = contract_of(hardware(nodes, **options))  # type: ignore[arg-type] # a table of any option
    fleet = Fleet() if isinstance(contract.fleet, UnsetType) else contract.fleet
    return Site(hardware=contract.identity.hardware, fleet=fleet)


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width and other.x < one.x + one.width and one.y < other.bottom and other.y < one.bottom
    )


def inside(inner: Box, outer: Box) -> bool:
    return (
        inner.x >= outer.x
        and inner.y >= outer.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.bottom <= outer.bottom
    )


@pytest.mark.parametrize(("nodes", "options"), SIZES)
def test_every_device_has_a_place_in_its_node_and_none_overlap(nodes: dict[str, int], options: dict[str, int]) -> None:
    ground = places(site_of(nodes, **options))
    boxes = ground.device_boxes
    assert set(boxes) == {f"{node}.{at}" for node, size in nodes.items() for at in range(size)}
    assert [pair for pair in combinations(boxes.values(), 2) if overlap(*pair)] == []
    for node in ground.nodes:
        assert [device for device, box in node.devices.items() if not inside(box, node.box)] == []
        assert [nic for nic, box in node.nics.items() if not inside(box, node.box)] == []
        assert [nic for nic, box in node.nics.items() if any(overlap(box, d) for d in node.devices.values())] == []


@pytest.mark.parametrize(("nodes", "options"), SIZES)
def test_everything_lies_inside_the_drawing(nodes: dict[str, int], options: dict[str, int]) -> None:
    ground = places(site_of(nodes, **options))
    canvas = Box(0, 0, ground.width, ground.height)
    assert [node.id for node in ground.nodes if not inside(node.box, canvas)] == []
    assert [pair for pair in combinations([node.box for node in ground.nodes], 2) if overlap(*pair)] == []


def test_two_trials_of_one_contract_stand_on_the_same_ground() -> None:
    one, other = drawn(example_facts()), drawn(example_facts(trial="t-one-node"))
    assert one.places == other.places


def test_an_island_larger_than_a_node_is_named_instead_of_drawn() -> None:
    tree = hardware({"a": 2, "b": 2}, islands=False)
    tree["islands"] = {"rack-island": {"devices": ["a.0", "a.1", "b.0", "b.1"]}}
    ground = places(Site(hardware=contract_of(tree).identity.hardware, fleet=Fleet()))
    assert [(node.islands, node.note) for node in ground.nodes] == [
        ((), "2 devices · 1.0 GiB each · in island rack-island, larger than this node")
    ] * 2


def drawn(facts: RankFacts, *, colour: str = "", selected: int | None = None, lost: str = "") -> RankMap:
    return rank_map(
        View(
            facts=facts,
            colour=facts.kind(colour),
            selected=selected,
            lost=facts.lost(lost) if lost else None,
            query=Query(),
            filled={},
        )
    )


def test_a_tile_names_rank_group_stage_and_links_to_its_coordinates() -> None:
    tile = drawn(example_facts()).tiles[5]
    assert (tile.rank, tile.device, tile.role, tile.bold, tile.plain, tile.below, tile.href, tile.label) == (
        5,
        "a5",
        "tensor",
        "T1",
        "stage 1",
        "E5",
        "?rank=5#rank",
        "rank 5, node-a device a5, tensor group T1",
    )


def test_neighbouring_groups_stand_on_different_grounds() -> None:
    tiles = {tile.rank: tile for tile in drawn(example_facts()).tiles}
    assert [tiles[rank].ground for rank in (0, 4, 8, 12)] == [0, 1, 1, 0]


def test_the_group_of_the_selected_rank_is_outlined() -> None:
    tiles = drawn(example_facts(), selected=5).tiles
    assert [tile.rank for tile in tiles if tile.is_mate] == [4, 6, 7]
    assert [tile.rank for tile in tiles if tile.is_selected] == [5]


def test_arrow_keys_find_ranks_in_rows() -> None:
    tiles = {tile.rank: tile for tile in drawn(example_facts()).tiles}
    assert [(tiles[rank].x, tiles[rank].y) for rank in (0, 7, 8, 15)] == [(0, 0), (7, 0), (0, 1), (7, 1)]


def test_idle_devices_are_drawn() -> None:
    idle = [device for node in drawn(example_facts(trial="t-one-node")).nodes for device, _ in node.idle]
    assert idle == [f"b{at}" for at in range(8)]


def test_lines_between_two_nodes_run_from_nic_to_nic_once() -> None:
    lines = [line for line in drawn(example_facts()).lines if line.role == "expert"]
    assert (len(lines), len({line.path for line in lines})) == (4, 4)
    assert [line.role for line in drawn(example_facts()).lines if line.role != "expert"] == []


def test_lines_inside_a_node_run_where_a_group_leaves_an_island() -> None:
    found = drawn(facts_of({"a": 8}, (4, 1, 2, 1), per_island=4))
    assert [line.role for line in found.lines] == ["expert"] * 4


def test_more_than_two_nodes_are_joined_along_one_line_a_kind() -> None:
    found = drawn(facts_of({"a": 2, "b": 2, "c": 2}, (2, 3, 1, 1)))
    assert [line.role for line in found.lines] == ["pipeline"]


def test_what_crosses_is_written_between_two_nodes() -> None:
    assert [(note.title, note.text) for note in drawn(example_facts()).notes] == [
        ("Expert, crosses nodes", "8 groups of 2 · 8 links, 12.5 GB/s, 4 contention domains")
    ]


def test_replicas_on_two_nodes_are_said_to_exchange_nothing_of_a_request() -> None:
    (note,) = drawn(facts_of({"a": 2, "b": 2}, (2, 1, 1, 2))).notes
    assert (note.title, note.text) == ("Data, crosses nodes", "2 groups of 2 · replicas, no request traffic")


def test_lost_ranks_are_lost_and_the_rest_of_their_group_is_down() -> None:
    found = drawn(example_facts(), lost="node-b")
    assert {tile.rank: tile.state for tile in found.tiles} == {
        rank: "lost" if rank > 7 else "down" for rank in range(16)
    }
    assert [node.is_lost for node in found.nodes] == [False, True]
    assert {line.is_cut for line in found.lines} == {True}


def test_a_rank_without_a_known_device_is_listed_not_dropped() -> None:
    found = drawn(facts_of({"a": 2}, (3, 1, 1, 1), devices=["a.0", "a.9", "a.0"]))
    assert found.homeless == (
        "rank 1: the contract has no device a.9",
        "rank 2: device a.0 already holds rank 0",
    )
    assert [tile.rank for tile in found.tiles] == [0]


def test_what_crosses_is_written_below_more_than_two_nodes() -> None:
    found = drawn(facts_of({"a": 2, "b": 2, "c": 2}, (2, 3, 1, 1)))
    (note,) = found.notes
    assert (note.title, note.text) == ("Pipeline, crosses nodes", "2 groups of 3 · no link declared")
    assert max(node.place.box.bottom for node in found.nodes) < note.box.y
    assert note.box.bottom <= found.height


def test_islands_lie_inside_their_node() -> None:
    for place in places(site_of({f"n{at}": 8 for at in range(4)}, per_island=2)).nodes:
        assert [name for name, box in place.islands if not inside(box, place.box)] == []


def test_what_crosses_islands_inside_a_node_is_written_beside_its_name() -> None:
    found = drawn(facts_of({"a": 4}, (2, 2, 1, 1), per_island=2))
    assert [node.aside for node in found.nodes] == ["pipeline across islands, no link declared"]


@pytest.mark.parametrize(
    ("id", "short"),
    [("a-nic0", "a-nic0"), ("n000-d5-nic", "d5-nic"), ("n000-a-long-name", "a-long-n…"), ("0123456789", "01234567…")],
)
def test_long_ids_are_cut_to_their_room(id: str, short: str) -> None:
    assert short_name(id, "n000", 9) == short
