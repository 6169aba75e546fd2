"""Why, flips, order, frontier."""

import pytest

from planner.records.plan import Flip, FrontierPoint, Ratio, Reason, Value
from reviews.web.flip_rows import FlipRow, flip_groups
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
    rejected = candidate(
        "REJECTED", topology="tp4-pp1-ep2-dp1", gates={"memory_headroom": gate("FAIL", worst_rank=limit("FAIL"))}
    )
    row = why_rows(plan({"t-1": candidate(), "t-2": rejected}, justification=(reason,)), query=QUERY)[0]
    assert (row.degree, row.title, row.word.text, row.sentence) == (
        "pp2",
        "Residency and capacity",
        "Justified",
        "The nearest smaller one, tp4-pp1-ep2-dp1, fails",
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


def test_what_a_degree_costs_is_said_in_words_with_units() -> None:
    reason = Reason(
        axis="pp",
        degree=2,
        verdict="PREFERENCE",
        against="t-2",
        gaps=(1,),
        gain=Ratio(num=1, den=50),
        extra_devices=8,
        extra_group_ranks=0,
        communication_share=0.25,
        sentence="",
    )
    small = candidate(topology="tp4-pp1-ep2-dp1")
    row = why_rows(plan({"t-1": candidate(), "t-2": small}, justification=(reason,)), query=QUERY)[0]
    assert row.sentence == "The nearest smaller one, tp4-pp1-ep2-dp1, passes every declared gate."
    assert row.costs == (
        "+8 charged devices",
        "±0 ranks in the largest serving group",
        "2 % better in output tok/s per charged device",
        "communication share 0.250",
    )
    assert row.gaps == "pp 1 not measured."


@pytest.mark.parametrize(
    ("gain", "said"),
    [(Ratio(num=-1, den=8), "12.5 % worse in output tok/s"), (0, "equal in output tok/s")],
)
def test_a_gain_is_said_as_better_or_worse(gain: Value, said: str) -> None:
    reason = Reason(axis="pp", degree=2, verdict="PREFERENCE", against="t-2", gain=gain, sentence="")
    of = plan({"t-1": candidate(), "t-2": candidate(topology="tp2")}, justification=(reason,))
    assert why_rows(of, query=QUERY)[0].costs[0] == f"{said} per charged device"


def test_a_smaller_topology_that_is_unknown_shows_where_it_is() -> None:
    reason = Reason(axis="tp", degree=4, verdict="UNPROVEN", against="t-2", gates=("ttft",), sentence="")
    small = candidate("INCONCLUSIVE", topology="tp2", gates={"ttft": gate("UNKNOWN", p95=limit("UNKNOWN"))})
    row = why_rows(plan({"t-1": candidate(), "t-2": small}, justification=(reason,)), query=QUERY)[0]
    assert (row.sentence, row.gates) == (
        "The nearest smaller one, tp2, is unknown in",
        (("ttft", "?cell=t-2~ttft~p95#cell"),),
    )


def test_without_a_key_the_smaller_topology_is_said_to_have_none() -> None:
    reason = Reason(axis="tp", degree=4, verdict="UNPROVEN", against="t-2", sentence="")
    small = candidate("INCONCLUSIVE", topology="tp2", missing_keys=("ttft",))
    row = why_rows(plan({"t-1": candidate(), "t-2": small}, justification=(reason,)), query=QUERY)[0]
    assert row.sentence == "The nearest smaller one, tp2, has no known TTFT."


def flip(effect: str, **fields: object) -> Flip:
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
        "sentence": "",
    }
    return Flip(**(values | fields))  # type: ignore[arg-type] # a table of any field


def said(row: FlipRow) -> str:
    """A row as it is read."""
    return f"{row.name} {row.verb} {row.lead} {row.gate} {row.condition}; {row.now}; {row.change} {row.of}".rstrip()


def test_flips_are_grouped_by_effect_another_winner_first() -> None:
    flips = (flip("NONE_LEFT", trial="t-1"), flip("OTHER_WINS"), flip("SAME_WINNER"))
    groups = flip_groups(plan({"t-1": candidate()}, flips=flips), query=QUERY, what_if_href="/what-if/")
    assert [(group.title, len(group.rows)) for group in groups] == [
        ("Another topology wins", 1),
        ("No topology would be left", 1),
        ("Another becomes eligible, the winner stays", 1),
    ]


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (
            flip("NONE_LEFT", trial="t-1"),
            "tp4 drops out and nothing is left if the limit of ttft p95 were 420 ms; it is 500 ms; −16 % of the limit",
        ),
        (
            flip("OTHER_WINS", trial="t-2", winner="t-2", kind="reading", old=525, raw_values=2),
            "tp8 wins if its ttft p95 were ≤ 420 ms in 2 windows; measured 525 ms; −16 % of what was measured",
        ),
        (
            flip("OTHER_WINS", trial="t-1", winner="t-2", kind="reading", comparator=">", bound=500),
            "tp8 wins if tp4’s ttft p95 were > 500 ms; measured 500 ms; −16 % of what was measured",
        ),
        (
            flip("SAME_WINNER", trial="t-2", winner="t-1", kind="unmeasured", old=None, change=None),
            "tp8 becomes eligible if its ttft p95 is measured ≤ 420 ms; not measured yet; not measured",
        ),
        (
            flip("OTHER_WINS", trial="t-2", winner="t-2", old=0, change=-3, bound=3, new=3),
            "tp8 wins if the limit of ttft p95 were 3 ms; it is 0 ms; −3 ms",
        ),
    ],
)
def test_a_flip_reads_as_a_sentence_with_the_names_of_the_matrix(made: Flip, sentence: str) -> None:
    of = plan({"t-1": candidate(topology="tp4"), "t-2": candidate("REJECTED", topology="tp8")}, flips=(made,))
    assert said(flip_groups(of, query=QUERY, what_if_href="/what-if/")[0].rows[0]) == sentence


def test_a_flip_about_a_trial_links_to_its_cell() -> None:
    flips = (flip("OTHER_WINS", trial="t-1"), flip("OTHER_WINS"))
    rows = flip_groups(plan({"t-1": candidate()}, flips=flips), query=QUERY, what_if_href="/what-if/")[0].rows
    assert [row.href for row in rows] == ["?cell=t-1~ttft~p95#cell", ""]


def test_more_than_four_flips_of_a_kind_are_one_click_away() -> None:
    flips = tuple(flip("NONE_LEFT", gate=f"gate_{at}", limit_id=None) for at in range(6))
    group = flip_groups(plan({"t-1": candidate()}, flips=flips), query=QUERY, what_if_href="/what-if/")[0]
    assert ([row.gate for row in group.rows], [row.gate for row in group.more]) == (
        ["gate_0", "gate_1", "gate_2", "gate_3"],
        ["gate_4", "gate_5"],
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
    found = frontier(of, ("t-1", "t-2"))
    assert [(row.name, row.word.text, row.values[2]) for row in found.rows] == [
        ("tp4-pp2-ep2-dp1", "Selected", "420 ms"),
        ("tp8-pp1-ep1-dp1", "Rejected", "–"),
    ]
    assert found.chart is not None
    assert found.chart["groups"] == [
        {"css": "pass", "x": [420.0], "y": [60.0], "labels": ["tp4-pp2-ep2-dp1 · selected"], "has_names": True}
    ]


def test_of_many_points_only_the_selected_one_is_named_in_the_picture_and_the_table_has_those_of_the_page() -> None:
    trials = {f"t-{at:02}": candidate(topology=f"tp{at}") for at in range(13)}
    of = plan(trials, frontier=tuple(point(trial, "ELIGIBLE", 400 + at, 60) for at, trial in enumerate(trials)))
    found = frontier(of, ("t-03", "t-01"))
    assert found.chart is not None
    assert [(len(group["x"]), group["has_names"]) for group in found.chart["groups"]] == [(12, False), (1, True)]
    assert [row.name for row in found.rows] == ["tp3", "tp1"]


def test_the_order_has_the_places_of_those_on_the_page() -> None:
    of = plan({f"t-{at}": candidate(topology=f"tp{at}") for at in range(4)})
    assert [(row.place, row.name) for row in order(of, ("t-2", "t-3")).rows] == [(3, "tp2"), (4, "tp3")]


def test_without_any_figure_there_is_no_chart() -> None:
    of = plan({"t-1": candidate("INCONCLUSIVE")}, frontier=(point("t-1", "INCONCLUSIVE", None, None),))
    assert frontier(of, ("t-1",)).chart is None


def test_the_limit_of_first_token_stands_in_the_chart() -> None:
    chart = frontier(example_plan("worked"), ()).chart
    assert chart is not None
    assert chart["limits"] == [{"axis": "x", "at": 500.0, "text": "limit 500 ms"}]


def test_the_order_lists_every_key_but_the_tie_breaks() -> None:
    found = order(example_plan("worked"), tuple(example_plan("worked").candidates))
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
