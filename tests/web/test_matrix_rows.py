import pytest

from planner.records.plan import Plan
from reviews.web.links import Query
from reviews.web.matrix_rows import Matrix, candidate_order, matrix
from tests.web.plans import DOCUMENTS, candidate, example_plan, gate, limit, plan

TITLES = {"ttft": "First token in time", "throughput": "Output rate reaches its floor"}


def made(of: Plan, **query: str) -> Matrix:
    return matrix(of, query=Query(tuple(query.items())), titles=TITLES, map_href="/map/", documents=DOCUMENTS)


def three() -> Plan:
    """One selected, one that fails ttft, one whose throughput is unknown."""
    passing = {"ttft": gate(p95=limit()), "throughput": gate(floor=limit(unit="tok/s", measured=960, limit=800))}
    failing = passing | {"ttft": gate("FAIL", p95=limit("FAIL", measured=540, margin_share=-0.08))}
    unknown = passing | {
        "throughput": gate(
            "UNKNOWN", floor=limit("UNKNOWN", measured=None, margin_share=None, missing=("/a",), would="PASS")
        )
    }
    return plan(
        {
            "t-1": candidate(gates=passing),
            "t-2": candidate("REJECTED", topology="tp8-pp1-ep2-dp1", gates=failing, failing=("ttft",)),
            "t-3": candidate("INCONCLUSIVE", topology="tp2-pp4-ep2-dp1", gates=unknown, unknown=("throughput",)),
        }
    )


def test_candidates_stand_eligible_then_inconclusive_then_rejected() -> None:
    assert candidate_order(three()) == ("t-1", "t-3", "t-2")


def test_rejected_candidates_with_fewer_failing_gates_stand_first() -> None:
    of = plan(
        {
            "t-1": candidate("REJECTED", failing=("a", "b", "c")),
            "t-2": candidate("REJECTED", failing=("a",)),
            "t-3": candidate("REJECTED", failing=("a", "b")),
        }
    )
    assert candidate_order(of) == ("t-2", "t-3", "t-1")


def test_rows_that_fail_stand_before_unknown_ones_and_passing_ones_apart() -> None:
    found = made(three())
    assert [(row.gate, row.limit_id, row.failing, row.unknown) for row in found.blocking] == [
        ("ttft", "p95", 1, 0),
        ("throughput", "floor", 0, 1),
    ]
    assert found.passing == ()


def test_a_cell_has_icon_word_value_and_margin() -> None:
    cell = made(three()).blocking[0].cells[2]
    assert (cell.word.text, cell.word.icon, cell.text, cell.margin, cell.label) == (
        "Fail",
        "fail",
        "540 ms",
        "−8 %",
        "ttft p95: Fail, 540 ms",
    )


def test_an_unknown_cell_says_missing_and_what_it_would_be_but_no_number() -> None:
    cell = made(three()).blocking[1].cells[1]
    assert (cell.word.css, cell.text, cell.margin, cell.bar and cell.bar.css) == ("unk", "missing", "would pass", "unk")


def test_a_cell_links_to_itself_opened_and_when_open_to_itself_closed() -> None:
    assert made(three(), revision="1").blocking[0].cells[2].href == "?revision=1&cell=t-2~ttft~p95#cell"
    assert made(three(), cell="t-2~ttft~p95").blocking[0].cells[2].href == "?#cell"


def test_an_opened_cell_shows_the_whole_outcome_below_its_row() -> None:
    row = made(three(), cell="t-2~ttft~p95").blocking[0]
    assert row.detail is not None
    assert [(fact.name, fact.value) for fact in row.detail.facts] == [
        ("Measured", "540 ms"),
        ("Limit", "≤ 500 ms"),
        ("Margin", "+80 ms (−8 %)"),
        ("Value at", "/trials/t-1/windows/sat/load/ttft_ms/p95"),
        ("Limit at", "/gates/ttft/p95/max_ms"),
    ]
    assert (row.detail.because, row.detail.map_href) == ("Half a second.", "/map/?trial=t-2")


def test_an_address_that_names_no_cell_opens_none() -> None:
    found = made(three(), cell="t-9~nope~never", page="77", rows="sideways")
    assert [row.detail for row in found.rows] == [None, None]


@pytest.mark.parametrize("page", ["0", "-1", "1_0", "000001" + "0" * 5000, "9" * 5000, "\u0661"])
def test_a_page_that_there_is_not_shows_the_first(page: str) -> None:
    assert made(three(), page=page).page == made(three()).page


def test_an_opened_passing_cell_opens_the_passing_rows() -> None:
    found = made(example_plan("worked"), cell="t-base-16~ttft~single_p95")
    assert found.is_passing_open is True


def test_gates_without_a_limit_are_listed() -> None:
    assert "failure_domain" in made(example_plan("worked")).not_declared


def test_a_gate_that_applies_to_some_candidates_keeps_its_row() -> None:
    row = next(row for row in made(example_plan("worked")).blocking if row.gate == "link_utilization")
    assert [cell.word.text for cell in row.cells] == ["Pass", "Fail", "Not applicable"]


def test_the_tightest_passing_margins_of_the_selected_are_named() -> None:
    assert made(example_plan("worked")).tightest.startswith("ttft saturated_p95 +16 %, ttft single_p95 +27.6 %")


def test_the_limit_of_a_row_says_when_it_differs() -> None:
    gates = [{"memory_headroom": gate(worst=limit(unit="bytes", limit=size))} for size in (2**36, 2**37)]
    of = plan({f"t-{at}": candidate(gates=found) for at, found in enumerate(gates)})
    assert made(of).passing[0].limit == "differs by device"


def test_two_candidates_with_one_name_are_told_apart() -> None:
    of = plan({"t-1": candidate(), "t-2": candidate()})
    assert [head.name for head in made(of).heads] == ["tp4-pp2-ep2-dp1@t-1", "tp4-pp2-ep2-dp1@t-2"]


def test_up_to_eight_candidates_gates_are_rows_and_from_nine_on_candidates_are() -> None:
    eight = plan({f"t-{at}": candidate() for at in range(8)})
    nine = plan({f"t-{at}": candidate() for at in range(9)})
    assert (made(eight).has_gates_as_rows, made(nine).has_gates_as_rows) == (True, False)


def test_candidates_as_rows_can_be_chosen() -> None:
    found = made(three(), rows="candidates")
    assert [(line.head.trial, line.group) for line in found.candidates] == [
        ("t-1", "Eligible, in selection order · 1"),
        ("t-3", "Inconclusive: evidence missing, nothing fails · 1"),
        ("t-2", "Rejected, fewest failing gates first · 1"),
    ]
    assert [(cell.x, cell.y) for cell in found.candidates[1].cells] == [(0, 1), (1, 1)]


def test_an_opened_cell_stands_below_its_candidate() -> None:
    found = made(three(), rows="candidates", cell="t-2~ttft~p95")
    assert [line.detail is not None for line in found.candidates] == [False, False, True]


def test_twenty_five_candidates_make_a_page() -> None:
    of = plan({f"t-{at:02}": candidate() for at in range(30)})
    first, second = made(of), made(of, page="2")
    assert (len(first.candidates), len(second.candidates)) == (25, 5)
    assert (first.page.text, second.page.text) == ("1–25 of 30 candidates", "26–30 of 30 candidates")
    assert (first.page.earlier, first.page.later, second.page.later) == ("", "?page=2#matrix", "")


def test_a_cell_opens_on_the_page_that_its_candidate_is_on() -> None:
    gates = {"ttft": gate(p95=limit())}
    of = plan({f"t-{at:02}": candidate(gates=gates) for at in range(30)})
    found = made(of, cell="t-27~ttft~p95", passing="1")
    assert found.page.text == "26–30 of 30 candidates"
    assert [line.head.trial for line in found.candidates if line.detail] == ["t-27"]
    assert found.candidates[0].cells[0].href == "?passing=1&page=2&cell=t-25~ttft~p95#cell"


def test_each_bar_length_is_drawn_once() -> None:
    found = made(example_plan("worked"), rows="candidates")
    assert list(found.steps) == sorted(set(found.steps))
    assert {cell.bar.step for row in found.rows for cell in row.cells if cell.bar and cell.word.css == "pass"} == set(
        found.steps
    )


def test_a_plan_without_candidates_has_an_empty_matrix() -> None:
    found = made(plan({}))
    assert (found.rows, found.heads, found.summary) == ((), (), "0 candidates: 0 eligible")
