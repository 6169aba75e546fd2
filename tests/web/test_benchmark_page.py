"""The benchmark page: labelled as a plan, what nothing answers first, coverage in words, files, nothing stored."""

import json
import re

import pytest
from django.test import Client

from planner.documents import ContractDocument, EvidenceDocument
from planner.intake import read_contract, read_evidence
from planner.matrix import benchmark_matrix, matrix_bytes
from planner.matrix.markdown import matrix_markdown
from planner.matrix.script import matrix_script
from planner.records.matrix import Meter
from reviews.models import AuditEntry, Blob, Decision, Draft
from reviews.selectors import benchmark
from reviews.selectors import benchmark as selector
from reviews.web.benchmark_rows import PAGE_SIZE, benchmark_table, meter_of
from tests.api.test_stress import several
from tests.planner.documents import raw
from tests.planner.matrix.contracts import a_matrix, a_tree
from tests.queries import cost
from tests.reviews.factories import Cast, example_pair, planned, submitted
from tests.web.conftest import Visit

PAGE = "/w/lab/decisions/1/benchmark/"


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return visit(people.audrey).get(f"{PAGE}{query}").content.decode()


def section(page: str, name: str) -> str:
    return page.split(f'id="{name}"')[1].split("</section>")[0]


def test_the_page_says_that_it_is_a_plan_and_offers_nothing_to_sign(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    page = text(people, visit)
    assert "<b>A plan of measurements, not evidence.</b>" in page
    assert 'aria-current="page">Benchmark</a>' in page
    assert "/sign" not in page


def test_candidates_come_the_smallest_first_a_page_at_a_time(worked: Decision, people: Cast, visit: Visit) -> None:
    names = [
        re.findall(
            r'<th class="tbl-c mono nowrap" scope="row">([^<]+)', section(text(people, visit, query), "candidates")
        )
        for query in ("", "?page=2", "?page=99")
    ]
    assert names[0][0] == "tp2-pp1-ep1-dp1"
    assert len(names[0]) == len(names[1]) == PAGE_SIZE
    assert not set(names[0]) & set(names[1])
    assert names[2] == names[0]


def test_every_cell_has_a_word_and_the_meter_counts_them(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    matrix = benchmark_matrix(*_worked())
    assert matrix.coverage is not None
    assert meter_of(matrix.coverage.advised).text in page
    covered = sorted({cell.candidate for cell in matrix.cells if cell.trials})
    links = set(re.findall(r'<a class="mono" href="[^"]+">(tp[^<]+)</a>', page))
    assert sorted(links) == covered
    cells = section(page, "cells")
    assert cells.count('class="tbl-c bm-cell"') == PAGE_SIZE * len(matrix.runs)
    assert "Not measured" in cells


def _worked() -> tuple[ContractDocument, EvidenceDocument]:
    pair = example_pair()
    contract = read_contract(pair.contract)
    return contract, read_evidence(pair.evidence, contract)


@pytest.mark.parametrize("suffix", ["json", "sh", "md"])
def test_files_are_those_of_the_command_line(suffix: str, worked: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get(f"{PAGE}matrix.{suffix}")
    matrix = benchmark_matrix(*_worked())
    assert answer["Content-Disposition"] == f'attachment; filename="D-0001-r1-benchmark.{suffix}"'
    expected = {
        "json": matrix_bytes(matrix),
        "md": matrix_markdown(matrix).encode(),
        "sh": matrix_script(matrix).encode(),
    }
    assert answer.content == expected[suffix]


def test_a_script_for_another_load_generator(worked: Decision, people: Cast, visit: Visit) -> None:
    visitor = visit(people.audrey)
    assert "load by AIPerf." in visitor.get(f"{PAGE}matrix.sh?client=aiperf").content.decode()
    assert "load by GuideLLM." in visitor.get(f"{PAGE}matrix.sh?client=nonsense").content.decode()


def test_looking_at_it_stores_nothing_and_needs_no_plan(people: Cast, visit: Visit) -> None:
    submitted(people)
    before = (AuditEntry.objects.count(), Blob.objects.count())
    page = visit(people.alice).get(PAGE)
    assert page.status_code == 200
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


def test_more_trials_cost_no_more_queries(people: Cast, visit: Visit) -> None:
    planned(people, pair=several(1))
    planned(people, pair=several(6))
    audrey = visit(people.audrey)
    one, six = (cost(audrey, f"/w/lab/decisions/{number}/benchmark/") for number in (1, 2))
    assert one == six


def test_coverage_of_very_much_evidence_is_left_to_the_command_line(
    people: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selector, "MOST_BYTES", 10)
    planned(people)
    page = text(people, visit)
    assert "Coverage is not told here:" in page
    assert "To measure" in page


def test_a_draft_shows_what_to_measure_before_anybody_measures(people: Cast, visit: Visit) -> None:
    alice = visit(people.alice)
    draft = _begun(alice, raw(a_tree()))
    page = alice.get(f"/w/lab/contracts/{draft.pk}/benchmark/").content.decode()
    assert "tp1-pp1-ep1-dp1" in section(page, "candidates")
    assert "To measure" in section(page, "cells")
    written = alice.get(f"/w/lab/contracts/{draft.pk}/benchmark/matrix.json").content
    assert json.loads(written)["coverage"] is None


def test_an_unfinished_draft_says_what_is_missing(people: Cast, visit: Visit) -> None:
    alice = visit(people.alice)
    draft = _begun(alice, b'{"schema": "topogate.contract/v1"}')
    page = alice.get(f"/w/lab/contracts/{draft.pk}/benchmark/").content.decode()
    assert "The contract is not finished" in page
    assert f'href="/w/lab/contracts/{draft.pk}/model/?open=%2Fidentity%2Fmodel%2Fname#' in page
    assert "Still needed: an integer of at least 1." in page
    assert alice.get(f"/w/lab/contracts/{draft.pk}/benchmark/matrix.sh").status_code == 404


def test_a_contract_beyond_the_bound_is_left_to_the_command_line(
    people: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "MOST_CONTRACT_BYTES", 1000)
    alice = visit(people.alice)
    draft = _begun(alice, raw(a_tree()))
    answer = alice.get(f"/w/lab/contracts/{draft.pk}/benchmark/")
    assert answer.status_code == 422
    assert "topogate matrix CONTRACT" in answer.content.decode()


def test_nobody_sees_the_draft_of_another(people: Cast, visit: Visit) -> None:
    draft = _begun(visit(people.alice), raw(a_tree()))
    for suffix in ("", "matrix.json"):
        assert visit(people.bob).get(f"/w/lab/contracts/{draft.pk}/benchmark/{suffix}").status_code == 404


def _begun(client: Client, document: bytes) -> Draft:
    answer = client.post("/w/lab/contracts/", {"act": "upload", "document_text": document.decode()})
    assert answer.status_code == 302, answer.content.decode()
    return Draft.objects.order_by("-pk")[0]


@pytest.mark.parametrize(
    ("meter", "words", "width"),
    [
        (Meter(measured=1, partly=1, not_measured=2), "1 of 4 required cells measured, 1 partly", 25),
        (Meter(measured=0, partly=0, not_measured=0), "0 of 0 required cells measured, 0 partly", 100),
    ],
)
def test_a_meter(meter: Meter, words: str, width: float) -> None:
    row = meter_of(meter)
    assert (row.text, row.width) == (words, width)


def test_what_no_tool_brings_is_counted() -> None:
    matrix = a_matrix(model=None)
    table = benchmark_table(matrix, tuple(matrix.candidates)[:1])
    assert table.unanswered == sum(answer.verdict == "nothing_known" for answer in matrix.answers)


def test_a_link_leads_to_the_cells_of_a_candidate_with_trials(worked: Decision, people: Cast, visit: Visit) -> None:
    found = re.findall(r'<a class="mono" href="([^"#]+)#cells">(tp[^<]+)</a>', text(people, visit))
    for query, name in found:
        cells = section(text(people, visit, query), "cells")
        assert f">{name}</th>" in cells
        assert "Measured" in cells
