from dataclasses import replace

import msgspec
import pytest

from planner.records.contract import Island
from reviews.web.rank_facts import RankFacts, crossing_rows
from tests.web.maps import example_facts, facts_of


def test_kinds_come_tensor_first_with_their_letter_and_number_of_groups() -> None:
    assert [
        (kind.id, kind.role, kind.letter, kind.groups, kind.largest, kind.span) for kind in example_facts().kinds
    ] == [
        ("tp", "tensor", "T", 4, 4, "T0 to T3"),
        ("pp", "pipeline", "P", 8, 2, "P0 to P7"),
        ("ep", "expert", "E", 8, 2, "E0 to E7"),
        ("dp", "data", "D", 16, 1, "D0 to D15"),
    ]


@pytest.mark.parametrize(
    ("asked", "kind"),
    [("ep", "ep"), ("expert", "ep"), ("data", "dp"), ("", "tp"), ("nonsense", "tp")],
)
def test_a_kind_is_asked_for_by_id_or_role(asked: str, kind: str) -> None:
    found = example_facts().kind(asked)
    assert found is not None
    assert found.id == kind


@pytest.mark.parametrize(
    ("ranks", "reach"),
    [
        pytest.param((0,), "one rank", id="one rank"),
        pytest.param((0, 1), "inside one island", id="one island"),
        pytest.param((0, 2), "crosses islands", id="two islands of one node"),
        pytest.param((0, 4), "crosses nodes", id="two nodes of one rack"),
        pytest.param((0, 8), "crosses racks", id="two racks"),
    ],
)
def test_reach(ranks: tuple[int, ...], reach: str) -> None:
    facts = facts_of({"a": 4, "b": 4, "c": 4}, (4, 3, 1, 1), per_island=2, racks={"r-1": ["a", "b"], "r-2": ["c"]})
    assert facts.reach(ranks) == reach


def test_without_islands_a_group_is_inside_a_node() -> None:
    assert facts_of({"a": 4}, (4, 1, 1, 1), islands=False).reach((0, 1)) == "inside one node"


def with_island(facts: RankFacts, *devices: str) -> RankFacts:
    """The same trial where these devices are the only island."""
    islands = {"island": Island(devices=devices)}
    hardware = msgspec.structs.replace(facts.site.hardware, islands=islands)
    return replace(facts, site=replace(facts.site, hardware=hardware))


def test_what_the_contract_does_not_declare_is_not_crossed() -> None:
    facts = with_island(facts_of({"a": 4, "b": 2}, (6, 1, 1, 1), racks={"r-1": ["a"]}), "a.0", "a.1")
    assert (facts.reach((1, 2)), facts.reach((0, 4))) == ("inside one node", "crosses nodes")


def test_a_group_inside_an_island_of_several_nodes_uses_no_nic() -> None:
    facts = with_island(facts_of({"a": 2, "b": 2}, (4, 1, 1, 1)), "a.0", "a.1", "b.0", "b.1")
    row = crossing_rows(facts)[0]
    assert (row.name, row.reach, row.links) == ("Tensor", "inside one island, across nodes", "0")


def test_a_lost_node_takes_down_the_rest_of_its_serving_groups() -> None:
    lost = example_facts().lost("node-b")
    assert lost is not None
    assert (lost.kind, sorted(lost.ranks), sorted(lost.down), lost.groups) == (
        "node",
        list(range(8, 16)),
        list(range(8)),
        (0,),
    )


def test_a_lost_node_leaves_a_serving_group_on_another_node_alone() -> None:
    lost = example_facts("blast-radius", "t-node-replicas").lost("node:node-b")
    assert lost is not None
    assert (len(lost.ranks), len(lost.down), lost.groups) == (8, 0, (1,))


def test_a_lost_device_takes_its_whole_serving_group_down() -> None:
    lost = example_facts().lost("device:a0")
    assert lost is not None
    assert (sorted(lost.ranks), len(lost.down)) == ([0], 15)


@pytest.mark.parametrize("asked", ["node-z", "planet:earth", ":", "device:zz"])
def test_what_does_not_exist_cannot_be_lost(asked: str) -> None:
    assert example_facts().lost(asked) is None


def test_nodes_and_declared_domains_may_be_lost() -> None:
    assert example_facts().lost_options == (("node", "node-a"), ("node", "node-b"), ("rack", "rack-1"))


def test_degrees_that_a_layout_refuses_give_no_groups_but_a_reason() -> None:
    facts = facts_of({"a": 3}, (70_000, 1, 1, 1))
    assert (facts.groups, facts.kinds, facts.serving, facts.lost("a") and facts.lost("a").groups) == (None, (), (), ())  # type: ignore[union-attr]
    assert "65536" in facts.refusal


def test_degrees_that_want_more_ranks_than_are_placed_still_give_a_map() -> None:
    facts = facts_of({"a": 2}, (4, 1, 1, 1))
    lost = facts.lost("device:a.1")
    assert lost is not None
    assert (facts.members("tp", 0), facts.reach((0, 1, 2, 3)), sorted(lost.ranks)) == (
        (0, 1, 2, 3),
        "inside one island",
        [1],
    )


def test_more_ranks_than_the_degrees_give_have_no_group() -> None:
    facts = facts_of({"a": 4}, (2, 1, 1, 1))
    lost = facts.lost("a")
    assert lost is not None
    assert (facts.coordinate("tp", 3), facts.members("tp", 3), sorted(lost.ranks)) == (None, (), [0, 1, 2, 3])


def test_crossings_name_links_and_what_they_share() -> None:
    rows = {row.name: row for row in crossing_rows(example_facts())}
    expert, tensor = rows["Expert"], rows["Tensor"]
    assert (expert.groups, expert.reach, expert.links, expert.bandwidth, expert.shares) == (
        "8 groups of 2",
        "crosses nodes",
        "8",
        "12.5 GB/s",
        "rail-0, rail-1, rail-2, rail-3",
    )
    assert (tensor.reach, tensor.links, tensor.bandwidth, tensor.shares) == (
        "inside one island",
        "0",
        "450.0 GB/s",
        "with pipeline",
    )


def test_groups_of_one_rank_use_no_link() -> None:
    row = next(row for row in crossing_rows(example_facts()) if row.name == "Data")
    assert (row.reach, row.links, row.bandwidth, row.shares) == ("one rank", "0", "–", "–")


def test_ranks_without_a_declared_link_are_counted() -> None:
    row = crossing_rows(facts_of({"a": 2, "b": 2}, (4, 1, 1, 1)))[0]
    assert (row.links, row.bandwidth) == ("0, none declared for 4 ranks", "–")


def test_no_link_is_named_where_ranks_and_degrees_do_not_fit() -> None:
    row = crossing_rows(facts_of({"a": 2}, (4, 1, 1, 1)))[0]
    assert (row.links, row.bandwidth, row.shares) == ("–", "–", "–")


def test_groups_that_reach_differently_are_counted() -> None:
    rows = {row.name: row for row in crossing_rows(facts_of({"a": 3, "b": 3}, (2, 1, 1, 3)))}
    assert rows["Tensor"].reach == "1 crosses nodes, 2 inside one island"
