"""The matrix as text: what it is, a table that fits, holes."""

import pytest

from planner.records.plan import Ratio
from planner.records.stress import StressCell
from planner.stress import stress_matrix
from planner.stress.text import cell_text, stress_text
from planner.version import PLANNER_VERSION
from tests.planner.corpus import AS_OF, shipped
from tests.planner.fleet import a_contract, a_trial, documents


def test_the_first_line_says_that_nothing_was_measured() -> None:
    lines = stress_text(stress_matrix(*shipped("worked"), AS_OF)).splitlines()
    assert lines[:2] == [
        "injected faults in copies of the evidence: nothing here was measured, no plan, never to be signed",
        f"slot=chat/eu-west;as_of={AS_OF};planner={PLANNER_VERSION}",
    ]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        pytest.param(
            StressCell(result="CAUGHT", gate="ttft", limit_id="p95", intended=True, sentence=""),
            "caught ttft.p95",
            id="caught",
        ),
        pytest.param(
            StressCell(result="CAUGHT", gate="telemetry", limit_id="always", intended=True, sentence=""),
            "caught telemetry",
            id="caught by a gate without limits",
        ),
        pytest.param(
            StressCell(result="CAUGHT", gate="cost", limit_id="price", intended=False, sentence=""),
            "caught cost.price*",
            id="caught outside its family",
        ),
        pytest.param(
            StressCell(
                result="WITHIN_LIMIT", gate="ttft", limit_id="p95", margin_share=Ratio(num=1, den=3), sentence=""
            ),
            "within ttft.p95 +33.3 %",
            id="within with the room left",
        ),
        pytest.param(StressCell(result="NOT_DECLARED", sentence=""), "NOT DECLARED", id="a hole"),
        pytest.param(StressCell(result="NOT_INJECTABLE", sentence=""), "not injectable", id="not injectable"),
        pytest.param(
            StressCell(result="MASKED", gate="ttft", limit_id="p95", margin_share=-0.5, sentence=""),
            "masked ttft.p95",
            id="masked",
        ),
    ],
)
def test_a_cell_is_a_few_words(cell: StressCell, text: str) -> None:
    assert cell_text(cell) == text


def test_many_trials_are_cut_into_tables_of_four() -> None:
    trials = {f"t{index}": a_trial(6400 + index, tp=8) for index in range(5)}
    lines = stress_text(stress_matrix(*documents(a_contract(), trials), AS_OF)).splitlines()
    headers = [line.split()[1::2] for line in lines if line.startswith("fault")]
    assert headers == [["t0", "t1", "t2", "t3"], ["t4"]]


def test_sizes_holes_and_faults_caught_elsewhere_end_the_text() -> None:
    gates = {"cost": {"price": {"load_point": "saturated", "max_usd_per_million_output_tokens": 1.2, "because": "A."}}}
    text = stress_text(stress_matrix(*documents(a_contract(gates=gates), {"a": a_trial(6400, tp=8)}), AS_OF))
    assert "sizes: memory_added_share 0.1 (default), tail_added_share 0.5 (default)," in text
    assert "hole, not tried: Memory pressure. No peak memory is recorded for any rank. No limit would read it: " in text
    assert "hole, no limit: Rank loss: node. No declared limit reads it: declare failure_domain for a node.\n" in text
    assert text.endswith("* caught, but by no limit of its family: Low throughput\n")
