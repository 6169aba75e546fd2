"""Maps of large fleets: places of nodes and cells, what a cell says, lines of the selected rank."""

from itertools import combinations

import pytest

from planner.records.base import UnsetType
from planner.records.contract import Fleet
from planner.site import Site
from reviews.web.dense_places import MIDDLE, NARROW, WIDE, WIDTH, CellSize, DensePlaces, dense_places, device_order
from reviews.web.dense_rows import Cell, DenseMap, DenseView, dense_map
from reviews.web.rank_facts import RankFacts
from tests.web.maps import contract_of, facts_of, hardware

RACKS = {"r1": [f"n{at:02}" for at in range(8)], "r2": [f"n{at:02}" for at in range(8, 16)]}
GROUNDS = [
    pytest.param({f"n{at:03}": 8 for at in range(128)}, {"nics": 8}, None, 980, id="1,024 devices"),
    pytest.param({f"n{at:02}": 8 for at in range(16)}, {"nics": 2}, RACKS, 980, id="two racks"),
    pytest.param({f"n{at:02}": 4 for at in range(18)}, {}, None, 640, id="nodes of four, half as wide"),
    pytest.param({"a": 8, "b": 8}, {"per_island": 4, "nics": 8}, None, 640, id="two islands a node"),
    pytest.param({"a": 16, "b": 3}, {}, None, 400, id="nodes of unequal size"),
]


def ground_of(
    nodes: dict[str, int], options: dict[str, int], racks: dict[str, list[str]] | None, width: int
) -> DensePlaces:
    contract = contract_of(hardware(nodes, **options), racks=racks)  # type: ignore[arg-type] # a table of any option
    fleet = Fleet() if isinstance(contract.fleet, UnsetType) else contract.fleet
    return dense_places(Site(hardware=contract.identity.hardware, fleet=fleet), width=width)


@pytest.mark.parametrize(("nodes", "options", "racks", "width"), GROUNDS)
def test_every_node_stands_inside_the_drawing_and_none_overlap(
    nodes: dict[str, int], options: dict[str, int], racks: dict[str, list[str]] | None, width: int
) -> None:
    ground = ground_of(nodes, options, racks, width)
    boxes = [spot.box for spot in ground.nodes]
    assert sorted(spot.id for spot in ground.nodes) == sorted(nodes)
    assert sum(len(device_order(spot)) for spot in ground.nodes) == sum(nodes.values())
    assert all(box.x >= 0 and box.x + box.width <= ground.width and box.bottom <= ground.height for box in boxes)
    assert not [
        (one, other)
        for one, other in combinations(boxes, 2)
        if one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.bottom
        and other.y < one.bottom
    ]


@pytest.mark.parametrize(("nodes", "options", "racks", "width"), GROUNDS)
def test_cells_fit_into_their_node(
    nodes: dict[str, int], options: dict[str, int], racks: dict[str, list[str]] | None, width: int
) -> None:
    ground = ground_of(nodes, options, racks, width)
    for spot in ground.nodes:
        rows = sum(-(-len(devices) // ground.columns) for _, devices in spot.runs)
        assert ground.columns * ground.size.width < spot.box.width
        assert 20 + rows * ground.size.height < spot.box.height


def test_a_rack_frames_its_own_nodes() -> None:
    ground = ground_of({f"n{at:02}": 8 for at in range(16)}, {}, RACKS, 980)
    frames = dict(ground.racks)
    for spot in ground.nodes:
        frame = frames["r1" if spot.id in RACKS["r1"] else "r2"]
        assert frame.x < spot.box.x
        assert frame.y < spot.box.y
        assert spot.box.bottom < frame.bottom


def test_eight_nodes_of_eight_stand_side_by_side_and_fill_a_rack() -> None:
    racks = {f"r{rack}": [f"n{rack * 8 + at:03}" for at in range(8)] for rack in range(16)}
    ground = ground_of({f"n{at:03}": 8 for at in range(128)}, {"nics": 8}, racks, WIDTH)
    assert [sum(spot.row == row for spot in ground.nodes) for row in range(len(ground.bottoms))] == [8] * 16


@pytest.mark.parametrize(("devices", "size"), [(64, WIDE), (65, MIDDLE), (257, NARROW)])
def test_cells_are_as_wide_as_the_number_of_devices_allows(devices: int, size: CellSize) -> None:
    assert ground_of({"a": devices}, {}, None, 980).size is size


def test_nics_are_strokes_below_the_devices() -> None:
    ground = ground_of({"a": 2}, {"nics": 4}, None, 980)
    assert ground.nodes[0].nic_path.count("h") == 4


def drawn(facts: RankFacts, **options: object) -> DenseMap:
    view = {"facts": facts, "colour": facts.kind("tp"), "selected": None, "lost": None} | options
    return dense_map(DenseView(**view))  # type: ignore[arg-type] # a table of any field


def cells(found: DenseMap) -> dict[int, Cell]:
    return {cell.rank: cell for node in found.nodes for _, run in node.runs for cell in run if cell.rank is not None}


def test_a_cell_says_rank_group_and_what_happened_to_it() -> None:
    facts = facts_of({"a": 4, "b": 4}, (4, 1, 1, 2))
    found = cells(drawn(facts, lost=facts.lost("a"), worst=5))
    assert (found[0].label, found[0].sub, found[0].css) == ("rank 0, T0, lost", "lost", "c-lost")
    assert (found[5].label, found[5].sub, found[5].css) == ("rank 5, T1, highest", "T1", "f-tensor-1 c-worst")


def test_ranks_of_a_group_that_lost_one_are_down() -> None:
    facts = facts_of({"a": 2, "b": 2}, (4, 1, 1, 1))
    found = drawn(facts, lost=facts.lost("a"))
    assert [cell.sub for cell in cells(found).values()] == ["lost", "lost", "down", "down"]
    assert [node.is_lost for node in found.nodes] == [True, False]


def test_neighbouring_groups_have_different_grounds() -> None:
    found = cells(drawn(facts_of({"a": 8}, (2, 1, 1, 4))))
    assert [found[rank].css for rank in (0, 2, 4)] == ["f-tensor-0", "f-tensor-1", "f-tensor-0"]


def test_devices_without_a_rank_are_drawn_and_are_no_button() -> None:
    (node,) = drawn(facts_of({"a": 4}, (2, 1, 1, 1), devices=["a.0", "a.1"])).nodes
    assert [(cell.rank, cell.css) for _, run in node.runs for cell in run][2:] == [(None, "c-idle"), (None, "c-idle")]


def test_lines_join_the_nodes_of_the_selected_ranks_groups() -> None:
    facts = facts_of({"a": 2, "b": 2, "c": 2}, (2, 3, 1, 1))
    (line,) = drawn(facts, selected=0).lines
    assert (line.role, line.path.count("V")) == ("pipeline", 3)
    assert drawn(facts).lines == ()


def test_a_line_over_several_rows_runs_along_the_right() -> None:
    facts = facts_of({f"n{at:02}": 8 for at in range(32)}, (1, 256, 1, 1))
    (line,) = drawn(facts, selected=0).lines
    right = max(spot.box.x + spot.box.width for spot in drawn(facts).places.nodes)
    assert f"H{right + 8 + 9:g}" in line.path


def test_a_line_is_cut_where_a_member_is_lost() -> None:
    facts = facts_of({"a": 2, "b": 2}, (2, 2, 1, 1))
    assert [line.is_cut for line in drawn(facts, selected=0, lost=facts.lost("b")).lines] == [True]


def test_ranks_of_another_pool_are_held_by_others() -> None:
    facts = facts_of({"a": 4}, (2, 1, 1, 2))
    (node,) = drawn(facts, only=frozenset({0, 1})).nodes
    assert [cell.css for _, run in node.runs for cell in run] == ["f-tensor-0", "f-tensor-0", "c-other", "c-other"]


def test_what_differs_is_strong_and_the_rest_faint() -> None:
    found = cells(drawn(facts_of({"a": 2}, (2, 1, 1, 1)), marked=frozenset({1})))
    assert [found[rank].css.split()[-1] for rank in (0, 1)] == ["c-same", "c-moved"]


def test_a_rank_without_a_known_device_is_listed() -> None:
    assert drawn(facts_of({"a": 2}, (2, 1, 1, 1), devices=["a.0", "a.9"])).homeless == (
        "rank 1: the contract has no device a.9",
    )
