"""Single groups on the small site: reach, slowest link, contenders."""

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.group_links import GroupLink, group_links
from planner.layouts import LAYOUTS
from planner.rankmap import topology_groups
from planner.records.evidence import Placement, Topology
from planner.site import Site
from tests.planner.placed import ALL, closed_groups, places, site


def linked(kind: str, where: tuple[Placement, ...], on: Site, **degrees: int) -> tuple[GroupLink, ...]:
    return group_links(closed_groups(len(where), **degrees), where, on, kind)


def test_a_group_inside_an_island_has_its_peer_links_and_names_who_else_is_on_them() -> None:
    found = linked("tp", places(ALL), site(), tp=2, pp=2, dp=2)

    assert found[0] == GroupLink(
        kind="tp",
        members=(0, 1),
        widest="device",
        undeclared=(),
        sort="island",
        id="island-a",
        link=None,
        link_class="island",
        bytes_per_s_one_way=400,
        contending={"tp": 1, "pp": 2},
        unlinked=(),
    )


def test_a_group_over_nodes_has_the_slowest_link_of_its_own_members() -> None:
    """Groups of NIC 1 run at 25, those of NIC 0 at 50: a summary of the kind would give all of them 25."""
    found = linked("pp", places(ALL), site(), tp=4, pp=2)

    assert [(group.members, group.link, group.bytes_per_s_one_way) for group in found] == [
        ((0, 4), "a-nic0-up", 50),
        ((1, 5), "a-nic0-up", 50),
        ((2, 6), "a-nic1-up", 25),
        ((3, 7), "a-nic1-up", 25),
    ]


def test_groups_that_share_a_nic_contend_also_without_a_contention_domain() -> None:
    found = linked("pp", places(ALL), site(rails=False), tp=4, pp=2)

    assert [(group.sort, group.id, group.contending) for group in found[:2]] == [
        ("link", "a-nic0-up", {"pp": 1}),
        ("link", "a-nic0-up", {"pp": 1}),
    ]


def test_a_domain_of_contention_joins_links_of_different_nics() -> None:
    found = linked("pp", places("a0 b0 a2 b2"), site(), pp=2, dp=2)
    apart = linked("pp", places("a0 b0 a1 b1"), site(), pp=2, dp=2)

    assert [group.contending for group in found] == [{}, {}]
    assert [group.contending for group in apart] == [{"pp": 1}, {"pp": 1}]


@pytest.mark.parametrize(
    ("racks", "widest", "undeclared"),
    [
        pytest.param({"r0": ["a", "b"]}, "node", (), id="one rack"),
        pytest.param({"r0": ["a"], "r1": ["b"]}, "rack", (), id="two racks"),
        pytest.param({"r0": ["a"]}, "node", ("rack",), id="a node in no rack"),
        pytest.param({}, "node", (), id="no racks"),
    ],
)
def test_the_widest_boundary_is_a_rack_only_where_racks_are_declared(
    racks: dict[str, list[str]], widest: str, undeclared: tuple[str, ...]
) -> None:
    (found,) = linked("tp", places("a0 b0"), site(racks=racks), tp=2)

    assert (found.widest, found.undeclared) == (widest, undeclared)


def test_a_group_that_leaves_its_island_inside_a_node_has_no_declared_link() -> None:
    (found,) = linked("tp", places("a0 a1"), site(islands={"one": ["a0"], "two": ["a1"]}), tp=2)

    assert (found.widest, found.link, found.bytes_per_s_one_way, found.contending) == ("island", None, None, {})


def test_a_group_of_one_has_no_link() -> None:
    found = linked("dp", places("a0"), site())[0]

    assert (found.widest, found.sort, found.link, found.unlinked) == (None, None, None, ())


def test_members_without_a_declared_link_are_named() -> None:
    (found,) = linked("pp", places("a0 b0", nics=False), site(), pp=2)

    assert (found.link, found.unlinked) == (None, (0, 1))


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_every_kind_of_every_layout_has_a_link_for_each_group(layout: str) -> None:
    instance = {"tp": 4, "pp": 2, "ep": 1, "dp": 1, "world_size": 8}
    groups = topology_groups(msgspec.convert({"layout": layout, "instances": [instance]}, Topology), moe=True)

    for kind, found in groups.groups.items():
        linked_groups = group_links(groups, places(ALL), site(), kind)
        assert tuple(link.members for link in linked_groups) == found
        assert all((link.sort is None) == (len(link.members) == 1) for link in linked_groups)


def reference(members: tuple[int, ...], where: tuple[Placement, ...]) -> tuple[str | None, int | None, set[str]]:
    """Return reach, slowest rate and every carrier of a group by looking at its devices only: island = node = rack."""
    devices = [where[rank].device for rank in members]
    if len(members) == 1:
        return None, None, set()
    if len({device[0] for device in devices}) == 1:
        return "device", 400, {f"island-{devices[0][0]}"}
    nics = {int(device[1]) // 2 for device in devices}
    return "rack", min(25 if nic else 50 for nic in nics), {f"rail-{nic}" for nic in nics}


@given(st.permutations(ALL.split()), st.sampled_from([{"tp": 4, "dp": 2}, {"tp": 2, "pp": 2, "ep": 2}, {"pp": 8}]))
def test_links_are_those_that_looking_at_the_devices_gives(order: list[str], degrees: dict[str, int]) -> None:
    where, groups = places(" ".join(order)), closed_groups(8, **degrees)
    racks = {"r0": ["a"], "r1": ["b"]}
    expected = {kind: [reference(members, where) for members in found] for kind, found in groups.groups.items()}
    everyone = [(kind, at, *found) for kind, listed in expected.items() for at, found in enumerate(listed)]

    for kind in groups.groups:
        for at, link in enumerate(group_links(groups, where, site(racks=racks), kind)):
            assert (link.widest, link.bytes_per_s_one_way) == expected[kind][at][:2]
            on_it = [
                other
                for other, index, _, _, carriers in everyone
                if link.id in carriers and (other, index) != (kind, at)
            ]
            assert link.contending == Counter(on_it)
