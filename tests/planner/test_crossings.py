"""What groups cross, and by which links, on a small site: two nodes of four devices, NICs shared by two devices."""

import pytest

from planner.crossings import KindCrossing, LinkUse, crossings
from planner.records.evidence import Placement
from planner.site import Site
from tests.planner.placed import ALL, NODES, closed_groups, places, site


def crossed(degrees: dict[str, int], where: tuple[Placement, ...], on: Site) -> dict[str, KindCrossing]:
    return crossings(closed_groups(len(where), **degrees), where, on)


def test_groups_inside_an_island_cross_nothing_and_use_its_peer_links() -> None:
    found = crossed({"tp": 4, "pp": 2}, places(ALL), site())["tp"]

    assert (found.role, found.source, found.sizes, found.count) == ("tensor", "rule", (4,), 2)
    assert found.crosses == {"island": False, "node": False, "rack": False}
    assert (found.widest, found.widest_of) == ("device", ("device", "device"))
    assert found.links == (
        LinkUse(
            sort="island",
            id="island-a",
            links=(),
            link_class="island",
            bytes_per_s_one_way=400,
            ranks=(0, 1, 2, 3),
            shared_by=(),
        ),
        LinkUse(
            sort="island",
            id="island-b",
            links=(),
            link_class="island",
            bytes_per_s_one_way=400,
            ranks=(4, 5, 6, 7),
            shared_by=(),
        ),
    )


def test_groups_over_two_nodes_use_the_links_of_their_nics() -> None:
    found = crossed({"tp": 4, "pp": 2}, places(ALL), site())["pp"]

    assert found.crosses == {"island": True, "node": True, "rack": False}
    assert found.crossing_groups == {"island": 4, "node": 4, "rack": 0}
    assert found.widest == "node"
    assert found.slowest == LinkUse(
        sort="contention",
        id="rail-1",
        links=("a-nic1-up", "b-nic1-up"),
        link_class="inter_node",
        bytes_per_s_one_way=25,
        ranks=(2, 3, 6, 7),
        shared_by=(),
    )


def test_kinds_that_contend_for_the_same_links_are_named() -> None:
    found = crossed({"tp": 2, "pp": 2, "ep": 2}, places("a0 b0 a1 b1 a2 b2 a3 b3"), site())

    assert {kind: found[kind].widest for kind in ("tp", "pp", "ep")} == {"tp": "node", "pp": "device", "ep": "device"}
    assert [(use.id, use.shared_by) for use in found["tp"].links] == [("rail-0", ()), ("rail-1", ())]
    assert [(use.id, use.shared_by) for use in found["pp"].links] == [("island-a", ("ep",)), ("island-b", ("ep",))]


def test_links_without_a_contention_domain_stand_alone() -> None:
    found = crossed({"pp": 2}, places("a0 b0"), site(rails=False))["pp"]

    assert [(use.sort, use.id, use.ranks) for use in found.links] == [
        ("link", "a-nic0-up", (0,)),
        ("link", "b-nic0-up", (1,)),
    ]


def test_a_group_of_one_crosses_nothing_and_has_no_boundary() -> None:
    found = crossed({"tp": 2}, places("a0 a1"), site())["dp"]

    assert (found.widest, found.widest_of, found.links, found.slowest) == (None, (None, None), (), None)


def test_only_some_groups_of_a_kind_may_cross() -> None:
    found = crossed({"tp": 2, "dp": 2}, places("a0 a1 a2 b0"), site())["tp"]

    assert found.widest_of == ("device", "node")
    assert found.crossing_groups == {"island": 1, "node": 1, "rack": 0}


@pytest.mark.parametrize(
    ("islands", "crosses", "widest"),
    [
        pytest.param({}, None, "device", id="no islands"),
        pytest.param({"half": ["a0"]}, None, "device", id="a member in no island"),
        pytest.param({"one": ["a0", "a2"], "two": ["a1", "a3"]}, True, "island", id="two islands on one node"),
        pytest.param({"one": ["a0", "a1"], "two": ["a1"]}, False, "device", id="a device in two islands"),
    ],
)
def test_islands_count_only_where_they_are_declared(
    islands: dict[str, list[str]], crosses: bool | None, widest: str
) -> None:
    found = crossed({"tp": 2}, places("a0 a1"), site(islands=islands))["tp"]

    assert (found.crosses["island"], found.widest) == (crosses, widest)


def test_an_island_over_two_nodes_carries_a_group_that_crosses_nodes() -> None:
    wide = {"all": [f"{node}{at}" for node in NODES for at in range(4)]}
    found = crossed({"tp": 8}, places(ALL), site(islands=wide, racks={}))["tp"]

    assert dict(found.crosses) == {"node": True, "island": False}
    assert tuple(found.crosses) == ("node", "island")
    assert [(use.sort, use.id) for use in found.links] == [("island", "all")]
    assert found.unlinked == ()


def test_ranks_without_a_declared_link_are_named() -> None:
    found = crossed({"pp": 2}, places("a0 b0", nics=False), site())["pp"]

    assert (found.links, found.unlinked, found.slowest) == ((), (0, 1), None)
