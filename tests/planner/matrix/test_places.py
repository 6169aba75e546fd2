"""Where ranks sit: equal nodes, island by island, spares and further slices left out and named, NICs shared out."""

from typing import Any

from planner.matrix.places import ground_of
from planner.natural_order import natural
from planner.records.matrix import Matrix
from tests.planner.matrix.contracts import DENSE_70B, a_matrix, a_view


def seats(matrix: Matrix, name: str) -> dict[str, tuple[str, ...]]:
    return {seat.node: seat.devices for seat in matrix.candidates[name].seats}


def test_names_are_ordered_as_people_count() -> None:
    assert sorted(["gpu-10", "gpu-2", "gpu-1", "host-3-gpu-0"], key=natural) == [
        "gpu-1",
        "gpu-2",
        "gpu-10",
        "host-3-gpu-0",
    ]


def test_ranks_fill_a_node_before_the_next() -> None:
    matrix = a_matrix(model=DENSE_70B, nodes=2, devices=4)
    assert seats(matrix, "tp4-pp1-ep1-dp1") == {"n0": ("n0-g0", "n0-g1", "n0-g2", "n0-g3")}
    assert list(seats(matrix, "tp8-pp1-ep1-dp1")) == ["n0", "n1"]


def test_devices_are_taken_island_by_island() -> None:
    halves: dict[str, Any] = {
        "even": {"devices": [f"n0-g{at}" for at in (0, 2, 4, 6)], "bytes_per_s_one_way": 1},
        "odd": {"devices": [f"n0-g{at}" for at in (1, 3, 5, 7)], "bytes_per_s_one_way": 1},
    }
    matrix = a_matrix(("/identity/hardware/islands", halves), model=DENSE_70B)
    assert seats(matrix, "tp4-pp1-ep1-dp1") == {"n0": ("n0-g0", "n0-g2", "n0-g4", "n0-g6")}


def test_spares_are_left_out_and_named() -> None:
    ground = ground_of(a_view(("/fleet/spare_devices", ["n0-g7"])).site)
    assert ground.devices == 7
    assert any("spare" in sentence for sentence in ground.left_out)


def test_only_equal_nodes_are_planned_with() -> None:
    fleet = a_view(("/fleet/spare_devices", ["n1-g0", "n1-g1"]), nodes=3, devices=4)
    ground = ground_of(fleet.site)
    assert [node.id for node in ground.nodes] == ["n0", "n2"]
    assert any("n1" in sentence for sentence in ground.left_out)


def test_every_rank_of_a_node_has_a_nic_of_its_own_where_there_are_enough() -> None:
    matrix = a_matrix(model=DENSE_70B, nodes=2, devices=4)
    for seat in matrix.candidates["tp8-pp1-ep1-dp1"].seats:
        assert len(set(seat.nics)) == len(seat.ranks) == 4


def test_ranks_are_numbered_through_and_every_device_is_used_once() -> None:
    for candidate in a_matrix(model=DENSE_70B, nodes=2, devices=4).candidates.values():
        ranks = [rank for seat in candidate.seats for rank in seat.ranks]
        devices = [device for seat in candidate.seats for device in seat.devices]
        assert ranks == list(range(candidate.ranks))
        assert len(set(devices)) == candidate.ranks
