"""Two maps side by side: what the page says of two trials and of two revisions."""

import csv
import io
import json
from typing import Any

import pytest

from planner.canonical import content_id
from reviews.models import Decision
from reviews.web.links import Query
from reviews.web.map_compare import difference, joins_of, plural, reason, shared_ground, strong
from reviews.web.rank_facts import RankFacts, rank_facts
from tests.reviews.factories import Cast, Pair, documents, example_pair, planned
from tests.web.conftest import Visit
from tests.web.maps import contract_of, facts_of, hardware, trial_of

PAGE = "/w/lab/decisions/1/map/compare/"
NODES = {"a": 2, "b": 2}
TURNED = ["a.0", "b.0", "a.1", "b.1"]


def pair(degrees: tuple[int, int, int, int] = (2, 1, 1, 2)) -> tuple[RankFacts, RankFacts]:
    """The same degrees on the same devices, but every group dealt over both nodes on the second map."""
    return facts_of(NODES, degrees), facts_of(NODES, degrees, devices=TURNED)


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return visit(people.audrey).get(f"{PAGE}{query}").content.decode()


def test_the_reason_names_the_kinds_and_the_nodes_that_they_join() -> None:
    before, after = pair()
    assert reason(difference(before, after), (before, after)) == (
        "Tensor joins a and b. Data no longer joins a and b. 6 more such changes."
    )


def test_ranks_that_only_change_places_on_a_node_leave_crossings_as_they_were() -> None:
    before, after = facts_of(NODES, (2, 1, 1, 2)), facts_of(NODES, (2, 1, 1, 2), devices=["a.1", "a.0", "b.0", "b.1"])
    assert reason(difference(before, after), (before, after)) == "2 ranks moved; every group crosses what it did."


def test_equal_maps_say_so_and_nothing_is_strong() -> None:
    one = facts_of(NODES, (2, 1, 1, 2))
    found = difference(one, one)
    assert reason(found, (one, one)) == "Both maps are the same: no rank moved, no group changed."
    assert strong(found, (one, one), Query()) is None


def test_ranks_that_moved_are_strong() -> None:
    before, after = pair()
    assert strong(difference(before, after), (before, after), Query()) == frozenset({1, 2})


def test_maps_that_do_not_fit_their_degrees_are_shown_but_not_compared() -> None:
    broken, whole = facts_of({"a": 2}, (4, 1, 1, 1)), facts_of({"a": 2}, (2, 1, 1, 1))
    assert difference(broken, whole) is None
    assert "do not fit together" in reason(None, (broken, whole))


def test_lines_join_the_nodes_of_groups_that_leave_them() -> None:
    before, after = pair()
    (ground, _), _ = shared_ground(before.site, after.site)
    assert (joins_of(before, ground), joins_of(after, ground)["tp"]) == ({"dp": (0, 2, 1, 3)}, (0, 1, 2, 3))


def on(nodes: dict[str, Any]) -> RankFacts:
    tree = hardware(nodes)
    return rank_facts(contract_of(tree), "t-1", trial_of(list(tree["devices"])[:2], (2, 1, 1, 1)))


def test_contracts_of_different_hardware_share_one_ground() -> None:
    (first, second), apart = shared_ground(on({"a": 2}).site, on({"a": 2, "b": 2}).site)
    assert (first is second, apart, [spot.id for spot in first.nodes]) == (True, "", ["a", "b"])


def test_a_device_on_two_nodes_keeps_the_grounds_apart() -> None:
    moved = hardware({"a": 2, "b": 1})
    moved["devices"]["a.0"]["node"] = "b"
    moved["islands"] = {}
    other = rank_facts(contract_of(moved), "t-1", trial_of(["a.1"], (1, 1, 1, 1)))
    (first, second), apart = shared_ground(on({"a": 2}).site, other.site)
    assert first is not second
    assert apart == "Device a.0 is on another node in each contract, so places differ."


def test_the_page_lays_the_selected_trial_beside_another(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?trial=t-base-16&with=t-one-node")
    assert page.count('<article class="card"') == 2
    assert "Expert no longer joins node-a and node-b. 15 more such changes." in page
    assert "no such rank" in page


def sides(people: Cast, visit: Visit, query: str) -> tuple[str, str]:
    context = visit(people.audrey).get(f"{PAGE}{query}").context
    return context["sides"][0].trial, context["sides"][1].trial


def test_without_a_second_trial_the_first_other_one_is_shown(worked: Decision, people: Cast, visit: Visit) -> None:
    assert sides(people, visit, "?trial=t-base-16") == ("t-base-16", "t-one-node")
    assert sides(people, visit, "?trial=t-one-node") == ("t-one-node", "t-base-16")


def test_a_trial_that_the_other_revision_does_not_have_is_laid_beside_its_selected_one(
    people: Cast, visit: Visit
) -> None:
    example = example_pair()
    first = planned(people, pair=example)
    renamed = Pair(example.contract, example.evidence.replace(b"t-base-16", b"t-renamed"))
    selected = planned(people, pair=renamed, decision=first.decision).planned.plan.selected_trial
    assert sides(people, visit, "?revision=1&trial=t-base-16&with_revision=2") == ("t-base-16", selected)


@pytest.mark.parametrize("asked", ["?with=t-nothing", "?with_revision=9", "?trial=t-nothing"])
def test_what_does_not_exist_is_not_found(worked: Decision, people: Cast, visit: Visit, asked: str) -> None:
    assert visit(people.audrey).get(f"{PAGE}{asked}").status_code == 404


def test_a_loss_is_shown_on_both_sides(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?trial=t-base-16&with=t-one-node&lost=node:node-b")
    assert page.count("Left after recovery") == 2
    assert "16 of 16" in page
    assert "0 of 8" in page


def test_two_revisions_with_the_same_maps_say_so(people: Cast, visit: Visit) -> None:
    example = example_pair()
    first = planned(people, pair=example)
    planned(
        people, pair=Pair(example.contract, example.evidence.replace(b"577536", b"577530")), decision=first.decision
    )
    page = text(people, visit, "?revision=2&trial=t-base-16&with_revision=1")
    assert "Both maps are the same" in page
    assert "Not the same" not in page


def test_identities_that_differ_are_named(people: Cast, visit: Visit) -> None:
    first = planned(people, pair=documents())
    other = documents()
    contract = json.loads(other.contract)
    contract["identity"]["model"]["revision"] = "r2"
    evidence = json.loads(other.evidence)
    evidence["identities"]["run-1"] = contract["identity"]
    evidence["contract_content_id"] = content_id(contract)
    planned(people, pair=Pair(json.dumps(contract).encode(), json.dumps(evidence).encode()), decision=first.decision)
    assert "<b>Not the same model.</b>" in text(people, visit, "?revision=2&with_revision=1")


def test_ranks_that_moved_are_a_file(worked: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get(f"{PAGE}moved.csv?trial=t-base-16&with=t-one-node")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert answer["Content-Disposition"] == 'attachment; filename="D-0001-moved-ranks.csv"'
    first = rows[0]
    assert (first["rank"], first["what"], first["node_before"], first["node_after"]) == ("8", "rank", "node-b", "")


def test_a_stranger_sees_nothing(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.charlie)
    assert [client.get(path).status_code for path in (PAGE, f"{PAGE}moved.csv")] == [404, 404]


def test_several_domains_of_a_kind_are_named_as_words() -> None:
    assert [plural(kind) for kind in ("node", "power_feed", "switch")] == ["nodes", "power feeds", "switches"]
