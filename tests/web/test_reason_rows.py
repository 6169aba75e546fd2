"""Why, flips, order, frontier."""

from planner.records.plan import Flip, FrontierPoint, Ratio, Reason
from reviews.web.flip_rows import flip_groups
from reviews.web.frontier_rows import frontier, order, order_text
from reviews.web.links import Query
from reviews.web.why_rows import why_rows
from tests.web.plans import candidate, example_plan, gate, limit, plan

QUERY = Query()


def test_a_degree_that_resolves_a_constraint_links_to_the_failing_cell_of_the_smaller_trial() -> None:
    reason = Reason(
        axis="pp",
        degree=2,
        verdict="RESOLVES",
        constraints=("residency", "capacity"),
        against="t-2",
        gates=("memory_headroom",),
        sentence="pp 2 resolves residency.",
    )
    rejected = candidate("REJECTED", gates={"memory_headroom": gate("FAIL", worst_rank=limit("FAIL"))})
    row = why_rows(plan({"t-1": candidate(), "t-2": rejected}, justification=(reason,)), query=QUERY)[0]
    assert (row.degree, row.title, row.word.text, row.sentence) == (
        "pp2",
        "Residency and Capacity",
        "Justified",
        "pp 2 resolves residency.",
    )
    assert row.gates == (("memory_headroom", "?cell=t-2~memory_headroom~worst_rank#cell"),)


def test_an_unjustified_degree_looks_unknown_and_degree_one_needs_nothing() -> None:
    reasons = (
        Reason(axis="tp", degree=4, verdict="UNJUSTIFIED", sentence="No smaller trial."),
        Reason(axis="dp", degree=1, verdict="NOT_NEEDED", sentence="dp is 1."),
    )
    rows = why_rows(plan({"t-1": candidate()}, justification=reasons), query=QUERY)
    assert [(row.title, row.word.text, row.word.css) for row in rows] == [
        ("No constraint named", "Unjustified", "unk"),
        ("Degree 1", "Nothing to justify", "na"),
    ]


def flip(effect: str, sentence: str, **fields: object) -> Flip:
    values: dict[str, object] = {
        "kind": "limit",
        "gate": "ttft",
        "limit_id": "p95",
        "trial": None,
        "unit": "ms",
        "old": 500,
        "new": 420,
        "comparator": "<=",
        "bound": 420,
        "change": Ratio(num=-4, den=25),
        "raw_values": None,
        "effect": effect,
        "winner": None,
        "sentence": sentence,
    }
    return Flip(**(values | fields))  # type: ignore[arg-type] # a table of any field


def test_flips_are_grouped_by_effect_another_winner_first() -> None:
    flips = (
        flip("NONE_LEFT", "nothing left"),
        flip("OTHER_WINS", "t-2 wins", trial="t-2", kind="reading"),
        flip("SAME_WINNER", "only eligible", change=None),
    )
    groups = flip_groups(plan({"t-1": candidate()}, flips=flips), query=QUERY)
    assert [(group.title, [(row.sentence, row.change, row.href) for row in group.rows]) for group in groups] == [
        ("Another topology wins", [("t-2 wins", "−16 %", "?cell=t-2~ttft~p95#cell")]),
        ("No topology would be left", [("nothing left", "−16 %", "")]),
        ("Another becomes eligible, the winner stays", [("only eligible", "not measured", "")]),
    ]


def test_more_than_four_flips_of_a_kind_are_one_click_away() -> None:
    flips = tuple(flip("NONE_LEFT", str(at)) for at in range(6))
    group = flip_groups(plan({"t-1": candidate()}, flips=flips), query=QUERY)[0]
    assert ([row.sentence for row in group.rows], [row.sentence for row in group.more]) == (
        ["0", "1", "2", "3"],
        ["4", "5"],
    )


def point(trial: str, state: str, ttft: int | None, rate: int | None) -> FrontierPoint:
    return FrontierPoint(
        trial=trial,
        state=state,  # type: ignore[arg-type] # a word of the tests
        output_tokens_per_s_per_charged_device=rate,
        output_tokens_per_s_per_request=None,
        ttft_ms=ttft,
        usd_per_million_output_tokens=None,
        non_dominated=state == "ELIGIBLE",
    )


def test_a_figure_that_was_not_measured_is_a_dash_in_the_table_and_no_point_of_the_chart() -> None:
    of = plan(
        {"t-1": candidate(), "t-2": candidate("REJECTED", topology="tp8-pp1-ep1-dp1")},
        frontier=(point("t-2", "REJECTED", None, 65), point("t-1", "ELIGIBLE", 420, 60)),
    )
    found = frontier(of)
    assert [(row.name, row.word.text, row.values[2]) for row in found.rows] == [
        ("tp4-pp2-ep2-dp1", "Selected", "420 ms"),
        ("tp8-pp1-ep1-dp1", "Rejected", "–"),
    ]
    assert found.chart is not None
    assert found.chart["groups"] == [
        {"css": "pass", "x": [420.0], "y": [60.0], "labels": ["tp4-pp2-ep2-dp1 · selected"]}
    ]


def test_without_any_figure_there_is_no_chart() -> None:
    of = plan({"t-1": candidate("INCONCLUSIVE")}, frontier=(point("t-1", "INCONCLUSIVE", None, None),))
    assert frontier(of).chart is None


def test_the_limit_of_first_token_stands_in_the_chart() -> None:
    chart = frontier(example_plan("worked")).chart
    assert chart is not None
    assert chart["limits"] == [{"axis": "x", "at": 500.0, "text": "limit 500 ms"}]


def test_the_order_lists_every_key_but_the_tie_breaks() -> None:
    found = order(example_plan("worked"))
    assert found.keys == (
        "output tok/s per charged device saturated",
        "ranks of the largest serving group",
        "TTFT p95 saturated",
        "charged devices",
    )
    assert [(row.place, row.name, row.values) for row in found.rows] == [
        (1, "tp4-pp2-ep2-dp1", ("60 tok/s per device", "16", "420 ms", "16"))
    ]


def test_the_first_keys_of_the_order_are_named_with_their_direction() -> None:
    assert order_text(example_plan("worked")) == (
        "order: output tok/s per charged device ↓, then ranks of the largest serving group ↑"
    )
