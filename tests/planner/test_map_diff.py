"""What differs between two maps on the small site: moved ranks, changed groups, crossings that came and went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.map_diff import GroupChange, MapDiff, NewCrossing, PlacedMap, map_diff
from planner.site import Site
from tests.planner.placed import ALL, closed_groups, places, site

DEVICES = ALL.split()


def placed(order: str, on: Site | None = None, /, **degrees: int) -> PlacedMap:
    return PlacedMap(
        groups=closed_groups(len(order.split()), **degrees), places=places(order), site=site() if on is None else on
    )


def moves(found: MapDiff) -> list[tuple[int, str | None, str | None, tuple[str, ...]]]:
    return [
        (
            move.rank,
            None if move.before is None else move.before.device,
            None if move.after is None else move.after.device,
            move.what,
        )
        for move in found.moved
    ]


def test_equal_maps_have_no_difference() -> None:
    found = map_diff(placed("a0 a1 b0 b1", tp=2, pp=2), placed("a0 a1 b0 b1", tp=2, pp=2))

    assert found.same
    assert (found.moved, found.groups, found.crossings, found.ended, found.counts) == ((), (), (), (), {})


def test_two_ranks_that_change_places_make_their_groups_cross() -> None:
    found = map_diff(placed("a0 a1 b0 b1", tp=2, dp=2), placed("a0 b1 b0 a1", tp=2, dp=2))

    assert moves(found) == [(1, "a1", "b1", ("node", "device", "nic")), (3, "b1", "a1", ("node", "device", "nic"))]
    assert found.groups == ()
    assert [(new.kind, new.members, new.boundary, new.is_new) for new in found.crossings] == [
        ("tp", (0, 1), "island", False),
        ("tp", (0, 1), "node", False),
        ("tp", (2, 3), "island", False),
        ("tp", (2, 3), "node", False),
    ]
    assert found.ended == ()
    assert found.counts == {("tp", "island"): (0, 2), ("tp", "node"): (0, 2)}


def test_a_move_inside_a_node_changes_device_and_perhaps_nic() -> None:
    found = map_diff(placed("a0 a1", tp=2), placed("a2 a0", tp=2))

    assert moves(found) == [(0, "a0", "a2", ("device", "nic")), (1, "a1", "a0", ("device",))]
    assert found.crossings == ()


def test_other_degrees_on_the_same_places_change_groups() -> None:
    found = map_diff(placed("a0 a1 b0 b1", tp=2, dp=2), placed("a0 a1 b0 b1", tp=4))

    assert found.moved == ()
    assert found.groups[0] == GroupChange(kind="tp", only_before=((0, 1), (2, 3)), only_after=((0, 1, 2, 3),))
    assert NewCrossing(kind="tp", members=(0, 1, 2, 3), boundary="node", is_new=True) in found.crossings
    assert NewCrossing(kind="dp", members=(0, 2), boundary="node", is_new=True) in found.ended


def test_ranks_that_only_one_side_has_are_named() -> None:
    found = map_diff(placed("a0 a1", tp=2), placed("a0", tp=1))

    assert moves(found) == [(1, "a1", None, ("rank",))]
    assert moves(map_diff(placed("a0", tp=1), placed("a0 a1", tp=2))) == [(1, None, "a1", ("rank",))]


@pytest.mark.parametrize(
    ("racks", "crossing"),
    [
        pytest.param({"r0": ["a"], "r1": ["b"]}, ["rack"], id="racks were redrawn"),
        pytest.param({}, [], id="racks are no longer declared"),
    ],
)
def test_each_side_is_read_on_its_own_site(racks: dict[str, list[str]], crossing: list[str]) -> None:
    found = map_diff(placed("a0 b0", tp=2), placed("a0 b0", site(racks=racks), tp=2))

    assert [new.boundary for new in found.crossings] == crossing


@given(st.permutations(DEVICES), st.permutations(DEVICES), st.sampled_from([{"tp": 8}, {"tp": 2, "pp": 2, "dp": 2}]))
def test_what_came_one_way_went_the_other(one: list[str], other: list[str], degrees: dict[str, int]) -> None:
    left, right = placed(" ".join(one), **degrees), placed(" ".join(other), **degrees)
    there, back = map_diff(left, right), map_diff(right, left)

    assert (there.crossings, there.ended) == (back.ended, back.crossings)
    assert [(move.rank, move.what) for move in there.moved] == [(move.rank, move.what) for move in back.moved]
    assert there.counts == {at: (before, after) for at, (after, before) in back.counts.items()}
    assert there.same == (one == other)
