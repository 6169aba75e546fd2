from planner.records.plan import Contender, Plan, Undeclared
from reviews.web.banner_rows import alternatives, banner, notices
from reviews.web.links import Query
from tests.web.plans import candidate, example_plan, gate, limit, plan

QUERY = Query()


def test_the_banner_names_the_selected_topology_and_its_figures_with_limit_and_margin() -> None:
    found = banner(example_plan("worked"), query=QUERY)
    assert (found.word.text, found.name, found.is_illustrative) == ("Selected topology", "tp4-pp2-ep2-dp1", True)
    assert found.sentence == "16 ranks on 2 nodes. The only eligible one of 3 measured: 2 rejected."
    assert [(figure.name, figure.value, figure.unit, figure.note) for figure in found.figures] == [
        ("Output throughput", "960", "tok/s", "≥ 800 tok/s · +20 %"),
        ("TTFT", "420", "ms", "≤ 500 ms · +16 %"),
        ("Peak memory", "50.0", "GiB", "≤ 64.0 GiB · +21.9 %"),
        ("Link use", "0.600", "", "≤ 0.675 · +11.1 %"),
    ]


def test_a_figure_links_to_its_cell() -> None:
    figure = banner(example_plan("worked"), query=QUERY).figures[1]
    assert figure.href == "?cell=t-base-16~ttft~saturated_p95#cell"


def test_the_claim_stands_in_every_banner() -> None:
    for of in (example_plan("worked"), plan({}), inconclusive()):
        assert banner(of, query=QUERY).claim == "LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK"


def inconclusive() -> Plan:
    unknown = gate("UNKNOWN", p95=limit("UNKNOWN", measured=None, missing=("/trials/t-1/windows/sat/load/ttft_ms",)))
    return plan(
        {
            "t-1": candidate("INCONCLUSIVE", gates={"ttft": unknown}, unknown=("ttft",)),
            "t-2": candidate("REJECTED", topology="tp8-pp1-ep1-dp1", failing=("cost",)),
        },
        decision="INCONCLUSIVE",
    )


def test_without_a_selection_the_banner_says_what_is_closest_and_what_it_lacks() -> None:
    found = banner(inconclusive(), query=QUERY)
    assert (found.word.css, found.name) == ("unk", "No selection yet")
    assert found.sentence == "Nothing is eligible, and 1 of 2 could be if their missing evidence turns out well."
    assert [(figure.name, figure.value) for figure in found.figures] == [
        ("Closest", "tp4-pp2-ep2-dp1"),
        ("Not known for it", "ttft"),
        ("It lacks", "ttft_ms"),
    ]


def test_where_all_are_rejected_the_closest_is_named_with_what_it_fails() -> None:
    of = plan({"t-1": candidate("REJECTED", failing=("cost", "ttft")), "t-2": candidate("REJECTED", failing=("ttft",))})
    found = banner(of, query=QUERY)
    assert (found.word.text, found.sentence) == (
        "No eligible topology",
        "2 candidates measured, each fails at least one gate.",
    )
    assert [(figure.name, figure.value, figure.note) for figure in found.figures] == [
        ("Closest", "tp4-pp2-ep2-dp1", "t-2"),
        ("It fails", "ttft", ""),
    ]


def test_only_the_alternatives_of_a_page_are_listed_when_it_is_named() -> None:
    of = plan({f"t-{at}": candidate("REJECTED") for at in (1, 2, 3)})
    rows = alternatives(of, query=QUERY, map_href="/map/", among=("t-1", "t-3"))
    assert [row.name for row in rows] == ["tp4-pp2-ep2-dp1@t-1", "tp4-pp2-ep2-dp1@t-3"]


def test_every_failing_and_unknown_limit_of_an_alternative_is_listed_failing_first() -> None:
    gates = {
        "telemetry": gate("UNKNOWN", a=limit("UNKNOWN", measured=None, missing=("/x", "/y"))),
        "ttft": gate("FAIL", single=limit("FAIL"), saturated=limit("FAIL"), ok=limit()),
        "cost": gate("FAIL", usd=limit("FAIL", unit="USD", measured=12.5, limit=10, margin_share=-0.25)),
    }
    of = plan({"t-1": candidate(), "t-2": candidate("REJECTED", gates=gates, failing=("ttft", "cost"))})
    rows = alternatives(of, query=QUERY, map_href="/map/")
    assert [(row.word.text, row.gate, row.limit_id) for row in rows[0].blockers] == [
        ("Fail", "ttft", "single"),
        ("Fail", "ttft", "saturated"),
        ("Fail", "cost", "usd"),
        ("Unknown", "telemetry", "a"),
    ]
    assert (rows[0].blockers[2].text, rows[0].blockers[2].limit, rows[0].blockers[2].margin) == (
        "12.50 USD",
        "≤ 10.00 USD",
        "−25 %",
    )
    assert rows[0].blockers[3].missing_text == "2 fields missing or not enough"
    assert [row.bar and row.bar.css for row in rows[0].blockers] == ["fail", "fail", "fail", "unk"]


def test_the_selected_candidate_is_no_alternative_and_an_eligible_one_has_no_blocker() -> None:
    of = plan({"t-1": candidate(), "t-2": candidate(topology="tp2-pp1-ep1-dp1")})
    assert [(row.name, row.other_name, row.blockers) for row in alternatives(of, query=QUERY, map_href="/map/")] == [
        ("tp2-pp1-ep1-dp1", "t-2", ())
    ]


def test_what_nothing_limits_is_said_before_the_figures() -> None:
    of = plan(
        {},
        undeclared=(
            Undeclared(kind="family", name="failure", sentence="No failure gate."),
            Undeclared(kind="section", name="recovery", sentence="Left out."),
        ),
        contenders=(Contender(trial="t-2", topology="tp8", sentence="It would win."),),
        decisive=False,
    )
    assert [(row.lead, row.text, row.css) for row in notices(of)] == [
        ("1 gate family not declared.", "Failure: no limit in the contract, so nothing was checked there.", "plain"),
        ("The lead is not decisive.", "It is smaller than the spread between the windows of one trial.", "unk"),
        ("tp8 might win.", "It would win.", "unk"),
    ]
    assert notices(of)[0].more == (("failure", "No failure gate."), ("recovery", "Left out."))


def test_a_plan_that_leaves_nothing_out_has_no_notice() -> None:
    assert notices(plan({}, decisive=True)) == ()
