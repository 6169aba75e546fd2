"""What the map page says of losses, groups, notes and pools, in words."""

from typing import Any

from msgspec import structs

from planner.view import TrialView, views
from reviews.web.dense_rows import DenseView
from reviews.web.links import Query
from reviews.web.map_groups import HEADER, group_rows, group_table, members_short
from reviews.web.map_loss import failure_rows, loss_facts
from reviews.web.map_notes import note_row, notes_of
from reviews.web.map_pools import PoolRows, pool_rows
from reviews.web.rank_facts import RankFacts, facts_of_view
from tests.planner.factories import Changes, a_view
from tests.planner.layouts.samples import model
from tests.web.maps import contract_of, example_facts, facts_of, hardware, trial_of
from tests.web.plans import AS_OF, example_documents, example_plan

ENGINE = {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": 1}
POOLS: list[Any] = [{"role": "prefill", **ENGINE}] * 2 + [{"role": "decode", **ENGINE}] * 2
HANDOFF = {"bytes_total": 8 * 10**9, "tokens_sent_total": 10**6, "peak_requests_per_s": 5, "route_bytes_per_s": 10**9}


def example_view(name: str, trial: str) -> TrialView:
    return views(*example_documents(name), AS_OF)[trial]


def loss_of(name: str, trial: str, asked: str) -> dict[str, tuple[str, str]]:
    view = example_view(name, trial)
    facts = facts_of_view(view)
    lost = facts.lost(asked)
    assert lost is not None
    found = loss_facts(facts, lost, view, example_plan(name).candidates[trial])
    return {"lead": (found.lead, ""), **{figure.name: (figure.value, figure.note) for figure in found.figures}}


def test_a_loss_says_ranks_groups_and_what_is_left_at_both_horizons() -> None:
    found = loss_of("blast-radius", "t-node-replicas", "node-b")
    assert found["lead"] == ("node-b lost.", "")
    assert found["Ranks down"] == ("8 of 16", "8 lost, 0 down with their serving group")
    assert found["Serving groups lost"] == ("1 of 2", "1 left")
    value, note = found["Left at once"]
    assert value.endswith(" tok/s")
    assert note.startswith("50.3 % of what was served")
    assert note.endswith("at saturated, arithmetic on measured rates, not a measurement")
    assert found["Left after recovery"][0] == value


def test_the_gate_speaks_for_the_kind_of_domain_that_is_lost() -> None:
    view = example_view("blast-radius", "t-node-replicas")
    facts = facts_of_view(view)
    candidate = example_plan("blast-radius").candidates["t-node-replicas"]
    said = [outcome.sentence for outcome in candidate.gates["failure_domain"].limits.values()]
    sentences = {}
    for asked in ("node:node-b", "device:a0"):
        lost = facts.lost(asked)
        assert lost is not None
        sentences[asked] = loss_facts(facts, lost, view, candidate).judged
    assert sentences["node:node-b"] == tuple(f"Worst of its kind: {sentence}" for sentence in said)
    assert sentences["device:a0"] == ()


def test_the_worst_of_every_kind_is_a_row_with_a_link_to_it() -> None:
    view = example_view("blast-radius", "t-node-replicas")
    rows = failure_rows(facts_of_view(view), view, Query())
    assert [(row.kind, row.groups) for row in rows] == [
        ("Device", "1 of 2"),
        ("Island", "1 of 2"),
        ("Node", "1 of 2"),
        ("Rack", "2 of 2"),
    ]
    assert rows[2].href == "?lost=node:node-a#map"


def test_groups_name_their_boundary_link_and_who_contends() -> None:
    facts = example_facts()
    rows = group_rows(facts, facts.kind("ep"))
    assert (rows[0].label, rows[0].ranks, rows[0].widest, rows[0].link, rows[0].bandwidth) == (
        "E0",
        "0, 8",
        "node",
        "a-nic0-up",
        "12.5 GB/s",
    )
    assert rows[0].contends == "1 expert group on rail-0"


def test_groups_inside_an_island_cross_nothing() -> None:
    facts = example_facts()
    row = group_rows(facts, facts.kind("tp"))[1]
    assert (row.label, row.widest, row.link) == ("T1", "none", "inside island-a")


def test_many_groups_that_are_alike_are_one_row() -> None:
    facts = facts_of({f"n{at:02}": 2 for at in range(20)}, (2, 1, 1, 20))
    (row,) = group_rows(facts, facts.kind("tp"))
    assert (row.label, row.ranks) == ("T0–T19", "20 groups of 2")


def test_groups_of_one_rank_are_one_row() -> None:
    facts = example_facts()
    (row,) = group_rows(facts, facts.kind("dp"))
    assert (row.label, row.ranks, row.widest, row.link) == ("D0–D15", "16 groups of 1", "one rank", "–")


def test_the_download_has_every_group_of_every_kind() -> None:
    facts = example_facts()
    rows = group_table(facts)
    assert len(rows) == sum(kind.groups for kind in facts.kinds)
    expert = dict(zip(HEADER, next(row for row in rows if row[1] == "E5"), strict=True))
    assert (expert["ranks"], expert["widest_boundary"], expert["contending_groups"]) == ("5 13", "node", "ep=1")


def test_members_of_a_large_group_are_its_ends() -> None:
    assert members_short(range(20)) == "0–19 (20 ranks)"
    assert members_short(range(0, 40, 2)) == "0, 2, 4, … 38 (20 ranks)"


def test_notes_count_dangers_first() -> None:
    contract = contract_of(hardware({"a": 2, "b": 2}))
    identity = structs.replace(contract.identity, model=model(kv_heads=1, experts=5))
    contract = structs.replace(contract, identity=identity)
    trial = trial_of(["a.0", "b.0", "a.1", "b.1"], (4, 1, 4, 1), layout="vllm")
    found = notes_of(contract, trial)
    assert found is not None
    assert (found.lead, found.css) == ("1 danger, 1 difference and 1 notice", "unk")
    assert [row.word for row in found.shown] == ["Danger", "Differs", "Notice"]
    assert [row.text.endswith(".") for row in found.shown] == [True] * 3


def test_what_is_the_same_of_several_instances_is_said_once() -> None:
    row = note_row("difference", "rank 1 is elsewhere", ["instance 0", "instance 1", "instance 3"])
    assert (row.word, row.about, row.text) == ("Differs", "instances 0–1, 3", "Rank 1 is elsewhere.")


def test_a_map_without_notes_has_no_block() -> None:
    contract, trial = contract_of(hardware({"a": 1})), trial_of(["a.0"], (1, 1, 1, 1))
    assert notes_of(contract, trial) is None


def pooled(**handoff: Any) -> PoolRows | None:
    trial: list[Any] = [("/topology/instances", POOLS)]
    if handoff:
        trial.append(("/windows/w1/handoff", handoff))
    limit = {
        "load_point": "saturated",
        "kv_bytes_per_token": 1000,
        "max_route_utilization": 0.8,
        "because": "A reason.",
    }
    view = a_view({"kv_handoff": {"route": limit}}, Changes(trial=tuple(trial)))
    facts: RankFacts = facts_of_view(view)
    return pool_rows(view, DenseView(facts=facts, colour=facts.kind("tp"), selected=0, lost=None))


def test_a_deployment_without_pools_has_no_section() -> None:
    view = a_view()
    facts = facts_of_view(view)
    assert pool_rows(view, DenseView(facts=facts, colour=None, selected=0, lost=None)) is None


def test_each_pool_is_a_map_of_its_own_nodes() -> None:
    found = pooled(**HANDOFF)
    assert found is not None
    assert (found.prefill.summary, found.decode.summary) == (
        "2 serving groups, 2 ranks on 1 node",
        "2 serving groups, 2 ranks on 1 node",
    )
    assert [node.spot.id for node in found.decode.map.nodes] == ["node-b"]
    assert found.is_beside


def test_the_hand_off_stands_against_its_measured_route() -> None:
    found = pooled(**HANDOFF)
    assert found is not None
    use = next(use for use in found.uses if use.window == "w1")
    assert (use.needed, use.usable, use.share) == ("0.025 GB/s", "0.9 GB/s", "2.8 %")
    assert (use.css, use.width, use.missing) == ("pass", 2.8, "")


def test_a_hand_off_beyond_its_route_fails_with_a_full_bar() -> None:
    found = pooled(**HANDOFF | {"peak_requests_per_s": 5000})
    assert found is not None
    use = next(use for use in found.uses if use.window == "w1")
    assert (use.css, use.width, use.share) == ("fail", 100.0, "2,777.8 %")


def test_a_route_that_carries_nothing_says_what_it_holds() -> None:
    found = pooled(**HANDOFF | {"route_bytes_per_s": 0})
    assert found is not None
    use = next(use for use in found.uses if use.window == "w1")
    assert (use.share, use.missing) == ("not known", "")
    assert use.unfit == "route_bytes_per_s is 0: no utilisation follows from it."


def test_a_window_without_a_hand_off_says_what_is_missing() -> None:
    found = pooled()
    assert found is not None
    assert [(use.share, use.css) for use in found.uses] == [("not known", "unk")] * len(found.uses)
    assert "/handoff" in found.uses[0].missing


def test_paths_that_are_alike_are_one_row() -> None:
    found = pooled(**HANDOFF)
    assert found is not None
    assert [(path.names, path.widest, path.bandwidth) for path in found.paths] == [
        ("4 paths, for example G0 → G2", "node", "10.0 GB/s")
    ]
