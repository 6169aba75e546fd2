"""The stress page: labelled as injected, holes first, a few candidates at a time, nothing to sign."""

import re

import msgspec
import pytest

from planner.canonical import file_sha256
from planner.records.plan import Ratio
from planner.records.stress import StressCell
from planner.stress import stress_bytes, stress_matrix
from reviews.errors import ConflictError
from reviews.models import AuditEntry, Blob, Decision, SignOff
from reviews.selectors.stress import PAGE_SIZE
from reviews.web.stress_rows import fault_cell
from tests.planner.corpus import AS_OF, shipped
from tests.planner.documents import raw
from tests.planner.fleet import a_contract, a_trial
from tests.planner.fleet import documents as trees
from tests.reviews.factories import Cast, Pair, example_pair, planned, sign, submitted
from tests.web.conftest import Visit
from tests.web.reading import read

PAGE = "/w/lab/decisions/1/stress/"


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return read(visit(people.audrey).get(f"{PAGE}{query}"))


def test_the_page_says_that_its_faults_are_injected_and_offers_nothing_to_sign(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    page = text(people, visit)
    assert "<b>Injected faults.</b>" in page
    assert "/sign" not in page
    assert 'aria-current="page">Stress</a>' in page


def test_what_no_limit_sees_comes_before_the_table(worked: Decision, people: Cast, visit: Visit) -> None:
    holes = text(people, visit).split('id="stress"')[0]
    assert "Rank loss: node. No declared limit reads it: declare failure_domain for a node." in holes


def test_every_candidate_has_a_cell_for_every_fault(worked: Decision, people: Cast, visit: Visit) -> None:
    table = text(people, visit).split('id="stress"')[1].split("</section>")[0]
    assert table.count('<tr class="tbl-row">') == 21
    assert table.count("<summary>Why</summary>") == 63
    assert "420 ms → 663 ms, ≤ 500 ms" in table


def test_looking_at_faults_stores_nothing(worked: Decision, people: Cast, visit: Visit) -> None:
    before = (AuditEntry.objects.count(), Blob.objects.count())
    text(people, visit)
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


def test_a_sign_off_bound_to_an_injected_matrix_is_refused(people: Cast) -> None:
    revision = planned(people, pair=example_pair())
    matrix = stress_bytes(stress_matrix(*shipped("worked"), AS_OF))
    with pytest.raises(ConflictError):
        sign(people, revision, seen_subject=file_sha256(matrix))
    assert SignOff.objects.count() == 0


def test_a_decision_without_a_plan_says_so(people: Cast, visit: Visit) -> None:
    submitted(people)
    page = text(people, visit)
    assert "There is no plan yet" in page
    assert "Faults and candidates" not in page


@pytest.mark.parametrize(
    ("query", "first", "words"),
    [
        pytest.param("", "t0", "1–3 of 4 candidates", id="first"),
        pytest.param("?page=2", "t3", "4–4 of 4 candidates", id="second"),
        pytest.param("?page=9", "t0", "1–3 of 4 candidates", id="no such page"),
    ],
)
def test_candidates_come_a_few_at_a_time(people: Cast, visit: Visit, query: str, first: str, words: str) -> None:
    trials = {f"t{index}": a_trial(6800 - index, tp=8) for index in range(PAGE_SIZE + 1)}
    _, evidence = trees(a_contract(), trials)
    planned(people, pair=Pair(raw(a_contract()), msgspec.json.encode(evidence.record)))
    page = text(people, visit, query)
    assert re.findall(r'<span class="muted mono">(t\d)</span>', page)[0] == first
    assert words in page
    assert f'<div class="tbl-stack-name mono tiny muted">tp8-pp1-ep1-dp1 · {first}</div>' in page


@pytest.mark.parametrize(
    ("cell", "word", "limit", "figures"),
    [
        pytest.param(
            StressCell(
                result="CAUGHT",
                gate="ttft",
                limit_id="p95",
                intended=True,
                unit="ms",
                before=420,
                after=663,
                comparator="<=",
                limit=500,
                sentence="",
            ),
            "Caught",
            "ttft.p95",
            "420 ms → 663 ms, ≤ 500 ms",
            id="caught",
        ),
        pytest.param(
            StressCell(
                result="CAUGHT", gate="cost", limit_id="price", intended=False, after=Ratio(num=1, den=3), sentence=""
            ),
            "Caught elsewhere",
            "cost.price",
            "0.333",
            id="caught outside its family",
        ),
        pytest.param(
            StressCell(result="CAUGHT", gate="telemetry", limit_id="always", intended=True, sentence=""),
            "Caught",
            "telemetry",
            "",
            id="a gate without limits",
        ),
        pytest.param(StressCell(result="NOT_DECLARED", sentence=""), "Not declared", "", "", id="a hole"),
    ],
)
def test_a_cell_is_a_word_a_limit_and_figures(cell: StressCell, word: str, limit: str, figures: str) -> None:
    found = fault_cell(cell, "tp8 · t-1")
    assert (found.word.text, found.limit, found.figures) == (word, limit, figures)
